/* SPDX-License-Identifier: GPL-3.0-or-later
 * kernel_fit.h - the numbers of a kernel family, fitted to measured calls.
 *
 * Minimises the robust (Cauchy) loss of log(t_fitted / t_measured) over launch, em, ec, p and, where the work has them,
 * the time of a unit, a group and the depth, with GSL's trust-region least squares, re-weighted until it settles; em and
 * ec stay within (0, 1], p within [1, 8].  Tiles (columns and tokens of an expert, heads of a latent decode, queries of
 * prefill) are tried one by one.
 *
 * What the formula leaves then goes into shape curves (shape_fit.h), from the rows that count in full.
 *
 * A third of the shapes, chosen by a hash of the shape, is held out: the errors reported are of those.  Calls whose
 * working set lies between a twentieth and 1.2 times the last-level cache weigh a tenth in decode families: recorders
 * repeat one call, so they come from the cache.
 */
#ifndef RC_KERNEL_FIT_H
#define RC_KERNEL_FIT_H
#include "kernel_sample.h"

typedef struct rc_kernel_fit {
    const char *family, *code; /* the name in a stack, and what the table calls the code */
    rc_kernel kernel;          /* what was fitted */
    size_t fitted, held_out;
    double median_error, p90_error;   /* held out, as shares */
    double fitted_median, fitted_p90; /* the same on the rows that were fitted */
    double floor_median, floor_p90;   /* held out, as the nearest fitted shapes would tell them (neighbours.h) */
    double falls;             /* share of neighbours where the time falls by 5 % or more though the work grows */
    bool explained;           /* median <= 10 % and p90 <= 30 % held out */
    double smallest, largest; /* tokens or sequences seen */
} rc_kernel_fit;

/* Held out, the median error is at most 10 % and the 90th percentile at most 30 %. */
bool rc_fit_explains(const rc_kernel_fit *fit);
/* Fits one kernel of a family to its samples (all of one, as rc_samples_sort leaves them); its curves go to the arena. */
rc_kernel_fit rc_kernel_fit_family(const rc_sample *samples, size_t count, const rc_accelerator *accelerator,
                                   rc_arena *arena);
#endif
