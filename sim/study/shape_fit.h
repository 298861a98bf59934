/* SPDX-License-Identifier: GPL-3.0-or-later
 * shape_fit.h - which shape curves a kernel needs beside its formula, found in what the formula leaves.
 *
 * Axes are added one by one: the one whose curve lessens the robust (Cauchy) loss most, as long as it does so by 3 % of
 * what is left, four at most.  After each, all curves chosen so far are fitted again in turn, each to what the others
 * leave (backfitting; Hastie and Tibshirani, Generalized Additive Models, 1990).  A point of a curve is the median of the
 * residuals of the rows next to it, drawn to no correction as if four more rows had said so: few rows prove little.
 * The curves are kept only if the 90th percentile of the error on the same rows gets no worse.
 */
#ifndef RC_SHAPE_FIT_H
#define RC_SHAPE_FIT_H
#include "arena.h"
#include "shape_curve.h"

enum { RC_CURVES_MAX = 4, RC_CURVE_POINTS_MAX = 16 };

/* A measured call: log(measured / formula), and where it lies on every axis. */
typedef struct rc_shape_row {
    double residual;
    double axes[RC_AXIS_COUNT];
} rc_shape_row;

/* Fills `curves` (RC_CURVES_MAX of them, points in the arena) and returns how many there are; 0 where none helps. */
size_t rc_shape_fit(const rc_shape_row *rows, size_t count, rc_shape_curve *curves, rc_arena *arena);
/* The product of the factors of curves. */
double rc_shape_factor(const rc_shape_curve *curves, size_t count, const double axes[RC_AXIS_COUNT]);
#endif
