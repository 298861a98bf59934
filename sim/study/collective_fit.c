/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collective_fit.h"
#include "quantile.h"
#include <gsl/gsl_multimin.h>
#include <math.h>
#include <stdlib.h>

enum { ONE_SHOT, TWO_SHOT, LATENCY = 0, EFFICIENCY = 2, PARAMETERS = 4, STEPS_MAX = 4000, RESTARTS = 3 };

static const double hops[] = {2, 4}; /* of the link: there and back, for one shot and for two */

typedef struct problem {
    const rc_sample *samples;
    size_t count;
    const rc_fabric_level *link;
    bool held_out;
} problem;

static double predicted_s(const gsl_vector *x, const rc_sample *s, const rc_fabric_level *link) {
    double bytes = s->shape[0], ranks = s->shape[1], best = INFINITY;
    const double wire[] = {ranks - 1, 2 * (ranks - 1) / ranks};
    for (size_t shot = ONE_SHOT; shot <= TWO_SHOT; shot++) {
        double latency = exp(gsl_vector_get(x, LATENCY + shot)), efficiency = exp(gsl_vector_get(x, EFFICIENCY + shot));
        best =
            fmin(best, latency + hops[shot] * link->latency_s + wire[shot] * bytes / (efficiency * link->bytes_per_s));
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
    for (size_t shot = ONE_SHOT; shot <= TWO_SHOT; shot++) /* no faster than the link */
        sum += n * fmax(gsl_vector_get(x, EFFICIENCY + shot), 0);
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

rc_collective_fit rc_collective_fit_all_reduce(const rc_sample *samples, size_t count, const rc_fabric_level *link,
                                               rc_kernel_fit *fit) {
    problem p = {samples, count, link, false};
    gsl_vector *x = gsl_vector_alloc(PARAMETERS);
    const double start[PARAMETERS] = {log(3e-6), log(10e-6), log(0.5), log(0.7)};
    for (size_t i = 0; i < PARAMETERS; i++)
        gsl_vector_set(x, i, start[i]);
    minimise(&p, x);
    *fit = (rc_kernel_fit){.family = samples->family, .code = samples->kernel, .floor_median = NAN, .floor_p90 = NAN};
    fit->fitted = errors_of(&p, x, &fit->fitted_median, &fit->fitted_p90);
    p.held_out = true;
    fit->held_out = errors_of(&p, x, &fit->median_error, &fit->p90_error);
    fit->explained = rc_fit_explains(fit);
    rc_collective_fit found = {.hops = {hops[ONE_SHOT], hops[TWO_SHOT]}};
    for (size_t shot = ONE_SHOT; shot <= TWO_SHOT; shot++) {
        found.latency_s[shot] = exp(gsl_vector_get(x, LATENCY + shot));
        found.efficiency[shot] = fmin(exp(gsl_vector_get(x, EFFICIENCY + shot)), 1);
    }
    gsl_vector_free(x);
    return found;
}
