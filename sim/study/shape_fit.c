/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "shape_fit.h"
#include "quantile.h"
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double loss_scale = 0.1; /* logarithm: errors above 10 % count less and less */
static const double least_gain = 0.03;
static const double sceptics = 4; /* rows that would say: no correction */
enum { SWEEPS = 4, ROWS_A_POINT = 6 };

/* The curve of one axis while it is fitted. */
typedef struct candidate {
    rc_curve_point points[RC_CURVE_POINTS_MAX];
    size_t count;        /* fewer than 2: the rows do not vary along this axis */
    unsigned char *next; /* of every row: the point it counts for */
    bool chosen;
} candidate;

typedef struct fitter {
    const rc_shape_row *rows;
    size_t count;
    candidate axes[RC_AXIS_COUNT];
    double *left;    /* residuals that no chosen curve explains */
    double *trial;   /* the same with one more */
    double *members; /* residuals of the rows of a point */
} fitter;

/* Points at the values themselves or, where there are many, spread over them. */
static void place_points(fitter *f, int axis) {
    candidate *c = &f->axes[axis];
    double *values = f->members;
    size_t distinct = 0, wanted = f->count / ROWS_A_POINT;
    for (size_t i = 0; i < f->count; i++)
        values[i] = f->rows[i].axes[axis];
    gsl_sort(values, 1, f->count);
    for (size_t i = 0; i < f->count; i++)
        if (distinct == 0 || values[i] > values[distinct - 1])
            values[distinct++] = values[i];
    wanted = wanted > RC_CURVE_POINTS_MAX ? RC_CURVE_POINTS_MAX : wanted;
    wanted = wanted > distinct ? distinct : wanted;
    c->count = 0;
    for (size_t i = 0; i < wanted && wanted > 1; i++) {
        double at = rc_four_digits(values[i * (distinct - 1) / (wanted - 1)]);
        if (at > 0 && (c->count == 0 || at > c->points[c->count - 1].at))
            c->points[c->count++] = (rc_curve_point){at, 1};
    }
}

/* Rows count for the point that they are nearest to in ratio. */
static void assign_rows(fitter *f, int axis) {
    candidate *c = &f->axes[axis];
    c->next = c->count > 1 ? rc_allocate(f->count) : NULL;
    for (size_t i = 0; i < f->count && c->next; i++) {
        double value = f->rows[i].axes[axis];
        size_t p = 0;
        while (p + 1 < c->count && value * value > c->points[p].at * c->points[p + 1].at)
            p++;
        c->next[i] = (unsigned char)p;
    }
}

static double log_factor(const fitter *f, int axis, size_t row) {
    const candidate *c = &f->axes[axis];
    rc_shape_curve curve = {axis, (rc_curve_point *)c->points, c->count};
    return log(rc_shape_curve_at(&curve, f->rows[row].axes[axis]));
}

/* One curve to residuals. */
static void fit_curve(fitter *f, int axis, const double *residuals) {
    candidate *c = &f->axes[axis];
    for (size_t p = 0; p < c->count; p++) {
        size_t n = 0;
        for (size_t i = 0; i < f->count; i++)
            if (c->next[i] == p)
                f->members[n++] = residuals[i];
        double median = n ? rc_quantile(f->members, n, 0.5) : 0;
        c->points[p].factor = rc_four_digits(exp(median * (double)n / ((double)n + sceptics)));
    }
}

static double mean_loss(const double *residuals, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += log1p(pow(residuals[i] / loss_scale, 2));
    return sum / (double)count;
}

/* The loss with one more curve, fitted to what is left. */
static double try_axis(fitter *f, int axis) {
    fit_curve(f, axis, f->left);
    for (size_t i = 0; i < f->count; i++)
        f->trial[i] = f->left[i] - log_factor(f, axis, i);
    return mean_loss(f->trial, f->count);
}

/* All chosen curves in turn, each to what the others leave. */
static void backfit(fitter *f) {
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (int axis = 0; axis < RC_AXIS_COUNT; axis++) {
            if (!f->axes[axis].chosen)
                continue;
            for (size_t i = 0; i < f->count; i++)
                f->left[i] += log_factor(f, axis, i);
            fit_curve(f, axis, f->left);
            for (size_t i = 0; i < f->count; i++)
                f->left[i] -= log_factor(f, axis, i);
        }
}

static void choose_axes(fitter *f) {
    double loss = mean_loss(f->left, f->count);
    for (int chosen = 0; chosen < RC_CURVES_MAX; chosen++) {
        int best = -1;
        double least = loss * (1 - least_gain);
        for (int axis = 0; axis < RC_AXIS_COUNT; axis++) {
            if (f->axes[axis].count < 2 || f->axes[axis].chosen)
                continue;
            double tried = try_axis(f, axis);
            if (tried < least) {
                least = tried;
                best = axis;
            }
        }
        if (best < 0)
            return;
        try_axis(f, best);
        f->axes[best].chosen = true;
        memcpy(f->left, f->trial, f->count * sizeof *f->left);
        backfit(f);
        loss = mean_loss(f->left, f->count);
    }
}

static double p90(fitter *f, bool with_curves) {
    for (size_t i = 0; i < f->count; i++)
        f->members[i] = fabs(expm1(-(with_curves ? f->left[i] : f->rows[i].residual)));
    return rc_quantile(f->members, f->count, 0.9);
}

static size_t take_curves(const fitter *f, rc_shape_curve *curves, rc_arena *arena) {
    size_t taken = 0;
    for (int axis = 0; axis < RC_AXIS_COUNT; axis++) {
        const candidate *c = &f->axes[axis];
        if (!c->chosen)
            continue;
        rc_curve_point *points = rc_arena_take(arena, c->count * sizeof *points);
        memcpy(points, c->points, c->count * sizeof *points);
        curves[taken++] = (rc_shape_curve){axis, points, c->count};
    }
    return taken;
}

size_t rc_shape_fit(const rc_shape_row *rows, size_t count, rc_shape_curve *curves, rc_arena *arena) {
    size_t bytes = (count + 1) * sizeof(double), taken;
    fitter f = {.rows = rows,
                .count = count,
                .left = rc_allocate(bytes),
                .trial = rc_allocate(bytes),
                .members = rc_allocate(bytes)};
    for (size_t i = 0; i < count; i++)
        f.left[i] = rows[i].residual;
    for (int axis = 0; axis < RC_AXIS_COUNT; axis++) {
        place_points(&f, axis);
        assign_rows(&f, axis);
    }
    choose_axes(&f);
    taken = count > 0 && p90(&f, true) <= p90(&f, false) ? take_curves(&f, curves, arena) : 0;
    for (int axis = 0; axis < RC_AXIS_COUNT; axis++)
        free(f.axes[axis].next);
    free(f.left);
    free(f.trial);
    free(f.members);
    return taken;
}

double rc_shape_factor(const rc_shape_curve *curves, size_t count, const double axes[RC_AXIS_COUNT]) {
    double factor = 1;
    for (size_t i = 0; i < count; i++)
        factor *= rc_shape_curve_at(&curves[i], axes[curves[i].axis]);
    return factor;
}
