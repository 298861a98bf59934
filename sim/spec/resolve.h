/* SPDX-License-Identifier: GPL-3.0-or-later
 * resolve.h - from a question to one JSON tree in which every name has become the content of its file.
 * Order: the scenario file with its includes; the settings, one after another (a setting that reaches into a named file
 * expands it first); defaults that only name files (fabric, stack, layout); the remaining names.
 */
#ifndef RC_RESOLVE_H
#define RC_RESOLVE_H
#include "scenario.h"

typedef struct rc_origin {
    const char *prefix, *file; /* what lies below a path came from a file */
} rc_origin;

typedef struct rc_resolution {
    cJSON *root;
    rc_arena *arena;
    rc_problems *problems;
    const char *scenario_file; /* "" where the question had none */
    rc_origin origins[192];
    size_t origins_count;
    rc_data_file files[24];
    size_t files_count;
    const char *assumptions[24];
    size_t assumptions_count;
} rc_resolution;

/* The scenario file and the settings.  False where a mistake was found.  The caller deletes root. */
bool rc_resolve_question(rc_resolution *resolution, const rc_question *question);
/* Defaults that only name files, and the names.  False where a mistake was found. */
bool rc_resolve_names(rc_resolution *resolution);
/* The file a path came from: what rc_reader.file_of calls. */
const char *rc_resolution_file(const void *resolution, const char *path);
void rc_resolution_assume(rc_resolution *resolution, const char *text);
/* Notes a file for the fingerprint. */
void rc_resolution_add_file(rc_resolution *resolution, const char *path);
#endif
