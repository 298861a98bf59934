/* SPDX-License-Identifier: GPL-3.0-or-later
 * Fewest requests: waiting and running ones count alike, as the routers of most serving stacks count connections. */
#include "replica.h"
#include "router.h"

static rc_replica *choose(rc_fleet *fleet, const rc_request *request) {
    return rc_fleet_least(fleet, request, rc_replica_load);
}

const rc_router rc_fewest_requests = {"fewest-requests", "to the replica with the fewest requests, waiting or running",
                                      choose};
