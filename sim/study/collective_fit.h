/* SPDX-License-Identifier: GPL-3.0-or-later
 * collective_fit.h - the two all-reduces of a stack inside a node, fitted to measured ones.
 *
 * A message takes the cheaper of one-shot (every GPU reads all others' data) and two-shot (reduce-scatter, then
 * all-gather), as cost/collective.h prices them; the software latency and the share of the link's bandwidth of both are
 * found together with GSL's simplex on the mean absolute error of log time, which no outlier rules.  A third of the
 * messages is held out.
 */
#ifndef RC_COLLECTIVE_FIT_H
#define RC_COLLECTIVE_FIT_H
#include "fabric.h"
#include "kernel_fit.h"

typedef struct rc_collective_fit {
    double latency_s[2], efficiency[2]; /* of one-shot and two-shot */
    double hops[2];
} rc_collective_fit;

/* Fits to samples of the kind RC_SAMPLE_ALL_REDUCE; errors and counts go to `fit`. */
rc_collective_fit rc_collective_fit_all_reduce(const rc_sample *samples, size_t count, const rc_fabric_level *link,
                                               rc_kernel_fit *fit);
#endif
