/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "money.h"

static const double seconds_per_hour = 3600, tokens_per_million = 1e6;

double rc_usd_per_million(double usd_per_hour, double tokens_per_s) {
    return usd_per_hour * tokens_per_million / (seconds_per_hour * tokens_per_s);
}

double rc_tokens_per_s_per_usd_hour(double usd_per_hour, double tokens_per_s) {
    return tokens_per_s / usd_per_hour;
}

double rc_break_even_usd_per_hour(double tokens_per_s, double other_usd_per_hour, double other_tokens_per_s) {
    return other_usd_per_hour * tokens_per_s / other_tokens_per_s;
}
