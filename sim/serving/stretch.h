/* SPDX-License-Identifier: GPL-3.0-or-later
 * stretch.h - many decode steps at once.
 *
 * Between two events the same sequences decode step after step; only their contexts grow, by one token a step.  The
 * time of step i is a smooth function of i, so a sum over n steps needs a few evaluations, not n: Gauss quadrature for
 * the discrete uniform measure on 0..n-1 (nodes from the Gram polynomials, whose recurrence has the coefficients
 * b_k = k^2 (n^2 - k^2) / (4 (4 k^2 - 1)); Gautschi, Orthogonal Polynomials, 2004).  Five nodes are exact for
 * polynomials of degree 9; where three nodes disagree by more than 1e-10 the stretch is halved.
 * Known value: the sum of i^2 over 0..99 is 328,350.
 *
 * Where the shape curve of a kernel bends, the stretch is cut.  Other kinks (a context that reaches a window) must not lie
 * inside it: the caller ends it there.
 */
#ifndef RC_STRETCH_H
#define RC_STRETCH_H
#include "step.h"

typedef struct rc_stretch {
    const rc_step_plan *plan;
    double sequences;
    double context[RC_REACHES_MAX]; /* of the first step */
    double growth[RC_REACHES_MAX];  /* a step */
    double fixed[RC_WHERE_COUNT];   /* seconds of a step that do not depend on contexts */
    double fixed_s;                 /* their sum */
} rc_stretch;

double rc_stretch_step_s(const rc_stretch *stretch, double step); /* seconds of step 0, 1, ... */
/* Seconds of the first n steps; by_where (may be NULL) gets them by where they went. */
double rc_stretch_sum_s(const rc_stretch *stretch, double n, double by_where[RC_WHERE_COUNT]);
/* The smallest k in 1..n whose first k steps take at least `seconds`. */
double rc_stretch_find(const rc_stretch *stretch, double n, double seconds);
#endif
