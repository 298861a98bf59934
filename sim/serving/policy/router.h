/* SPDX-License-Identifier: GPL-3.0-or-later
 * router.h - which replica a request goes to.
 *
 * A router is one const table, listed in routers.c.  It must choose a replica that can hold the request
 * (rc_replica_can_hold); the replicas of all pools stand side by side, micro-batches of stages too.
 */
#ifndef RC_ROUTER_H
#define RC_ROUTER_H
#include <stddef.h>

typedef struct rc_replica rc_replica;
typedef struct rc_request rc_request;

/* What a router sees. */
typedef struct rc_fleet {
    rc_replica **replicas;
    size_t count;
    size_t turn; /* a router's own: whose turn it is */
} rc_fleet;

typedef struct rc_router {
    const char *name, *doc;
    /* NULL: no replica could ever hold the request. */
    rc_replica *(*choose)(rc_fleet *fleet, const rc_request *request);
} rc_router;

const rc_router *rc_router_find(const char *name); /* NULL: no such router; of no name: the usual one */
extern const rc_router *const rc_routers[];        /* ends with NULL; the first is the usual one */
extern const rc_router rc_fewest_requests, rc_shortest_queue, rc_round_robin, rc_session_sticky, rc_prefix_aware;
/* The first of the replicas that can hold a request with the least of something; NULL: none can. */
rc_replica *rc_fleet_least(const rc_fleet *fleet, const rc_request *request, double (*of)(const rc_replica *replica));
#endif
