/* SPDX-License-Identifier: GPL-3.0-or-later
 * database.h - results kept in SQLite: one transaction a run, all of it or nothing.
 *
 * Tables: run (one row a run: headline numbers in SI, the resolved scenario, seed, version, fingerprint), request,
 * breakdown, timeline, data_file; all but `run` point to it by run_id.
 */
#ifndef RC_DATABASE_H
#define RC_DATABASE_H
#include "problems.h"

typedef struct rc_saved_file {
    const char *name;
    uint64_t hash;
} rc_saved_file;

rc_status rc_database_add_run(const char *file, const rc_run_result *result, const rc_saved_file *files,
                              size_t files_count, rc_problems *problems);
#endif
