/* SPDX-License-Identifier: GPL-3.0-or-later
 * Queueing theory: the event engine as M/M/1, M/D/1 and M/M/c, and the serving model as M/D/1.
 * Waiting times must agree within the sampling error, estimated from batch means. */
#include "asking.h"
#include "event_queue.h"
#include "random.h"

enum { ARRIVAL, DEPARTURE, BATCHES = 40, BATCH = 50000 };

typedef struct station {
    double mean_wait, error; /* the second: standard error from batch means */
} station;

/* A first-come-first-served queue with c servers, on the engine's queue and clock. */
static station play(double arrival_rate, double service_mean, bool exponential, unsigned servers) {
    rc_event_queue *q = rc_event_queue_new();
    rc_random *gaps = rc_random_new(5, "gaps"), *services = rc_random_new(5, "services");
    size_t total = (size_t)BATCHES * BATCH, head = 0, tail = 0, busy = 0;
    rc_time *line = malloc(total * sizeof *line);
    double batches[BATCHES] = {0};
    rc_event event;
    ck_assert_ptr_nonnull(line);
    rc_event_queue_schedule(q, 0, 0, (rc_event){ARRIVAL, 0});
    while (rc_event_queue_pop(q, &event)) {
        rc_time now = rc_event_queue_now(q);
        if (event.kind == ARRIVAL && tail < total) {
            line[tail++] = now;
            rc_time next = now + rc_time_of(rc_random_exponential(gaps, 1 / arrival_rate));
            rc_event_queue_schedule(q, next, 0, (rc_event){ARRIVAL, 0});
        } else if (event.kind == DEPARTURE)
            busy--;
        for (; busy < servers && head < tail; head++, busy++) {
            double seconds = exponential ? rc_random_exponential(services, service_mean) : service_mean;
            batches[head / BATCH] += rc_seconds_of(now - line[head]) / BATCH;
            rc_event_queue_schedule(q, now + rc_time_of(seconds), 1, (rc_event){DEPARTURE, 0});
        }
        if (tail == total && head == tail)
            break;
    }
    station s = {0};
    for (size_t i = 4; i < BATCHES; i++) /* the first ones warm up */
        s.mean_wait += batches[i] / (BATCHES - 4);
    for (size_t i = 4; i < BATCHES; i++)
        s.error += pow(batches[i] - s.mean_wait, 2) / (BATCHES - 5);
    s.error = sqrt(s.error / (BATCHES - 4));
    free(line);
    rc_random_free(gaps);
    rc_random_free(services);
    rc_event_queue_free(q);
    return s;
}

static void agrees(station s, double theory) {
    ck_assert_msg(fabs(s.mean_wait - theory) < 4 * s.error, "waits %.5g s, theory %.5g s, standard error %.2g",
                  s.mean_wait, theory, s.error);
    ck_assert_double_lt(s.error, 0.05 * theory); /* and the error is small enough to mean something */
}

START_TEST(mm1_waits_as_long_as_theory_says) {
    static const double loads[] = {0.5, 0.75, 0.9};
    for (size_t i = 0; i < 3; i++) {
        double rho = loads[i], service = 0.4;
        agrees(play(rho / service, service, true, 1), rho * service / (1 - rho));
    }
}
END_TEST

START_TEST(md1_waits_half_as_long) {
    double rho = 0.8, service = 0.4;
    agrees(play(rho / service, service, false, 1), rho * service / (2 * (1 - rho)));
}
END_TEST

START_TEST(mmc_waits_as_erlang_says) {
    double servers = 4, rho = 0.85, service = 0.4, offered = rho * servers, sum = 0, term = 1;
    for (double k = 0; k < servers; k++) {
        sum += term;
        term *= offered / (k + 1);
    }
    double waiting = term / (1 - rho) / (sum + term / (1 - rho));
    agrees(play(offered / service, service, true, 4), waiting * service / (servers * (1 - rho)));
}
END_TEST

#define NO_FRONT_END "hardware.stack.frontend.request=0s", "hardware.stack.frontend.token=0s"

/* The serving model with one running request and one-token answers is a single server with fixed service times. */
START_TEST(the_serving_model_is_md1_where_it_should_be) {
    rc_scenario *s = ask("k3-8xb300", SETTINGS("engine.max_running=1", "workload.input_tokens=2048",
                                               "workload.output_tokens=1", NO_FRONT_END, "workload.requests=1",
                                               "workload.arrival={\"kind\":\"constant\",\"rate\":1}"));
    rc_problems *problems = rc_problems_new();
    rc_run_result one;
    ck_assert_int_eq(rc_run(s, NULL, &one, problems), RC_OK);
    double service = one.ttft_s.mean, rho = 0.7;
    rc_run_result_free(&one);
    rc_close(s);
    char arrival[120];
    snprintf(arrival, sizeof arrival, "workload.arrival={\"kind\":\"poisson\",\"rate\":%.17g}", rho / service);
    s = ask("k3-8xb300", SETTINGS("engine.max_running=1", "workload.input_tokens=2048", "workload.output_tokens=1",
                                  "workload.requests=400000", NO_FRONT_END, arrival));
    rc_run_result many;
    ck_assert_int_eq(rc_run(s, NULL, &many, problems), RC_OK);
    close_to(many.ttft_s.mean - service, rho * service / (2 * (1 - rho)), 0.02);
    close_to(1 - many.breakdown[RC_TIME_IDLE], rho, 0.01);
    rc_run_result_free(&many);
    rc_close(s);
    rc_problems_free(problems);
}
END_TEST

typedef struct queue {
    double wait_s, service_s, service_cv2, idle, per_s; /* means; cv2: (standard deviation / mean)^2 */
} queue;

/* One request at a time, prompts of many lengths and one token of answer, so that service is what its prompt takes. */
static queue single_server(const char *arrival, size_t requests) {
    char load[300], many[60];
    snprintf(load, sizeof load, "workload.arrival=%s", arrival);
    snprintf(many, sizeof many, "workload.requests=%zu", requests);
    rc_scenario *s = ask("k3-8xb300", SETTINGS("engine.max_running=1", NO_FRONT_END, "workload.output_tokens=1",
                                               "workload.input_tokens={\"uniform\":[64,7900]}", many, load));
    rc_problems *problems = rc_problems_new();
    rc_run_result r;
    ck_assert_int_eq(rc_run(s, NULL, &r, problems), RC_OK);
    double n = (double)r.requests_count, squares = 0;
    queue q = {.idle = r.breakdown[RC_TIME_IDLE], .per_s = r.completed / r.duration_s};
    for (size_t i = 0; i < r.requests_count; i++) {
        double service = r.requests[i].finish_s - r.requests[i].admitted_s;
        q.wait_s += (r.requests[i].admitted_s - r.requests[i].arrival_s) / n;
        q.service_s += service / n;
        squares += service * service / n;
    }
    q.service_cv2 = squares / (q.service_s * q.service_s) - 1;
    rc_run_result_free(&r);
    rc_close(s);
    rc_problems_free(problems);
    return q;
}

/* Kingman 1961: at high load a queue waits rho / (1 - rho) service (ca^2 + cs^2) / 2; exact for Poisson arrivals. */
static double kingman_s(const queue *q, double rho, double arrival_cv2) {
    return rho / (1 - rho) * q->service_s * (arrival_cv2 + q->service_cv2) / 2;
}

/* At the same rate and throughput, arrivals with a cv of 2 make the queue longer as their variance says; so do bursts,
 * where the dispersion of their counts over a long time takes the place of ca^2. */
START_TEST(bursty_arrivals_wait_as_kingman_says) {
    enum { COUNT = 400000 };
    const double rho = 0.9, cv = 2, factor = 2, share = 0.3, length = 4;
    queue idle = single_server("{\"kind\":\"constant\",\"rate\":0.1}", 100000);
    double rate = rho / idle.service_s, quiet = (1 - factor * share) / (1 - share);
    char arrival[240];
    snprintf(arrival, sizeof arrival, "{\"kind\":\"poisson\",\"rate\":%.17g}", rate);
    queue poisson = single_server(arrival, COUNT);
    snprintf(arrival, sizeof arrival, "{\"kind\":\"gamma\",\"rate\":%.17g,\"cv\":%g}", rate, cv);
    queue gamma = single_server(arrival, COUNT);
    snprintf(arrival, sizeof arrival,
             "{\"kind\":\"modulated\",\"rate\":%.17g,\"burst_factor\":%g,\"burst_share\":%g,"
             "\"burst_length\":\"%.17gs\"}",
             rate, factor, share, length / rate);
    queue bursts = single_server(arrival, COUNT);
    double dispersion = 1 + 2 * share * pow((factor - quiet) * (1 - share), 2) * length;
    close_to(poisson.wait_s, kingman_s(&poisson, rho, 1), 0.05);
    close_to(gamma.wait_s, kingman_s(&gamma, rho, cv * cv), 0.05);
    close_to(bursts.wait_s, kingman_s(&bursts, rho, dispersion), 0.05);
    double cs2 = poisson.service_cv2;
    close_to(gamma.wait_s / poisson.wait_s, (cv * cv + cs2) / (1 + cs2), 0.05);
    close_to(bursts.wait_s / poisson.wait_s, (dispersion + cs2) / (1 + cs2), 0.05);
    close_to(gamma.per_s, poisson.per_s, 0.01);
    close_to(bursts.per_s, poisson.per_s, 0.01);
    close_to(1 - gamma.idle, rho, 0.01);
    close_to(1 - bursts.idle, rho, 0.01);
}
END_TEST

/* With a fast enough engine behind it, so is the front end: a request waits for those before it, then 50 ms. */
START_TEST(the_front_end_is_md1) {
    double service = 0.05, rho = 0.8;
    char arrival[120];
    snprintf(arrival, sizeof arrival, "workload.arrival={\"kind\":\"poisson\",\"rate\":%.17g}", rho / service);
    rc_scenario *s = ask("llama70b-4xh100",
                         SETTINGS("workload.input_tokens=1", "workload.output_tokens=1", "engine.policy=prefill-first",
                                  "workload.requests=200000", "hardware.stack.step.eager_launch=0s", arrival,
                                  "hardware.stack.frontend.request=50ms", "hardware.stack.frontend.token=0s"));
    rc_problems *problems = rc_problems_new();
    rc_run_result r;
    ck_assert_int_eq(rc_run(s, NULL, &r, problems), RC_OK);
    double engine = r.ttft_s.mean - service - rho * service / (2 * (1 - rho));
    ck_assert_double_gt(engine, 0); /* one short step, at times the rest of another's */
    ck_assert_double_lt(engine, 0.03);
    rc_run_result_free(&r);
    rc_close(s);
    rc_problems_free(problems);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("queueing theory");
    add_tests(suite, "theory",
              (const TTest *const[]){mm1_waits_as_long_as_theory_says, md1_waits_half_as_long, mmc_waits_as_erlang_says,
                                     the_serving_model_is_md1_where_it_should_be, bursty_arrivals_wait_as_kingman_says,
                                     the_front_end_is_md1, NULL});
    return run_suite(suite);
}
