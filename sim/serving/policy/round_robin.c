/* SPDX-License-Identifier: GPL-3.0-or-later
 * Round robin: one replica after another, whatever they are doing; those that cannot hold a request are passed over. */
#include "replica.h"
#include "router.h"

static rc_replica *choose(rc_fleet *fleet, const rc_request *request) {
    for (size_t i = 0; i < fleet->count; i++) {
        rc_replica *replica = fleet->replicas[(fleet->turn + i) % fleet->count];
        if (!rc_replica_can_hold(replica, request))
            continue;
        fleet->turn = (fleet->turn + i + 1) % fleet->count;
        return replica;
    }
    return NULL;
}

const rc_router rc_round_robin = {"round-robin", "to one replica after another", choose};
