/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "arrivals.h"
#include <math.h>
#include <stdlib.h>

static bool open_trace(rc_arrivals *a, const rc_arrival *arrival, uint64_t seed, rc_problems *problems) {
    if (!rc_trace_read(arrival->file, arrival->time_unit, &a->trace, problems))
        return false;
    if (arrival->jitter_s == 0)
        return true;
    rc_random *random = rc_random_new(seed, "trace jitter");
    rc_trace_jitter(&a->trace, arrival->jitter_s, random);
    rc_random_free(random);
    return true;
}

bool rc_arrivals_open(rc_arrivals *a, const rc_workload *workload, uint64_t seed, rc_problems *problems) {
    *a = (rc_arrivals){.workload = workload,
                       .intervals = rc_random_new(seed, "arrival intervals"),
                       .lengths = rc_random_new(seed, "request lengths"),
                       .thinking = rc_random_new(seed, "think times"),
                       .limit = workload->requests > 0 ? workload->requests : INFINITY};
    const rc_arrival *arrival = &workload->arrival;
    if (rc_intensity_changes(arrival))
        rc_intensity_open(&a->intensity, arrival, seed);
    return arrival->kind != RC_ARRIVAL_TRACE || open_trace(a, arrival, seed, problems);
}

void rc_arrivals_close(rc_arrivals *a) {
    rc_random_free(a->intervals);
    rc_random_free(a->lengths);
    rc_random_free(a->thinking);
    rc_intensity_close(&a->intensity);
    rc_trace_free(&a->trace);
}

static uint32_t draw_length(rc_random *random, const rc_length *length) {
    switch (length->kind) {
    case RC_LENGTH_UNIFORM: return (uint32_t)rc_random_between(random, (uint64_t)length->low, (uint64_t)length->high);
    case RC_LENGTH_LOGNORMAL: {
        const double longest = 1e9;
        double drawn = round(rc_random_lognormal(random, length->median, length->sigma));
        return (uint32_t)fmax(1, fmin(drawn, fmin(length->max, longest)));
    }
    case RC_LENGTH_EMPIRICAL: return (uint32_t)length->values[rc_random_between(random, 0, length->values_count - 1)];
    default: return (uint32_t)length->low;
    }
}

static bool next_row(rc_arrivals *a, rc_asked *asked) {
    const rc_arrival *arrival = &a->workload->arrival;
    double from = arrival->window_count ? arrival->window[0] : 0,
           to = arrival->window_count ? arrival->window[1] : INFINITY;
    for (; a->next_row < a->trace.count; a->next_row++) {
        const rc_trace_row *row = &a->trace.rows[a->next_row];
        double seconds = (double)row->arrival_ns / 1e9;
        if (seconds < from || seconds >= to)
            continue;
        a->next_row++;
        *asked = (rc_asked){(seconds - from) / arrival->scale, row->input_tokens, row->output_tokens};
        return true;
    }
    return false;
}

static double next_time_s(rc_arrivals *a) {
    const rc_arrival *arrival = &a->workload->arrival;
    double mean = 1 / arrival->rate_per_s;
    switch (arrival->kind) {
    case RC_ARRIVAL_POISSON: return a->time_s + rc_random_exponential(a->intervals, mean);
    case RC_ARRIVAL_GAMMA: return a->time_s + rc_random_gamma(a->intervals, mean, arrival->cv);
    case RC_ARRIVAL_CONSTANT: return a->time_s + mean;
    case RC_ARRIVAL_MODULATED:
    case RC_ARRIVAL_DAILY: return rc_intensity_pass(&a->intensity, a->time_s, rc_random_exponential(a->intervals, 1));
    default: return 0;
    }
}

bool rc_arrivals_next(rc_arrivals *a, rc_asked *asked) {
    if (a->asked >= a->limit)
        return false;
    if (a->workload->arrival.kind == RC_ARRIVAL_TRACE) {
        a->asked++;
        return next_row(a, asked);
    }
    a->asked++;
    a->time_s = next_time_s(a);
    asked->time_s = a->time_s;
    asked->input_tokens = draw_length(a->lengths, &a->workload->input);
    asked->output_tokens = draw_length(a->lengths, &a->workload->output);
    return true;
}

double rc_arrivals_think_s(rc_arrivals *a) {
    double mean = a->workload->arrival.think_time_s;
    return mean > 0 ? rc_random_exponential(a->thinking, mean) : 0;
}
