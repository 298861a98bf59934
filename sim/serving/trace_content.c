/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace_content.h"
#include "arena.h"
#include "hash.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool refuse(rc_trace_mistake *mistake, const char *found, const char *expected, const char *message) {
    snprintf(mistake->found, sizeof mistake->found, "%.*s", (int)sizeof mistake->found - 1,
             found[0] ? found : "an empty cell");
    snprintf(mistake->expected, sizeof mistake->expected, "%s", expected);
    mistake->message = message;
    return false;
}

static void keep(rc_trace_contents *c, rc_trace *trace, rc_trace_row *row) {
    row->first_piece = trace->pieces_count;
    row->pieces = c->content.count;
    for (size_t i = 0; i < c->content.count; i++) {
        trace->pieces = rc_grow(trace->pieces, trace->pieces_count, &trace->pieces_capacity, sizeof *trace->pieces);
        trace->pieces[trace->pieces_count++] = c->content.pieces[i];
    }
}

/* ---------- blocks */

/* "[46, 47]" */
static bool read_ids(const char *list, rc_content *content) {
    const char *at = list;
    if (*at != '[')
        return false;
    for (++at; *at && *at != ']'; at += *at == ',') {
        char *end;
        at += strspn(at, " ");
        if (!isdigit((unsigned char)*at))
            return false;
        errno = 0;
        uint64_t id = strtoull(at, &end, 10);
        if (errno)
            return false;
        rc_content_add(content, rc_content_id(RC_CONTENT_TRACE, id), RC_TRACE_BLOCK_TOKENS);
        at = end;
        if (*at != ',' && *at != ']')
            return false;
    }
    return *at == ']' && at[1] == 0;
}

/* Which blocks earlier rows had, and how far the prompt begins like one of them. */
static void count_repeats(rc_trace_contents *c, rc_trace *trace) {
    bool begins = true;
    for (size_t i = 0; i < c->content.count; i++) {
        const rc_piece *piece = &c->content.pieces[i];
        bool known = rc_index_map_find(&c->blocks, piece->id, 0) != RC_INDEX_NONE;
        begins = begins && known;
        trace->blocks++;
        trace->repeated_blocks += known;
        trace->repeated_tokens += begins ? piece->tokens : 0;
        if (!known)
            rc_index_map_add(&c->blocks, piece->id, 0, 0);
    }
}

bool rc_trace_blocks(rc_trace_contents *c, rc_trace *trace, rc_trace_row *row, const char *list,
                     rc_trace_mistake *mistake) {
    size_t wanted = ((size_t)row->input_tokens + RC_TRACE_BLOCK_TOKENS - 1) / RC_TRACE_BLOCK_TOKENS;
    rc_content_clear(&c->content);
    if (!list[0])
        return true; /* not told */
    if (!read_ids(list, &c->content))
        return refuse(mistake, list, "a list of whole numbers, as [46, 47]", "not a list of blocks");
    if (c->content.count != wanted) {
        char found[64], expected[64];
        snprintf(found, sizeof found, "%zu ids for %u tokens", c->content.count, row->input_tokens);
        snprintf(expected, sizeof expected, "%zu, one for every %d tokens", wanted, RC_TRACE_BLOCK_TOKENS);
        return refuse(mistake, found, expected, "the blocks do not match the length of the prompt");
    }
    rc_content_resize(&c->content, row->input_tokens);
    count_repeats(c, trace);
    rc_content_add(&c->content, rc_content_id(RC_CONTENT_REQUEST, c->ids++), 0); /* the answer is nobody else's */
    keep(c, trace, row);
    return true;
}

/* ---------- sessions */

static rc_content *session_of(rc_trace_contents *c, const char *name, uint32_t *number) {
    uint64_t key = rc_hash_text(RC_HASH_START, name);
    *number = rc_index_map_find(&c->session_of, key, 0);
    if (*number == RC_INDEX_NONE) {
        *number = (uint32_t)c->sessions_count;
        c->sessions = rc_grow(c->sessions, c->sessions_count, &c->sessions_capacity, sizeof *c->sessions);
        c->sessions[c->sessions_count++] = (rc_content){0};
        rc_index_map_add(&c->session_of, key, 0, *number);
    }
    return &c->sessions[*number];
}

/* False where it is no number of tokens. */
static bool read_repeats(const char *cell, const rc_trace_row *row, uint64_t said, uint32_t *repeats) {
    *repeats = row->input_tokens >= said ? (uint32_t)said : 0;
    if (!cell || !cell[0])
        return true;
    char *end;
    unsigned long long told = strtoull(cell, &end, 10);
    if (strcmp(end, ".0") == 0) /* as programs write columns with empty cells */
        end += 2;
    *repeats = (uint32_t)(told < said ? told : said);
    return isdigit((unsigned char)cell[0]) && *end == 0 && told <= row->input_tokens;
}

bool rc_trace_turn(rc_trace_contents *c, rc_trace *trace, rc_trace_row *row, const char *name, const char *cell,
                   rc_trace_mistake *mistake) {
    rc_content *session = name[0] ? session_of(c, name, &row->session) : NULL;
    uint64_t said = session ? rc_content_tokens(session) : 0;
    rc_content_clear(&c->content);
    if (!read_repeats(cell, row, said, &row->repeats))
        return refuse(mistake, cell, "a whole number of tokens, at most those of the prompt",
                      "not a number of tokens that are repeated");
    if (session)
        rc_content_copy(&c->content, session);
    rc_content_resize(&c->content, row->repeats);
    trace->repeated_tokens += row->repeats;
    if (row->input_tokens > row->repeats)
        rc_content_add(&c->content, rc_content_id(RC_CONTENT_TRACE, c->ids++), row->input_tokens - row->repeats);
    keep(c, trace, row);
    if (session) { /* so its next prompt finds this answer again */
        rc_content_copy(session, &c->content);
        rc_content_resize(session, (uint64_t)row->input_tokens + row->output_tokens);
    }
    return true;
}

void rc_trace_contents_free(rc_trace_contents *c) {
    for (size_t i = 0; i < c->sessions_count; i++)
        rc_content_free(&c->sessions[i]);
    free(c->sessions);
    rc_content_free(&c->content);
    rc_index_map_free(&c->blocks);
    rc_index_map_free(&c->session_of);
}
