/* SPDX-License-Identifier: GPL-3.0-or-later
 * One change, value by value: the same scenario played once for each, how much the answer follows, and what moved. */
#include "movement.h"
#include "scenario.h"
#include "text.h"
#include "variation.h"
#include <gsl/gsl_fit.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct whatif {
    const rc_whatif_question *question;
    rc_whatif_result *result;
    rc_variation varied[RC_VARIED_MAX];
    cJSON *resolved; /* the scenario as it is */
    rc_arena *arena;
    rc_problems *problems;
} whatif;

/* ---------- what is varied */

static rc_scenario *open_with(const whatif *w, const char *const *more, size_t more_count) {
    const rc_question *as_it_is = &w->question->scenario;
    const char **settings = rc_arena_take(w->arena, (as_it_is->settings_count + more_count + 1) * sizeof *settings);
    size_t count = 0;
    for (size_t i = 0; i < as_it_is->settings_count; i++)
        settings[count++] = as_it_is->settings[i];
    for (size_t i = 0; i < more_count; i++)
        settings[count++] = more[i];
    rc_question question = {as_it_is->scenario, settings, count};
    return rc_open(&question, w->problems);
}

/* Every path has as many values as the first. */
static bool read_variations(whatif *w) {
    size_t count = w->question->varied_count;
    if (count == 0 || count > RC_VARIED_MAX) {
        rc_problems_report(w->problems, RC_USAGE, "--vary", count ? "more than 8 paths" : "nothing",
                           "path=a,b,c, as --vary parallel.tp=8,16", "what should vary?");
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!rc_variation_read(w->question->varied[i], w->resolved, &w->varied[i], w->arena, w->problems))
            return false;
        if (w->varied[i].count != w->varied[0].count) {
            rc_problems_report(
                w->problems, RC_USAGE, w->varied[i].path,
                rc_arena_format(w->arena, "%zu value%s", w->varied[i].count, w->varied[i].count == 1 ? "" : "s"),
                rc_arena_format(w->arena, "%zu, as %s has", w->varied[0].count, w->varied[0].path),
                "paths that vary together have as many values each");
            return false;
        }
    }
    return true;
}

/* ---------- playing */

static cJSON *value_of_text(const char *text) {
    cJSON *value = cJSON_ParseWithOpts(text, NULL, true);
    return value ? value : cJSON_CreateString(text);
}

/* "900GB/s"; of several paths "parallel.tp=16, hardware.count=16". */
static void add_label(const whatif *w, rc_whatif_row *row, const char *path, const char *value) {
    size_t used = strlen(row->value.text);
    bool alone = w->question->varied_count == 1;
    snprintf(row->value.text + used, RC_TEXT_LENGTH - used, "%s%s%s%s", used ? ", " : "", alone ? "" : path,
             alone ? "" : "=", value);
}

/* The pool that the first path reaches into, or else the first. */
static const rc_scenario *explained(const whatif *w, const rc_scenario *scenario) {
    unsigned pool = 0;
    if (sscanf(w->varied[0].path, "pools.%u", &pool) != 1 && sscanf(w->varied[0].path, "pools[%u]", &pool) != 1)
        pool = 0;
    return rc_pool(scenario, pool < rc_pools_count(scenario) ? pool : 0);
}

static rc_status play(const whatif *w, rc_scenario *scenario, rc_whatif_row *row) {
    rc_status status =
        scenario ? rc_run(scenario, NULL, &row->run, w->problems) : rc_problems_at(w->problems, 0)->status;
    free(row->run.requests); /* a run of each value would be too many */
    row->run.requests = NULL;
    row->run.requests_count = 0;
    if (row->run.fits && rc_problems_count(w->problems) == 0)
        status = rc_explain(explained(w, scenario), fmax(1, round(row->run.decode_batch_mean)), 0, 0, &row->why,
                            w->problems);
    rc_close(scenario);
    return rc_problems_count(w->problems) ? rc_problems_at(w->problems, 0)->status : status;
}

static rc_status play_as_it_is(whatif *w) {
    rc_whatif_row *row = &w->result->rows[w->result->rows_count++];
    row->as_it_is = true;
    row->number = rc_number_of(rc_value_at(w->resolved, w->varied[0].path));
    for (size_t i = 0; i < w->question->varied_count; i++) {
        const cJSON *there = rc_value_at(w->resolved, w->varied[i].path);
        char *whole = there ? cJSON_PrintUnformatted(there) : NULL;
        add_label(w, row, w->varied[i].path, cJSON_IsString(there) ? there->valuestring : whole ? whole : "left out");
        cJSON_free(whole);
    }
    return play(w, open_with(w, NULL, 0), row);
}

static rc_status play_value(whatif *w, size_t index) {
    rc_whatif_row *row = &w->result->rows[w->result->rows_count++];
    const char *settings[RC_VARIED_MAX];
    cJSON *first = value_of_text(w->varied[0].values[index]);
    row->number = rc_number_of(first);
    cJSON_Delete(first);
    for (size_t i = 0; i < w->question->varied_count; i++) {
        const rc_variation *v = &w->varied[i];
        settings[i] = rc_arena_format(w->arena, "%s=%s", v->path, v->values[index]);
        add_label(w, row, v->path, v->values[index]);
    }
    return play(w, open_with(w, settings, w->question->varied_count), row);
}

/* The same text or content, or the same quantity written in another unit. */
static bool is_there(const whatif *w, const rc_variation *v, size_t index) {
    const double rounding = 1e-12;
    const cJSON *there = rc_value_at(w->resolved, v->path);
    cJSON *value = value_of_text(v->values[index]);
    double is = rc_number_of(there), would_be = rc_number_of(value);
    bool same = (there && cJSON_Compare(value, there, true)) || fabs(is - would_be) <= rounding * fabs(is);
    cJSON_Delete(value);
    return same;
}

/* The value that the scenario has anyway; `count` where it is none of them. */
static size_t value_as_it_is(const whatif *w) {
    size_t count = w->varied[0].count;
    for (size_t v = 0; v < count; v++) {
        bool same = true;
        for (size_t i = 0; i < w->question->varied_count; i++)
            same = same && is_there(w, &w->varied[i], v);
        if (same)
            return v;
    }
    return count;
}

static rc_status play_all(whatif *w) {
    size_t count = w->varied[0].count, same = value_as_it_is(w);
    rc_status status = RC_OK;
    if (same == count)
        status = play_as_it_is(w);
    for (size_t v = 0; v < count && rc_problems_count(w->problems) == 0; v++) {
        status = play_value(w, v);
        w->result->rows[w->result->rows_count - 1].as_it_is = v == same;
    }
    return rc_problems_count(w->problems) ? status : RC_OK;
}

/* ---------- what it says */

static double slope(const rc_whatif_result *r, double (*figure)(const rc_run_result *)) {
    double x[RC_VALUES_MAX + 1], y[RC_VALUES_MAX + 1], c0, c1, cov00, cov01, cov11, sum;
    size_t n = 0;
    bool differ = false;
    for (size_t i = 0; i < r->rows_count; i++) {
        const rc_whatif_row *row = &r->rows[i];
        if (!row->run.fits || !(row->number > 0) || !(figure(&row->run) > 0))
            continue;
        x[n] = log(row->number);
        y[n] = log(figure(&row->run));
        differ = differ || x[n] != x[0];
        n++;
    }
    if (!differ)
        return NAN;
    gsl_fit_linear(x, 1, y, 1, n, &c0, &c1, &cov00, &cov01, &cov11, &sum);
    return c1;
}

static double output_of(const rc_run_result *r) {
    return r->output_tokens_per_s;
}
static double ttft_of(const rc_run_result *r) {
    return r->ttft_s.mean;
}
static double tpot_of(const rc_run_result *r) {
    return r->tpot_s.mean;
}
static double usd_of(const rc_run_result *r) {
    return r->usd_per_million_output;
}

/* Between the smallest and the largest number, or from what is there to what changes output most. */
static void describe(rc_whatif_result *r) {
    const rc_whatif_row *from = NULL, *to = NULL;
    bool numbers = !isnan(r->elasticity.output_tokens_per_s);
    for (size_t i = 0; i < r->rows_count; i++) {
        const rc_whatif_row *row = &r->rows[i];
        if (!row->run.fits || (numbers && isnan(row->number)))
            continue;
        if (!from || (numbers ? row->number < from->number : row->as_it_is))
            from = row;
    }
    for (size_t i = 0; i < r->rows_count && from; i++) {
        const rc_whatif_row *row = &r->rows[i];
        if (!row->run.fits || row == from || (numbers && isnan(row->number)))
            continue;
        double by = fabs(log(row->run.output_tokens_per_s / from->run.output_tokens_per_s));
        double most = to ? fabs(log(to->run.output_tokens_per_s / from->run.output_tokens_per_s)) : -1;
        if (!to || (numbers ? row->number > to->number : by > most))
            to = row;
    }
    if (from && to)
        rc_movement_text(r->sentence, sizeof r->sentence, from, to);
    else
        snprintf(r->sentence, sizeof r->sentence, from ? "Only %s fits." : "Nothing fits.",
                 from ? from->value.text : "");
}

rc_status rc_whatif(const rc_whatif_question *question, rc_whatif_result *r, rc_problems *problems) {
    *r = (rc_whatif_result){.memory = rc_arena_new()};
    whatif w = {.question = question, .result = r, .arena = r->memory, .problems = problems};
    rc_scenario *scenario = rc_open(&question->scenario, problems);
    if (!scenario)
        return rc_problems_at(problems, 0)->status;
    w.resolved = cJSON_Parse(rc_scenario_resolved(scenario));
    rc_close(scenario);
    rc_status status = RC_USAGE;
    if (read_variations(&w)) {
        r->path = w.varied[0].path;
        r->rows = rc_arena_take(w.arena, (RC_VALUES_MAX + 1) * sizeof *r->rows);
        status = play_all(&w);
    }
    cJSON_Delete(w.resolved);
    if (status != RC_OK)
        return status;
    r->elasticity = (rc_elasticity){slope(r, output_of), slope(r, ttft_of), slope(r, tpot_of), slope(r, usd_of)};
    if (question->varied_count > 1) /* of which of them would it be? */
        r->elasticity = (rc_elasticity){NAN, NAN, NAN, NAN};
    describe(r);
    for (size_t i = 0; i < r->rows_count; i++)
        if (r->rows[i].run.fits)
            return RC_OK;
    return RC_DOES_NOT_FIT;
}

void rc_whatif_result_free(rc_whatif_result *result) {
    for (size_t i = 0; i < result->rows_count; i++)
        rc_run_result_free(&result->rows[i].run);
    rc_arena_free(result->memory);
    *result = (rc_whatif_result){0};
}
