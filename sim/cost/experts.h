/* SPDX-License-Identifier: GPL-3.0-or-later
 * experts.h - the grouped GEMMs of routed experts.
 * On a rank: D distinct experts of h x n columns (n padded to the kernel's tile), P token-expert pairs.
 *   bytes = 3 D h n w + P (2 h + 3 n) 2        flops = 6 h n P'
 * with P' the pairs after every expert's tokens were rounded up to a tile.  Libraries choose the tile before they know
 * where the tokens go: for the mean of the tokens that enter the rank, as if all their experts were here.  It is the power
 * of two from that mean on, at least 8, at most the widest the kernel has.  So few experts on a rank (EP) run wide tiles
 * that stay mostly empty.
 * A fused kernel (DeepGEMM's MegaMoE) sends tokens to their experts, computes and brings results back in one; its tiles are
 * small, and a unit is a pair: bytes and flops as above with P' = P.
 * With EP the layer takes as long as the busiest rank: D and P are the means times what rank_load.h says.
 */
#ifndef RC_COST_EXPERTS_H
#define RC_COST_EXPERTS_H
#include "kernel.h"
#include "rank_load.h"

typedef struct rc_experts {
    double count;        /* layers */
    double width, inner; /* h, and n on this rank before padding */
    double padded_inner;
    double top_k;
    double ranks;        /* ranks that share the experts by expert (EP) */
    double held;         /* experts on a rank */
    bool fused;          /* one kernel sends, computes and brings back */
    bool sent;           /* only the tokens of its experts come to a rank (DP); else every token is on every rank */
    double weight_bytes; /* of one value, scales included */
    rc_popularity popularity;
    rc_rank_load load; /* what the busiest rank gets: all others wait for it */
    rc_rate rate;
} rc_experts;

/* One call of the kernel on a rank. */
typedef struct rc_expert_call {
    double width, inner, weight_bytes; /* h, n after padding, w */
    double tokens;             /* that enter the rank: each is quantised, copied to its experts' rows and gathered
                                          from them, whatever share of its pairs the rank computes; the units */
    double pairs, distinct;    /* computed here; experts touched, the groups */
    double mean_tokens;        /* of an expert, as the library sees it beforehand */
    double top_k, held, ranks; /* as in rc_experts: only curves ask for them */
    double widest_tile;        /* 1: no tiles */
    bool dealt;                /* tokens go to experts in turn, each gets as many */
} rc_expert_call;

rc_work rc_experts_work(const rc_expert_call *call);
rc_work rc_fused_experts_work(double width, double inner, double weight_bytes, double pairs, double distinct);
bool rc_experts_init(rc_experts *experts, const rc_ffn *ffn, double hidden, rc_format_id format,
                     const rc_scenario *scenario, rc_arena *arena);
/* `tokens` of the whole group that shares the experts, `distinct` experts they touch. */
void rc_experts_add(const rc_experts *experts, double tokens, double distinct, rc_step_cost *cost);
#endif
