/* SPDX-License-Identifier: GPL-3.0-or-later
 * What there is: lists, single files, schemas; and the two verbs that read foreign files, import and trace. */
#include "answer_json.h"
#include "catalog.h"
#include "histogram.h"
#include "huggingface.h"
#include "memory.h"
#include "policy.h"
#include "table.h"
#include "text.h"
#include "trace.h"
#include "whole_file.h"
#include <gsl/gsl_sort.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------------------- list */

static const struct {
    const char *plural, *schema;
    rc_catalog_kind kind;
    const rc_table *table;
} kinds[] = {
    {"accelerators", "accelerator", RC_CATALOG_ACCELERATOR, &rc_accelerator_table},
    {"fabrics", "fabric", RC_CATALOG_FABRIC, &rc_fabric_table},
    {"stacks", "stack", RC_CATALOG_STACK, &rc_stack_table},
    {"models", "model", RC_CATALOG_MODEL, &rc_model_table},
    {"mixes", "mix", RC_CATALOG_MIX, &rc_workload_table},
    {"traces", NULL, RC_CATALOG_TRACE, NULL},
    {"scenarios", "scenario", RC_CATALOG_SCENARIO, &rc_scenario_table},
    {"prices", "prices", RC_CATALOG_PRICES, &rc_price_books_table},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* The title in a data file; a trace has none. */
static char *title_of(rc_catalog_kind kind, const char *name, rc_arena *arena) {
    char *file = rc_catalog_find(kind, name, arena);
    rc_problems *ignored = rc_problems_new();
    cJSON *json = file && kind != RC_CATALOG_TRACE ? rc_catalog_load(file, ignored) : NULL;
    const cJSON *title = json ? rc_json_get(json, "title") : NULL;
    char *text = rc_arena_text(arena, cJSON_IsString(title) ? title->valuestring : "");
    cJSON_Delete(json);
    rc_problems_free(ignored);
    return text;
}

static void add_entry(cJSON *list, const char *name, const char *title) {
    cJSON *entry = cJSON_CreateObject();
    rc_json_add_text(entry, "name", name);
    rc_json_add_text(entry, "title", title);
    cJSON_AddItemToArray(list, entry);
}

static void list_books(cJSON *list, rc_arena *arena) {
    rc_problems *ignored = rc_problems_new();
    char *file = rc_catalog_find(RC_CATALOG_PRICES, "prices", arena);
    cJSON *json = file ? rc_catalog_load(file, ignored) : NULL;
    const cJSON *books = json ? rc_json_get(json, "books") : NULL;
    for (const cJSON *book = books ? books->child : NULL; book; book = book->next) {
        const cJSON *title = rc_json_get(book, "title");
        add_entry(list, book->string, cJSON_IsString(title) ? title->valuestring : "");
    }
    cJSON_Delete(json);
    rc_problems_free(ignored);
}

static void list_kind(cJSON *answer, size_t kind, rc_arena *arena) {
    cJSON *list = rc_json_add_array(answer, kinds[kind].plural);
    if (kinds[kind].kind == RC_CATALOG_PRICES) {
        list_books(list, arena);
        return;
    }
    size_t count;
    const char **names = rc_catalog_names(kinds[kind].kind, &count, arena);
    for (size_t i = 0; i < count; i++)
        add_entry(list, names[i], title_of(kinds[kind].kind, names[i], arena));
}

static void list_policies(cJSON *answer) {
    cJSON *list = rc_json_add_array(answer, "policies");
    for (size_t i = 0; rc_policies[i]; i++)
        add_entry(list, rc_policies[i]->name, rc_policies[i]->doc);
}

static void print_lists(FILE *out, const cJSON *answer, rc_format format) {
    for (const cJSON *list = answer->child; list; list = list->next) {
        if (format == RC_CSV)
            for (const cJSON *entry = list->child; entry; entry = entry->next)
                fprintf(out, "%s,%s,\"%s\"\n", list->string, rc_json_get(entry, "name")->valuestring,
                        rc_json_get(entry, "title")->valuestring);
        else {
            fprintf(out, "%s%s\n", list == answer->child ? "" : "\n", list->string);
            for (const cJSON *entry = list->child; entry; entry = entry->next)
                fprintf(out, "  %-24s %s\n", rc_json_get(entry, "name")->valuestring,
                        rc_json_get(entry, "title")->valuestring);
        }
    }
}

rc_status rc_list(const char *wanted, FILE *out, rc_format format, rc_problems *problems) {
    rc_arena *arena = rc_arena_new();
    cJSON *answer = cJSON_CreateObject();
    const char *names[KINDS + 2];
    bool all = !wanted || !*wanted, hardware = !all && strcmp(wanted, "hardware") == 0;
    for (size_t i = 0; i < KINDS; i++) {
        bool part_of_hardware = hardware && (kinds[i].kind <= RC_CATALOG_STACK);
        names[i] = kinds[i].plural;
        if (all || part_of_hardware || strcmp(wanted, kinds[i].plural) == 0)
            list_kind(answer, i, arena);
    }
    names[KINDS] = "policies";
    names[KINDS + 1] = "hardware";
    if (all || strcmp(wanted, "policies") == 0)
        list_policies(answer);
    char words[200];
    if (!answer->child) {
        rc_choices_text(words, sizeof words, wanted, names, KINDS + 2);
        rc_problem_add(problems, RC_UNKNOWN_NAME, "", "", 0, wanted, words, "nothing of this kind to list");
        cJSON_Delete(answer);
    } else if (format == RC_JSON)
        rc_json_print(out, answer);
    else {
        print_lists(out, answer, format);
        cJSON_Delete(answer);
    }
    rc_arena_free(arena);
    return rc_problems_status(problems);
}

/* ------------------------------------------------------------------------------------------------------ show, schema */

static void complain_unknown(const char *name, rc_arena *arena, rc_problems *problems) {
    const char **all = NULL;
    size_t count = 0, capacity = 0;
    for (size_t i = 0; i < KINDS; i++) {
        size_t found;
        const char **names = rc_catalog_names(kinds[i].kind, &found, arena);
        for (size_t n = 0; n < found; n++) {
            all = rc_grow(all, count, &capacity, sizeof *all);
            all[count++] = names[n];
        }
    }
    const char *meant = rc_did_you_mean(name, all, count);
    char expected[200];
    snprintf(expected, sizeof expected, meant ? "did you mean \"%s\"?" : "a name from `rackcast list`%s", meant ? meant : "");
    rc_problem_add(problems, RC_UNKNOWN_NAME, "", "", 0, name, expected, "nothing of this name");
    free(all);
}

rc_status rc_show(const char *name, FILE *out, rc_format format, rc_problems *problems) {
    (void)format; /* data files are JSON, whoever asks */
    rc_arena *arena = rc_arena_new();
    char *file = NULL;
    for (size_t i = 0; i < KINDS && !file; i++)
        file = rc_catalog_find(kinds[i].kind, name, arena);
    if (!file)
        complain_unknown(name, arena, problems);
    else if (rc_text_ends(file, ".csv")) {
        char *text = rc_file_read(file, problems);
        fputs(text ? text : "", out);
        free(text);
    } else {
        cJSON *json = rc_catalog_load(file, problems);
        if (json)
            rc_json_print(out, json);
    }
    rc_arena_free(arena);
    return rc_problems_status(problems);
}

rc_status rc_schema(const char *kind, FILE *out, rc_problems *problems) {
    const char *names[KINDS];
    size_t count = 0;
    for (size_t i = 0; i < KINDS; i++) {
        if (!kinds[i].schema)
            continue;
        names[count++] = kinds[i].schema;
        if (strcmp(kinds[i].schema, kind) != 0)
            continue;
        cJSON *schema = rc_table_schema(kinds[i].table);
        rc_json_add_text(schema, "$schema", "https://json-schema.org/draft/2020-12/schema");
        rc_json_add_text(schema, "title", kinds[i].schema);
        rc_json_print(out, schema);
        return RC_OK;
    }
    char words[200];
    rc_choices_text(words, sizeof words, kind, names, count);
    return rc_problem_add(problems, RC_UNKNOWN_NAME, "", "", 0, kind, words, "no schema of this kind");
}

/* ----------------------------------------------------------------------------------------------------------- import */

/* "moonshotai--Kimi-K3.config.json" -> "kimi-k3"; ".../Kimi-K3/config.json" -> "kimi-k3" */
static char *name_from(const char *file, rc_arena *arena) {
    char *copy = rc_arena_text(arena, file), *slash = strrchr(copy, '/'), *base = slash ? slash + 1 : copy;
    if (strcmp(base, "config.json") == 0 && slash) {
        *slash = 0;
        base = strrchr(copy, '/') ? strrchr(copy, '/') + 1 : copy;
    }
    char *dashes = strstr(base, "--"), *ending = strstr(base, ".config.json");
    if (!ending)
        ending = strstr(base, ".json");
    if (ending)
        *ending = 0;
    base = dashes ? dashes + 2 : base;
    for (char *c = base; *c; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c - 'A' + 'a');
    return base;
}

static void census_json(cJSON *answer, const rc_fit_result *fit) {
    cJSON *census = rc_json_add_object(answer, "census"), *whole = rc_fit_json(fit);
    static const char *const keys[] = {"parameters_total", "parameters_active", "checkpoint_bytes", "scale_bytes",
                                       "kv_bytes_per_token_total", "state_bytes_per_request_total", "weights",
                                       "components"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        cJSON_AddItemToObject(census, keys[i], cJSON_DetachItemFromObjectCaseSensitive(whole, keys[i]));
    cJSON_Delete(whole);
}

static void print_census(FILE *out, const rc_model *model, const rc_fit_result *fit, const char *written) {
    char a[40], b[40], c[40];
    fprintf(out, "%s: %.0f layers, %s parameters, %s active a token, %s in the checkpoint\n", model->name,
            model->layers_total, rc_count_text(a, sizeof a, fit->parameters_total),
            rc_count_text(b, sizeof b, fit->parameters_active), rc_count_text(c, sizeof c, fit->checkpoint_bytes));
    for (size_t i = 0; i < model->mixers_count; i++)
        fprintf(out, "  %3.0f layers mix tokens with %s\n",
                rc_model_mixer_layers(model, i, 0, model->layers_total), model->mixers[i].name);
    for (size_t i = 0; i < model->ffns_count; i++)
        fprintf(out, "  %3.0f layers have a %s network\n", rc_model_ffn_layers(model, i, 0, model->layers_total),
                model->ffns[i].name);
    for (size_t i = 0; i < fit->components_count; i++)
        fprintf(out, "  %-20s %24s parameters %24s B  %s\n", fit->components[i].name,
                rc_count_text(a, sizeof a, fit->components[i].parameters),
                rc_count_text(b, sizeof b, fit->components[i].bytes), fit->components[i].format);
    fprintf(out, "  KV %s B a token (BF16), state %s B a request\n",
            rc_count_text(a, sizeof a, fit->kv_bytes_per_token_total),
            rc_count_text(b, sizeof b, fit->state_bytes_per_request_total));
    if (written)
        fprintf(out, "written to %s\n", written);
}

/* The census of a model alone, on a machine that does not matter. */
static bool take_census(const cJSON *json, const char *file, rc_arena *arena, rc_scenario *s, rc_fit_result *fit,
                        rc_problems *problems) {
    rc_reader reader = {arena, problems, NULL, NULL};
    void *whole = rc_arena_take(arena, rc_model_table.size);
    (void)file;
    if (!rc_read(&rc_model_table, json, whole, "", &reader))
        return false;
    memcpy(&s->model, whole, sizeof s->model);
    if (!rc_model_finish(&s->model, "", &reader))
        return false;
    s->weights_format = RC_FORMAT_COUNT;
    s->parallel = (rc_parallel){1, 1, 1, 1, 1, 1};
    s->engine = (rc_engine){.kv_format = RC_BF16, .memory_fraction = 1, .max_context = s->model.max_context};
    s->hardware.accelerator = (rc_accelerator){.title = "", .memory_usable_bytes = 1e18, .node = 1e9};
    s->title = s->model.title;
    rc_memory_fit(s, fit);
    return true;
}

static bool write_model(const cJSON *json, const char *out_file, rc_problems *problems) {
    rc_whole_file whole;
    if (!out_file)
        return true;
    if (!rc_whole_file_open(&whole, out_file, problems))
        return false;
    char *text = rc_json_pretty(json);
    fprintf(whole.out, "%s\n", text);
    free(text);
    return rc_whole_file_close(&whole, true, problems) == RC_OK;
}

rc_status rc_import(const char *config_file, const char *name, const char *out_file, FILE *out, rc_format format,
                    rc_problems *problems) {
    rc_arena *arena = rc_arena_new();
    rc_scenario *s = rc_arena_take(arena, sizeof *s);
    rc_fit_result *fit = rc_arena_take(arena, sizeof *fit);
    cJSON *config = rc_json_load(config_file, problems), *json = NULL;
    if (config && !cJSON_IsObject(config))
        rc_problem_add(problems, RC_BAD_VALUE, config_file, "", 0, "no object", "a config.json", "not a config");
    else if (config)
        json = rc_huggingface_model(config, name ? name : name_from(config_file, arena), config_file, problems);
    if (json && take_census(json, config_file, arena, s, fit, problems) && write_model(json, out_file, problems)) {
        if (format == RC_JSON) {
            cJSON *answer = cJSON_CreateObject();
            census_json(answer, fit);
            cJSON *notes = rc_json_add_array(answer, "notes");
            for (size_t i = 0; i < rc_notes_count(problems); i++)
                cJSON_AddItemToArray(notes, cJSON_CreateString(rc_notes_at(problems, i)));
            cJSON_AddItemToObject(answer, "model", cJSON_Duplicate(json, true));
            rc_json_print(out, answer);
        } else
            print_census(out, &s->model, fit, out_file);
    }
    cJSON_Delete(json);
    cJSON_Delete(config);
    rc_arena_free(arena);
    return rc_problems_status(problems);
}

/* ------------------------------------------------------------------------------------------------------------ trace */

static rc_percentiles length_percentiles(const rc_trace *trace, bool output) {
    double *values = rc_allocate(trace->count * sizeof *values), sum = 0;
    for (size_t i = 0; i < trace->count; i++)
        sum += values[i] = output ? trace->rows[i].output_tokens : trace->rows[i].input_tokens;
    gsl_sort(values, 1, trace->count);
    rc_percentiles p = {sum / (double)trace->count, rc_sorted_quantile(values, trace->count, 0.5),
                        rc_sorted_quantile(values, trace->count, 0.9), rc_sorted_quantile(values, trace->count, 0.95),
                        rc_sorted_quantile(values, trace->count, 0.99), (double)trace->count};
    free(values);
    return p;
}

/* The busiest minute, in requests a second. */
static double peak_rate(const rc_trace *trace) {
    const int64_t minute = 60000000000;
    size_t first = 0, most = 0;
    for (size_t i = 0; i < trace->count; i++) {
        while (trace->rows[i].arrival_ns - trace->rows[first].arrival_ns >= minute)
            first++;
        most = i - first + 1 > most ? i - first + 1 : most;
    }
    return (double)most / 60;
}

static void print_lengths(FILE *out, const char *name, const rc_percentiles *p) {
    char a[40], b[40], c[40], d[40];
    fprintf(out, "%s tokens: mean %s, p50 %s, p90 %s, p99 %s\n", name, rc_number_text(a, sizeof a, p->mean),
            rc_number_text(b, sizeof b, p->p50), rc_number_text(c, sizeof c, p->p90),
            rc_number_text(d, sizeof d, p->p99));
}

static void print_trace(FILE *out, const char *file, const rc_trace *trace, rc_format format) {
    double span = (double)trace->span_ns / 1e9, rate = span > 0 ? (double)trace->count / span : 0;
    rc_percentiles input = length_percentiles(trace, false), output = length_percentiles(trace, true);
    if (format == RC_JSON) {
        cJSON *a = cJSON_CreateObject();
        rc_json_add_number(a, "rows", (double)trace->count);
        rc_json_add_number(a, "skipped_zero_tokens", (double)trace->skipped_zero);
        rc_json_add_number(a, "span_s", span);
        rc_json_add_number(a, "rate_per_s", rate);
        rc_json_add_number(a, "peak_minute_rate_per_s", peak_rate(trace));
        rc_json_add_number(a, "input_tokens_total", input.mean * input.count);
        rc_json_add_number(a, "output_tokens_total", output.mean * output.count);
        rc_add_percentiles(a, "input_tokens", &input);
        rc_add_percentiles(a, "output_tokens", &output);
        rc_json_print(out, a);
        return;
    }
    char a[40];
    fprintf(out, "%s: %s requests over %s", file, rc_count_text(a, sizeof a, (double)trace->count),
            rc_quantity_text((char[40]){0}, 40, span, RC_SECONDS));
    fprintf(out, ", %.3g a second on average, %.3g in the busiest minute\n", rate, peak_rate(trace));
    print_lengths(out, "input", &input);
    print_lengths(out, "output", &output);
    if (trace->skipped_zero)
        fprintf(out, "%zu rows without input or output tokens are not played\n", trace->skipped_zero);
}

static bool is_one_of(const char *word, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

rc_status rc_describe_trace(const char *file, const char *time_unit, const char *out_file, FILE *out, rc_format format,
                            rc_problems *problems) {
    static const char *const units[] = {"s", "ms", "us", "ns"};
    if (time_unit && !is_one_of(time_unit, units, 4))
        return rc_problem_add(problems, RC_BAD_UNIT, "", "--unit", 0, time_unit, "s, ms, us or ns", "not a unit of time");
    rc_arena *arena = rc_arena_new();
    char *found = rc_catalog_find(RC_CATALOG_TRACE, file, arena);
    bool is_file = found || access(file, F_OK) == 0;
    rc_trace trace;
    if (!is_file)
        rc_catalog_complain(RC_CATALOG_TRACE, file, "", "", arena, problems);
    else if (rc_trace_read(found ? found : file, time_unit, &trace, problems)) {
        rc_whole_file whole;
        if (out_file && rc_whole_file_open(&whole, out_file, problems)) {
            rc_trace_write(whole.out, &trace);
            rc_whole_file_close(&whole, true, problems);
        }
        if (rc_problems_count(problems) == 0)
            print_trace(out, file, &trace, format);
        rc_trace_free(&trace);
    }
    rc_arena_free(arena);
    return rc_problems_status(problems);
}
