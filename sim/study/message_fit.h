/* SPDX-License-Identifier: GPL-3.0-or-later
 * message_fit.h - the few positive numbers of a formula for messages, fitted to measured ones.
 *
 * They are found together with GSL's simplex in their logarithms, on the mean absolute error of log time, which no outlier
 * rules.  A third of the messages is held out.
 */
#ifndef RC_MESSAGE_FIT_H
#define RC_MESSAGE_FIT_H
#include "fabric.h"
#include "kernel_fit.h"

enum { RC_MESSAGE_PARAMETERS_MAX = 4 };

typedef struct rc_message_model {
    double (*predicted_s)(const double *parameters, const rc_sample *sample, const rc_fabric_level *links);
    const rc_fabric_level *links; /* levels of the fabric, inner first */
    size_t parameters;
    bool shares[RC_MESSAGE_PARAMETERS_MAX]; /* parameters that are shares of a link: at most 1 */
} rc_message_model;

/* Fits to samples of one family and kernel; `parameters` hold a start and become what was found. */
rc_kernel_fit rc_message_fit(const rc_message_model *model, const rc_sample *samples, size_t count, double *parameters);
#endif
