/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "validate_kernels.h"
#include "catalog.h"
#include "exchange_fit.h"
#include "kernel_table.h"
#include "stack_on_chip.h"
#include "validated_groups.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct judge {
    const char *file;
    rc_validate_result *result;
    rc_arena *arena;
    rc_problems *problems;
    rc_measurer *measurers;
    size_t measurers_count;
    size_t capacity;
    bool *told; /* lines of the table that a stack has told */
    size_t told_count;
    double lines; /* rows of the table */
} judge;

/* ---------- a sample as a stack tells it */

/* The kernel's p90 error on rows held out goes to `share`, NaN where it was not fitted. */
static double kernel_s(const rc_stack_on_chip *on, const rc_sample *s, double *share) {
    const rc_kernel *kernel = rc_stack_kernel(&on->stack, s->family);
    const char *const names[] = {s->family, NULL};
    rc_rate rate;
    if (!kernel || !rc_rate_find(&on->stack, &on->accelerator, names, &rate))
        return NAN;
    *share = kernel->p90_error;
    rc_tiles tiles = {fmax(rate.column_tile, rate.head_tile), fmax(rate.token_tile, rate.query_tile), rate.packs_heads};
    rc_cost_line line = {0};
    rc_rate_add(&rate, rc_sample_work(s, tiles), 1, &line);
    return rc_line_seconds(&line);
}

/* Messages inside a node.  A library's own are told by its algorithms alone, an engine's by all it has. */
static double message_s(const rc_stack_on_chip *on, const rc_sample *s, double *share) {
    rc_operation operation = s->kind == RC_SAMPLE_ALL_REDUCE   ? RC_ALL_REDUCE
                             : s->kind == RC_SAMPLE_ALL_TO_ALL ? RC_ALL_TO_ALL
                             : s->kind == RC_SAMPLE_ALL_GATHER ? RC_ALL_GATHER
                                                               : RC_REDUCE_SCATTER;
    rc_collective *own = rc_allocate((on->stack.collectives_count + 1) * sizeof *own);
    size_t count = 0;
    for (size_t i = 0; i < on->stack.collectives_count; i++) {
        const rc_collective *c = &on->stack.collectives[i];
        bool library = c->algorithm == RC_RING || c->algorithm == RC_DIRECT;
        if (c->operation != (int)operation || c->level != 0 || (rc_kernel_is_library(s->kernel) && !library))
            continue;
        own[count++] = *c;
        *share = c->p90_error;
    }
    rc_group group = rc_group_inside(&on->fabric, s->shape[1], own, count);
    double seconds = count ? rc_collective_seconds(&group, operation, s->shape[0]) : NAN;
    free(own);
    return seconds;
}

static double sample_s(const rc_stack_on_chip *on, const rc_sample *s, double *share) {
    *share = NAN;
    if (s->kind == RC_SAMPLE_DISPATCH || s->kind == RC_SAMPLE_COMBINE)
        return on->fabric.levels_count ? rc_exchange_sample_s(&on->stack, &on->fabric, s, share) : NAN;
    if (rc_sample_is_message(s))
        return on->fabric.levels_count ? message_s(on, s, share) : NAN;
    return kernel_s(on, s, share);
}

/* ---------- rows */

static bool is_told(judge *j, long line) {
    size_t at = (size_t)line;
    if (at >= j->told_count) {
        size_t count = 2 * at + 1024;
        bool *told = rc_allocate(count * sizeof *told);
        if (j->told_count)
            memcpy(told, j->told, j->told_count * sizeof *told);
        free(j->told);
        j->told = told;
        j->told_count = count;
    }
    return j->told[at];
}

static void add_row(judge *j, const rc_stack_on_chip *on, const rc_sample *s, const char *group, const char *name) {
    double share, seconds = sample_s(on, s, &share);
    rc_validated_row row = {.row = s->line,
                            .metric = "seconds",
                            .case_name = name,
                            .group = group,
                            .skipped = "",
                            .measured = s->seconds,
                            .predicted = seconds,
                            .error = seconds / s->seconds - 1};
    if (!isfinite(seconds)) {
        row.skipped = "the stack has no numbers for this";
        row.predicted = row.error = NAN;
    }
    row.inside = fabs(row.error) <= share;
    rc_validate_result *r = j->result;
    r->rows = rc_grow(r->rows, r->rows_count, &j->capacity, sizeof *r->rows);
    r->rows[r->rows_count++] = row;
}

/* Samples of one family and kernel share their texts. */
static void add_rows(judge *j, const rc_stack_on_chip *on, const rc_samples *samples) {
    const char *groups[2] = {NULL, NULL}, *name = NULL;
    for (size_t i = 0; i < samples->count; i++) {
        const rc_sample *s = &samples->list[i];
        if (i == 0 || s->family != s[-1].family || s->kernel != s[-1].kernel) {
            groups[0] = rc_arena_format(j->arena, "%s: %s", on->stack.name, s->family);
            groups[1] = rc_arena_format(j->arena, "%s: %s (held out)", on->stack.name, s->family);
            name = rc_arena_format(j->arena, "%s%s%s", s->family, s->kernel[0] ? " by " : "", s->kernel);
        }
        if (!is_told(j, s->line))
            add_row(j, on, s, groups[rc_sample_is_held_out(s)], name);
    }
    for (size_t i = 0; i < samples->count; i++)
        j->told[samples->list[i].line] = true;
}

/* The stack ENGINE-ACCELERATOR of somebody who measured. */
static bool measured_it(const judge *j, const char *stack, const char *engine) {
    const char *accelerator = stack + strlen(engine) + 1;
    for (size_t i = 0; i < j->measurers_count; i++)
        if (strlen(stack) > strlen(engine) && rc_measurer_is(&j->measurers[i], accelerator, engine))
            return true;
    return false;
}

static bool judge_by(judge *j, const char *name) {
    char engine[64];
    snprintf(engine, sizeof engine, "%.*s", (int)strcspn(name, "-"), name);
    rc_stack_on_chip on;
    rc_samples samples = {0};
    if (!measured_it(j, name, engine))
        return true;
    bool good = rc_stack_on_chip_load(&on, name, j->arena, j->problems) &&
                rc_kernel_table_read(j->file, &on.accelerator, on.engine, &samples, j->arena, j->problems);
    if (good && samples.count > 0) {
        rc_samples_sort(&samples);
        add_rows(j, &on, &samples);
    }
    rc_samples_free(&samples);
    rc_stack_on_chip_free(&on);
    return good;
}

static int by_line(const void *a, const void *b) {
    const rc_validated_row *x = a, *y = b;
    return (x->row > y->row) - (x->row < y->row);
}

void rc_validate_kernels(const char *file, rc_validate_result *result, rc_arena *arena, rc_problems *problems) {
    judge j = {.file = file, .result = result, .arena = arena, .problems = problems};
    size_t count;
    const char **names = rc_catalog_names(RC_CATALOG_STACK, &count, arena);
    bool good = rc_kernel_table_measurers(file, &j.measurers, &j.measurers_count, &j.lines, arena, problems);
    for (size_t i = 0; i < count && good; i++)
        good = judge_by(&j, names[i]);
    if (good && result->rows_count == 0)
        rc_problem_add(problems, RC_BAD_TRACE, file, "", 0, "no row that a stack can tell",
                       "rows of an engine and an accelerator there is a stack for", "nothing to hold against");
    double told = 0;
    for (size_t i = 0; i < j.told_count; i++)
        told += j.told[i];
    result->kernels = true;
    result->ignored = j.lines - told;
    rc_validated_row *rows = rc_arena_take(arena, (result->rows_count + 1) * sizeof *rows);
    if (result->rows_count)
        memcpy(rows, result->rows, result->rows_count * sizeof *rows);
    qsort(rows, result->rows_count, sizeof *rows, by_line);
    free(result->rows);
    free(j.told);
    result->rows = rows;
    rc_validated_groups(result, arena);
}
