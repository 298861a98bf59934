/* SPDX-License-Identifier: GPL-3.0-or-later
 * histogram.h - a mergeable histogram of positive values with bins of equal ratio.
 * From 1 ns to 11 days, 256 bins an octave: a quantile is within 0.14 % of the exact one.  Weights are counts and may be
 * fractions.  The mean is exact.
 */
#ifndef RC_HISTOGRAM_H
#define RC_HISTOGRAM_H
#include <stddef.h>

enum {
    RC_HISTOGRAM_OCTAVES = 50,
    RC_HISTOGRAM_BINS_PER_OCTAVE = 256,
    RC_HISTOGRAM_BINS = RC_HISTOGRAM_OCTAVES * RC_HISTOGRAM_BINS_PER_OCTAVE
};

typedef struct rc_histogram {
    double count, sum;
    double bins[RC_HISTOGRAM_BINS];
} rc_histogram;

void rc_histogram_add(rc_histogram *histogram, double value, double weight);
/* Adds `weight` spread evenly over values from `first` to `last`: a stretch of steps that grow longer. */
void rc_histogram_add_ramp(rc_histogram *histogram, double first, double last, double weight);
void rc_histogram_merge(rc_histogram *into, const rc_histogram *from);
double rc_histogram_quantile(const rc_histogram *histogram, double share); /* NaN where empty */
double rc_histogram_mean(const rc_histogram *histogram);                   /* NaN where empty */
/* The quantile of a sorted array, linear between ranks (type 7); NaN where empty. */
double rc_sorted_quantile(const double *sorted, size_t count, double share);
#endif
