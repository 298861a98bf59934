/* SPDX-License-Identifier: GPL-3.0-or-later
 * catalog.h - finding data files by name.
 * Each kind of file lies in a folder of its own under the data roots: $RACKCAST_PATH (folders separated by colons), the
 * source tree, the install folder; the first that has the file wins.  A word with a slash or ending in .json is a path.
 */
#ifndef RC_CATALOG_H
#define RC_CATALOG_H
#include "arena.h"
#include "json.h"

typedef enum rc_catalog_kind {
    RC_CATALOG_ACCELERATOR,
    RC_CATALOG_FABRIC,
    RC_CATALOG_STACK,
    RC_CATALOG_MODEL,
    RC_CATALOG_DRAFT,
    RC_CATALOG_MIX,
    RC_CATALOG_TRACE,
    RC_CATALOG_SCENARIO,
    RC_CATALOG_PRICES,
    RC_CATALOG_MEASURED,
    RC_CATALOG_COUNT
} rc_catalog_kind;

const char *rc_catalog_kind_name(rc_catalog_kind kind);   /* "accelerator" */
const char *rc_catalog_kind_folder(rc_catalog_kind kind); /* "hwmodels/accelerators" */
/* The file of a name or path, in the arena; NULL where there is none (no problem is added). */
char *rc_catalog_find(rc_catalog_kind kind, const char *name, rc_arena *arena);
/* The same, or any readable file; where there is none, the problem and NULL. */
const char *rc_catalog_need(rc_catalog_kind kind, const char *name, rc_arena *arena, rc_problems *problems);
/* Names there are of a kind, sorted, in the arena. */
const char **rc_catalog_names(rc_catalog_kind kind, size_t *count, rc_arena *arena);
/* Adds the "unknown name" problem, with "did you mean". */
void rc_catalog_complain(rc_catalog_kind kind, const char *name, const char *file, const char *path, rc_arena *arena,
                         rc_problems *problems);
/* Loads a file and merges it over what its "include" (a path beside it, or a list of them) names. */
cJSON *rc_catalog_load(const char *file, rc_problems *problems);
#endif
