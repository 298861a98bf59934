/* SPDX-License-Identifier: GPL-3.0-or-later
 * frontend.h - what a request meets before the engine: HTTP and the tokenizer, one process that takes one request after
 * another.  When many come at once, as the clients of a benchmark do, the last of them waits for all the others.
 */
#ifndef RC_FRONTEND_H
#define RC_FRONTEND_H
#include "request.h"

typedef struct rc_frontend {
    double request_s, token_s; /* see rc_stack_frontend */
    rc_time free_at;           /* when it has passed on all that came */
} rc_frontend;

/* A request comes at `now`; the time when it is passed on to the engine. */
rc_time rc_frontend_pass(rc_frontend *frontend, const rc_request *request, rc_time now);
#endif
