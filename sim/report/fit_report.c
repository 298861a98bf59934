/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "answer_json.h"
#include "table.h"
#include "text.h"
#include <math.h>
#include <string.h>

static void component_json(cJSON *list, const rc_weight_line *line) {
    cJSON *entry = cJSON_CreateObject();
    rc_json_add_text(entry, "name", line->name);
    rc_json_add_text(entry, "format", line->format);
    rc_json_add_number(entry, "parameters", line->parameters);
    rc_json_add_number(entry, "active", line->active);
    rc_json_add_number(entry, "bytes", line->bytes);
    rc_json_add_number(entry, "scale_bytes", line->scale_bytes);
    rc_json_add_number(entry, "bytes_per_gpu", line->bytes_per_gpu);
    rc_json_add_bool(entry, "loaded", line->loaded);
    cJSON_AddItemToArray(list, entry);
}

cJSON *rc_fit_json(const rc_fit_result *r) {
    cJSON *a = cJSON_CreateObject();
    rc_json_add_text(a, "title", r->title.text);
    rc_json_add_bool(a, "fits", r->fits);
    rc_add_texts(a, "reasons", r->reasons, r->reasons_count);
    rc_add_texts(a, "warnings", r->warnings, r->warnings_count);
    rc_json_add_number(a, "gpus", r->gpus);
    rc_json_add_number(a, "smallest_count", r->smallest_count ? r->smallest_count : NAN);
    rc_json_add_text(a, "smallest_layout", r->smallest_layout.text);
    rc_json_add_number(a, "weights_bytes_per_gpu", r->weights_bytes_per_gpu);
    rc_json_add_number(a, "weights_bytes_per_gpu_even", r->weights_bytes_per_gpu_even);
    rc_json_add_number(a, "replicated_bytes_per_gpu", r->replicated_bytes_per_gpu);
    rc_json_add_number(a, "redundant_bytes_per_gpu", r->redundant_bytes_per_gpu);
    rc_json_add_number(a, "draft_bytes_per_gpu", r->draft_bytes_per_gpu);
    rc_json_add_number(a, "host_bytes_per_gpu", r->host_bytes_per_gpu);
    cJSON *weights = rc_json_add_object(a, "weights");
    for (size_t i = 0; i < r->components_count; i++)
        rc_json_add_number(weights, r->components[i].name, r->components[i].bytes);
    cJSON *components = rc_json_add_array(a, "components");
    for (size_t i = 0; i < r->components_count; i++)
        component_json(components, &r->components[i]);
    rc_json_add_number(a, "parameters_total", r->parameters_total);
    rc_json_add_number(a, "parameters_active", r->parameters_active);
    rc_json_add_number(a, "checkpoint_bytes", r->checkpoint_bytes);
    rc_json_add_number(a, "scale_bytes", r->scale_bytes);
    rc_json_add_number(a, "memory_nameplate_bytes", r->memory_nameplate_bytes);
    rc_json_add_number(a, "memory_usable_bytes", r->memory_usable_bytes);
    rc_json_add_number(a, "memory_fraction", r->memory_fraction);
    rc_json_add_number(a, "workspace_bytes", r->workspace_bytes);
    rc_json_add_number(a, "graphs_bytes", r->graphs_bytes);
    rc_json_add_number(a, "kv_bytes_per_token_per_gpu", r->kv_bytes_per_token_per_gpu);
    rc_json_add_number(a, "kv_bytes_per_token_total", r->kv_bytes_per_token_total);
    rc_json_add_number(a, "state_bytes_per_request_per_gpu", r->state_bytes_per_request_per_gpu);
    rc_json_add_number(a, "state_bytes_per_request_total", r->state_bytes_per_request_total);
    rc_json_add_number(a, "state_slots_per_request", r->state_slots_per_request);
    rc_json_add_number(a, "room_bytes_per_gpu", r->room_bytes_per_gpu);
    rc_json_add_number(a, "kv_capacity_tokens", r->kv_capacity_tokens);
    rc_json_add_number(a, "longest_request_tokens", r->longest_request_tokens);
    rc_json_add_number(a, "max_requests", r->max_requests);
    rc_json_add_number(a, "max_context", r->max_context);
    rc_json_add_number(a, "model_max_context", r->model_max_context);
    rc_add_texts(a, "assumptions", r->assumptions, r->assumptions_count);
    return a;
}

static const char *bytes_text(char *text, size_t size, double bytes) {
    return rc_quantity_text(text, size, bytes, RC_BYTES);
}

static void print_weights(FILE *out, const rc_fit_result *r, rc_format format) {
    rc_text_table *t = rc_text_table_new(5);
    char a[40], b[40], c[40];
    const char *const header[] = {"weights", "format", "parameters", "whole model", "a GPU"};
    for (size_t i = 0; i < 5; i++)
        rc_text_table_cell(t, i, "%s", header[i]);
    for (size_t i = 0; i < r->components_count; i++) {
        const rc_weight_line *l = &r->components[i];
        rc_text_table_row(t);
        rc_text_table_cell(t, 0, "%s%s", l->name, l->loaded ? "" : " (not loaded)");
        rc_text_table_cell(t, 1, "%s", l->format);
        rc_text_table_cell(t, 2, "%s", rc_count_text(a, sizeof a, l->parameters));
        rc_text_table_cell(t, 3, "%s", bytes_text(b, sizeof b, l->bytes));
        rc_text_table_cell(t, 4, "%s", l->loaded ? bytes_text(c, sizeof c, l->bytes_per_gpu) : "-");
    }
    rc_text_table_row(t);
    rc_text_table_cell(t, 0, "of which scales");
    rc_text_table_cell(t, 3, "%s", bytes_text(a, sizeof a, r->scale_bytes));
    rc_text_table_row(t);
    rc_text_table_cell(t, 0, "all");
    rc_text_table_cell(t, 2, "%s", rc_count_text(a, sizeof a, r->parameters_total));
    rc_text_table_cell(t, 3, "%s", bytes_text(b, sizeof b, r->checkpoint_bytes));
    rc_text_table_cell(t, 4, "%s", bytes_text(c, sizeof c, r->weights_bytes_per_gpu));
    rc_text_table_print(t, out, format);
}

static void print_budget(FILE *out, const rc_fit_result *r, rc_format format) {
    const struct {
        const char *name;
        double bytes;
    } lines[] = {{"label", r->memory_nameplate_bytes},
                 {"usable", r->memory_usable_bytes},
                 {"taken by the engine", r->memory_usable_bytes * r->memory_fraction},
                 {"- weights", r->weights_bytes_per_gpu},
                 {"    evenly sharded they would be", r->weights_bytes_per_gpu_even},
                 {"    held whole on every rank", r->replicated_bytes_per_gpu},
                 {"    second copies of popular experts", r->redundant_bytes_per_gpu},
                 {"    the draft", r->draft_bytes_per_gpu},
                 {"    in host memory instead", r->host_bytes_per_gpu},
                 {"- workspace", r->workspace_bytes},
                 {"- graphs", r->graphs_bytes},
                 {"= room for KV and state", r->room_bytes_per_gpu}};
    rc_text_table *t = rc_text_table_new(4);
    rc_text_table_cell(t, 0, "memory of a GPU");
    rc_text_table_cell(t, 1, "GB");
    rc_text_table_cell(t, 2, "GiB");
    rc_text_table_cell(t, 3, "MiB");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char mib[40];
        bool rare = strstr(lines[i].name, "instead") || strstr(lines[i].name, "second");
        if (lines[i].bytes == 0 && rare)
            continue;
        rc_text_table_row(t);
        rc_text_table_cell(t, 0, "%s", lines[i].name);
        rc_text_table_cell(t, 1, "%.2f", lines[i].bytes / 1e9);
        rc_text_table_cell(t, 2, "%.2f", lines[i].bytes / 1073741824);
        rc_text_table_cell(t, 3, "%s", rc_count_text(mib, sizeof mib, lines[i].bytes / 1048576));
    }
    rc_text_table_print(t, out, format);
}

static void print_verdict(FILE *out, const rc_fit_result *r) {
    fprintf(out, "%s: %s\n", r->title.text, r->fits ? "fits" : "does not fit");
    for (size_t i = 0; i < r->reasons_count; i++)
        fprintf(out, "  because %s\n", r->reasons[i].text);
    if (!r->fits && r->smallest_count)
        fprintf(out, "  smallest count that fits: %u GPUs (%s)\n", r->smallest_count, r->smallest_layout.text);
    for (size_t i = 0; i < r->warnings_count; i++)
        fprintf(out, "  warning: %s\n", r->warnings[i].text);
}

static void print_requests(FILE *out, const rc_fit_result *r) {
    char a[40], b[40], c[40];
    fprintf(out, "\nKV of a token: %s B a GPU (%s B one copy of the whole model)\n",
            rc_count_text(a, sizeof a, r->kv_bytes_per_token_per_gpu),
            rc_count_text(b, sizeof b, r->kv_bytes_per_token_total));
    fprintf(out, "state of a request: %s B a GPU (%s B whole model), %.0f slot(s)\n",
            rc_count_text(a, sizeof a, r->state_bytes_per_request_per_gpu),
            rc_count_text(b, sizeof b, r->state_bytes_per_request_total), r->state_slots_per_request);
    fprintf(out, "cache: %s tokens a replica\n", rc_count_text(a, sizeof a, r->kv_capacity_tokens));
    fprintf(out, "most requests of %s tokens: %s a replica; longest request: %s tokens (the model allows %s)\n",
            rc_count_text(a, sizeof a, r->longest_request_tokens), rc_count_text(b, sizeof b, r->max_requests),
            rc_count_text(c, sizeof c, r->max_context), rc_count_text((char[40]){0}, 40, r->model_max_context));
}

/* What vLLM prints when it starts.  Its size in tokens counts what requests of the longest length would hold, so it is
 * smaller than the room where each request takes state as well. */
static void print_log(FILE *out, const rc_fit_result *r) {
    char a[40], b[40];
    double state = r->state_slots_per_request * r->state_bytes_per_request_per_gpu;
    double request = r->longest_request_tokens * r->kv_bytes_per_token_per_gpu + state;
    double concurrency = fmax(r->room_bytes_per_gpu, 0) / request;
    fprintf(out, "Available KV cache memory: %.2f GiB\n", r->room_bytes_per_gpu / 1073741824);
    fprintf(out, "GPU KV cache size: %s tokens\n", rc_count_text(a, sizeof a, concurrency * r->longest_request_tokens));
    fprintf(out, "Maximum concurrency for %s tokens per request: %.2fx\n",
            rc_count_text(b, sizeof b, r->longest_request_tokens), concurrency);
}

static void print_csv(FILE *out, const rc_fit_result *r) {
    fprintf(out, "component,format,loaded,parameters,active,bytes,scale_bytes,bytes_per_gpu\n");
    for (size_t i = 0; i < r->components_count; i++) {
        const rc_weight_line *l = &r->components[i];
        const double values[] = {l->parameters, l->active, l->bytes, l->scale_bytes, l->bytes_per_gpu};
        fprintf(out, "%s,%s,%s", l->name, l->format, l->loaded ? "true" : "false");
        for (size_t v = 0; v < sizeof values / sizeof *values; v++)
            rc_print_csv_number(out, values[v]);
        fputc('\n', out);
    }
}

rc_status rc_print_fit(FILE *out, const rc_fit_result *r, rc_format format) {
    if (format == RC_JSON) {
        rc_json_print(out, rc_fit_json(r));
        return RC_OK;
    }
    if (format == RC_LOG) {
        print_log(out, r);
        return RC_OK;
    }
    if (format == RC_CSV) {
        print_csv(out, r);
        return RC_OK;
    }
    char a[40], b[40];
    print_verdict(out, r);
    fprintf(out, "\n%s parameters, %s active a token\n\n", rc_count_text(a, sizeof a, r->parameters_total),
            rc_count_text(b, sizeof b, r->parameters_active));
    print_weights(out, r, format);
    fputc('\n', out);
    print_budget(out, r, format);
    print_requests(out, r);
    rc_print_texts(out, "assumed", r->assumptions, r->assumptions_count);
    return RC_OK;
}
