/* SPDX-License-Identifier: GPL-3.0-or-later
 * memory.h - what lies in a GPU's memory and what fits beside it.
 *
 *   usable x fraction >= weights of the fullest rank + workspace + graphs + caches of the longest request
 *
 * A request takes two numbers: bytes a token (KV) and bytes for itself (recurrent state, in slots).  Latent KV lies on
 * every tensor-parallel rank unless decode context parallelism splits it; heads and state are split by tensor
 * parallelism.  With DP attention each of the dp ranks has caches of its own.
 * Known values (Kimi K3): 13,824 B a token in FP8, 449,372,160 B of state a request, 56,171,520 at TP8; weights at TP8
 * 205.06 GB with replicated small projections, 194.99 GB if everything is sharded.
 */
#ifndef RC_COST_MEMORY_H
#define RC_COST_MEMORY_H
#include "scenario.h"

/* The memory of one layout; all per GPU of the fullest stage. */
typedef struct rc_memory {
    double host_bytes; /* weights of a card that lie on its host */
    double weights_bytes, replicated_bytes, even_bytes;
    double draft_bytes; /* of weights_bytes: the draft of speculation */
    double kv_bytes_per_token, state_bytes_per_request;
    double budget_bytes;  /* usable x fraction */
    double room_bytes;    /* for caches */
    double fullest_stage; /* the pipeline stage whose weights these are */
} rc_memory;

rc_memory rc_memory_of(const rc_scenario *scenario, const rc_parallel *parallel);
double rc_state_slots(const rc_scenario *scenario); /* recurrent states that memory is set aside for, of a request */
/* Bytes of caches that a request of `tokens` takes on a GPU. */
double rc_request_bytes(const rc_scenario *scenario, const rc_memory *memory, double tokens);
/* The longest request the load or the engine's limit asks for. */
double rc_longest_request(const rc_scenario *scenario);
/* Finds the smallest count that fits: whole nodes, all degrees powers of two. */
void rc_memory_smallest(const rc_scenario *scenario, rc_fit_result *result);
/* Everything else `fit` answers.  RC_OK or RC_DOES_NOT_FIT. */
rc_status rc_memory_fit(const rc_scenario *scenario, rc_fit_result *result);
#endif
