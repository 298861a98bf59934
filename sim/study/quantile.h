/* SPDX-License-Identifier: GPL-3.0-or-later
 * quantile.h - of errors, for every study that judges by them.
 */
#ifndef RC_QUANTILE_H
#define RC_QUANTILE_H
#include <stddef.h>

/* The quantile of `share` (0 to 1), interpolated between neighbours; sorts the values.  NaN of none. */
double rc_quantile(double *values, size_t count, double share);
#endif
