/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "router.h"
#include "replica.h"
#include <string.h>

const rc_router *const rc_routers[] = {&rc_fewest_requests, &rc_shortest_queue, &rc_round_robin,
                                       &rc_session_sticky,  &rc_prefix_aware,   NULL};

const rc_router *rc_router_find(const char *name) {
    if (!name)
        return rc_routers[0];
    for (size_t i = 0; rc_routers[i]; i++)
        if (strcmp(rc_routers[i]->name, name) == 0)
            return rc_routers[i];
    return NULL;
}

rc_replica *rc_fleet_least(const rc_fleet *fleet, const rc_request *request, double (*of)(const rc_replica *)) {
    rc_replica *best = NULL;
    for (size_t i = 0; i < fleet->count; i++) {
        rc_replica *replica = fleet->replicas[i];
        bool less = !best || of(replica) < of(best);
        if (less && rc_replica_can_hold(replica, request))
            best = replica;
    }
    return best;
}
