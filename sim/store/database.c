/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "database.h"
#include <math.h>
#include <sqlite3.h>
#include <string.h>

static const char tables[] =
    "create table if not exists run (run_id integer primary key, title text, model text, hardware text, stack text,"
    " policy text, load text, version text, seed integer, fingerprint text, gpus integer, replicas integer,"
    " completed integer, queued integer, running integer, lost integer, preemptions integer, duration_s real,"
    " output_tokens_per_s real, input_tokens_per_s real, total_tokens_per_s real,"
    " ttft_mean_s real, ttft_p50_s real, ttft_p90_s real, ttft_p95_s real, ttft_p99_s real,"
    " tpot_mean_s real, tpot_p50_s real, tpot_p90_s real, tpot_p95_s real, tpot_p99_s real,"
    " itl_mean_s real, itl_p50_s real, itl_p90_s real, itl_p95_s real, itl_p99_s real,"
    " e2e_mean_s real, e2e_p50_s real, e2e_p90_s real, e2e_p95_s real, e2e_p99_s real,"
    " usd_per_hour real, usd_per_million_output real, usd_per_million_input real, usd_per_million_total real,"
    " ceiling_output_tokens_per_s real, ceiling_tpot_s real, interval_share real, interval_provenance text,"
    " goodput_per_s real, stationary integer, queue_growth_per_s real, events integer, steps real, scenario text);"
    "create table if not exists request (run_id integer, request integer, replica integer, input_tokens integer,"
    " output_tokens integer, arrival_s real, admitted_s real, first_token_s real, finish_s real, preemptions integer);"
    "create table if not exists breakdown (run_id integer, part text, share real);"
    "create table if not exists timeline (run_id integer, time_s real, waiting real, running real, kv_used real);"
    "create table if not exists data_file (run_id integer, name text, hash text);";

typedef struct writer {
    sqlite3 *db;
    sqlite3_stmt *statement;
    int place;
    bool good;
} writer;

static void prepare(writer *w, const char *sql) {
    sqlite3_finalize(w->statement);
    w->statement = NULL;
    w->good = w->good && sqlite3_prepare_v2(w->db, sql, -1, &w->statement, NULL) == SQLITE_OK;
    w->place = 0;
}

static void bind_real(writer *w, double value) {
    w->place++;
    if (w->good && !isnan(value))
        sqlite3_bind_double(w->statement, w->place, value);
}

static void bind_count(writer *w, double value) {
    w->place++;
    if (w->good)
        sqlite3_bind_int64(w->statement, w->place, (sqlite3_int64)value);
}

static void bind_text(writer *w, const char *text) {
    w->place++;
    if (w->good)
        sqlite3_bind_text(w->statement, w->place, text, -1, SQLITE_TRANSIENT);
}

static void finish_row(writer *w) {
    w->good = w->good && sqlite3_step(w->statement) == SQLITE_DONE && sqlite3_reset(w->statement) == SQLITE_OK;
    if (w->statement)
        sqlite3_clear_bindings(w->statement);
    w->place = 0;
}

static void bind_percentiles(writer *w, const rc_percentiles *p) {
    bind_real(w, p->mean);
    bind_real(w, p->p50);
    bind_real(w, p->p90);
    bind_real(w, p->p95);
    bind_real(w, p->p99);
}

static void write_run(writer *w, const rc_run_result *r) {
    prepare(w, "insert into run values (null,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,"
               "?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    bind_text(w, r->title.text);
    bind_text(w, r->model.text);
    bind_text(w, r->hardware.text);
    bind_text(w, r->stack.text);
    bind_text(w, r->policy.text);
    bind_text(w, r->load.text);
    bind_text(w, RACKCAST_VERSION);
    bind_count(w, (double)r->seed);
    bind_text(w, r->fingerprint);
    const double counts[] = {r->gpus, r->replicas, r->completed, r->queued, r->running, r->lost, r->preemptions};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        bind_count(w, counts[i]);
    bind_real(w, r->duration_s);
    bind_real(w, r->output_tokens_per_s);
    bind_real(w, r->input_tokens_per_s);
    bind_real(w, r->total_tokens_per_s);
    bind_percentiles(w, &r->ttft_s);
    bind_percentiles(w, &r->tpot_s);
    bind_percentiles(w, &r->itl_s);
    bind_percentiles(w, &r->e2e_s);
    bind_real(w, r->usd_per_hour);
    bind_real(w, r->usd_per_million_output);
    bind_real(w, r->usd_per_million_input);
    bind_real(w, r->usd_per_million_total);
    bind_real(w, r->ceiling_output_tokens_per_s);
    bind_real(w, r->ceiling_tpot_s);
    bind_real(w, r->interval_share);
    bind_text(w, r->interval_provenance);
    bind_real(w, r->goodput_per_s);
    bind_count(w, r->stationary);
    bind_real(w, r->queue_growth_per_s);
    bind_count(w, r->events);
    bind_real(w, r->steps);
    bind_text(w, r->resolved_scenario ? r->resolved_scenario : "");
    finish_row(w);
}

static void write_requests(writer *w, double run, const rc_run_result *r) {
    prepare(w, "insert into request values (?,?,?,?,?,?,?,?,?,?)");
    for (size_t i = 0; i < r->requests_count && w->good; i++) {
        const rc_request_record *q = &r->requests[i];
        const double counts[] = {run, (double)i, q->replica == UINT32_MAX ? -1. : q->replica, q->input_tokens,
                                 q->output_tokens};
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            bind_count(w, counts[c]);
        bind_real(w, q->arrival_s);
        bind_real(w, q->admitted_s);
        bind_real(w, q->first_token_s);
        bind_real(w, q->finish_s);
        bind_count(w, q->preemptions);
        finish_row(w);
    }
}

static void write_parts(writer *w, double run, const rc_run_result *r) {
    static const char *const names[] = {
#define RC_X(name, text) text,
        RC_BREAKDOWN_LIST(RC_X)
#undef RC_X
    };
    prepare(w, "insert into breakdown values (?,?,?)");
    for (int i = 0; i < RC_TIME_COUNT; i++) {
        bool link = i == RC_TIME_LINK_INNER || i == RC_TIME_LINK_OUTER;
        if (link && r->breakdown[i] == 0)
            continue;
        bind_count(w, run);
        bind_text(w, link ? r->link_names[i - RC_TIME_LINK_INNER].text : names[i]);
        bind_real(w, r->breakdown[i]);
        finish_row(w);
    }
    prepare(w, "insert into timeline values (?,?,?,?,?)");
    for (size_t i = 0; i < r->timeline.count; i++) {
        bind_count(w, run);
        bind_real(w, (double)i * r->timeline.bucket_s);
        bind_real(w, r->timeline.waiting[i]);
        bind_real(w, r->timeline.running[i]);
        bind_real(w, r->timeline.kv_used[i]);
        finish_row(w);
    }
}

static void write_files(writer *w, double run, const rc_saved_file *files, size_t count) {
    prepare(w, "insert into data_file values (?,?,?)");
    for (size_t i = 0; i < count; i++) {
        char hash[20];
        snprintf(hash, sizeof hash, "%016llx", (unsigned long long)files[i].hash);
        bind_count(w, run);
        bind_text(w, files[i].name);
        bind_text(w, hash);
        finish_row(w);
    }
}

rc_status rc_database_add_run(const char *file, const rc_run_result *result, const rc_saved_file *files,
                              size_t files_count, rc_problems *problems) {
    writer w = {.good = true};
    w.good = sqlite3_open(file, &w.db) == SQLITE_OK && sqlite3_busy_timeout(w.db, 10000) == SQLITE_OK &&
             sqlite3_exec(w.db, "begin immediate", NULL, NULL, NULL) == SQLITE_OK &&
             sqlite3_exec(w.db, tables, NULL, NULL, NULL) == SQLITE_OK;
    write_run(&w, result);
    double run = (double)sqlite3_last_insert_rowid(w.db);
    write_requests(&w, run, result);
    write_parts(&w, run, result);
    write_files(&w, run, files, files_count);
    w.good = w.good && sqlite3_exec(w.db, "commit", NULL, NULL, NULL) == SQLITE_OK;
    if (!w.good)
        rc_problem_add(problems, RC_WRITE_FAILED, file, "", 0, sqlite3_errmsg(w.db),
                       "a SQLite file that can be written",
                       "the run was not saved; what was there before is untouched");
    sqlite3_finalize(w.statement);
    sqlite3_close(w.db); /* rolls back what was not committed */
    return w.good ? RC_OK : RC_WRITE_FAILED;
}
