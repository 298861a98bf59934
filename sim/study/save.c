/* SPDX-License-Identifier: GPL-3.0-or-later
 * Keeping a run: its row and parts in SQLite, its requests as CSV. */
#include "database.h"
#include "scenario.h"
#include "whole_file.h"
#include <math.h>

static rc_status save_to_database(const char *file, const rc_scenario *s, const rc_run_result *result,
                                  rc_problems *problems) {
    enum { FILES_MAX = 128 };
    rc_saved_file files[FILES_MAX];
    size_t count = 0;
    for (size_t p = 0; p < rc_pools_count(s); p++)
        for (size_t i = 0; i < rc_pool(s, p)->files_count && count < FILES_MAX; i++)
            files[count++] = (rc_saved_file){rc_pool(s, p)->files[i].name, rc_pool(s, p)->files[i].hash};
    return rc_database_add_run(file, result, files, count, problems);
}

static void write_time(FILE *out, double seconds) {
    if (isnan(seconds))
        fputc(',', out);
    else
        fprintf(out, ",%.9f", seconds);
}

static void write_requests(FILE *out, const rc_run_result *result) {
    fprintf(out, "request,replica,input_tokens,output_tokens,arrival_s,admitted_s,first_token_s,finish_s,preemptions,"
                 "found_tokens\n");
    for (size_t i = 0; i < result->requests_count; i++) {
        const rc_request_record *r = &result->requests[i];
        fprintf(out, "%zu,%d,%u,%u", i, r->replica == UINT32_MAX ? -1 : (int)r->replica, r->input_tokens,
                r->output_tokens);
        write_time(out, r->arrival_s);
        write_time(out, r->admitted_s);
        write_time(out, r->first_token_s);
        write_time(out, r->finish_s);
        fprintf(out, ",%u,%u\n", r->preemptions, r->found_tokens);
    }
}

/* The CSV takes its name last, when the database has its row. */
rc_status rc_save_run(const char *database_file, const char *requests_file, const rc_scenario *scenario,
                      const rc_run_result *result, rc_problems *problems) {
    rc_whole_file csv;
    rc_status status = RC_OK;
    if (requests_file && !rc_whole_file_open(&csv, requests_file, problems))
        return RC_WRITE_FAILED;
    if (requests_file)
        write_requests(csv.out, result);
    if (database_file)
        status = save_to_database(database_file, scenario, result, problems);
    if (requests_file) {
        rc_status written = rc_whole_file_close(&csv, status == RC_OK, problems);
        status = status == RC_OK ? written : status;
    }
    return status;
}
