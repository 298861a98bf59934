/* SPDX-License-Identifier: GPL-3.0-or-later
 * rank_load.h - what the busiest of the ranks that share the experts gets, against the mean.
 *
 * In expert parallelism every layer waits for the rank with most to do.  Experts lie on ranks as they are numbered, and
 * their number says nothing of their popularity: each layer is another drawing of lots.  A rank whose experts are chosen
 * with chances q_e gets T sum q pairs of T tokens, with a variance of T sum q (1 - q), and touches sum p of them,
 * p = 1 - (1 - q)^T, with a variance of sum p (1 - p).  The expected maximum over the ranks is tabulated over T by Monte
 * Carlo once, and interpolated in the logarithm of T.
 *
 * Balancing (EPLB) knows the popularity: redundant slots go to the experts with the most pairs a copy, then copies go,
 * largest first, to the rank with the least load that has a slot left.  Traffic drifts from the counts that placed it, and
 * stays as skewed as it was: ln q_e becomes m + (ln q_e - m) sqrt(1 - drift^2 / v) + drift z, z normal, with m and v the mean
 * and variance of ln q_e.
 * Known values (many tokens): uniform popularity 1; two ranks of one expert each, chosen with chances 0.682 and 0.318: 1.365.
 * DeepSeek-R1 without balancing at EP32 has 2.56 on average over layers and, with 288 slots on 36 ranks, 1.12 (TensorRT-LLM,
 * examples/wide_ep/ep_load_balancer): log-normal popularity with sigma 1.21 gives the first, a drift of 0.115 the second.
 */
#ifndef RC_COST_RANK_LOAD_H
#define RC_COST_RANK_LOAD_H
#include "routing.h"

enum { RC_LOAD_POINTS = 11 }; /* tokens 1, 4, 16, ... */

typedef struct rc_balance {
    bool balanced;    /* placed by popularity; else as they are numbered */
    double redundant; /* slots beyond one for each expert, all ranks together */
    double drift;     /* of the logarithm of popularity since the counts were taken */
} rc_balance;

/* All zero: every rank gets the mean.  Immutable. */
typedef struct rc_rank_load {
    bool skewed;
    double pairs[RC_LOAD_POINTS], distinct[RC_LOAD_POINTS]; /* busiest over mean; the mean counts no copies */
} rc_rank_load;

void rc_rank_load_init(rc_rank_load *load, const rc_popularity *popularity, double ranks, const rc_balance *balance);
/* Token-expert pairs of the busiest rank over the mean of all, at `tokens` of the whole group. */
double rc_rank_load_pairs(const rc_rank_load *load, double tokens);
/* Different experts that a rank touches at most, over the mean. */
double rc_rank_load_distinct(const rc_rank_load *load, double tokens);
#endif
