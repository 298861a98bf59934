/* SPDX-License-Identifier: GPL-3.0-or-later
 * load_trace.h - a load written down as a trace: every request with its time, as if each answer took a nominal time.
 *
 * A session's next turn, and a client's next question, come some time after an answer.  A trace is fixed before anybody
 * serves it, so answers take what they take at nominal speeds, however many are under way: what a prompt does not
 * repeat at one, the answer's tokens at the other.
 */
#ifndef RC_LOAD_TRACE_H
#define RC_LOAD_TRACE_H
#include "trace.h"
#include "workload.h"

enum { RC_NOMINAL_PROMPT_TOKENS_PER_S = 10000, RC_NOMINAL_OUTPUT_TOKENS_PER_S = 50 };

/* Fills a trace, which the caller frees.  False and a problem where the load is a trace already, has no request, or
 * lasts longer than the clock. */
bool rc_load_trace(const rc_workload *workload, uint64_t seed, rc_trace *trace, rc_problems *problems);
#endif
