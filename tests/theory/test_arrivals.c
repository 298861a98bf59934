/* SPDX-License-Identifier: GPL-3.0-or-later
 * Loads whose rate changes, against the theory of point processes: means, the index of dispersion of counts, intervals
 * of an interrupted process, Poisson counts in the slots of a curve. */
#include "arrivals.h"
#include "asking.h"
#include <gsl/gsl_cdf.h>

#define ONE_TOKEN "workload.input_tokens=1", "workload.output_tokens=1", "workload.requests=1000000000"

static rc_scenario *load_of(const char *arrival) {
    char setting[400];
    snprintf(setting, sizeof setting, "workload.arrival=%s", arrival);
    return ask("llama70b-4xh100", SETTINGS(setting, ONE_TOKEN));
}

static rc_arrivals open_load(const rc_scenario *s, uint64_t seed) {
    rc_arrivals a;
    rc_problems *problems = rc_problems_new();
    ck_assert(rc_arrivals_open(&a, &s->workload, false, seed, problems));
    rc_problems_free(problems);
    return a;
}

static double next_s(rc_arrivals *a) {
    rc_asked asked;
    double before = a->time_s;
    bool in_order = rc_arrivals_next(a, &asked) && asked.time_s >= before;
    if (!in_order) /* a check costs more than an arrival */
        ck_abort_msg("%g s after %g s", asked.time_s, before);
    return asked.time_s;
}

/* ---------- bursts and calm */

typedef struct modulated {
    double rate, factor, share, length_s;
} modulated;

static const modulated loads[] = {{5.2, 3.7, 0.21, 11}, {2.385, 10, 0.1, 4.3}, {40, 1.3, 0.6, 0.7}};
enum { LOADS = sizeof loads / sizeof *loads };

static rc_scenario *modulated_load(const modulated *m) {
    char arrival[200];
    snprintf(arrival, sizeof arrival,
             "{\"kind\":\"modulated\",\"rate\":%.17g,\"burst_factor\":%.17g,\"burst_share\":%.17g,"
             "\"burst_length\":\"%.17gs\"}",
             m->rate, m->factor, m->share, m->length_s);
    return load_of(arrival);
}

/* Variance / mean of the counts of t seconds (Heffes and Lucantoni 1986); `t_s` infinite: the limit. */
static double dispersion(const modulated *m, double t_s) {
    double burst = m->rate * m->factor, calm = m->rate * (1 - m->factor * m->share) / (1 - m->share);
    double relaxation = 1 / (m->length_s * (1 - m->share)), x = relaxation * t_s;
    double limit = 2 * m->share * (1 - m->share) * pow(burst - calm, 2) / (m->rate * relaxation);
    return 1 + limit * (isinf(t_s) ? 1 : 1 + expm1(-x) / x);
}

/* Counts of windows side by side, from one long load. */
static void check_windows(const modulated *m, const rc_scenario *s, double window_s, size_t windows) {
    rc_arrivals a = open_load(s, 11);
    double sum = 0, squares = 0, time_s = next_s(&a);
    for (size_t w = 0; w < windows; w++) {
        double count = 0;
        for (; time_s < window_s * (double)(w + 1); time_s = next_s(&a))
            count++;
        sum += count;
        squares += count * count;
    }
    rc_arrivals_close(&a);
    double n = (double)windows, mean = sum / n, variance = squares / n - mean * mean, expected = m->rate * window_s;
    ck_assert_double_le(fabs(sum - n * expected), 4 * sqrt(n * expected * dispersion(m, INFINITY)));
    close_to(variance / mean, dispersion(m, window_s), 0.06);
}

START_TEST(bursts_disperse_counts_as_theory_says) {
    for (size_t i = 0; i < LOADS; i++) {
        rc_scenario *s = modulated_load(&loads[i]);
        double cycle_s = loads[i].length_s / loads[i].share;
        check_windows(&loads[i], s, 0.02 * cycle_s, 1000000);
        check_windows(&loads[i], s, 0.2 * cycle_s, 100000);
        check_windows(&loads[i], s, 3 * cycle_s, 10000);
        rc_close(s);
    }
}
END_TEST

/* Over many seeds, the first seconds have the mean and the dispersion of any others. */
START_TEST(bursts_begin_as_they_go_on) {
    enum { SEEDS = 20000 };
    const modulated *m = &loads[0];
    rc_scenario *s = modulated_load(m);
    double window_s = m->length_s / 2, sum = 0, squares = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        rc_arrivals a = open_load(s, seed);
        double count = 0;
        while (next_s(&a) < window_s)
            count++;
        sum += count;
        squares += count * count;
        rc_arrivals_close(&a);
    }
    rc_close(s);
    double mean = sum / SEEDS, variance = squares / SEEDS - mean * mean, expected = m->rate * window_s;
    ck_assert_double_le(fabs(mean - expected), 4 * sqrt(variance / SEEDS));
    close_to(variance / mean, dispersion(m, window_s), 0.05);
}
END_TEST

/* Nobody comes between bursts: intervals are independent, of mean 1 / rate and squared variation
 * 1 + 2 b g / (g + w)^2, b the rate in a burst, g and w the rates at which bursts end and begin (Kuczura 1973). */
START_TEST(silence_between_bursts_makes_an_interrupted_process) {
    enum { COUNT = 4000000 };
    const modulated *m = &loads[1];
    ck_assert_double_eq(m->factor * m->share, 1);
    rc_scenario *s = modulated_load(m);
    rc_arrivals a = open_load(s, 3);
    double sum = 0, squares = 0, products = 0, before = next_s(&a), interval = 0;
    for (size_t i = 0; i < COUNT; i++) {
        double now = next_s(&a);
        products += interval * (now - before);
        interval = now - before;
        sum += interval;
        squares += interval * interval;
        before = now;
    }
    rc_arrivals_close(&a);
    rc_close(s);
    double mean = sum / COUNT, variance = squares / COUNT - mean * mean, ends = 1 / m->length_s;
    double begins = ends * m->share / (1 - m->share);
    close_to(mean, 1 / m->rate, 0.02);
    close_to(variance / (mean * mean), 1 + 2 * m->rate * m->factor * ends / pow(ends + begins, 2), 0.05);
    ck_assert_double_le(fabs(products / COUNT - mean * mean), 0.01 * variance);
}
END_TEST

/* ---------- curves */

/* Counts of all slots of all periods are independent and Poisson: their chi-square has as many degrees of freedom. */
static void check_curve(const char *arrival, const double *curve, size_t slots, double rate, double period_s) {
    enum { PERIODS = 300, PARTS = 2 };
    rc_scenario *s = load_of(arrival);
    rc_arrivals a = open_load(s, 23);
    double sum = 0, chi_square = 0, freedom = 0, total = 0, in_silence = 0, part_s = period_s / (double)(slots * PARTS);
    for (size_t i = 0; i < slots; i++)
        sum += curve[i];
    double time_s = next_s(&a);
    for (size_t part = 0; part < PERIODS * slots * PARTS; part++) {
        double expected = rate * (double)slots * curve[part / PARTS % slots] / sum * part_s, count = 0;
        for (; time_s < part_s * (double)(part + 1); time_s = next_s(&a))
            count++;
        total += count;
        in_silence += expected > 0 ? 0 : count;
        chi_square += expected > 0 ? pow(count - expected, 2) / expected : 0;
        freedom += expected > 0;
    }
    rc_arrivals_close(&a);
    rc_close(s);
    double all = rate * period_s * PERIODS;
    ck_assert_double_eq(in_silence, 0);
    ck_assert_double_le(fabs(total - all), 4 * sqrt(all));
    double chance = gsl_cdf_chisq_Q(chi_square, freedom);
    ck_assert_msg(chance > 1e-4 && chance < 1 - 1e-4, "chi-square %g with %g degrees of freedom", chi_square, freedom);
}

START_TEST(slots_get_their_shares) {
    check_curve("{\"kind\":\"daily\",\"rate\":0.35,\"curve\":[1,0,0.5,3,7.3,2]}", (double[]){1, 0, 0.5, 3, 7.3, 2}, 6,
                0.35, 86400);
    check_curve("{\"kind\":\"daily\",\"rate\":\"1200/min\",\"period\":\"7min\",\"curve\":[0,0,40,41,0]}",
                (double[]){0, 0, 40, 41, 0}, 5, 20, 420);
    check_curve("{\"kind\":\"daily\",\"rate\":50,\"period\":\"2s\",\"curve\":[5,4]}", (double[]){5, 4}, 2, 50, 2);
}
END_TEST

/* An arrival in hundreds of periods: intervals are all but exponential, and still fall into the right slots. */
START_TEST(rare_arrivals_keep_to_the_curve) {
    enum { COUNT = 200000 };
    rc_scenario *s = load_of("{\"kind\":\"daily\",\"rate\":0.001,\"period\":\"2s\",\"curve\":[0,3,1,0]}");
    rc_arrivals a = open_load(s, 5);
    double in_second = 0, in_silence = 0, squares = 0, before = 0;
    for (size_t i = 0; i < COUNT; i++) {
        double now = next_s(&a), phase = fmod(now, 2);
        in_silence += phase < 0.5 - 1e-6 || phase > 1.5 + 1e-6;
        in_second += phase < 1;
        squares += pow(now - before, 2);
        before = now;
    }
    rc_arrivals_close(&a);
    rc_close(s);
    ck_assert_double_eq(in_silence, 0);
    close_to(before / COUNT, 1000, 4 / sqrt(COUNT));
    close_to(squares / COUNT, 2e6, 0.03);
    close_to(in_second / COUNT, 0.75, 4 * sqrt(0.25 / 0.75 / COUNT));
}
END_TEST

START_TEST(a_level_curve_is_poisson) {
    rc_scenario *level = load_of("{\"kind\":\"daily\",\"rate\":3,\"curve\":[2,2,2],\"period\":\"1min\"}"),
                *poisson = load_of("{\"kind\":\"poisson\",\"rate\":3}");
    rc_arrivals a = open_load(level, 7), b = open_load(poisson, 7);
    for (size_t i = 0; i < 10000; i++) {
        double of_level = next_s(&a), of_poisson = next_s(&b);
        close_to(of_level, of_poisson, 1e-9);
    }
    rc_arrivals_close(&a);
    rc_arrivals_close(&b);
    rc_close(level);
    rc_close(poisson);
}
END_TEST

/* ---------- seeds */

static double after(const rc_scenario *s, uint64_t seed, size_t count) {
    rc_arrivals a = open_load(s, seed);
    double time_s = 0;
    for (size_t i = 0; i < count; i++)
        time_s = next_s(&a);
    rc_arrivals_close(&a);
    return time_s;
}

START_TEST(a_seed_is_a_load) {
    rc_scenario *both[] = {modulated_load(&loads[0]), load_of("{\"kind\":\"daily\",\"rate\":3,\"curve\":[2,5,1]}")};
    for (size_t i = 0; i < 2; i++) {
        ck_assert_double_eq(after(both[i], 9, 5000), after(both[i], 9, 5000));
        ck_assert_double_ne(after(both[i], 9, 5000), after(both[i], 10, 5000));
        rc_close(both[i]);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("arrivals");
    add_tests(suite, "theory",
              (const TTest *const[]){bursts_disperse_counts_as_theory_says, bursts_begin_as_they_go_on,
                                     silence_between_bursts_makes_an_interrupted_process, slots_get_their_shares,
                                     rare_arrivals_keep_to_the_curve, a_level_curve_is_poisson, a_seed_is_a_load,
                                     NULL});
    return run_suite(suite);
}
