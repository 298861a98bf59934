/* SPDX-License-Identifier: GPL-3.0-or-later
 * A model file from a Hugging Face config.json, with its census. */
#include "answer_json.h"
#include "huggingface.h"
#include "memory.h"
#include "text.h"
#include "whole_file.h"
#include <stdlib.h>
#include <string.h>

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
    static const char *const keys[] = {"parameters_total",
                                       "parameters_active",
                                       "checkpoint_bytes",
                                       "scale_bytes",
                                       "kv_bytes_per_token_total",
                                       "state_bytes_per_request_total",
                                       "weights",
                                       "components"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        cJSON_AddItemToObject(census, keys[i], cJSON_DetachItemFromObjectCaseSensitive(whole, keys[i]));
    cJSON_Delete(whole);
}

static void print_census(FILE *out, const rc_model *model, const rc_fit_result *fit, const char *written) {
    char a[40], b[40], c[40];
    fprintf(out, "%s: %.0f layers, %s parameters, %s active a token, %s B in the checkpoint\n", model->name,
            model->layers_total, rc_count_text(a, sizeof a, fit->parameters_total),
            rc_count_text(b, sizeof b, fit->parameters_active), rc_count_text(c, sizeof c, fit->checkpoint_bytes));
    for (size_t i = 0; i < model->mixers_count; i++)
        fprintf(out, "  %3.0f layers mix tokens with %s\n", rc_model_mixer_layers(model, i, 0, model->layers_total),
                model->mixers[i].name);
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
