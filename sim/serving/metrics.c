/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "metrics.h"
#include "arena.h"
#include <gsl/gsl_fit.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>

/* ---------- percentiles */

static double seconds_between(rc_time from, rc_time to) {
    return to == RC_NEVER || from == RC_NEVER ? NAN : rc_seconds_of(to - from);
}

static double ttft_of(const rc_request *r) {
    return seconds_between(r->arrival, r->first_token);
}

static double e2e_of(const rc_request *r) {
    return seconds_between(r->arrival, r->finish);
}

/* Undefined for an answer of one token. */
static double tpot_of(const rc_request *r) {
    return r->output_tokens > 1 ? seconds_between(r->first_token, r->finish) / (r->output_tokens - 1) : NAN;
}

static double queue_of(const rc_request *r) {
    return seconds_between(r->arrival, r->admitted);
}

typedef double (*metric_of)(const rc_request *);

static size_t collect(metric_of metric, const rc_request *requests, size_t count, double *values) {
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        double value = requests[i].finish == RC_NEVER ? NAN : metric(&requests[i]);
        if (!isnan(value))
            values[found++] = value;
    }
    gsl_sort(values, 1, found);
    return found;
}

static rc_percentiles percentiles_of(const double *sorted, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += sorted[i];
    rc_percentiles p = {.mean = count ? sum / (double)count : NAN, .count = (double)count};
    p.p50 = rc_sorted_quantile(sorted, count, 0.5);
    p.p90 = fmax(rc_sorted_quantile(sorted, count, 0.9), p.p50); /* interpolating equal values may round down */
    p.p95 = fmax(rc_sorted_quantile(sorted, count, 0.95), p.p90);
    p.p99 = fmax(rc_sorted_quantile(sorted, count, 0.99), p.p95);
    return p;
}

static rc_percentiles histogram_percentiles(const rc_histogram *h) {
    return (rc_percentiles){.mean = rc_histogram_mean(h),
                            .p50 = rc_histogram_quantile(h, 0.5),
                            .p90 = rc_histogram_quantile(h, 0.9),
                            .p95 = rc_histogram_quantile(h, 0.95),
                            .p99 = rc_histogram_quantile(h, 0.99),
                            .count = h->count};
}

/* ---------- objectives */

static double objective_value(const rc_objective *o, const rc_request *r) {
    switch (o->metric) {
    case RC_METRIC_TTFT: return ttft_of(r);
    case RC_METRIC_E2E: return e2e_of(r);
    default: return tpot_of(r);
    }
}

static void judge(const rc_metrics *m, const rc_objective *o, const rc_request *requests, size_t count, double *values,
                  rc_objective_result *result) {
    static const metric_of metrics[] = {
        [RC_METRIC_TTFT] = ttft_of, [RC_METRIC_TPOT] = tpot_of, [RC_METRIC_ITL] = tpot_of, [RC_METRIC_E2E] = e2e_of};
    size_t found = collect(metrics[o->metric], requests, count, values), passed = 0;
    for (size_t i = 0; i < found; i++)
        passed += values[i] <= o->limit_s;
    snprintf(result->text.text, RC_TEXT_LENGTH, "%s", o->text);
    result->limit = o->limit_s;
    result->pass_rate = found ? (double)passed / (double)found : NAN;
    result->observed = o->metric == RC_METRIC_ITL ? rc_histogram_quantile(&m->itl, o->percentile)
                                                  : rc_sorted_quantile(values, found, o->percentile);
    result->met = found == 0 || result->observed <= o->limit_s; /* an undefined metric cannot be missed */
}

/* Completed requests that meet every bare threshold; one whose metric is undefined cannot miss it. */
static double good_requests(const rc_scenario *s, const rc_request *requests, size_t count) {
    double good = 0;
    for (size_t i = 0; i < count; i++) {
        bool met = requests[i].finish != RC_NEVER;
        for (size_t o = 0; o < s->objectives_count && met; o++)
            met = !(objective_value(&s->objectives[o], &requests[i]) > s->objectives[o].limit_s);
        good += met;
    }
    return good;
}

/* ---------- stationarity */

/* How many requests wait at each of some times: those that came less those that were admitted. */
static void sample_queue(const rc_request *requests, size_t count, const double *times, size_t samples, double *queue) {
    double *admitted = rc_allocate((count + 1) * sizeof *admitted);
    size_t known = 0, came = 0, left = 0;
    for (size_t i = 0; i < count; i++)
        if (requests[i].replica == UINT32_MAX)
            admitted[known++] = rc_seconds_of(requests[i].arrival); /* lost at once */
        else if (requests[i].admitted != RC_NEVER)
            admitted[known++] = rc_seconds_of(requests[i].admitted);
    gsl_sort(admitted, 1, known);
    for (size_t s = 0; s < samples; s++) {
        while (came < count && rc_seconds_of(requests[came].arrival) <= times[s])
            came++;
        while (left < known && admitted[left] <= times[s])
            left++;
        queue[s] = (double)came - (double)left;
    }
    free(admitted);
}

/* The queue over the second half of the arrivals: where a fitted line rises by more than the noise of a stationary
 * queue would (half its own mean and three requests), the load is more than the rack can do. */
static void judge_queue(const rc_scenario *s, const rc_request *requests, size_t count, rc_run_result *r) {
    enum { SAMPLES = 64, REQUESTS_MIN = 20 };
    r->stationary = true;
    if (s->workload.arrival.kind == RC_ARRIVAL_CLOSED || count < REQUESTS_MIN)
        return;
    double last = rc_seconds_of(requests[count - 1].arrival), times[SAMPLES], queue[SAMPLES], mean = 0;
    double c0, c1, cov00, cov01, cov11, sumsq;
    for (size_t i = 0; i < SAMPLES; i++)
        times[i] = last * (0.5 + 0.5 * (double)i / (SAMPLES - 1));
    sample_queue(requests, count, times, SAMPLES, queue);
    for (size_t i = 0; i < SAMPLES; i++)
        mean += queue[i] / SAMPLES;
    gsl_fit_linear(times, 1, queue, 1, SAMPLES, &c0, &c1, &cov00, &cov01, &cov11, &sumsq);
    r->stationary = !(c1 * last / 2 > 3 + 0.5 * mean);
    r->queue_growth_per_s = r->stationary ? 0 : c1;
}

/* ---------- whole */

/* `stages`: micro-batches of a copy, which the reports do not tell apart. */
static void fill_records(const rc_request *requests, size_t count, const uint32_t *copies, rc_run_result *result) {
    result->requests = rc_allocate(count * sizeof *result->requests);
    result->requests_count = count;
    for (size_t i = 0; i < count; i++) {
        const rc_request *r = &requests[i];
        result->requests[i] =
            (rc_request_record){.input_tokens = r->input_tokens,
                                .output_tokens = r->output_tokens,
                                .arrival_s = rc_seconds_of(r->arrival),
                                .admitted_s = seconds_between(0, r->admitted),
                                .first_token_s = seconds_between(0, r->first_token),
                                .finish_s = seconds_between(0, r->finish),
                                .preemptions = r->preemptions,
                                .found_tokens = r->found,
                                .replica = r->replica == UINT32_MAX ? UINT32_MAX : copies[r->replica]};
    }
}

static void fill_latencies(const rc_metrics *m, const rc_scenario *s, const rc_request *requests, size_t count,
                           rc_run_result *r) {
    double *values = rc_allocate(count * sizeof *values);
    r->ttft_s = percentiles_of(values, collect(ttft_of, requests, count, values));
    r->tpot_s = percentiles_of(values, collect(tpot_of, requests, count, values));
    r->e2e_s = percentiles_of(values, collect(e2e_of, requests, count, values));
    r->queue_s = percentiles_of(values, collect(queue_of, requests, count, values));
    r->itl_s = histogram_percentiles(&m->itl);
    r->objectives_count = s->objectives_count < RC_OBJECTIVES_MAX ? s->objectives_count : RC_OBJECTIVES_MAX;
    for (size_t i = 0; i < r->objectives_count; i++)
        judge(m, &s->objectives[i], requests, count, values, &r->objectives[i]);
    free(values);
}

/* Parts of the mean time to the first token, over the completed requests. */
static void split_ttft(const rc_request *requests, size_t count, rc_run_result *r) {
    double completed = 0, queue = 0, prefill = 0, transfer = 0, first_step = 0;
    for (size_t i = 0; i < count; i++) {
        const rc_request *q = &requests[i];
        if (q->finish == RC_NEVER)
            continue;
        bool handed = q->prompt_done != RC_NEVER;
        rc_time computed = handed ? q->prompt_done : q->first_token, there = handed ? q->arrived : q->first_token;
        completed++;
        queue += seconds_between(q->arrival, q->admitted);
        prefill += seconds_between(q->admitted, computed);
        transfer += seconds_between(computed, there);
        first_step += seconds_between(there, q->first_token);
        r->hands_over = r->hands_over || handed;
    }
    r->ttft_queue_s = completed > 0 ? queue / completed : NAN;
    r->ttft_prefill_s = completed > 0 ? prefill / completed : NAN;
    r->ttft_transfer_s = completed > 0 ? transfer / completed : NAN;
    r->ttft_first_step_s = completed > 0 ? first_step / completed : NAN;
}

static void fill_breakdown(const rc_metrics *m, double available_s, double *breakdown) {
    static const rc_breakdown of[RC_WHERE_COUNT] = {[RC_HBM] = RC_TIME_HBM,
                                                    [RC_COMPUTE] = RC_TIME_COMPUTE,
                                                    [RC_LINK_0] = RC_TIME_LINK_INNER,
                                                    [RC_LINK_1] = RC_TIME_LINK_OUTER,
                                                    [RC_LAUNCH] = RC_TIME_LAUNCH,
                                                    [RC_HOST] = RC_TIME_HOST,
                                                    [RC_LINK_HOST] = RC_TIME_LINK_HOST,
                                                    [RC_HOST_MEMORY] = RC_TIME_HOST_MEMORY};
    double busy = 0;
    for (int where = 0; where < RC_WHERE_COUNT; where++)
        busy += m->where_s[where];
    double whole = fmax(available_s, busy); /* a step cut off by the run's end counts whole */
    for (int where = 0; where < RC_WHERE_COUNT; where++)
        breakdown[of[where]] = whole > 0 ? m->where_s[where] / whole : 0;
    breakdown[RC_TIME_IDLE] = whole > 0 ? 1 - busy / whole : 1;
}

void rc_metrics_finish(const rc_metrics *m, const rc_scenario *s, const rc_request *requests, size_t count,
                       const uint32_t *copies, double end_s, rc_run_result *r) {
    r->completed = m->completed;
    r->lost = m->lost;
    r->preemptions = m->preemptions;
    r->prompt_tokens = m->prompt_tokens;
    r->found_tokens = m->found_tokens;
    r->loaded_tokens = m->loaded_tokens;
    for (size_t i = 0; i < rc_pools_count(s); i++)
        r->keeps_prefixes = r->keeps_prefixes || rc_pool(s, i)->engine.prefix_cache;
    r->duration_s = end_s;
    r->output_tokens = m->output_tokens;
    r->input_tokens = m->input_tokens;
    r->output_tokens_per_s = end_s > 0 ? m->output_tokens / end_s : 0;
    r->input_tokens_per_s = end_s > 0 ? m->input_tokens / end_s : 0;
    r->total_tokens_per_s = r->output_tokens_per_s + r->input_tokens_per_s;
    r->steps = m->steps;
    r->decode_steps = m->decode_steps;
    r->decode_batch_mean = m->decode_steps > 0 ? m->decode_sequences / m->decode_steps : 0;
    r->concurrency_mean = end_s > 0 ? m->recorder.running_s / end_s : 0;
    rc_recorder_finish(&m->recorder, &r->timeline);
    fill_latencies(m, s, requests, count, r);
    split_ttft(requests, count, r);
    r->interactivity_tokens_per_s = 1 / r->tpot_s.mean;
    r->goodput_per_s = end_s > 0 ? good_requests(s, requests, count) / end_s : 0;
    double side_by_side = 0; /* micro-batches of stages too */
    for (size_t i = 0; i < rc_pools_count(s); i++)
        side_by_side += rc_pool(s, i)->parallel.replicas * rc_pool(s, i)->parallel.pp;
    fill_breakdown(m, end_s * side_by_side, r->breakdown);
    judge_queue(s, requests, count, r);
    fill_records(requests, count, copies, r);
}
