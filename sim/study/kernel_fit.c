/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel_fit.h"
#include "neighbours.h"
#include "quantile.h"
#include "shape_fit.h"
#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is fitted: the first four of every family, the time of a unit, a group or the depth where its work has some. */
enum { LAUNCH, MEMORY, COMPUTE, SHARPNESS, UNIT, GROUP, DEPTH, PARAMETERS_MAX };
enum { ROUNDS = 12, STEPS_MAX = 40, ROWS_MAX = 4000, TILES_MAX = 20 };

static const double loss_scale = 0.1; /* logarithm: errors above 10 % count less and less */
static const double widest_scale = 1.6;
static const double efficiency_low = 0.001, efficiency_high = 1, sharpness_low = 1, sharpness_high = 8;
/* Recorders repeat one call: a working set between these shares of the last-level cache is read from it. */
static const double cached_from = 0.05, cached_to = 1.2, cached_weight = 0.1;
static const double fall = 0.95;                                   /* a time that falls by more is another kernel's */
static const double explained_median = 0.10, explained_p90 = 0.30; /* what a forecast can live with */

/* A call as the solver sees it: memory and compute seconds at the data sheet's rates. */
typedef struct call {
    double memory_s, compute_s, units, groups, depth, log_time, weight;
    double axes[RC_AXIS_COUNT];
    const rc_sample *sample;
} call;

typedef struct problem {
    call *calls;
    size_t count;
    int fitted[PARAMETERS_MAX]; /* which parameters */
    size_t fitted_count;
} problem;

/* ---------- the model, in unbounded parameters */

static double between(double x, double low, double high) {
    return low + (high - low) / (1 + exp(-x));
}

static double unbounded(double value, double low, double high) {
    double share = (value - low) / (high - low);
    return log(share / (1 - share));
}

static double efficiency(double x) {
    return between(x, efficiency_low, efficiency_high);
}

/* All parameters; those that are not fitted are -infinity, the logarithm of no time. */
static double predicted_s(const double *x, const call *c) {
    double memory = c->memory_s / efficiency(x[MEMORY]), compute = c->compute_s / efficiency(x[COMPUTE]);
    double sharpness = between(x[SHARPNESS], sharpness_low, sharpness_high);
    double larger = fmax(memory, compute), smaller = fmin(memory, compute);
    double body = larger > 0 ? larger * pow(1 + pow(smaller / larger, sharpness), 1 / sharpness) : 0;
    return exp(x[LAUNCH]) + body + exp(x[UNIT]) * c->units + exp(x[GROUP]) * c->groups + exp(x[DEPTH]) * c->depth;
}

static double residual(const problem *p, const double *x, size_t i) {
    return log(predicted_s(x, &p->calls[i])) - p->calls[i].log_time;
}

/* The solver's vector holds the fitted parameters alone. */
static void spread(const problem *p, const gsl_vector *fitted, double *all) {
    for (int i = 0; i < PARAMETERS_MAX; i++)
        all[i] = -INFINITY;
    for (size_t i = 0; i < p->fitted_count; i++)
        all[p->fitted[i]] = gsl_vector_get(fitted, i);
}

static int residuals(const gsl_vector *x, void *data, gsl_vector *f) {
    const problem *p = data;
    double all[PARAMETERS_MAX];
    spread(p, x, all);
    for (size_t i = 0; i < p->count; i++)
        gsl_vector_set(f, i, residual(p, all, i));
    return GSL_SUCCESS;
}

static double robust_loss(const problem *p, const double *x) {
    double sum = 0;
    for (size_t i = 0; i < p->count; i++) {
        double r = residual(p, x, i) / loss_scale;
        sum += p->calls[i].weight * log1p(r * r);
    }
    return sum;
}

/* ---------- solving */

static void solve_once(problem *p, double *x, const gsl_vector *weights) {
    gsl_multifit_nlinear_parameters options = gsl_multifit_nlinear_default_parameters();
    gsl_multifit_nlinear_fdf system = {.f = residuals, .n = p->count, .p = p->fitted_count, .params = p};
    gsl_multifit_nlinear_workspace *space =
        gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &options, p->count, p->fitted_count);
    gsl_vector *start = gsl_vector_alloc(p->fitted_count);
    int info;
    for (size_t i = 0; i < p->fitted_count; i++)
        gsl_vector_set(start, i, x[p->fitted[i]]);
    if (gsl_multifit_nlinear_winit(start, weights, &system, space) == GSL_SUCCESS) {
        gsl_multifit_nlinear_driver(STEPS_MAX, 1e-8, 1e-8, 1e-10, NULL, NULL, &info, space);
        spread(p, gsl_multifit_nlinear_position(space), x);
    }
    gsl_vector_free(start);
    gsl_multifit_nlinear_free(space);
}

/* Re-weighted least squares from one start, the loss made narrower round by round; returns the robust loss. */
static double solve_from(problem *p, double *x) {
    gsl_vector *weights = gsl_vector_alloc(p->count);
    double scale = widest_scale;
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < p->count; i++) {
            double r = residual(p, x, i) / scale;
            gsl_vector_set(weights, i, p->calls[i].weight / (1 + r * r));
        }
        solve_once(p, x, weights);
        scale = fmax(loss_scale, scale / 2);
    }
    gsl_vector_free(weights);
    double loss = robust_loss(p, x);
    return isfinite(loss) ? loss : INFINITY;
}

static double solve(problem *p, double shortest_s, double *best) {
    static const double starts[][3] = {
        {0.8, 0.6, 2.5}, {0.5, 0.2, 1.3}, {0.9, 0.05, 1.8}, {0.2, 0.01, 1.1}}; /* em, ec, p */
    double least = INFINITY;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        const double start[PARAMETERS_MAX] = {
            [LAUNCH] = log(0.9 * shortest_s),
            [MEMORY] = unbounded(starts[i][0], efficiency_low, efficiency_high),
            [COMPUTE] = unbounded(starts[i][1], efficiency_low, efficiency_high),
            [SHARPNESS] = unbounded(starts[i][2], sharpness_low, sharpness_high),
            [UNIT] = log(1e-8),
            [GROUP] = log(1e-8),
            [DEPTH] = log(1e-10),
        };
        double x[PARAMETERS_MAX];
        for (int k = 0; k < PARAMETERS_MAX; k++)
            x[k] = -INFINITY;
        for (size_t k = 0; k < p->fitted_count; k++)
            x[p->fitted[k]] = start[p->fitted[k]];
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

/* What the work of a kind has beside bytes and FLOP. */
static const struct {
    bool units, groups, depth;
} terms[] = {
    [RC_SAMPLE_GEMM] = {.depth = true},
    [RC_SAMPLE_BMM] = {.depth = false}, /* the tables have one depth */
    [RC_SAMPLE_EXPERTS] = {.units = true, .groups = true},
    [RC_SAMPLE_FUSED_EXPERTS] = {.units = true},
    [RC_SAMPLE_MLA_DECODE] = {.units = true, .depth = true},
    [RC_SAMPLE_MLA_PREFILL] = {.units = true, .depth = true},
    [RC_SAMPLE_MLA_SPARSE] = {.depth = false},
    [RC_SAMPLE_INDEXER] = {.depth = true},
    [RC_SAMPLE_TOP_K] = {.units = true},
    [RC_SAMPLE_GQA_DECODE] = {.units = true, .depth = true},
    [RC_SAMPLE_GQA_PREFILL] = {.units = true, .depth = true},
    [RC_SAMPLE_LINEAR_DECODE] = {.depth = false},
    [RC_SAMPLE_LINEAR_PREFILL] = {.depth = true},
};

static void choose_parameters(problem *p, rc_sample_kind kind) {
    const bool has[PARAMETERS_MAX] = {true, true, true, true, terms[kind].units, terms[kind].groups, terms[kind].depth};
    p->fitted_count = 0;
    for (int i = LAUNCH; i < PARAMETERS_MAX; i++)
        if (has[i])
            p->fitted[p->fitted_count++] = i;
}

static double cache_weight(const rc_sample *s, double bytes, double cache) {
    bool cached = is_decode(s->kind) && bytes > cached_from * cache && bytes < cached_to * cache;
    return cached ? cached_weight : 1;
}

static void fill_problem(problem *p, const rc_sample *samples, size_t count, const rc_accelerator *a, rc_tiles tiles,
                         bool held_out) {
    double cache = isnan(a->last_level_cache_bytes) ? 0 : a->last_level_cache_bytes;
    size_t wanted = 0, stride;
    for (size_t i = 0; i < count; i++)
        wanted += rc_sample_is_held_out(&samples[i]) == held_out;
    stride = held_out ? 1 : wanted / ROWS_MAX + 1;
    p->count = 0;
    wanted = 0;
    for (size_t i = 0; i < count; i++) {
        if (rc_sample_is_held_out(&samples[i]) != held_out || wanted++ % stride)
            continue;
        rc_work work = rc_sample_work(&samples[i], tiles);
        call *c = &p->calls[p->count++];
        *c = (call){
            .memory_s = work.bytes / a->memory_bytes_per_s,
            .compute_s = work.flops / rc_peak_flops(a, samples[i].peak),
            .units = work.units,
            .groups = work.groups,
            .depth = work.depth,
            .log_time = log(samples[i].seconds),
            .weight = cache_weight(&samples[i], work.bytes, cache),
            .sample = &samples[i],
        };
        for (int axis = 0; axis < RC_AXIS_COUNT; axis++)
            c->axes[axis] = rc_work_axis(&work, (rc_axis)axis);
    }
}

/* Median and 90th percentile of the error of calls that count in full. */
static void measure_errors(const problem *p, const double *x, const rc_kernel *k, double *median, double *p90) {
    double *errors = rc_allocate((p->count + 1) * sizeof *errors);
    size_t n = 0;
    for (size_t i = 0; i < p->count; i++)
        if (p->calls[i].weight == 1)
            errors[n++] =
                fabs(predicted_s(x, &p->calls[i]) * rc_shape_factor(k->curves, k->curves_count, p->calls[i].axes) /
                         exp(p->calls[i].log_time) -
                     1);
    *median = rc_quantile(errors, n, 0.5);
    *p90 = rc_quantile(errors, n, 0.9);
    free(errors);
}

/* What the formula leaves of the calls that count in full, as curves. */
static void fit_curves(const problem *p, const double *x, rc_kernel *kernel, rc_arena *arena) {
    rc_shape_row *rows = rc_allocate((p->count + 1) * sizeof *rows);
    rc_shape_curve curves[RC_CURVES_MAX];
    size_t count = 0;
    for (size_t i = 0; i < p->count; i++) {
        if (p->calls[i].weight != 1)
            continue;
        rows[count].residual = -residual(p, x, i);
        memcpy(rows[count++].axes, p->calls[i].axes, sizeof rows->axes);
    }
    kernel->curves_count = rc_shape_fit(rows, count, curves, arena);
    kernel->curves = rc_arena_take(arena, sizeof curves);
    memcpy(kernel->curves, curves, kernel->curves_count * sizeof *curves);
    free(rows);
}

/* Calls that count in full, by their place among the shapes and what the formula leaves of them. */
static rc_neighbour *places(const problem *p, const double *x, size_t *count) {
    rc_neighbour *list = rc_allocate((p->count + 1) * sizeof *list);
    *count = 0;
    for (size_t i = 0; i < p->count; i++)
        if (p->calls[i].weight == 1)
            list[(*count)++] = rc_neighbour_of(p->calls[i].sample, -residual(p, x, i));
    return list;
}

/* Neighbours are calls of one shape but for what grows. */
static double share_of_falls(const rc_sample *samples, size_t count) {
    size_t neighbours = 0, falls = 0;
    for (size_t i = 1; i < count; i++) {
        bool next = samples[i].shape[0] > samples[i - 1].shape[0] &&
                    memcmp(samples[i].shape + 1, samples[i - 1].shape + 1, sizeof samples->shape - sizeof(double)) == 0;
        neighbours += next;
        falls += next && samples[i].seconds < fall * samples[i - 1].seconds;
    }
    return neighbours ? (double)falls / (double)neighbours : 0;
}

/* ---------- whole */

static double rounded(double value) {
    const double nothing = 1e-12; /* seconds: a term that the rows have no use for */
    return value < nothing ? 0 : rc_four_digits(value);
}

static rc_kernel kernel_of(const double *x, const rc_sample *sample, rc_tiles tiles) {
    bool experts = sample->kind == RC_SAMPLE_EXPERTS;
    return (rc_kernel){.name = sample->family,
                       .launch_s = rounded(exp(x[LAUNCH])),
                       .memory_efficiency = rounded(efficiency(x[MEMORY])),
                       .compute_efficiency = rounded(efficiency(x[COMPUTE])),
                       .sharpness = rounded(between(x[SHARPNESS], sharpness_low, sharpness_high)),
                       .peak = sample->peak,
                       .unit_time_s = rounded(exp(x[UNIT])),
                       .group_time_s = rounded(exp(x[GROUP])),
                       .depth_time_s = rounded(exp(x[DEPTH])),
                       .column_tile = experts ? tiles.shape : 1,
                       .head_tile = experts ? 1 : tiles.shape,
                       .token_tile = experts ? tiles.tokens : 1,
                       .query_tile = experts ? 1 : tiles.tokens,
                       .packs_heads = tiles.packed,
                       .provenance = RC_FITTED};
}

/* Tiles that are tried: of the shape, and for each of them of the tokens; of prefill none, a head's, a group's. */
static size_t tiles_of(rc_sample_kind kind, rc_tiles *tiles) {
    enum { QUERY_TILE = 128 };
    static const rc_tiles prefill[] = {{1, 1, false}, {1, QUERY_TILE, false}, {1, QUERY_TILE, true}};
    if (kind == RC_SAMPLE_GQA_PREFILL || kind == RC_SAMPLE_MLA_PREFILL) {
        memcpy(tiles, prefill, sizeof prefill);
        return kind == RC_SAMPLE_GQA_PREFILL ? 3 : 2;
    }
    static const double none[] = {1}, columns[] = {1, 64, 128, 256, 512}, heads[] = {1, 16, 64, 128},
                        widest[] = {1, 64, 128, 256};
    bool experts = kind == RC_SAMPLE_EXPERTS, latent = kind == RC_SAMPLE_MLA_DECODE;
    const double *shapes = experts ? columns : latent ? heads : none;
    size_t shapes_count = experts ? 5 : latent ? 4 : 1, tokens_count = experts ? 4 : 1, count = 0;
    for (size_t s = 0; s < shapes_count; s++)
        for (size_t t = 0; t < tokens_count; t++)
            tiles[count++] = (rc_tiles){shapes[s], widest[t], false};
    return count;
}

bool rc_fit_explains(const rc_kernel_fit *fit) {
    return fit->median_error <= explained_median && fit->p90_error <= explained_p90;
}

rc_kernel_fit rc_kernel_fit_family(const rc_sample *samples, size_t count, const rc_accelerator *accelerator,
                                   rc_arena *arena) {
    rc_tiles tiles[TILES_MAX], chosen = RC_NO_TILES;
    double best[PARAMETERS_MAX];
    size_t tiles_count = tiles_of(samples->kind, tiles);
    double shortest = INFINITY, least = INFINITY;
    problem p = {.calls = rc_allocate(count * sizeof *p.calls)};
    rc_kernel_fit fit = {.family = samples->family,
                         .code = samples->kernel,
                         .falls = share_of_falls(samples, count),
                         .smallest = INFINITY};
    choose_parameters(&p, samples->kind);
    for (size_t i = 0; i < count; i++) {
        shortest = fmin(shortest, samples[i].seconds);
        fit.smallest = fmin(fit.smallest, samples[i].shape[0]);
        fit.largest = fmax(fit.largest, samples[i].shape[0]);
    }
    gsl_error_handler_t *before = gsl_set_error_handler_off(); /* a start that goes astray is not the best one */
    for (size_t t = 0; t < tiles_count; t++) {
        double x[PARAMETERS_MAX];
        fill_problem(&p, samples, count, accelerator, tiles[t], false);
        if (p.count <= p.fitted_count)
            break;
        double loss = solve(&p, shortest, x);
        if (loss >= least * (1 - 1e-3)) /* a wider tile must be worth it */
            continue;
        least = loss;
        fit.fitted = p.count;
        fit.kernel = kernel_of(x, samples, tiles[t]);
        memcpy(best, x, sizeof best);
        chosen = tiles[t];
    }
    gsl_set_error_handler(before);
    if (fit.fitted > 0) {
        fill_problem(&p, samples, count, accelerator, chosen, false);
        fit_curves(&p, best, &fit.kernel, arena);
        measure_errors(&p, best, &fit.kernel, &fit.fitted_median, &fit.fitted_p90);
        size_t known_count, unknown_count;
        rc_neighbour *known = places(&p, best, &known_count);
        fill_problem(&p, samples, count, accelerator, chosen, true);
        fit.held_out = p.count;
        measure_errors(&p, best, &fit.kernel, &fit.median_error, &fit.p90_error);
        rc_neighbour *unknown = places(&p, best, &unknown_count);
        rc_neighbours_floor(known, known_count, unknown, unknown_count, &fit.floor_median, &fit.floor_p90);
        free(known);
        free(unknown);
    }
    fit.explained = rc_fit_explains(&fit);
    free(p.calls);
    return fit;
}
