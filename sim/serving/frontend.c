/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "frontend.h"

rc_time rc_frontend_pass(rc_frontend *f, const rc_request *request, rc_time now) {
    rc_time begins = f->free_at > now ? f->free_at : now;
    return f->free_at = begins + rc_time_of(f->request_s + f->token_s * request->input_tokens);
}
