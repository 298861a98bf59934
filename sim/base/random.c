/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "random.h"
#include "hash.h"
#include <gsl/gsl_randist.h>
#include <math.h>

rc_random *rc_random_new(uint64_t seed, const char *stream) {
    rc_random *random = gsl_rng_alloc(gsl_rng_mt19937);
    uint64_t key = rc_hash_text(rc_hash_bytes(RC_HASH_START, &seed, sizeof seed), stream);
    gsl_rng_set(random, (unsigned long)(key & UINT64_C(0xffffffff)));
    return random;
}

void rc_random_free(rc_random *random) {
    if (random)
        gsl_rng_free(random);
}

double rc_random_uniform(rc_random *random) {
    return gsl_rng_uniform_pos(random);
}

double rc_random_exponential(rc_random *random, double mean) {
    return gsl_ran_exponential(random, mean);
}

double rc_random_gamma(rc_random *random, double mean, double cv) {
    double shape = 1 / (cv * cv);
    return gsl_ran_gamma(random, shape, mean / shape);
}

double rc_random_normal(rc_random *random, double sigma) {
    return gsl_ran_gaussian_ziggurat(random, sigma);
}

double rc_random_lognormal(rc_random *random, double median, double sigma) {
    return gsl_ran_lognormal(random, log(median), sigma);
}

uint64_t rc_random_between(rc_random *random, uint64_t low, uint64_t high) {
    double span = (double)(high - low) + 1;
    return low + (uint64_t)(gsl_rng_uniform(random) * span);
}
