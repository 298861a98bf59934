/* SPDX-License-Identifier: GPL-3.0-or-later
 * Shortest queue: the fewest prompt tokens that wait; among those alike the fewest requests. */
#include "replica.h"
#include "router.h"

static double queue_of(const rc_replica *replica) {
    const double a_request = 1e-6; /* of a token: decides only between queues alike */
    return replica->waiting_tokens + a_request * rc_replica_load(replica);
}

static rc_replica *choose(rc_fleet *fleet, const rc_request *request) {
    return rc_fleet_least(fleet, request, queue_of);
}

const rc_router rc_shortest_queue = {"shortest-queue", "to the replica with the fewest prompt tokens waiting", choose};
