/* SPDX-License-Identifier: GPL-3.0-or-later
 * variation.h - "path=a,b,c": a path and its values, some of them relative to what is there.
 */
#ifndef RC_VARIATION_H
#define RC_VARIATION_H
#include "arena.h"
#include "json.h"
#include "rackcast.h"

typedef struct rc_variation {
    const char *path;
    const char *values[RC_VALUES_MAX]; /* as they go into a setting */
    size_t count;
} rc_variation;

/* Reads "path=a,b,c"; commas inside brackets, braces and quotes belong to a value.  "x2" becomes twice the number that
 * the resolved scenario has at the path.  False and a problem where it cannot be read. */
bool rc_variation_read(const char *text, const cJSON *resolved, rc_variation *variation, rc_arena *arena,
                       rc_problems *problems);
/* What the resolved scenario has at a path; of an engine setting that it leaves out, the stack's default.  NULL: none. */
const cJSON *rc_value_at(const cJSON *resolved, const char *path);
/* A number, or a quantity of any unit in SI; NaN where it is neither. */
double rc_number_of(const cJSON *value);
#endif
