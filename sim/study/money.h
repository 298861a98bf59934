/* SPDX-License-Identifier: GPL-3.0-or-later
 * money.h - tokens and dollars.
 *   dollars per million tokens  = $/h x 1e6 / (3600 x tokens/s)
 *   tokens per dollar-hour      = tokens/s / ($/h)
 *   break-even price of a rack  = the price at which its dollars per million tokens equal another rack's
 * Known values: 952 tokens/s at $20.00/h give 48, 498 at $68.00 give 7, 1,568 at $48.00 give 33 tokens/s per $/h.
 */
#ifndef RC_MONEY_H
#define RC_MONEY_H

double rc_usd_per_million(double usd_per_hour, double tokens_per_s); /* NaN without a price, infinite without tokens */
double rc_tokens_per_s_per_usd_hour(double usd_per_hour, double tokens_per_s);
/* Dollars an hour at which `tokens_per_s` cost as much a token as `other_tokens_per_s` at `other_usd_per_hour`. */
double rc_break_even_usd_per_hour(double tokens_per_s, double other_usd_per_hour, double other_tokens_per_s);
#endif
