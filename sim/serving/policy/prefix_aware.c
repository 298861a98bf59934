/* SPDX-License-Identifier: GPL-3.0-or-later
 * Prefix-aware: to the replica whose cache holds the longest beginning of the prompt, unless it has many more requests than the
 * least busy one; of equals, and where nothing is held, the fewest requests.  The limits are those of SGLang's router
 * (balance-abs-threshold 64, balance-rel-threshold 1.5). */
#include "replica.h"
#include "router.h"

static rc_replica *choose(rc_fleet *fleet, const rc_request *request) {
    const double more = 64, times = 1.5;
    rc_replica *idlest = rc_fleet_least(fleet, request, rc_replica_load), *best = idlest;
    double least = idlest ? rc_replica_load(idlest) : 0, longest = idlest ? rc_replica_finds(idlest, request) : 0;
    for (size_t i = 0; i < fleet->count; i++) {
        rc_replica *replica = fleet->replicas[i];
        double load = rc_replica_load(replica), finds = rc_replica_finds(replica, request);
        bool overloaded = load > least + more && load > times * least;
        bool better = finds > longest || (finds == longest && finds > 0 && load < rc_replica_load(best));
        if (!overloaded && better && rc_replica_can_hold(replica, request)) {
            best = replica;
            longest = finds;
        }
    }
    return best;
}

const rc_router rc_prefix_aware = {"prefix-aware", "to the replica that holds the longest beginning of the prompt",
                                   choose};
