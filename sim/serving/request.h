/* SPDX-License-Identifier: GPL-3.0-or-later
 * request.h - one request on its way through a replica.
 *
 * waiting -> prefilling (chunk by chunk) -> decoding -> done.  A preempted request loses its cache and waits again; what
 * it had produced is then part of the prompt it computes anew.
 */
#ifndef RC_REQUEST_H
#define RC_REQUEST_H
#include "event_queue.h"
#include "session.h"

typedef struct rc_request {
    uint32_t number; /* in the order of asking */
    uint32_t input_tokens, output_tokens;
    uint32_t produced;  /* output tokens, as of begin_step while decoding */
    uint32_t prefilled; /* tokens of its prompt that lie in the cache */
    uint32_t counted;   /* prompt tokens counted as input, once */
    uint32_t chunk;     /* tokens of the step under way */
    uint32_t preemptions;
    uint32_t replica;
    uint32_t found;        /* prompt tokens that lay in the prefix cache when it was first admitted */
    uint32_t loaded;       /* of those, from below the device */
    uint32_t shared;       /* tokens whose blocks belong to the prefix cache, from the first on; whole blocks */
    uint32_t branch;       /* tokens to where others began alike and no state is saved; 0: nowhere */
    uint32_t node;         /* of the prefix cache: the end of what is shared */
    rc_session *session;   /* whose turn it is, and what its tokens are; NULL: nobody's */
    uint32_t writer;       /* replica that writes the answer where another computes the prompt; UINT32_MAX: the same */
    uint32_t flows;        /* parts of its caches on their way from the one to the other */
    uint64_t begin_step;   /* replica's decode step with which decoding began */
    uint64_t begin_tokens; /* what a sequence of the replica had got until then */
    uint64_t admission;    /* order of admission, for preemption: the last comes first */
    rc_time arrival, admitted, first_token, last_token, finish; /* RC_NEVER where it did not happen */
    rc_time prompt_done, arrived; /* where two replicas share the work: computed by the one, caches at the other */
} rc_request;

#define RC_NEVER UINT64_MAX

/* Tokens a prefill must compute: the prompt, and what was produced before a preemption. */
static inline uint32_t rc_request_prompt(const rc_request *request) {
    return request->input_tokens + request->produced;
}
#endif
