/* SPDX-License-Identifier: GPL-3.0-or-later
 * A stack whose kernels were fitted to tables of measured ones.  Families without rows stay as they were in the stack
 * that it starts from. */
#include "catalog.h"
#include "collective_fit.h"
#include "exchange_fit.h"
#include "kernel_fit.h"
#include "kernel_table.h"
#include "stack_on_chip.h"
#include "text.h"
#include "whole_file.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct calibrator {
    const rc_calibrate_question *question;
    rc_arena *arena;
    rc_problems *problems;
    rc_stack_on_chip on; /* its JSON becomes the new stack */
    rc_samples samples;
} calibrator;

/* ---------- writing what was fitted */

static void put_time(cJSON *object, const char *key, double seconds) {
    char text[40];
    snprintf(text, sizeof text, "%.10gus", seconds * 1e6);
    rc_json_add_text(object, key, text);
}

/* A share of an error, to a thousandth: more digits would say more than is known. */
static double share(double value) {
    return round(value * 1000) / 1000;
}

static const char *source_of(const calibrator *c) {
    return c->question->source ? c->question->source : "tables of measured kernels";
}

static void put_origin(const calibrator *c, cJSON *entry, const rc_kernel_fit *fit) {
    rc_json_add_text(entry, "provenance", "fitted");
    rc_json_add_text(entry, "source", source_of(c));
    rc_json_add_number(entry, "samples", (double)(fit->fitted + fit->held_out));
    rc_json_add_number(entry, "median_error", share(fit->median_error));
    rc_json_add_number(entry, "p90_error", share(fit->p90_error));
}

static void write_curves(const rc_kernel *kernel, cJSON *entry) {
    cJSON *list = kernel->curves_count > 0 ? rc_json_add_array(entry, "curves") : NULL;
    for (size_t i = 0; i < kernel->curves_count; i++) {
        const rc_shape_curve *curve = &kernel->curves[i];
        cJSON *object = cJSON_CreateObject();
        rc_json_add_text(object, "axis", rc_axis_names[curve->axis]);
        cJSON *points = rc_json_add_array(object, "points");
        for (size_t p = 0; p < curve->count; p++) {
            const double pair[] = {curve->points[p].at, curve->points[p].factor};
            cJSON_AddItemToArray(points, cJSON_CreateDoubleArray(pair, 2));
        }
        cJSON_AddItemToArray(list, object);
    }
}

/* Terms and tiles that the family does not have are left out. */
static void write_kernel(calibrator *c, const rc_kernel_fit *fit) {
    const rc_kernel *k = &fit->kernel;
    const struct {
        const char *name;
        double value;
    } times[] = {{"unit_time", k->unit_time_s}, {"group_time", k->group_time_s}, {"depth_time", k->depth_time_s}},
      tiles[] = {{"column_tile", k->column_tile},
                 {"head_tile", k->head_tile},
                 {"token_tile", k->token_tile},
                 {"query_tile", k->query_tile}};
    cJSON *kernels = rc_json_get(c->on.json, "kernels"), *entry = cJSON_CreateObject();
    char shapes[120];
    put_time(entry, "launch", k->launch_s);
    rc_json_add_number(entry, "memory_efficiency", k->memory_efficiency);
    rc_json_add_number(entry, "compute_efficiency", k->compute_efficiency);
    rc_json_add_number(entry, "sharpness", k->sharpness);
    rc_json_add_text(entry, "peak", rc_peak_names[k->peak]);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (times[i].value > 0)
            put_time(entry, times[i].name, times[i].value);
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++)
        if (tiles[i].value > 1)
            rc_json_add_number(entry, tiles[i].name, tiles[i].value);
    if (k->packs_heads)
        rc_json_add_bool(entry, "packs_heads", true);
    write_curves(k, entry);
    put_origin(c, entry, fit);
    snprintf(shapes, sizeof shapes, "%.0f to %.0f tokens or sequences", fit->smallest, fit->largest);
    rc_json_add_text(entry, "shapes", shapes);
    cJSON_DeleteItemFromObjectCaseSensitive(kernels, fit->family);
    cJSON_AddItemToObject(kernels, fit->family, entry);
}

static bool has_text(const cJSON *entry, const char *key, const char *text) {
    return strcmp(cJSON_GetStringValue(rc_json_get(entry, key)), text) == 0;
}

/* Takes the stack's own numbers for an operation and algorithm on a level away. */
static void remove_messages(cJSON *list, const char *operation, const char *level, const char *algorithm) {
    for (int i = cJSON_GetArraySize(list) - 1; i >= 0; i--) {
        const cJSON *entry = cJSON_GetArrayItem(list, i);
        if (has_text(entry, "operation", operation) && has_text(entry, "level", level) &&
            has_text(entry, "algorithm", algorithm))
            cJSON_DeleteItemFromArray(list, i);
    }
}

static void write_message(const calibrator *c, cJSON *list, const rc_collective *message, const rc_kernel_fit *fit) {
    cJSON *entry = cJSON_CreateObject();
    rc_json_add_text(entry, "operation", rc_operation_names[message->operation]);
    rc_json_add_text(entry, "algorithm", rc_algorithm_names[message->algorithm]);
    rc_json_add_text(entry, "level", rc_level_names[message->level]);
    put_time(entry, "latency", round(message->latency_s * 1e9) / 1e9);
    rc_json_add_number(entry, "hops", message->hops);
    rc_json_add_number(entry, "efficiency", share(message->efficiency));
    if (message->token_s >= 1e-12)
        put_time(entry, "token_time", round(message->token_s * 1e12) / 1e12);
    if (message->expert_s >= 1e-12)
        put_time(entry, "expert_time", round(message->expert_s * 1e12) / 1e12);
    if (message->format != RC_BF16)
        rc_json_add_text(entry, "format", rc_format_names[message->format]);
    put_origin(c, entry, fit);
    cJSON_InsertItemInArray(list, 0, entry);
}

/* The fitted algorithms take the place of the stack's own. */
static void write_collective(const calibrator *c, const rc_collective_fit *found, const rc_kernel_fit *fit) {
    cJSON *list = rc_json_get(c->on.json, "collectives");
    for (int a = 1; a >= 0; a--)
        remove_messages(list, rc_operation_names[found->operation], "inner", rc_algorithm_names[found->algorithms[a]]);
    for (int a = 1; a >= 0; a--) {
        bool counts_itself = found->algorithms[a] == RC_RING; /* its hops grow with the ranks */
        rc_collective message = {.operation = found->operation,
                                 .algorithm = found->algorithms[a],
                                 .latency_s = found->latency_s[a],
                                 .hops = counts_itself ? 0 : found->hops[a],
                                 .efficiency = found->efficiency[a],
                                 .format = RC_BF16};
        write_message(c, list, &message, fit);
    }
}

static void write_exchange(const calibrator *c, const rc_collective *message, const rc_kernel_fit *fit) {
    cJSON *list = rc_json_get(c->on.json, "collectives");
    remove_messages(list, rc_operation_names[message->operation], rc_level_names[message->level],
                    rc_algorithm_names[message->algorithm]);
    write_message(c, list, message, fit);
}

static const char *names_of_curves(const calibrator *c, const rc_kernel *kernel) {
    const char *names = "";
    for (size_t i = 0; i < kernel->curves_count; i++)
        names = rc_arena_format(c->arena, "%s%s%s", names, i ? ", " : "", rc_axis_names[kernel->curves[i].axis]);
    return names;
}

static void report_family(const calibrator *c, rc_calibrated_family *into, const rc_kernel_fit *fit) {
    *into = (rc_calibrated_family){.family = fit->family,
                                   .code = fit->code,
                                   .fitted = (double)fit->fitted,
                                   .held_out = (double)fit->held_out,
                                   .launch_s = fit->kernel.launch_s,
                                   .memory_efficiency = fit->kernel.memory_efficiency,
                                   .compute_efficiency = fit->kernel.compute_efficiency,
                                   .sharpness = fit->kernel.sharpness,
                                   .unit_time_s = fit->kernel.unit_time_s,
                                   .group_time_s = fit->kernel.group_time_s,
                                   .depth_time_s = fit->kernel.depth_time_s,
                                   .tile = fmax(fit->kernel.column_tile, fit->kernel.head_tile),
                                   .token_tile = fmax(fit->kernel.token_tile, fit->kernel.query_tile),
                                   .packs_heads = fit->kernel.packs_heads,
                                   .curves = names_of_curves(c, &fit->kernel),
                                   .median_error = fit->median_error,
                                   .p90_error = fit->p90_error,
                                   .fitted_median = fit->fitted_median,
                                   .fitted_p90 = fit->fitted_p90,
                                   .floor_median = fit->floor_median,
                                   .floor_p90 = fit->floor_p90,
                                   .falls = fit->falls,
                                   .explained = fit->explained};
}

/* The samples from `first` on that are of one family and, where `code`, of one kernel. */
static size_t end_of(const rc_samples *samples, size_t first, bool code) {
    size_t last = first + 1;
    while (last < samples->count && samples->list[last].family == samples->list[first].family &&
           (!code || samples->list[last].kernel == samples->list[first].kernel))
        last++;
    return last;
}

/* Rows of a fit that may go into the stack; those of a kernel that was asked for outweigh all others. */
static double weight_of(const calibrator *c, const rc_kernel_fit *fit) {
    const char *asked = c->question->kernel;
    return (double)(fit->fitted + fit->held_out) * (asked && fit->fitted && strstr(fit->code, asked) ? 1e9 : 1);
}

/* An engine may have several kernels for a family and switch by shape.  The stack takes the one with the most rows, or
 * the one that was asked for; the others are fitted and reported, so that one sees what a shape without it would cost. */
static void fit_family(calibrator *c, size_t first, size_t end, rc_calibrate_result *result) {
    enum { ROWS_MIN = 8 };
    const rc_sample *list = c->samples.list;
    rc_kernel_fit most = {.fitted = 0};
    size_t into = 0; /* the stack's own in the report */
    for (size_t last; first < end; first = last) {
        last = end_of(&c->samples, first, true);
        rc_kernel_fit fit = {.fitted = 0};
        if (last - first >= ROWS_MIN && result->families_count < RC_FAMILIES_MAX)
            fit = rc_kernel_fit_family(list + first, last - first, &c->on.accelerator, c->arena);
        if (fit.fitted > 0) {
            into = weight_of(c, &fit) > weight_of(c, &most) ? result->families_count : into;
            report_family(c, &result->families[result->families_count++], &fit);
        } else
            rc_note_add(c->problems,
                        last - first < ROWS_MIN ? "%s%s%s: %zu rows are too few to fit"
                                                : "%s%s%s: %zu rows that do not tell enough to fit",
                        list[first].family, list[first].kernel[0] ? " by " : "", list[first].kernel, last - first);
        if (weight_of(c, &fit) > weight_of(c, &most))
            most = fit;
    }
    if (most.fitted > 0) {
        result->families[into].in_stack = true;
        write_kernel(c, &most);
    } else
        rc_note_add(c->problems, "%s: the stack keeps its numbers", list[end - 1].family);
}

/* Messages of one operation and kernel; the latency goes to the report. */
static rc_kernel_fit fit_message(calibrator *c, const rc_sample *list, size_t count, double *latency_s) {
    rc_kernel_fit fit;
    if (list->kind == RC_SAMPLE_DISPATCH || list->kind == RC_SAMPLE_COMBINE) {
        rc_collective found = rc_exchange_fit(list, count, c->on.fabric.levels, &fit);
        *latency_s = found.latency_s;
        write_exchange(c, &found, &fit);
    } else {
        rc_collective_fit found = rc_collective_fit_messages(list, count, &c->on.fabric.levels[0], &fit);
        *latency_s = found.latency_s[0];
        write_collective(c, &found, &fit);
    }
    return fit;
}

static void fit_messages(calibrator *c, size_t first, size_t end, rc_calibrate_result *result) {
    const rc_sample *list = c->samples.list;
    if (c->on.fabric.levels_count == 0) {
        rc_note_add(c->problems, "%s: no fabric of %s is on file; the stack keeps its numbers", list[first].family,
                    c->on.accelerator.name);
        return;
    }
    for (size_t last; first < end && result->families_count < RC_FAMILIES_MAX; first = last) {
        last = end_of(&c->samples, first, true);
        double latency_s;
        rc_kernel_fit fit = fit_message(c, list + first, last - first, &latency_s);
        rc_calibrated_family *into = &result->families[result->families_count++];
        report_family(c, into, &fit);
        into->launch_s = latency_s;
        into->in_stack = true;
    }
}

static void fit_families(calibrator *c, rc_calibrate_result *result) {
    for (size_t first = 0, last; first < c->samples.count; first = last) {
        last = end_of(&c->samples, first, false);
        if (rc_sample_is_message(&c->samples.list[first]))
            fit_messages(c, first, last, result);
        else
            fit_family(c, first, last, result);
    }
}

static bool write_stack(calibrator *c, const char *out_file) {
    const char *slash = strrchr(out_file, '/');
    char *name = rc_arena_text(c->arena, slash ? slash + 1 : out_file);
    if (rc_text_ends(name, ".json"))
        name[strlen(name) - strlen(".json")] = 0;
    cJSON_ReplaceItemInObjectCaseSensitive(c->on.json, "name", cJSON_CreateString(name));
    rc_reader reader = {c->arena, c->problems, NULL, NULL};
    rc_whole_file whole;
    if (!rc_read(&rc_stack_table, c->on.json, rc_arena_take(c->arena, rc_stack_table.size), "", &reader) ||
        !rc_whole_file_open(&whole, out_file, c->problems))
        return false;
    char *text = rc_json_pretty(c->on.json);
    fprintf(whole.out, "%s\n", text);
    free(text);
    return rc_whole_file_close(&whole, true, c->problems) == RC_OK;
}

/* ---------- whole */

rc_status rc_calibrate(const rc_calibrate_question *q, rc_calibrate_result *result, rc_problems *problems) {
    calibrator c = {.question = q, .arena = rc_arena_new(), .problems = problems};
    *result = (rc_calibrate_result){.memory = c.arena};
    bool good = rc_stack_on_chip_load(&c.on, q->stack, c.arena, problems);
    for (size_t i = 0; i < q->tables_count && good; i++) {
        const char *file = rc_catalog_need(RC_CATALOG_MEASURED, q->tables[i], c.arena, problems);
        good = file && rc_kernel_table_read(file, &c.on.accelerator, c.on.engine, &c.samples, c.arena, problems);
    }
    if (good && c.samples.count == 0) {
        rc_problem_add(problems, RC_BAD_TRACE, q->tables[0], "", 0, "no row", "rows of this accelerator and engine",
                       "nothing was measured for %s on %s", c.on.engine, c.on.accelerator.name);
        good = false;
    }
    if (good) {
        rc_samples_sort(&c.samples);
        fit_families(&c, result);
        result->rows = (double)c.samples.count;
        result->ignored = (double)c.samples.ignored;
        result->duplicates = (double)c.samples.duplicates;
        good = !q->out_file || write_stack(&c, q->out_file);
    }
    rc_samples_free(&c.samples);
    rc_stack_on_chip_free(&c.on);
    return rc_problems_status(problems);
}

void rc_calibrate_result_free(rc_calibrate_result *result) {
    rc_arena_free(result->memory);
    *result = (rc_calibrate_result){0};
}
