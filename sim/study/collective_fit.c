/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collective_fit.h"
#include "quantile.h"
#include <gsl/gsl_multimin.h>
#include <math.h>
#include <stdlib.h>

enum { SMALL, LARGE, LATENCY = 0, EFFICIENCY = 2, PARAMETERS = 4, STEPS_MAX = 4000, RESTARTS = 3 };

/* What an operation puts on the wire and how often it crosses the link, by algorithm. */
typedef struct operation {
    double wire[2], hops[2];
    const char *algorithms[2];
} operation;

typedef struct problem {
    const rc_sample *samples;
    size_t count;
    const rc_fabric_level *link;
    bool held_out;
} problem;

static operation operation_of(const rc_sample *s) {
    double n = s->shape[1], most = (n - 1) / n;
    bool library = rc_kernel_is_library(s->kernel);
    switch (s->kind) {
    case RC_SAMPLE_ALL_TO_ALL: return (operation){{most, most}, {2, 2}, {"direct", "direct"}};
    case RC_SAMPLE_ALL_GATHER:
    case RC_SAMPLE_REDUCE_SCATTER: return (operation){{most, most}, {n - 1, n - 1}, {NULL, NULL}};
    default:
        return library ? (operation){{2 * most, 2 * most}, {2 * (n - 1), 2 * (n - 1)}, {NULL, NULL}}
                       : (operation){{n - 1, 2 * most}, {2, 4}, {"one-shot", "two-shot"}};
    }
}

static double predicted_s(const gsl_vector *x, const rc_sample *s, const rc_fabric_level *link) {
    operation o = operation_of(s);
    double bytes = s->shape[0], best = INFINITY;
    for (size_t a = SMALL; a <= LARGE; a++) {
        double latency = exp(gsl_vector_get(x, LATENCY + a)), efficiency = exp(gsl_vector_get(x, EFFICIENCY + a));
        best = fmin(best, latency + o.hops[a] * link->latency_s + o.wire[a] * bytes / (efficiency * link->bytes_per_s));
    }
    return best;
}

static double mean_error(const gsl_vector *x, void *data) {
    const problem *p = data;
    double sum = 0, n = 0;
    for (size_t i = 0; i < p->count; i++)
        if (rc_sample_is_held_out(&p->samples[i]) == p->held_out) {
            sum += fabs(log(predicted_s(x, &p->samples[i], p->link) / p->samples[i].seconds));
            n++;
        }
    for (size_t a = SMALL; a <= LARGE; a++) /* no faster than the link */
        sum += n * fmax(gsl_vector_get(x, EFFICIENCY + a), 0);
    return sum / n;
}

static void minimise(problem *p, gsl_vector *x) {
    gsl_multimin_function function = {.f = mean_error, .n = PARAMETERS, .params = p};
    gsl_vector *step = gsl_vector_alloc(PARAMETERS);
    gsl_multimin_fminimizer *space = gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, PARAMETERS);
    for (int restart = 0; restart < RESTARTS; restart++) {
        gsl_vector_set_all(step, 0.3);
        gsl_multimin_fminimizer_set(space, &function, x, step);
        for (int i = 0; i < STEPS_MAX && !gsl_multimin_fminimizer_iterate(space); i++)
            if (gsl_multimin_test_size(gsl_multimin_fminimizer_size(space), 1e-6) == GSL_SUCCESS)
                break;
        gsl_vector_memcpy(x, space->x);
    }
    gsl_multimin_fminimizer_free(space);
    gsl_vector_free(step);
}

static size_t errors_of(const problem *p, const gsl_vector *x, double *median, double *p90) {
    double *errors = rc_allocate((p->count + 1) * sizeof *errors);
    size_t n = 0;
    for (size_t i = 0; i < p->count; i++)
        if (rc_sample_is_held_out(&p->samples[i]) == p->held_out)
            errors[n++] = fabs(predicted_s(x, &p->samples[i], p->link) / p->samples[i].seconds - 1);
    *median = rc_quantile(errors, n, 0.5);
    *p90 = rc_quantile(errors, n, 0.9);
    free(errors);
    return n;
}

rc_collective_fit rc_collective_fit_messages(const rc_sample *samples, size_t count, const rc_fabric_level *link,
                                             rc_kernel_fit *fit) {
    problem p = {samples, count, link, false};
    gsl_vector *x = gsl_vector_alloc(PARAMETERS);
    bool library = rc_kernel_is_library(samples->kernel);
    const double start[PARAMETERS] = {log(library ? 6e-6 : 3e-6), log(library ? 15e-6 : 10e-6),
                                      log(library ? 0.05 : 0.5), log(0.7)};
    for (size_t i = 0; i < PARAMETERS; i++)
        gsl_vector_set(x, i, start[i]);
    minimise(&p, x);
    *fit = (rc_kernel_fit){.family = samples->family, .code = samples->kernel, .floor_median = NAN, .floor_p90 = NAN};
    fit->fitted = errors_of(&p, x, &fit->fitted_median, &fit->fitted_p90);
    p.held_out = true;
    fit->held_out = errors_of(&p, x, &fit->median_error, &fit->p90_error);
    fit->explained = rc_fit_explains(fit);
    operation o = operation_of(samples);
    rc_collective_fit found = {.hops = {o.hops[SMALL], o.hops[LARGE]},
                               .algorithms = {o.algorithms[SMALL], o.algorithms[LARGE]}};
    for (size_t a = SMALL; a <= LARGE; a++) {
        found.latency_s[a] = exp(gsl_vector_get(x, LATENCY + a));
        found.efficiency[a] = fmin(exp(gsl_vector_get(x, EFFICIENCY + a)), 1);
    }
    gsl_vector_free(x);
    return found;
}
