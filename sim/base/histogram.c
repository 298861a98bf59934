/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "histogram.h"
#include <gsl/gsl_statistics_double.h>
#include <math.h>

static const double smallest = 1e-9; /* seconds: the lower edge of the first bin */

static int bin_of(double value) {
    if (!(value > smallest))
        return 0;
    int bin = (int)(log2(value / smallest) * RC_HISTOGRAM_BINS_PER_OCTAVE);
    return bin < RC_HISTOGRAM_BINS ? bin : RC_HISTOGRAM_BINS - 1;
}

static double edge_of(int bin) {
    return smallest * exp2((double)bin / RC_HISTOGRAM_BINS_PER_OCTAVE);
}

void rc_histogram_add(rc_histogram *histogram, double value, double weight) {
    histogram->count += weight;
    histogram->sum += value * weight;
    histogram->bins[bin_of(value)] += weight;
}

void rc_histogram_add_ramp(rc_histogram *histogram, double first, double last, double weight) {
    double low = fmin(first, last), high = fmax(first, last), width = high - low;
    int from = bin_of(low), to = bin_of(high);
    histogram->count += weight;
    histogram->sum += (low + high) / 2 * weight;
    if (from == to) {
        histogram->bins[from] += weight;
        return;
    }
    for (int bin = from; bin <= to; bin++) {
        double start = bin == from ? low : edge_of(bin), end = bin == to ? high : edge_of(bin + 1);
        histogram->bins[bin] += weight * fmax(end - start, 0) / width;
    }
}

void rc_histogram_merge(rc_histogram *into, const rc_histogram *from) {
    into->count += from->count;
    into->sum += from->sum;
    for (int bin = 0; bin < RC_HISTOGRAM_BINS; bin++)
        into->bins[bin] += from->bins[bin];
}

double rc_histogram_quantile(const rc_histogram *histogram, double share) {
    if (!(histogram->count > 0))
        return NAN;
    double wanted = share * histogram->count, seen = 0;
    for (int bin = 0; bin < RC_HISTOGRAM_BINS; bin++) {
        seen += histogram->bins[bin];
        if (seen >= wanted && histogram->bins[bin] > 0)
            return sqrt(edge_of(bin) * edge_of(bin + 1));
    }
    return edge_of(RC_HISTOGRAM_BINS);
}

double rc_histogram_mean(const rc_histogram *histogram) {
    return histogram->count > 0 ? histogram->sum / histogram->count : NAN;
}

double rc_sorted_quantile(const double *sorted, size_t count, double share) {
    return count ? gsl_stats_quantile_from_sorted_data(sorted, 1, count, share) : NAN;
}
