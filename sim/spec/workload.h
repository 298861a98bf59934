/* SPDX-License-Identifier: GPL-3.0-or-later
 * workload.h - what people ask of the rack: when requests come and how long they are, and how their tokens spread over
 * experts.
 */
#ifndef RC_WORKLOAD_H
#define RC_WORKLOAD_H
#include "fields.h"

typedef enum rc_arrival_kind {
    RC_ARRIVAL_CLOSED, /* so many clients, each waits for its answer, thinks, asks again; all start together */
    RC_ARRIVAL_POISSON,
    RC_ARRIVAL_GAMMA, /* gamma-distributed intervals: cv above 1 is bursty */
    RC_ARRIVAL_CONSTANT,
    RC_ARRIVAL_MODULATED, /* Poisson in bursts and in the calm between them, at two rates */
    RC_ARRIVAL_DAILY,     /* Poisson at a rate that follows a curve, over and over */
    RC_ARRIVAL_TRACE      /* arrivals and lengths from a file */
} rc_arrival_kind;

typedef struct rc_arrival {
    int kind;
    double clients, think_time_s; /* closed */
    double rate_per_s, cv;        /* open: the mean; cv = standard deviation / mean of intervals */
    double burst_factor;          /* modulated: rate in a burst / rate, above 1 */
    double burst_share;           /* modulated: of all time; in (0, 1), at most 1 / burst_factor */
    double burst_length_s;        /* modulated: mean of an exponential; up to 365 days */
    double *curve;                /* daily: rates of equal slots, only their ratios count; 0 or more, not all 0 */
    size_t curve_count;           /* 2 to 288 */
    double period_s;              /* daily: what the curve covers; 1 s to 365 days */
    const char *file;             /* trace */
    double scale;                 /* trace: intervals are divided by it */
    double *window;               /* trace: seconds since its first row, [from, to) */
    size_t window_count;          /* 0 or 2 */
    const char *time_unit;        /* trace: "s", "ms", "us", "ns" where the column's name does not say */
    double jitter_s; /* trace: rows move on by a uniform draw from [0, jitter), before scale; up to a day */
} rc_arrival;

typedef enum rc_length_kind {
    RC_LENGTH_FIXED,
    RC_LENGTH_UNIFORM,
    RC_LENGTH_LOGNORMAL,
    RC_LENGTH_EMPIRICAL,
    RC_LENGTH_NONE
} rc_length_kind;

/* Tokens of a prompt or an answer. */
typedef struct rc_length {
    rc_length_kind kind;
    double low, high;     /* fixed (both), uniform: both ends included */
    double median, sigma; /* lognormal; cut to [1, max] */
    double max;           /* lognormal; infinite where not given */
    double *values;       /* empirical: drawn with equal chance */
    size_t values_count;
} rc_length;

typedef enum rc_routing_kind {
    RC_ROUTING_UNIFORM,
    RC_ROUTING_LOGNORMAL,
    RC_ROUTING_ZIPF,
    RC_ROUTING_HISTOGRAM
} rc_routing_kind;
typedef struct rc_routing {
    int kind;        /* how popular experts are with this traffic */
    double sigma;    /* lognormal: of the logarithm of popularity */
    double exponent; /* zipf: popularity of the n-th expert is n^-exponent */
    double *counts;  /* histogram: tokens that chose each expert, one for each of the model's */
    size_t counts_count;
    double
        draft_likeness; /* share of a draft token's experts that the token before it chose as well, beyond popularity */
    double drift;       /* sigma of what popularity has changed by since experts were placed (EPLB) */
} rc_routing;

/* Conversations of several turns (serving/session.h). */
typedef struct rc_session_shape {
    rc_length turns;      /* requests of a session */
    double system_tokens; /* at the beginning of every prompt, the same in all sessions */
    rc_length context;    /* tokens a session begins with, its own; kind none: nothing */
    double pause_s;       /* mean between an answer and the next turn, exponential: people think, tools run */
    double compact_at;    /* a prompt that would be longer begins anew with a summary; infinite: never */
    double compact_to;    /* tokens of the summary */
} rc_session_shape;

typedef struct rc_workload {
    const char *name, *title;
    rc_arrival arrival;
    rc_length input, output; /* of sessions: what each turn adds */
    bool has_sessions;
    rc_session_shape sessions;
    double requests;   /* how many come; 0: all of the trace */
    double duration_s; /* the run is cut off then; infinite: it ends with the last answer */
    rc_routing routing;
    bool routing_given; /* false: the stated assumption is used */
} rc_workload;

extern const rc_table rc_workload_table;
/* Checks what a table cannot. */
bool rc_workload_finish(rc_workload *workload, const char *path, rc_reader *reader);
/* Tokens of a prompt on average, sessions' later turns among them, and the longest request; infinite: no limit. */
double rc_workload_prompt_mean(const rc_workload *workload);
double rc_workload_longest(const rc_workload *workload);
/* Requests a second of a modulated load. */
double rc_arrival_burst_rate(const rc_arrival *arrival);
double rc_arrival_calm_rate(const rc_arrival *arrival);
double rc_length_mean(const rc_length *length);
double rc_length_longest(const rc_length *length); /* infinite where there is no limit */
#endif
