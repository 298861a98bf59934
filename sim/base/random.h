/* SPDX-License-Identifier: GPL-3.0-or-later
 * random.h - streams of random numbers.
 * A stream is keyed by the run's seed and the name of what draws from it, so that a new consumer never disturbs the
 * numbers of an old one.  Generator: GSL's mt19937.
 */
#ifndef RC_RANDOM_H
#define RC_RANDOM_H
#include <gsl/gsl_rng.h>
#include <stdint.h>

typedef gsl_rng rc_random;

rc_random *rc_random_new(uint64_t seed, const char *stream);
void rc_random_free(rc_random *random);      /* NULL is fine */
double rc_random_uniform(rc_random *random); /* in (0, 1) */
double rc_random_exponential(rc_random *random, double mean);
double rc_random_gamma(rc_random *random, double mean, double cv); /* cv = standard deviation / mean */
double rc_random_normal(rc_random *random, double sigma);          /* mean 0 */
double rc_random_lognormal(rc_random *random, double median, double sigma);
uint64_t rc_random_between(rc_random *random, uint64_t low, uint64_t high); /* both included */
#endif
