/* SPDX-License-Identifier: GPL-3.0-or-later
 * routing.h - how many different experts a step touches.
 *
 * Uniform routing of T tokens to k of E experts: E (1 - (1 - k/E)^T).
 * Skewed popularity w_e: drawing k experts without replacement, an expert is among them with a chance near
 * 1 - exp(-c w_e) (Rosen 1972, successive sampling), c such that the chances add up to k.  Then T independent tokens
 * touch  sum of 1 - exp(-c w_e T).  Log-normal popularity takes the quantiles of the distribution for w_e, Zipf's law
 * w_e = e^-s, a measured histogram its counts.
 * Known values (Kimi K3, 896 experts, top 16, uniform): 1 -> 16.0, 8 -> 120.3, 64 -> 613.2, 256 -> 887.1.
 */
#ifndef RC_COST_ROUTING_H
#define RC_COST_ROUTING_H
#include "workload.h"

double rc_distinct_uniform(double experts, double top_k, double tokens);

/* Popularity of experts under one traffic; immutable. */
typedef struct rc_popularity {
    double experts, top_k;
    bool uniform;
    double *rates;     /* c w_e of each expert; in the arena */
    double *tabulated; /* distinct experts on a grid of tokens; in the arena */
} rc_popularity;

void rc_popularity_init(rc_popularity *popularity, const rc_routing *routing, double experts, double top_k,
                        rc_arena *arena);
/* Interpolated in a table made at init; within 1e-6 of rc_popularity_distinct_exactly. */
double rc_popularity_distinct(const rc_popularity *popularity, double tokens);
double rc_popularity_distinct_exactly(const rc_popularity *popularity, double tokens);
/* The tokens that a decoding sequence has in a step, drafts among them, as independent ones that touch as many experts. */
double rc_unlike_tokens(const rc_routing *routing, double drafts);
#endif
