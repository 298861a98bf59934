/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "routing.h"
#include <gsl/gsl_cdf.h>
#include <math.h>

enum { GRID_PER_OCTAVE = 16, GRID_OCTAVES = 15, GRID_POINTS = GRID_PER_OCTAVE * GRID_OCTAVES + 1 };

static double grid_tokens(int point) {
    return exp2((double)point / GRID_PER_OCTAVE);
}

double rc_distinct_uniform(double experts, double top_k, double tokens) {
    return experts * -expm1(tokens * log1p(-top_k / experts));
}

static double chosen(const double *weights, double experts, double c) {
    double sum = 0;
    for (size_t e = 0; e < (size_t)experts; e++)
        sum += -expm1(-c * weights[e]);
    return sum;
}

/* c by bisection: the sum grows with c from 0 to the number of experts. */
static double solve_scale(const double *weights, double experts, double top_k) {
    double low = 0, high = 1;
    while (chosen(weights, experts, high) < top_k)
        high *= 2;
    for (int i = 0; i < 200 && high - low > 1e-14 * high; i++) {
        double middle = (low + high) / 2;
        if (chosen(weights, experts, middle) < top_k)
            low = middle;
        else
            high = middle;
    }
    return high;
}

static double weight_of(const rc_routing *routing, double experts, size_t expert) {
    switch (routing->kind) {
    case RC_ROUTING_ZIPF: return pow((double)expert + 1, -routing->exponent);
    case RC_ROUTING_HISTOGRAM: return routing->counts[expert];
    default: return exp(routing->sigma * gsl_cdf_ugaussian_Pinv(((double)expert + 0.5) / experts));
    }
}

void rc_popularity_init(rc_popularity *popularity, const rc_routing *routing, double experts, double top_k,
                        rc_arena *arena) {
    bool uniform = routing->kind == RC_ROUTING_UNIFORM || top_k >= experts ||
                   (routing->kind == RC_ROUTING_LOGNORMAL && routing->sigma == 0);
    *popularity = (rc_popularity){.experts = experts, .top_k = top_k, .uniform = uniform};
    if (uniform)
        return;
    double *rates = rc_arena_take(arena, (size_t)experts * sizeof *rates);
    for (size_t e = 0; e < (size_t)experts; e++)
        rates[e] = weight_of(routing, experts, e);
    double scale = solve_scale(rates, experts, top_k);
    for (size_t e = 0; e < (size_t)experts; e++)
        rates[e] *= scale;
    popularity->rates = rates;
    popularity->tabulated = rc_arena_take(arena, GRID_POINTS * sizeof(double));
    for (int i = 0; i < GRID_POINTS; i++)
        popularity->tabulated[i] = chosen(rates, experts, grid_tokens(i));
}

double rc_popularity_distinct_exactly(const rc_popularity *popularity, double tokens) {
    if (popularity->top_k >= popularity->experts)
        return popularity->experts;
    return popularity->uniform ? rc_distinct_uniform(popularity->experts, popularity->top_k, tokens)
                               : chosen(popularity->rates, popularity->experts, tokens);
}

/* Cubic through the four nearest points of the grid, in the logarithm of tokens. */
double rc_popularity_distinct(const rc_popularity *popularity, double tokens) {
    double place = log2(tokens) * GRID_PER_OCTAVE;
    int first = (int)floor(place) - 1;
    if (popularity->uniform || first < 0 || first + 3 >= GRID_POINTS)
        return rc_popularity_distinct_exactly(popularity, tokens);
    const double *y = popularity->tabulated + first;
    double t = place - first - 1; /* 0 to 1 between the two middle points */
    return y[0] * -t * (t - 1) * (t - 2) / 6 + y[1] * (t + 1) * (t - 1) * (t - 2) / 2 -
           y[2] * (t + 1) * t * (t - 2) / 2 + y[3] * (t + 1) * t * (t - 1) / 6;
}

double rc_unlike_tokens(const rc_routing *routing, double drafts) {
    return 1 + drafts * (1 - routing->draft_likeness);
}
