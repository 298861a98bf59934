/* SPDX-License-Identifier: GPL-3.0-or-later
 * exchange_fit.h - tokens sent to their experts and back, fitted to measured dispatches and combines.
 *
 * One algorithm one way on one level is priced as cost/expert_exchange.h prices it: latency, share of the link's bandwidth,
 * time for each token and each expert, found together as in collective_fit.h.  DeepEP dispatches in 8 bits with a scale for
 * 128 values and combines in BF16.
 */
#ifndef RC_EXCHANGE_FIT_H
#define RC_EXCHANGE_FIT_H
#include "collective.h"
#include "message_fit.h"

/* Fits to samples of one way and kernel; `links` are the levels of a fabric.  Errors and counts go to `fit`. */
rc_collective rc_exchange_fit(const rc_sample *samples, size_t count, const rc_fabric_level *links, rc_kernel_fit *fit);
/* Seconds of one measured exchange as a stack tells it, and the p90 error of the fit behind it; NaN where it cannot. */
double rc_exchange_sample_s(const rc_stack *stack, const rc_fabric *fabric, const rc_sample *sample, double *share);
#endif
