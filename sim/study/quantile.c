/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "quantile.h"
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

double rc_quantile(double *values, size_t count, double share) {
    gsl_sort(values, 1, count);
    return count ? gsl_stats_quantile_from_sorted_data(values, 1, count, share) : NAN;
}

double rc_four_digits(double value) {
    char text[40];
    snprintf(text, sizeof text, "%.4g", value);
    return strtod(text, NULL);
}
