/* SPDX-License-Identifier: GPL-3.0-or-later
 * measured.h - published end-to-end figures, row by row, and the scenario each would be.
 */
#ifndef RC_MEASURED_H
#define RC_MEASURED_H
#include "arena.h"
#include "problems.h"

typedef struct rc_measured {
    long line;
    const char *date, *model, *precision, *hardware, *engine, *parallelism, *speculation, *input, *output, *concurrency;
    const char *metric, *unit, *notes, *use, *gpus;
    double value;
} rc_measured;

/* Rows in the arena; NULL and problems where the table cannot be read. */
rc_measured *rc_measured_read(const char *file, size_t *count, rc_arena *arena, rc_problems *problems);

enum { RC_MEASURED_SETTINGS_MAX = 32 };
/* A question that plays a row. */
typedef struct rc_playable {
    const char *settings[RC_MEASURED_SETTINGS_MAX];
    size_t settings_count;
    const char *name;    /* of the case, for people */
    const char *skipped; /* why it cannot be played; "" where it can */
    bool drafts;         /* the engine ran with drafts, so that it is no forecast of this row */
} rc_playable;

rc_playable rc_measured_question(const rc_measured *row, rc_arena *arena);
#endif
