/* SPDX-License-Identifier: GPL-3.0-or-later
 * session.h - a conversation: turn after turn, each prompt the whole of what was said before and something new.
 *
 * The first prompt is what all sessions share (a system prompt), what this one begins with (files, a history) and a
 * question.  Every later one is the last prompt, its answer and something new: a question, or what a tool said.  Where
 * it would become longer than `compact_at`, what was said is replaced by a summary of `compact_to` tokens behind what is
 * shared.  A request that stands alone is a session of one turn.
 */
#ifndef RC_SESSION_H
#define RC_SESSION_H
#include "content.h"
#include "random.h"
#include "workload.h"

/* What a turn asks. */
typedef struct rc_turn {
    uint32_t input_tokens, output_tokens;
} rc_turn;

typedef struct rc_session {
    rc_content content; /* of the turn under way: prompt and answer */
    double turns_left;
    uint32_t replica; /* that the last turn went to; UINT32_MAX: none yet */
    struct rc_session *next;
} rc_session;

typedef struct rc_sessions {
    const rc_workload *workload;
    bool told; /* what contents are, for prefix caches */
    rc_random *lengths, *shapes, *pauses;
    rc_session *spare; /* ended, to be used again */
    uint64_t ids;      /* given so far */
} rc_sessions;

void rc_sessions_init(rc_sessions *sessions, const rc_workload *workload, bool told, uint64_t seed);
void rc_sessions_free(rc_sessions *sessions); /* all must have ended */
/* Draws a first turn.  NULL: of a session of one turn whose content nobody asks for. */
rc_session *rc_session_begin(rc_sessions *sessions, rc_turn *turn);
/* One turn of a content that is told: pieces of the prompt, the last of which its answer goes on; none: its own. */
rc_session *rc_session_alone(rc_sessions *sessions, const rc_piece *pieces, size_t count, const rc_turn *turn);
/* The next turn and the pause before it; false: it was the last. */
bool rc_session_go_on(rc_sessions *sessions, rc_session *session, rc_turn *turn, double *pause_s);
void rc_session_end(rc_sessions *sessions, rc_session *session); /* NULL is fine */
#endif
