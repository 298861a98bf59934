/* SPDX-License-Identifier: GPL-3.0-or-later
 * arena.h - memory that is given back all at once.
 * An arena belongs to one owner (a scenario, a run).  Pieces are aligned for any type, zeroed, and never freed singly.
 * Running out of memory ends the program with exit code 5 and a word: nothing here returns NULL.
 */
#ifndef RC_ARENA_H
#define RC_ARENA_H
#include <stddef.h>

typedef struct rc_arena rc_arena;

rc_arena *rc_arena_new(void);
void rc_arena_free(rc_arena *arena); /* NULL is fine */
void *rc_arena_take(rc_arena *arena, size_t bytes);
char *rc_arena_text(rc_arena *arena, const char *text);
char *rc_arena_format(rc_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* malloc and realloc that end the program where memory is out. */
void *rc_allocate(size_t bytes); /* zeroed */
void *rc_resize(void *memory, size_t bytes);
/* Makes room for one more element of an array that doubles; returns the (moved) array. */
void *rc_grow(void *array, size_t count, size_t *capacity, size_t element_bytes);
#endif
