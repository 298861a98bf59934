/* SPDX-License-Identifier: GPL-3.0-or-later
 * experts.h - the grouped GEMMs of routed experts.
 * On a rank: D distinct experts of h x n columns (n padded to the kernel's tile), P token-expert pairs.
 *   bytes = 3 D h n w + P (2 h + 3 n) 2        flops = 6 h n P'
 * with P' the pairs after every expert's tokens were rounded up to the kernel's token tile.
 */
#ifndef RC_COST_EXPERTS_H
#define RC_COST_EXPERTS_H
#include "kernel.h"
#include "routing.h"

typedef struct rc_experts {
    double count;        /* layers */
    double width, inner; /* h, and n on this rank before padding */
    double padded_inner;
    double top_k;
    double ranks;        /* ranks that share the experts by expert (EP) */
    double weight_bytes; /* of one value, scales included */
    rc_popularity popularity;
    rc_rate rate;
} rc_experts;

/* Work of one layer on a rank: `inner` columns after padding, tokens of an expert in tiles of `token_tile`.  A unit is
 * one of the `tokens` that enter the rank: it is quantised, copied to its experts' rows and gathered from them, whatever
 * share of its `pairs` (tokens x experts) the rank computes.  A group is a touched expert. */
rc_work rc_experts_work(double width, double inner, double weight_bytes, double tokens, double distinct, double pairs,
                        double token_tile);
bool rc_experts_init(rc_experts *experts, const rc_ffn *ffn, double hidden, rc_format_id format,
                     const rc_scenario *scenario, rc_arena *arena);
/* `tokens` of the whole group that shares the experts, `distinct` experts they touch. */
void rc_experts_add(const rc_experts *experts, double tokens, double distinct, rc_step_cost *cost);
#endif
