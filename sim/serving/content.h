/* SPDX-License-Identifier: GPL-3.0-or-later
 * content.h - what the tokens of a prompt are, as far as it matters: which other prompts begin alike.
 *
 * A content is a row of pieces.  A piece's id stands for its tokens and for everything before it, so that two contents
 * with the same piece are alike up to its end; one whose piece is shorter is alike up to there.  Contents hold the
 * prompt and the answer that will follow it.
 */
#ifndef RC_CONTENT_H
#define RC_CONTENT_H
#include <stddef.h>
#include <stdint.h>

typedef struct rc_piece {
    uint64_t id;
    uint32_t tokens;
} rc_piece;

typedef struct rc_content {
    rc_piece *pieces;
    size_t count, capacity;
} rc_content;

/* Who gives ids, so that two givers never give the same one. */
typedef enum rc_content_giver {
    RC_CONTENT_REQUEST,
    RC_CONTENT_SESSION,
    RC_CONTENT_SHARED,
    RC_CONTENT_TRACE
} rc_content_giver;
uint64_t rc_content_id(rc_content_giver giver, uint64_t number); /* number below 2^62 */
uint64_t rc_content_number(uint64_t id);

void rc_content_clear(rc_content *content); /* no pieces; keeps its memory */
void rc_content_free(rc_content *content);
void rc_content_add(rc_content *content, uint64_t id, uint32_t tokens);
/* Makes it `tokens` long: the last piece grows, or what is too much goes. */
void rc_content_resize(rc_content *content, uint64_t tokens);
void rc_content_copy(rc_content *to, const rc_content *from);
uint64_t rc_content_tokens(const rc_content *content);
/* Tokens that both begin with. */
uint64_t rc_content_alike(const rc_content *a, const rc_content *b);
#endif
