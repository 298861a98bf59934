/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "message_fit.h"
#include "quantile.h"
#include <gsl/gsl_multimin.h>
#include <math.h>
#include <stdlib.h>

enum { STEPS_MAX = 4000, RESTARTS = 3 };

typedef struct problem {
    const rc_message_model *model;
    const rc_sample *samples;
    size_t count;
} problem;

static void numbers_of(const rc_message_model *model, const gsl_vector *x, double *parameters) {
    for (size_t i = 0; i < model->parameters; i++)
        parameters[i] = exp(gsl_vector_get(x, i));
}

static double mean_error(const gsl_vector *x, void *data) {
    const problem *p = data;
    double parameters[RC_MESSAGE_PARAMETERS_MAX], sum = 0, n = 0;
    numbers_of(p->model, x, parameters);
    for (size_t i = 0; i < p->count; i++) {
        const rc_sample *s = &p->samples[i];
        if (rc_sample_is_held_out(s))
            continue;
        sum += fabs(log(p->model->predicted_s(parameters, s, p->model->links) / s->seconds));
        n++;
    }
    for (size_t i = 0; i < p->model->parameters; i++) /* no faster than the link */
        if (p->model->shares[i])
            sum += n * fmax(gsl_vector_get(x, i), 0);
    return sum / n;
}

static void minimise(problem *p, gsl_vector *x) {
    size_t n = p->model->parameters;
    gsl_multimin_function function = {.f = mean_error, .n = n, .params = p};
    gsl_vector *step = gsl_vector_alloc(n);
    gsl_multimin_fminimizer *space = gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, n);
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

static size_t errors_of(const problem *p, const double *parameters, bool held_out, double *median, double *p90) {
    double *errors = rc_allocate((p->count + 1) * sizeof *errors);
    size_t n = 0;
    for (size_t i = 0; i < p->count; i++)
        if (rc_sample_is_held_out(&p->samples[i]) == held_out)
            errors[n++] =
                fabs(p->model->predicted_s(parameters, &p->samples[i], p->model->links) / p->samples[i].seconds - 1);
    *median = rc_quantile(errors, n, 0.5);
    *p90 = rc_quantile(errors, n, 0.9);
    free(errors);
    return n;
}

rc_kernel_fit rc_message_fit(const rc_message_model *model, const rc_sample *samples, size_t count,
                             double *parameters) {
    problem p = {model, samples, count};
    gsl_vector *x = gsl_vector_alloc(model->parameters);
    for (size_t i = 0; i < model->parameters; i++)
        gsl_vector_set(x, i, log(parameters[i]));
    minimise(&p, x);
    numbers_of(model, x, parameters);
    for (size_t i = 0; i < model->parameters; i++)
        if (model->shares[i])
            parameters[i] = fmin(parameters[i], 1);
    rc_kernel_fit fit = {.family = samples->family, .code = samples->kernel, .floor_median = NAN, .floor_p90 = NAN};
    fit.fitted = errors_of(&p, parameters, false, &fit.fitted_median, &fit.fitted_p90);
    fit.held_out = errors_of(&p, parameters, true, &fit.median_error, &fit.p90_error);
    fit.explained = rc_fit_explains(&fit);
    gsl_vector_free(x);
    return fit;
}
