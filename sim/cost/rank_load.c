/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rank_load.h"
#include "random.h"
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>

enum { SAMPLES = 64, DRIFTING_SAMPLES = 24 };

/* A copy of an expert and the rank it lies on. */
typedef struct slot {
    size_t expert, rank;
    double known; /* chance that a token comes to this copy, by the counts that placed it */
} slot;

typedef struct sampler {
    size_t experts, slots_count, ranks;
    double *chances; /* of each expert, as counted */
    double *traffic; /* as it comes */
    double *copies;
    slot *slots;
    double *touched; /* chance of a copy to be touched, by point of the grid and expert */

    rc_random *random;
} sampler;

static double grid_tokens(int point) {
    return exp2(2 * (double)point);
}

static double chance_of(const rc_popularity *p, size_t expert) {
    return p->uniform ? p->top_k / p->experts : -expm1(-p->rates[expert]);
}

/* ---------- who lies where */

static void place_as_numbered(sampler *s) {
    size_t each = s->slots_count / s->ranks;
    for (size_t i = 0; i < s->slots_count; i++)
        s->slots[i] = (slot){i, 0, s->chances[i]};
    gsl_ran_shuffle(s->random, s->slots, s->slots_count, sizeof *s->slots);
    for (size_t i = 0; i < s->slots_count; i++)
        s->slots[i].rank = i / each;
}

static int by_load_falling(const void *a, const void *b) {
    const slot *x = a, *y = b;
    return (x->known < y->known) - (x->known > y->known);
}

/* Copies to where a copy has most to do. */
static void make_copies(sampler *s) {
    for (size_t e = 0; e < s->experts; e++)
        s->copies[e] = 1;
    for (size_t r = s->experts; r < s->slots_count; r++) {
        size_t most = 0;
        for (size_t e = 1; e < s->experts; e++)
            if (s->chances[e] / s->copies[e] > s->chances[most] / s->copies[most])
                most = e;
        s->copies[most]++;
    }
}

/* The largest copies first, each to the rank with the least load that has a slot left. */
static void place_balanced(sampler *s) {
    size_t each = s->slots_count / s->ranks, count = 0;
    double *loads = rc_allocate(s->ranks * sizeof *loads);
    size_t *taken = rc_allocate(s->ranks * sizeof *taken);
    make_copies(s);
    for (size_t e = 0; e < s->experts; e++)
        for (double c = 0; c < s->copies[e]; c++)
            s->slots[count++] = (slot){e, 0, s->chances[e] / s->copies[e]};
    qsort(s->slots, count, sizeof *s->slots, by_load_falling);
    for (size_t i = 0; i < count; i++) {
        size_t least = s->ranks;
        for (size_t r = 0; r < s->ranks; r++)
            if (taken[r] < each && (least == s->ranks || loads[r] < loads[least]))
                least = r;
        s->slots[i].rank = least;
        loads[least] += s->slots[i].known;
        taken[least]++;
    }
    free(loads);
    free(taken);
}

/* Mean and variance of the logarithm of the chances that are not 0. */
static void spread_of(const sampler *s, double *mean, double *variance) {
    double sum = 0, squares = 0, n = 0;
    for (size_t e = 0; e < s->experts; e++)
        if (s->chances[e] > 0) {
            sum += log(s->chances[e]);
            squares += log(s->chances[e]) * log(s->chances[e]);
            n++;
        }
    *mean = sum / n;
    *variance = squares / n - *mean * *mean;
}

/* Traffic that has drifted from its counts: as many pairs and as much skew as before, but of other experts. */
static void drift_traffic(sampler *s, double drift) {
    double before = 0, after = 0, mean, variance;
    spread_of(s, &mean, &variance);
    drift = fmin(drift, sqrt(fmax(variance, 0))); /* nothing is left of the counts then */
    double kept = variance > 0 ? sqrt(fmax(0, 1 - drift * drift / variance)) : 1;
    for (size_t e = 0; e < s->experts; e++) {
        double z = gsl_ran_ugaussian(s->random), chance = s->chances[e];
        bool drifts = drift > 0 && chance > 0;
        s->traffic[e] = drifts ? exp(mean + kept * (log(chance) - mean) + drift * z) : chance;
        before += s->chances[e];
        after += s->traffic[e];
    }
    for (size_t e = 0; e < s->experts; e++)
        s->traffic[e] = fmin(1, s->traffic[e] * before / after);
}

static double chance_of_copy(const sampler *s, size_t expert) {
    return s->traffic[expert] / s->copies[expert];
}

static void tabulate_touched(sampler *s) {
    for (int i = 0; i < RC_LOAD_POINTS; i++)
        for (size_t e = 0; e < s->experts; e++) {
            double q = chance_of_copy(s, e);
            s->touched[(size_t)i * s->experts + e] = q < 1 ? -expm1(grid_tokens(i) * log1p(-q)) : 1;
        }
}

/* ---------- the busiest rank */

typedef struct rank_sums {
    double pairs, pairs_variance, touched, touched_variance;
} rank_sums;

/* Adds the busiest rank's pairs and experts at one point of the grid. */
static void add_busiest(sampler *s, rank_sums *sums, int point, double *pairs, double *distinct) {
    double most_pairs = 0, most_distinct = 0, tokens = grid_tokens(point);
    const double *touched = s->touched + (size_t)point * s->experts;
    for (size_t r = 0; r < s->ranks; r++)
        sums[r] = (rank_sums){0};
    for (size_t i = 0; i < s->slots_count; i++) {
        const slot *at = &s->slots[i];
        double q = chance_of_copy(s, at->expert), p = touched[at->expert];
        rank_sums *rank = &sums[at->rank];
        rank->pairs += tokens * q;
        rank->pairs_variance += tokens * q * (1 - q);
        rank->touched += p;
        rank->touched_variance += p * (1 - p);
    }
    for (size_t r = 0; r < s->ranks; r++) {
        double z = gsl_ran_ugaussian(s->random);
        most_pairs = fmax(most_pairs, sums[r].pairs + z * sqrt(sums[r].pairs_variance));
        most_distinct = fmax(most_distinct, sums[r].touched + z * sqrt(sums[r].touched_variance));
    }
    *pairs += most_pairs;
    *distinct += fmin(most_distinct, (double)(s->slots_count / s->ranks));
}

static void sample_all(sampler *s, rc_rank_load *load, const rc_popularity *popularity, const rc_balance *balance) {
    rank_sums *sums = rc_allocate(s->ranks * sizeof *sums);
    int samples = balance->drift > 0 ? DRIFTING_SAMPLES : SAMPLES;
    if (balance->balanced)
        place_balanced(s);
    for (int sample = 0; sample < samples; sample++) {
        if (!balance->balanced)
            place_as_numbered(s);
        if (sample == 0 || balance->drift > 0) {
            drift_traffic(s, balance->drift);
            tabulate_touched(s);
        }
        for (int i = 0; i < RC_LOAD_POINTS; i++)
            add_busiest(s, sums, i, &load->pairs[i], &load->distinct[i]);
    }
    for (int i = 0; i < RC_LOAD_POINTS; i++) {
        double tokens = grid_tokens(i), ranks = (double)s->ranks;
        load->pairs[i] /= samples * tokens * popularity->top_k / ranks;
        load->distinct[i] /= samples * rc_popularity_distinct_exactly(popularity, tokens) / ranks;
    }
    free(sums);
}

void rc_rank_load_init(rc_rank_load *load, const rc_popularity *popularity, double ranks, const rc_balance *balance) {
    *load = (rc_rank_load){.skewed = ranks > 1};
    if (!load->skewed)
        return;
    sampler s = {.experts = (size_t)popularity->experts, .ranks = (size_t)ranks};
    s.slots_count = s.experts + (size_t)balance->redundant;
    s.chances = rc_allocate(s.experts * sizeof *s.chances);
    s.traffic = rc_allocate(s.experts * sizeof *s.traffic);
    s.copies = rc_allocate(s.experts * sizeof *s.copies);
    s.touched = rc_allocate(RC_LOAD_POINTS * s.experts * sizeof *s.touched);
    s.slots = rc_allocate(s.slots_count * sizeof *s.slots);
    s.random = rc_random_new(1, "expert placement"); /* of the hardware, not of the run: any seed sees the same rack */
    for (size_t e = 0; e < s.experts; e++) {
        s.chances[e] = chance_of(popularity, e);
        s.copies[e] = 1;
    }
    sample_all(&s, load, popularity, balance);
    rc_random_free(s.random);
    free(s.chances);
    free(s.traffic);
    free(s.copies);
    free(s.touched);
    free(s.slots);
}

static double interpolated(const double *table, double tokens) {
    double place = fmin(fmax(log2(fmax(tokens, 1)) / 2, 0), RC_LOAD_POINTS - 1);
    int first = (int)fmin(floor(place), RC_LOAD_POINTS - 2);
    return table[first] + (table[first + 1] - table[first]) * (place - first);
}

double rc_rank_load_pairs(const rc_rank_load *load, double tokens) {
    return load->skewed ? interpolated(load->pairs, tokens) : 1;
}

double rc_rank_load_distinct(const rc_rank_load *load, double tokens) {
    return load->skewed ? interpolated(load->distinct, tokens) : 1;
}
