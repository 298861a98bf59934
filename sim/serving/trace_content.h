/* SPDX-License-Identifier: GPL-3.0-or-later
 * trace_content.h - what a trace says of its prompts' contents: blocks by id, or sessions that go on.
 *
 * Blocks (Mooncake): a list of ids, one for each 512 tokens of the prompt; an id stands for its block and all before it.
 * Sessions: a prompt repeats so many tokens of its session's last prompt and answer.  Where a row does not say how many, all
 * of them, or none where the prompt is shorter than they are (the session was made shorter).
 */
#ifndef RC_TRACE_CONTENT_H
#define RC_TRACE_CONTENT_H
#include "trace.h"

enum { RC_TRACE_BLOCK_TOKENS = 512 };

typedef struct rc_trace_contents {
    rc_index_map blocks;     /* ids that were there before */
    rc_index_map session_of; /* number of a session by the hash of its name */
    rc_content *sessions;    /* their last prompt and answer */
    size_t sessions_count, sessions_capacity;
    uint64_t ids; /* given so far */
    rc_content content;
} rc_trace_contents;

typedef struct rc_trace_mistake {
    char found[80], expected[80];
    const char *message;
} rc_trace_mistake;

/* Adds a row's content to the trace: from its list of blocks, or from its session's name ("" nobody's) and the number of
 * tokens it repeats (NULL or "": not said).  False and the mistake where a cell is bad. */
bool rc_trace_blocks(rc_trace_contents *contents, rc_trace *trace, rc_trace_row *row, const char *list,
                     rc_trace_mistake *mistake);
bool rc_trace_turn(rc_trace_contents *contents, rc_trace *trace, rc_trace_row *row, const char *session,
                   const char *repeats, rc_trace_mistake *mistake);
void rc_trace_contents_free(rc_trace_contents *contents);
#endif
