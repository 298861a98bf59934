/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "arena.h"
#include "rackcast.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 1 << 16, ALIGNMENT = 16 };

typedef struct block {
    struct block *next;
    size_t used, capacity;
    max_align_t data[];
} block;

struct rc_arena {
    block *first;
};

static void out_of_memory(size_t bytes) {
    fprintf(stderr, "error: out of memory (%zu bytes asked for)\n", bytes);
    exit(rc_status_exit_code(RC_INTERNAL));
}

void *rc_allocate(size_t bytes) {
    void *memory = calloc(1, bytes ? bytes : 1);
    if (!memory)
        out_of_memory(bytes);
    return memory;
}

void *rc_resize(void *memory, size_t bytes) {
    void *moved = realloc(memory, bytes ? bytes : 1);
    if (!moved)
        out_of_memory(bytes);
    return moved;
}

void *rc_grow(void *array, size_t count, size_t *capacity, size_t element_bytes) {
    if (count < *capacity)
        return array;
    *capacity = *capacity ? *capacity * 2 : 16;
    return rc_resize(array, *capacity * element_bytes);
}

rc_arena *rc_arena_new(void) {
    return rc_allocate(sizeof(rc_arena));
}

void rc_arena_free(rc_arena *arena) {
    if (!arena)
        return;
    for (block *b = arena->first, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    free(arena);
}

void *rc_arena_take(rc_arena *arena, size_t bytes) {
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    block *b = arena->first;
    if (!b || b->capacity - b->used < bytes) {
        size_t capacity = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        b = rc_allocate(sizeof(block) + capacity);
        b->capacity = capacity;
        b->next = arena->first;
        arena->first = b;
    }
    void *piece = (char *)b->data + b->used;
    b->used += bytes;
    return piece;
}

char *rc_arena_text(rc_arena *arena, const char *text) {
    size_t bytes = strlen(text) + 1;
    return memcpy(rc_arena_take(arena, bytes), text, bytes);
}

char *rc_arena_format(rc_arena *arena, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    char *text = rc_arena_take(arena, (size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(arguments);
    va_end(again);
    return text;
}
