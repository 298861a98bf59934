/* SPDX-License-Identifier: GPL-3.0-or-later
 * What is known of each model under each stack: how much of a decode step's time rests on fitted numbers, on numbers
 * carried over from a like chip or engine, and on assumed ones. */
#include "catalog.h"
#include "problems.h"
#include "scenario.h"
#include "text.h"
#include <stdlib.h>
#include <string.h>

enum { BATCH = 16, CONTEXT = 4096 };

static const char *accelerator_of(const char *stack, rc_arena *arena) {
    rc_problems *ignored = rc_problems_new();
    char *file = rc_catalog_find(RC_CATALOG_STACK, stack, arena);
    cJSON *json = file ? rc_catalog_load(file, ignored) : NULL;
    const cJSON *name = json ? rc_json_get(json, "accelerator") : NULL;
    const char *text = cJSON_IsString(name) ? rc_arena_text(arena, name->valuestring) : NULL;
    cJSON_Delete(json);
    rc_problems_free(ignored);
    return text;
}

/* Explains a step on so many GPUs; false, with the reason in the row, where it cannot be. */
static bool explain_on(rc_supported *row, double gpus, rc_explain_result *step, rc_arena *arena) {
    const char *const settings[] = {
        rc_arena_format(arena, "model=%s", row->model),
        rc_arena_format(arena, "hardware=%.0fx%s", gpus, row->accelerator),
        rc_arena_format(arena, "hardware.stack=%s", row->stack),
    };
    rc_problems *problems = rc_problems_new();
    const rc_question question = {NULL, settings, sizeof settings / sizeof *settings};
    rc_scenario *scenario = rc_open(&question, problems);
    rc_status status = scenario ? rc_explain(scenario, BATCH, CONTEXT, CONTEXT, step, problems) : RC_BAD_VALUE;
    row->gpus = gpus;
    if (status != RC_OK)
        snprintf(row->reason.text, RC_TEXT_LENGTH, "%s",
                 rc_problems_count(problems) ? rc_problems_at(problems, 0)->message : "does not fit");
    rc_close(scenario);
    rc_problems_free(problems);
    return status == RC_OK;
}

static void fill_shares(rc_supported *row, const rc_explain_result *step) {
    for (size_t i = 0; i < step->parts_count; i++)
        for (int word = 0; rc_provenance_names[word]; word++)
            if (strcmp(step->parts[i].provenance, rc_provenance_names[word]) == 0)
                row->shares[word] += step->parts[i].seconds / step->step_s;
}

static void fill_row(rc_supported *row, rc_explain_result *step, rc_arena *arena) {
    *step = (rc_explain_result){.fits = false};
    bool explained = explain_on(row, 1, step, arena);
    if (!explained && step->fit.smallest_count > 1)
        explained = explain_on(row, step->fit.smallest_count, step, arena);
    if (explained)
        fill_shares(row, step);
    row->explained = explained;
}

rc_status rc_support(rc_support_result *result, rc_problems *problems) {
    rc_arena *arena = rc_arena_new();
    size_t stacks_count, models_count;
    const char **stacks = rc_catalog_names(RC_CATALOG_STACK, &stacks_count, arena);
    const char **models = rc_catalog_names(RC_CATALOG_MODEL, &models_count, arena);
    rc_explain_result *step = rc_allocate(sizeof *step);
    *result = (rc_support_result){.batch = BATCH, .context = CONTEXT, .memory = arena};
    result->rows = rc_allocate(stacks_count * models_count * sizeof *result->rows + 1);
    for (size_t s = 0; s < stacks_count; s++) {
        const char *accelerator = accelerator_of(stacks[s], arena);
        for (size_t m = 0; m < models_count && accelerator; m++) {
            rc_supported *row = &result->rows[result->rows_count++];
            *row = (rc_supported){.model = models[m], .accelerator = accelerator, .stack = stacks[s]};
            fill_row(row, step, arena);
        }
    }
    free(step);
    return rc_problems_status(problems);
}

void rc_support_result_free(rc_support_result *result) {
    free(result->rows);
    rc_arena_free(result->memory);
    *result = (rc_support_result){0};
}
