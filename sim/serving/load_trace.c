/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "load_trace.h"
#include "arena.h"
#include "arrivals.h"
#include "event_queue.h"
#include <math.h>
#include <stdlib.h>

enum { PRIORITY_ASKED, PRIORITY_ANSWERED };
typedef enum event_kind { EVENT_ASKED, EVENT_ANSWERED } event_kind;

typedef struct asked_turn {
    rc_turn turn;
    rc_session *session; /* NULL: it stands alone */
    uint32_t number;     /* of the session, in the order of first turns; RC_INDEX_NONE: none yet, or it stands alone */
    uint32_t repeats;    /* tokens of the prompt that the session's last prompt and answer began with */
} asked_turn;

typedef struct writer {
    const rc_workload *workload;
    rc_arrivals arrivals;
    rc_event_queue *events;
    asked_turn *asked; /* in the order of asking */
    size_t asked_count, asked_capacity;
    rc_content before; /* of the session whose next turn is made */
    uint32_t sessions;
    bool closed, beyond_clock;
    rc_trace *trace;
} writer;

static void schedule(writer *w, double seconds, uint8_t priority, rc_event event) {
    double now = rc_seconds_of(rc_event_queue_now(w->events));
    w->beyond_clock = w->beyond_clock || now + seconds > RC_HORIZON_S;
    if (!w->beyond_clock)
        rc_event_queue_schedule(w->events, rc_event_queue_now(w->events) + rc_time_of(seconds), priority, event);
}

/* It is asked `seconds` from now. */
static void ask(writer *w, asked_turn asked, double seconds) {
    w->asked = rc_grow(w->asked, w->asked_count, &w->asked_capacity, sizeof *w->asked);
    w->asked[w->asked_count] = asked;
    schedule(w, seconds, PRIORITY_ASKED, (rc_event){EVENT_ASKED, (uint32_t)w->asked_count++});
}

/* The next session of an open load, at its time; of a closed one, after a pause. */
static void begin_session(writer *w, double pause_s) {
    rc_asked first;
    if (!rc_arrivals_next(&w->arrivals, &first))
        return;
    double wait_s = w->closed ? pause_s : fmax(0, first.time_s - rc_seconds_of(rc_event_queue_now(w->events)));
    ask(w, (asked_turn){first.turn, first.session, RC_INDEX_NONE, 0}, wait_s);
}

static double answer_s(const asked_turn *asked) {
    return (double)(asked->turn.input_tokens - asked->repeats) / RC_NOMINAL_PROMPT_TOKENS_PER_S +
           (double)asked->turn.output_tokens / RC_NOMINAL_OUTPUT_TOKENS_PER_S;
}

static void write_row(writer *w, const asked_turn *asked) {
    rc_trace *t = w->trace;
    int64_t ns = (int64_t)(rc_event_queue_now(w->events) / 1000);
    t->rows = rc_grow(t->rows, t->count, &t->capacity, sizeof *t->rows);
    t->rows[t->count++] = (rc_trace_row){.arrival_ns = ns,
                                         .input_tokens = asked->turn.input_tokens,
                                         .output_tokens = asked->turn.output_tokens,
                                         .session = asked->number,
                                         .repeats = asked->repeats};
    t->repeated_tokens += asked->repeats;
}

static void on_asked(writer *w, uint32_t index) {
    if (!w->closed)
        begin_session(w, 0);
    asked_turn *asked = &w->asked[index];
    if (w->workload->has_sessions && asked->number == RC_INDEX_NONE)
        asked->number = w->sessions++;
    write_row(w, asked);
    schedule(w, answer_s(asked), PRIORITY_ANSWERED, (rc_event){EVENT_ANSWERED, index});
}

static void on_answered(writer *w, uint32_t index) {
    rc_asked next;
    rc_session *session = w->asked[index].session;
    if (session)
        rc_content_copy(&w->before, &session->content);
    w->asked[index].session = NULL; /* ended, or the next turn's */
    if (rc_arrivals_go_on(&w->arrivals, session, &next)) {
        uint64_t alike = rc_content_alike(&w->before, &session->content);
        uint32_t repeats = (uint32_t)(alike < next.turn.input_tokens ? alike : next.turn.input_tokens);
        ask(w, (asked_turn){next.turn, session, w->asked[index].number, repeats}, next.time_s);
    } else if (w->closed)
        begin_session(w, rc_arrivals_think_s(&w->arrivals));
}

static void play(writer *w) {
    rc_event event;
    rc_time now;
    double clients = w->closed ? w->workload->arrival.clients : 1;
    for (double client = 0; client < clients; client++)
        begin_session(w, 0);
    while (!w->beyond_clock && rc_event_queue_peek(w->events, &now) && rc_seconds_of(now) <= w->workload->duration_s &&
           rc_event_queue_pop(w->events, &event)) {
        if (event.kind == EVENT_ASKED)
            on_asked(w, event.subject);
        else
            on_answered(w, event.subject);
    }
}

/* A trace begins with its first row. */
static void count_from_first_row(rc_trace *t, uint32_t sessions) {
    for (size_t i = t->count; i-- > 0;)
        t->rows[i].arrival_ns -= t->rows[0].arrival_ns;
    t->span_ns = t->count ? t->rows[t->count - 1].arrival_ns : 0;
    t->sessions = sessions;
}

static bool check(const writer *w, rc_problems *problems) {
    if (w->beyond_clock)
        rc_problem_add(problems, RC_BAD_VALUE, "", "workload", 0, "requests after more than 200 days",
                       "a load of at most 200 days", "the load is longer than the clock");
    else if (w->trace->count == 0)
        rc_problem_add(problems, RC_BAD_VALUE, "", "workload.duration", 0, "no request before it ends",
                       "a duration with at least one request", "a trace would be empty");
    return rc_problems_count(problems) == 0;
}

bool rc_load_trace(const rc_workload *workload, uint64_t seed, rc_trace *trace, rc_problems *problems) {
    *trace = (rc_trace){0};
    if (workload->arrival.kind == RC_ARRIVAL_TRACE) {
        rc_problem_add(problems, RC_BAD_VALUE, "", "workload.arrival", 0, workload->arrival.file,
                       "a load that is no trace; or the trace itself, by name or file", "the load is a trace already");
        return false;
    }
    writer w = {.workload = workload,
                .events = rc_event_queue_new(),
                .closed = workload->arrival.kind == RC_ARRIVAL_CLOSED,
                .trace = trace};
    bool good = rc_arrivals_open(&w.arrivals, workload, workload->has_sessions, seed, problems);
    if (good) {
        play(&w);
        count_from_first_row(trace, w.sessions);
        good = check(&w, problems);
    }
    for (size_t i = 0; i < w.asked_count; i++)
        rc_arrivals_give_up(&w.arrivals, w.asked[i].session);
    rc_arrivals_close(&w.arrivals);
    rc_event_queue_free(w.events);
    rc_content_free(&w.before);
    free(w.asked);
    if (!good)
        rc_trace_free(trace);
    return good;
}
