/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "session.h"
#include "arena.h"
#include "length_draw.h"
#include <stdlib.h>

void rc_sessions_init(rc_sessions *s, const rc_workload *workload, bool told, uint64_t seed) {
    *s = (rc_sessions){.workload = workload,
                       .told = told,
                       .lengths = rc_random_new(seed, "request lengths"),
                       .shapes = rc_random_new(seed, "sessions"),
                       .pauses = rc_random_new(seed, "pauses between turns")};
}

void rc_sessions_free(rc_sessions *s) {
    rc_random_free(s->lengths);
    rc_random_free(s->shapes);
    rc_random_free(s->pauses);
    for (rc_session *session = s->spare, *next; session; session = next) {
        next = session->next;
        rc_content_free(&session->content);
        free(session);
    }
}

static rc_session *new_session(rc_sessions *s) {
    rc_session *session = s->spare;
    if (session)
        s->spare = session->next;
    else
        session = rc_allocate(sizeof *session);
    rc_content_clear(&session->content);
    session->replica = UINT32_MAX;
    session->turns_left = 0;
    return session;
}

/* What is shared, and a piece of its own. */
static void start_content(rc_sessions *s, rc_session *session, uint32_t own_tokens) {
    uint32_t shared = (uint32_t)s->workload->sessions.system_tokens;
    rc_content_clear(&session->content);
    if (shared > 0)
        rc_content_add(&session->content, rc_content_id(RC_CONTENT_SHARED, 0), shared);
    rc_content_add(&session->content, rc_content_id(RC_CONTENT_SESSION, s->ids++), own_tokens);
}

/* What is in the content is the prompt; the answer follows it. */
static void ask(rc_sessions *s, rc_session *session, rc_turn *turn) {
    turn->input_tokens = (uint32_t)rc_content_tokens(&session->content);
    turn->output_tokens = rc_length_draw(s->lengths, &s->workload->output);
    rc_content_resize(&session->content, (uint64_t)turn->input_tokens + turn->output_tokens);
}

rc_session *rc_session_begin(rc_sessions *s, rc_turn *turn) {
    const rc_session_shape *shape = &s->workload->sessions;
    uint32_t own = rc_length_draw(s->lengths, &s->workload->input);
    if (!s->told && !s->workload->has_sessions) {
        *turn = (rc_turn){own, rc_length_draw(s->lengths, &s->workload->output)};
        return NULL;
    }
    rc_session *session = new_session(s);
    if (s->workload->has_sessions) {
        session->turns_left = rc_length_draw(s->shapes, &shape->turns) - 1;
        own += shape->context.kind == RC_LENGTH_NONE ? 0 : rc_length_draw(s->shapes, &shape->context);
    }
    start_content(s, session, own);
    ask(s, session, turn);
    return session;
}

rc_session *rc_session_alone(rc_sessions *s, const rc_piece *pieces, size_t count, const rc_turn *turn) {
    rc_session *session = new_session(s);
    for (size_t i = 0; i < count; i++)
        rc_content_add(&session->content, pieces[i].id, pieces[i].tokens);
    if (count == 0)
        rc_content_add(&session->content, rc_content_id(RC_CONTENT_REQUEST, s->ids++), turn->input_tokens);
    rc_content_resize(&session->content, (uint64_t)turn->input_tokens + turn->output_tokens);
    return session;
}

bool rc_session_go_on(rc_sessions *s, rc_session *session, rc_turn *turn, double *pause_s) {
    const rc_session_shape *shape = &s->workload->sessions;
    if (session->turns_left < 1)
        return false;
    session->turns_left--;
    uint32_t said = rc_length_draw(s->lengths, &s->workload->input);
    uint64_t longer = rc_content_tokens(&session->content) + said;
    if ((double)longer > shape->compact_at)
        start_content(s, session, (uint32_t)shape->compact_to + said);
    else
        rc_content_resize(&session->content, longer);
    ask(s, session, turn);
    *pause_s = shape->pause_s > 0 ? rc_random_exponential(s->pauses, shape->pause_s) : 0;
    return true;
}

void rc_session_end(rc_sessions *s, rc_session *session) {
    if (!session)
        return;
    session->next = s->spare;
    s->spare = session;
}
