/* SPDX-License-Identifier: GPL-3.0-or-later
 * arrivals.h - which requests come, and when.
 * Open loads (all but the closed one) yield requests in order of time.  A closed load yields one at a time,
 * whenever a client asks again; all clients ask first at time 0.
 * Intervals, lengths, thinking, bursts and the jitter of a trace draw from streams of their own.
 * A trace is jittered first; then its window, its scale and the number of requests apply, as to a trace with that clock.
 */
#ifndef RC_ARRIVALS_H
#define RC_ARRIVALS_H
#include "intensity.h"
#include "random.h"
#include "session.h"
#include "trace.h"
#include "workload.h"

typedef struct rc_asked {
    double time_s; /* since the run began; open loads only */
    rc_turn turn;
    rc_session *session; /* whose turn it is; NULL: contents are not told and sessions have one turn */
} rc_asked;

typedef struct rc_arrivals {
    const rc_workload *workload;
    rc_random *intervals, *thinking;
    rc_sessions sessions;
    rc_intensity intensity; /* daily and modulated loads */
    rc_trace trace;
    size_t next_row;
    double time_s, asked, limit; /* limit: requests to come in all; infinite: until the duration ends */
} rc_arrivals;

/* False and problems where a trace cannot be read. */
bool rc_arrivals_open(rc_arrivals *arrivals, const rc_workload *workload, bool told, uint64_t seed,
                      rc_problems *problems);
void rc_arrivals_close(rc_arrivals *arrivals);
bool rc_arrivals_next(rc_arrivals *arrivals, rc_asked *asked); /* the first turn of a session; false: no more */
/* An answer was given: the session's next turn, time_s after it; false: that was the last, and the session is over. */
bool rc_arrivals_go_on(rc_arrivals *arrivals, rc_session *session, rc_asked *asked);
void rc_arrivals_give_up(rc_arrivals *arrivals, rc_session *session); /* it asks no more; NULL is fine */
double rc_arrivals_think_s(rc_arrivals *arrivals);                    /* pause of a client of a closed load */
#endif
