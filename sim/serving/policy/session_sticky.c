/* SPDX-License-Identifier: GPL-3.0-or-later
 * Session-sticky: every turn of a session goes where the last one went, and finds there what it left; a new session goes to the
 * replica with the fewest requests. */
#include "replica.h"
#include "router.h"

static rc_replica *choose(rc_fleet *fleet, const rc_request *request) {
    const rc_session *session = request->session;
    for (size_t i = 0; session && i < fleet->count; i++)
        if (fleet->replicas[i]->index == session->replica && rc_replica_can_hold(fleet->replicas[i], request))
            return fleet->replicas[i];
    return rc_fleet_least(fleet, request, rc_replica_load);
}

const rc_router rc_session_sticky = {"session-sticky", "a session stays where its last turn went", choose};
