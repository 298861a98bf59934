/* SPDX-License-Identifier: GPL-3.0-or-later
 * quantile.h - of errors, for every study that judges by them; and how many digits a fit may claim.
 */
#ifndef RC_QUANTILE_H
#define RC_QUANTILE_H
#include <stddef.h>

/* The quantile of `share` (0 to 1), interpolated between neighbours; sorts the values.  NaN of none. */
double rc_quantile(double *values, size_t count, double share);
/* As a stack file keeps what was fitted. */
double rc_four_digits(double value);
#endif
