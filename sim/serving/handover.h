/* SPDX-License-Identifier: GPL-3.0-or-later
 * handover.h - prompts computed in one pool, answers written in another (disaggregation), and the way between.
 *
 * A request gets both replicas when it comes.  The one that will write its answer sets room aside first, in the order of
 * coming; only then is the prompt queued at the other, so that nothing computed waits for room.  While it is computed its
 * caches go over, layer by layer behind the work (or all at once when it is done); the room at the first replica is free when all
 * has gone.  Whatever leaves a replica shares the links out of it, and whatever comes to one those into it, max-min fair
 * (engine/links.h); a message's latency comes on top.  Where the pools split differently, every rank of the second gets its part,
 * and the ranks of the first send equal shares.
 *
 * Time to the first token is then: queue, prefill, transfer, and the rest of the step under way and the first step there.
 * Events are the caller's, as with pipelines.
 */
#ifndef RC_HANDOVER_H
#define RC_HANDOVER_H
#include "replica.h"

typedef struct rc_handover_events {
    rc_event_queue *queue;
    uint32_t flows_done; /* subject: nothing */
    uint32_t arrived;    /* subject: the request */
    uint8_t priority;
} rc_handover_events;

typedef struct rc_handover rc_handover;

/* `replicas` of all pools, and the copies they belong to; NULL where no pool computes prompts only. */
rc_handover *rc_handover_new(const rc_scenario *scenario, const rc_handover_events *events, rc_replica *replicas,
                             size_t count, rc_request **requests);
void rc_handover_free(rc_handover *handover); /* NULL is fine */
/* The request waits for room at its second replica; true where that has to end its stretch first (rc_replica_pause). */
bool rc_handover_expect(rc_handover *handover, uint32_t request);
/* The next request that has room at its second replica since the last call, to be queued at its first; false: none. */
bool rc_handover_next(rc_handover *handover, uint32_t *request);
/* A replica began a step at `now`: what its prompts write is on its way. */
void rc_handover_step_begins(rc_handover *handover, const rc_replica *replica, rc_time now);
/* The prompt is computed. */
void rc_handover_prompt_done(rc_handover *handover, uint32_t request, rc_time now);
void rc_handover_flows_done(rc_handover *handover, rc_time now);
double rc_handover_waiting(const rc_handover *handover); /* requests that wait for room; NULL: 0 */
#endif
