/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel_fit.h"
#include "hash.h"
#include <gsl/gsl_blas.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PARAMETERS_MAX = 6, ROUNDS = 12, STEPS_MAX = 40, ROWS_MAX = 4000 };
static const double loss_scale = 0.1; /* logarithm: errors above 10 % count less and less */

/* Calls as the solver sees them: memory and compute seconds at the data sheet's rates. */
typedef struct problem {
    double *memory_s, *compute_s, *units, *groups, *log_time, *weight;
    size_t count;
    int parameters; /* 4, 5 with the time of a unit, 6 with the time of a group */
} problem;

/* ---------- the model, in unbounded parameters */

static double between(double x, double low, double high) {
    return low + (high - low) / (1 + exp(-x));
}

static double unbounded(double value, double low, double high) {
    double share = (value - low) / (high - low);
    return log(share / (1 - share));
}

static double predicted_s(const problem *p, const double *x, size_t i) {
    double memory = p->memory_s[i] / between(x[1], 0.001, 1), compute = p->compute_s[i] / between(x[2], 0.001, 1);
    double sharpness = between(x[3], 1, 8), larger = fmax(memory, compute), smaller = fmin(memory, compute);
    double body = larger > 0 ? larger * pow(1 + pow(smaller / larger, sharpness), 1 / sharpness) : 0;
    return exp(x[0]) + body + (p->parameters > 4 ? exp(x[4]) * p->units[i] : 0) +
           (p->parameters > 5 ? exp(x[5]) * p->groups[i] : 0);
}

static int residuals(const gsl_vector *x, void *data, gsl_vector *f) {
    const problem *p = data;
    for (size_t i = 0; i < p->count; i++)
        gsl_vector_set(f, i, log(predicted_s(p, x->data, i)) - p->log_time[i]);
    return GSL_SUCCESS;
}

static double robust_loss(const problem *p, const double *x) {
    double sum = 0;
    for (size_t i = 0; i < p->count; i++) {
        double r = (log(predicted_s(p, x, i)) - p->log_time[i]) / loss_scale;
        sum += p->weight[i] * log1p(r * r);
    }
    return sum;
}

/* ---------- solving */

static void solve_once(problem *p, double *x, const gsl_vector *weights) {
    gsl_multifit_nlinear_parameters options = gsl_multifit_nlinear_default_parameters();
    gsl_multifit_nlinear_fdf system = {.f = residuals, .n = p->count, .p = (size_t)p->parameters, .params = p};
    gsl_multifit_nlinear_workspace *space =
        gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &options, p->count, (size_t)p->parameters);
    gsl_vector_const_view start = gsl_vector_const_view_array(x, (size_t)p->parameters);
    int info;
    if (gsl_multifit_nlinear_winit(&start.vector, weights, &system, space) == GSL_SUCCESS) {
        gsl_multifit_nlinear_driver(STEPS_MAX, 1e-8, 1e-8, 1e-10, NULL, NULL, &info, space);
        const gsl_vector *found = gsl_multifit_nlinear_position(space);
        for (int i = 0; i < p->parameters; i++)
            x[i] = gsl_vector_get(found, (size_t)i);
    }
    gsl_multifit_nlinear_free(space);
}

/* Re-weighted least squares from one start, the loss made narrower round by round; returns the robust loss. */
static double solve_from(problem *p, double *x) {
    gsl_vector *weights = gsl_vector_alloc(p->count);
    double scale = loss_scale * 16;
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < p->count; i++) {
            double r = (log(predicted_s(p, x, i)) - p->log_time[i]) / scale;
            gsl_vector_set(weights, i, p->weight[i] / (1 + r * r));
        }
        solve_once(p, x, weights);
        scale = fmax(loss_scale, scale / 2);
    }
    gsl_vector_free(weights);
    double loss = robust_loss(p, x);
    return isfinite(loss) ? loss : INFINITY;
}

static double solve(problem *p, double shortest_s, double *best) {
    static const double starts[][3] = {{0.8, 0.6, 2.5}, {0.5, 0.2, 1.3}, {0.9, 0.05, 1.8}}; /* em, ec, p */
    double least = INFINITY;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        double x[PARAMETERS_MAX] = {log(0.9 * shortest_s),
                                    unbounded(starts[i][0], 0.001, 1),
                                    unbounded(starts[i][1], 0.001, 1),
                                    unbounded(starts[i][2], 1, 8),
                                    log(1e-8),
                                    log(1e-8)};
        double loss = solve_from(p, x);
        if (loss < least) {
            least = loss;
            memcpy(best, x, sizeof x);
        }
    }
    return least;
}

/* ---------- samples to a problem */

static bool is_decode(rc_sample_kind kind) {
    return kind == RC_SAMPLE_MLA_DECODE || kind == RC_SAMPLE_GQA_DECODE || kind == RC_SAMPLE_LINEAR_DECODE;
}

static bool has_units(rc_sample_kind kind) {
    return kind == RC_SAMPLE_MLA_DECODE || kind == RC_SAMPLE_GQA_DECODE || kind == RC_SAMPLE_LINEAR_PREFILL;
}

/* A third of the shapes, whatever is measured beside them. */
static bool is_held_out(const rc_sample *s) {
    return rc_hash_bytes(RC_HASH_START, s->shape, sizeof s->shape) % 3 == 0;
}

static rc_peak peak_of(const rc_sample *s) {
    bool fp8 = s->kind == RC_SAMPLE_MLA_DECODE && s->shape[3] < 2;
    double bits = rc_number_format_of(s->format)->activation_bytes * 8;
    bool matrix = s->kind == RC_SAMPLE_GEMM || s->kind == RC_SAMPLE_EXPERTS;
    return fp8 ? RC_PEAK_FP8 : !matrix || bits > 12 ? RC_PEAK_BF16 : bits > 6 ? RC_PEAK_FP8 : RC_PEAK_FP4;
}

static double cache_weight(const rc_sample *s, double bytes, double cache) {
    bool cached = is_decode(s->kind) && bytes > 0.05 * cache && bytes < 1.2 * cache;
    return cached ? 0.1 : 1;
}

static void fill_problem(problem *p, const rc_sample *samples, size_t count, const rc_accelerator *a, double tile,
                         bool held_out) {
    size_t wanted = 0, stride;
    for (size_t i = 0; i < count; i++)
        wanted += is_held_out(&samples[i]) == held_out;
    stride = held_out ? 1 : wanted / ROWS_MAX + 1;
    p->count = 0;
    wanted = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_held_out(&samples[i]) != held_out || wanted++ % stride)
            continue;
        rc_work work = rc_sample_work(&samples[i], tile);
        p->memory_s[p->count] = work.bytes / a->memory_bytes_per_s;
        p->compute_s[p->count] = work.flops / rc_peak_flops(a, peak_of(&samples[i]));
        p->units[p->count] = work.units;
        p->groups[p->count] = work.groups;
        p->log_time[p->count] = log(samples[i].seconds);
        p->weight[p->count] =
            cache_weight(&samples[i], work.bytes, isnan(a->last_level_cache_bytes) ? 0 : a->last_level_cache_bytes);
        p->count++;
    }
}

/* Median and 90th percentile of the error of calls that count in full. */
static void measure_errors(const problem *p, const double *x, double *median, double *p90) {
    double *errors = rc_allocate((p->count + 1) * sizeof *errors);
    size_t n = 0;
    for (size_t i = 0; i < p->count; i++)
        if (p->weight[i] == 1)
            errors[n++] = fabs(predicted_s(p, x, i) / exp(p->log_time[i]) - 1);
    gsl_sort(errors, 1, n);
    *median = n ? gsl_stats_quantile_from_sorted_data(errors, 1, n, 0.5) : NAN;
    *p90 = n ? gsl_stats_quantile_from_sorted_data(errors, 1, n, 0.9) : NAN;
    free(errors);
}

/* Neighbours are calls of one shape but for what grows. */
static double share_of_falls(const rc_sample *samples, size_t count) {
    size_t neighbours = 0, falls = 0;
    for (size_t i = 1; i < count; i++) {
        bool next = samples[i].shape[0] > samples[i - 1].shape[0] &&
                    memcmp(samples[i].shape + 1, samples[i - 1].shape + 1, sizeof samples->shape - sizeof(double)) == 0;
        neighbours += next;
        falls += next && samples[i].seconds < 0.95 * samples[i - 1].seconds;
    }
    return neighbours ? (double)falls / (double)neighbours : 0;
}

/* ---------- whole */

static double rounded(double value) {
    const double nothing = 1e-12; /* seconds: a term that the rows have no use for */
    char text[40];
    if (value < nothing)
        return 0;
    snprintf(text, sizeof text, "%.4g", value);
    return strtod(text, NULL);
}

static rc_kernel kernel_of(const double *x, const rc_sample *sample, int parameters, double tile) {
    bool experts = sample->kind == RC_SAMPLE_EXPERTS;
    return (rc_kernel){.name = sample->family,
                       .launch_s = rounded(exp(x[0])),
                       .memory_efficiency = rounded(between(x[1], 0.001, 1)),
                       .compute_efficiency = rounded(between(x[2], 0.001, 1)),
                       .sharpness = rounded(between(x[3], 1, 8)),
                       .peak = peak_of(sample),
                       .unit_time_s = parameters > 4 ? rounded(exp(x[4])) : 0,
                       .group_time_s = parameters > 5 ? rounded(exp(x[5])) : 0,
                       .column_tile = experts ? tile : 1,
                       .head_tile = experts ? 1 : tile,
                       .token_tile = 1,
                       .provenance = RC_FITTED};
}

rc_kernel_fit rc_kernel_fit_family(const rc_sample *samples, size_t count, const rc_accelerator *accelerator) {
    static const double no_tiles[] = {1}, column_tiles[] = {1, 64, 128, 256, 512}, head_tiles[] = {1, 16, 64, 128};
    bool experts = samples->kind == RC_SAMPLE_EXPERTS, heads = samples->kind == RC_SAMPLE_MLA_DECODE;
    const double *tiles = experts ? column_tiles : heads ? head_tiles : no_tiles;
    size_t tiles_count = experts ? 5 : heads ? 4 : 1;
    double *memory = rc_allocate(6 * count * sizeof *memory), shortest = INFINITY, least = INFINITY;
    problem p = {.memory_s = memory,
                 .compute_s = memory + count,
                 .units = memory + 2 * count,
                 .groups = memory + 3 * count,
                 .log_time = memory + 4 * count,
                 .weight = memory + 5 * count,
                 .parameters = experts                    ? 6
                               : has_units(samples->kind) ? 5
                                                          : 4};
    rc_kernel_fit fit = {.family = samples->family, .falls = share_of_falls(samples, count), .smallest = INFINITY};
    for (size_t i = 0; i < count; i++) {
        shortest = fmin(shortest, samples[i].seconds);
        fit.smallest = fmin(fit.smallest, samples[i].shape[0]);
        fit.largest = fmax(fit.largest, samples[i].shape[0]);
    }
    gsl_error_handler_t *before = gsl_set_error_handler_off(); /* a start that goes astray is not the best one */
    for (size_t t = 0; t < tiles_count; t++) {
        double x[PARAMETERS_MAX];
        fill_problem(&p, samples, count, accelerator, tiles[t], false);
        if (p.count <= (size_t)p.parameters)
            break;
        double loss = solve(&p, shortest, x);
        if (loss >= least * (1 - 1e-3)) /* a wider tile must be worth it */
            continue;
        least = loss;
        fit.fitted = p.count;
        fit.kernel = kernel_of(x, samples, p.parameters, tiles[t]);
        measure_errors(&p, x, &fit.fit_median_error, &fit.fit_p90_error);
        fill_problem(&p, samples, count, accelerator, tiles[t], true);
        fit.held_out = p.count;
        measure_errors(&p, x, &fit.median_error, &fit.p90_error);
    }
    gsl_set_error_handler(before);
    fit.explained = fit.median_error <= 0.10 && fit.p90_error <= 0.30;
    free(memory);
    return fit;
}
