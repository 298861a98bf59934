/* SPDX-License-Identifier: GPL-3.0-or-later
 * Published figures played as scenarios: predicted beside measured, row by row and by group.
 *
 * Rows that ask for the same scenario share one run.  The floor of a group is the error that the best single prediction
 * would have on rows alike in every column: a fit below it fits noise. */
#include "catalog.h"
#include "hash.h"
#include "kernel_table.h"
#include "measured.h"
#include "quantile.h"
#include "recipe.h"
#include "scenario.h"
#include "validate_kernels.h"
#include "validated_groups.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a run says, kept for all rows that ask for it. */
typedef struct played {
    uint64_t key;
    const char *refused; /* why it could not be played; "" where it was */
    rc_run_result *run;  /* without requests */
} played;

typedef struct validator {
    rc_arena *arena;
    const rc_recipe *recipes;
    size_t recipes_count;
    double recipe_rows;
    played *runs;
    size_t runs_count, runs_capacity;
} validator;

/* ---------- playing */

static void play(validator *v, const rc_playable *question, played *p) {
    rc_problems *problems = rc_problems_new();
    rc_question asked = {.settings = question->settings, .settings_count = question->settings_count};
    rc_scenario *scenario = rc_open(&asked, problems);
    rc_run_result *run = rc_arena_take(v->arena, sizeof *run);
    rc_status status = scenario ? rc_run(scenario, NULL, run, problems) : rc_problems_status(problems);
    p->refused = "";
    if (status == RC_DOES_NOT_FIT && run->fit.reasons_count)
        p->refused = rc_arena_format(v->arena, "does not fit: %s", run->fit.reasons[0].text);
    else if (status != RC_OK && status != RC_OBJECTIVE_MISSED)
        p->refused = rc_arena_format(v->arena, "%s: %s", rc_status_name(status),
                                     rc_problems_count(problems) ? rc_problems_at(problems, 0)->message : "");
    p->run = run;
    free(run->requests); /* the headline numbers are all that rows ask for */
    free(run->resolved_scenario);
    run->requests = NULL;
    run->resolved_scenario = NULL;
    rc_close(scenario);
    rc_problems_free(problems);
}

static const played *run_of(validator *v, const rc_playable *question) {
    uint64_t key = RC_HASH_START;
    for (size_t i = 0; i < question->settings_count; i++)
        key = rc_hash_text(key, question->settings[i]);
    for (size_t i = 0; i < v->runs_count; i++)
        if (v->runs[i].key == key)
            return &v->runs[i];
    v->runs = rc_grow(v->runs, v->runs_count, &v->runs_capacity, sizeof *v->runs);
    played *p = &v->runs[v->runs_count++];
    p->key = key;
    play(v, question, p);
    return p;
}

/* ---------- metrics */

static double unit_scale(const char *unit) {
    return strncmp(unit, "ms", 2) == 0 ? 1e-3 : strncmp(unit, "us", 2) == 0 ? 1e-6 : 1;
}

static double latency_of(const rc_percentiles *p, const char *which) {
    static const struct {
        const char *name;
        size_t offset;
    } names[] = {{"", offsetof(rc_percentiles, mean)},    {"_mean", offsetof(rc_percentiles, mean)},
                 {"_p50", offsetof(rc_percentiles, p50)}, {"_median", offsetof(rc_percentiles, p50)},
                 {"_p90", offsetof(rc_percentiles, p90)}, {"_p95", offsetof(rc_percentiles, p95)},
                 {"_p99", offsetof(rc_percentiles, p99)}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i].name, which) == 0)
            return *(const double *)(const void *)((const char *)p + names[i].offset);
    return NAN;
}

/* The forecast of a metric in SI, and its interval; NaN where it is none of ours. */
static double forecast_of(const rc_run_result *r, const char *metric, rc_range *interval) {
    const struct {
        const char *prefix;
        const rc_percentiles *of;
    } latencies[] = {
        {"ttft", &r->ttft_s}, {"tpot", &r->tpot_s}, {"itl", &r->itl_s}, {"e2e", &r->e2e_s}, {"latency", &r->e2e_s}};
    const struct {
        const char *name;
        double value;
    } rates[] = {{"total_tok_s_per_gpu", r->total_tokens_per_s / r->gpus},
                 {"total_tok_s", r->total_tokens_per_s},
                 {"out_tok_s_total", r->output_tokens_per_s},
                 {"output_tok_per_s", r->output_tokens_per_s},
                 {"out_tok_s_per_gpu", r->output_tokens_per_s / r->gpus},
                 {"out_tok_s_single_stream", r->output_tokens_per_s},
                 {"tok_s_per_user", r->interactivity_tokens_per_s}};
    double value = NAN;
    for (size_t i = 0; i < sizeof latencies / sizeof *latencies; i++) {
        size_t length = strlen(latencies[i].prefix);
        if (strncmp(metric, latencies[i].prefix, length) == 0)
            value = latency_of(latencies[i].of, metric + length);
    }
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        if (strcmp(metric, rates[i].name) == 0)
            value = rates[i].value;
    double share = strncmp(metric, "ttft", 4) == 0 ? r->interval_ttft_share : r->interval_share;
    *interval = (rc_range){value / (1 + share), value * (1 + share)};
    return value;
}

static void judge_row(validator *v, const rc_measured *measured, rc_validated_row *row) {
    rc_playable question = rc_measured_question(measured, v->arena);
    *row = (rc_validated_row){.row = measured->line,
                              .metric = measured->metric,
                              .case_name = question.name,
                              .group = measured->use[0] ? measured->use : "all",
                              .skipped = question.skipped,
                              .measured = measured->value * unit_scale(measured->unit),
                              .predicted = NAN,
                              .error = NAN};
    if (row->skipped[0])
        return;
    v->recipe_rows += rc_recipes_apply(v->recipes, v->recipes_count, measured, &question, v->arena);
    if (question.drafts)
        row->group = rc_arena_format(v->arena, "%s, run with drafts", row->group);
    rc_range interval = {NAN, NAN};
    const played *p = run_of(v, &question);
    row->skipped = p->refused;
    if (row->skipped[0])
        return;
    row->predicted = forecast_of(p->run, measured->metric, &interval);
    if (isnan(row->predicted)) {
        row->skipped = rc_arena_format(v->arena, "the metric %s is not forecast", measured->metric);
        return;
    }
    row->error = row->predicted / row->measured - 1;
    row->inside = row->measured >= interval.low && row->measured <= interval.high;
}

/* ---------- floors */

static bool alike(const rc_measured *a, const rc_measured *b) {
    const char *const pairs[][2] = {{a->model, b->model},
                                    {a->precision, b->precision},
                                    {a->hardware, b->hardware},
                                    {a->gpus, b->gpus},
                                    {a->engine, b->engine},
                                    {a->parallelism, b->parallelism},
                                    {a->speculation, b->speculation},
                                    {a->input, b->input},
                                    {a->output, b->output},
                                    {a->concurrency, b->concurrency},
                                    {a->metric, b->metric},
                                    {a->unit, b->unit},
                                    {a->use, b->use}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strcmp(pairs[i][0], pairs[i][1]) != 0)
            return false;
    return true;
}

/* Errors of the median of rows alike in every column, for the rows of one group. */
static void add_floor(const rc_measured *measured, const rc_validated_row *rows, size_t count, rc_validated_group *g) {
    double *errors = rc_allocate(count * sizeof *errors), *same = rc_allocate(count * sizeof *same);
    bool *seen = rc_allocate(count * sizeof *seen);
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        bool member = strcmp(rows[i].group, g->group) == 0 && strcmp(rows[i].metric, g->metric) == 0 && !seen[i];
        size_t twins = 0;
        for (size_t j = i; member && j < count; j++)
            if (alike(&measured[i], &measured[j])) {
                seen[j] = true;
                same[twins++] = measured[j].value;
            }
        double middle = twins > 1 ? rc_quantile(same, twins, 0.5) : NAN;
        for (size_t j = 0; twins > 1 && j < twins; j++)
            errors[found++] = fabs(middle / same[j] - 1);
    }
    g->floor_rows = (double)found;
    g->floor = rc_quantile(errors, found, 0.5);
    free(errors);
    free(same);
    free(seen);
}

/* ---------- whole */

/* The recipes that were asked for, or those that ship. */
static bool read_recipes(validator *v, const char *name, rc_problems *problems) {
    const char *file = rc_catalog_need(RC_CATALOG_MEASURED, name ? name : "recipes", v->arena, problems);
    v->recipes = file ? rc_recipes_read(file, &v->recipes_count, v->arena, problems) : NULL;
    return v->recipes != NULL;
}

rc_status rc_validate(const char *table_file, const char *recipes_file, rc_validate_result *result,
                      rc_problems *problems) {
    validator v = {.arena = rc_arena_new()};
    *result = (rc_validate_result){.memory = v.arena};
    const char *file = rc_catalog_need(RC_CATALOG_MEASURED, table_file, v.arena, problems);
    bool kernels = file && rc_kernel_table_is(file);
    if (kernels)
        rc_validate_kernels(file, result, v.arena, problems);
    const rc_measured *measured =
        file && !kernels ? rc_measured_read(file, &result->rows_count, v.arena, problems) : NULL;
    if (measured && read_recipes(&v, recipes_file, problems)) {
        result->rows = rc_arena_take(v.arena, (result->rows_count + 1) * sizeof *result->rows);
        for (size_t i = 0; i < result->rows_count; i++)
            judge_row(&v, &measured[i], &result->rows[i]);
        rc_validated_groups(result, v.arena);
        for (size_t g = 0; g < result->groups_count; g++)
            add_floor(measured, result->rows, result->rows_count, &result->groups[g]);
        result->runs = (double)v.runs_count;
        result->recipe_rows = v.recipe_rows;
    }
    free(v.runs);
    return rc_problems_status(problems);
}

void rc_validate_result_free(rc_validate_result *result) {
    rc_arena_free(result->memory);
    *result = (rc_validate_result){0};
}
