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

bool rc_arrivals_open(rc_arrivals *a, const rc_workload *workload, bool told, uint64_t seed, rc_problems *problems) {
    *a = (rc_arrivals){.workload = workload,
                       .intervals = rc_random_new(seed, "arrival intervals"),
                       .thinking = rc_random_new(seed, "think times"),
                       .limit = workload->requests > 0 ? workload->requests : INFINITY};
    const rc_arrival *arrival = &workload->arrival;
    rc_sessions_init(&a->sessions, workload, told, seed);
    if (rc_intensity_changes(arrival))
        rc_intensity_open(&a->intensity, arrival, seed);
    return arrival->kind != RC_ARRIVAL_TRACE || open_trace(a, arrival, seed, problems);
}

void rc_arrivals_close(rc_arrivals *a) {
    rc_random_free(a->intervals);
    rc_sessions_free(&a->sessions);
    rc_random_free(a->thinking);
    rc_intensity_close(&a->intensity);
    rc_trace_free(&a->trace);
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
        *asked =
            (rc_asked){.time_s = (seconds - from) / arrival->scale, .turn = {row->input_tokens, row->output_tokens}};
        if (a->sessions.told)
            asked->session =
                rc_session_alone(&a->sessions, a->trace.pieces + row->first_piece, row->pieces, &asked->turn);
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
    asked->session = rc_session_begin(&a->sessions, &asked->turn);
    return true;
}

bool rc_arrivals_go_on(rc_arrivals *a, rc_session *session, rc_asked *asked) {
    *asked = (rc_asked){.session = session};
    if (session && a->asked < a->limit && rc_session_go_on(&a->sessions, session, &asked->turn, &asked->time_s)) {
        a->asked++;
        return true;
    }
    rc_session_end(&a->sessions, session);
    return false;
}

void rc_arrivals_give_up(rc_arrivals *a, rc_session *session) {
    rc_session_end(&a->sessions, session);
}

double rc_arrivals_think_s(rc_arrivals *a) {
    double mean = a->workload->arrival.think_time_s;
    return mean > 0 ? rc_random_exponential(a->thinking, mean) : 0;
}
