/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "content.h"
#include "arena.h"
#include <stdlib.h>

enum { GIVER_SHIFT = 62 };

uint64_t rc_content_id(rc_content_giver giver, uint64_t number) {
    return (uint64_t)giver << GIVER_SHIFT | number;
}

uint64_t rc_content_number(uint64_t id) {
    return id & ((UINT64_C(1) << GIVER_SHIFT) - 1);
}

void rc_content_clear(rc_content *c) {
    c->count = 0;
}

void rc_content_free(rc_content *c) {
    free(c->pieces);
    *c = (rc_content){0};
}

void rc_content_add(rc_content *c, uint64_t id, uint32_t tokens) {
    c->pieces = rc_grow(c->pieces, c->count, &c->capacity, sizeof *c->pieces);
    c->pieces[c->count++] = (rc_piece){id, tokens};
}

void rc_content_resize(rc_content *c, uint64_t tokens) {
    uint64_t whole = rc_content_tokens(c);
    if (whole < tokens && c->count > 0)
        c->pieces[c->count - 1].tokens += (uint32_t)(tokens - whole);
    while (whole > tokens) {
        rc_piece *last = &c->pieces[c->count - 1];
        uint64_t cut = whole - tokens < last->tokens ? whole - tokens : last->tokens;
        last->tokens -= (uint32_t)cut;
        whole -= cut;
        c->count -= last->tokens == 0;
    }
}

void rc_content_copy(rc_content *to, const rc_content *from) {
    rc_content_clear(to);
    for (size_t i = 0; i < from->count; i++)
        rc_content_add(to, from->pieces[i].id, from->pieces[i].tokens);
}

uint64_t rc_content_tokens(const rc_content *c) {
    uint64_t tokens = 0;
    for (size_t i = 0; i < c->count; i++)
        tokens += c->pieces[i].tokens;
    return tokens;
}

uint64_t rc_content_alike(const rc_content *a, const rc_content *b) {
    uint64_t alike = 0;
    for (size_t i = 0; i < a->count && i < b->count && a->pieces[i].id == b->pieces[i].id; i++) {
        uint32_t left = a->pieces[i].tokens, right = b->pieces[i].tokens;
        alike += left < right ? left : right;
        if (left != right)
            break;
    }
    return alike;
}
