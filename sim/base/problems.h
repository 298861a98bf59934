/* SPDX-License-Identifier: GPL-3.0-or-later
 * problems.h - collecting mistakes and notes.
 * Everything that reads what a person wrote appends to a list instead of stopping at the first mistake.
 * The list copies every string.  NULL strings count as empty.
 */
#ifndef RC_PROBLEMS_H
#define RC_PROBLEMS_H
#include "rackcast.h"

/* Appends one mistake.  Returns `status`, so that `return rc_problem_add(...)` reads well. */
rc_status rc_problem_add(rc_problems *problems, rc_status status, const char *file, const char *path, long line,
                         const char *found, const char *expected, const char *format, ...)
    __attribute__((format(printf, 8, 9)));
void rc_note_add(rc_problems *problems, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Puts a prefix before the paths, from the first-th mistake on, that begin with one of `keys`; returns how many do not. */
size_t rc_problems_prefix(rc_problems *problems, size_t first, const char *prefix, const char *const *keys,
                          size_t keys_count);
/* The status of the first mistake; RC_OK where there is none. */
rc_status rc_problems_status(const rc_problems *problems);
#endif
