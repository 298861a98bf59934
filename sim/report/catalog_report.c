/* SPDX-License-Identifier: GPL-3.0-or-later
 * What there is: lists, single files, schemas. */
#include "catalog.h"
#include "policy.h"
#include "router.h"
#include "scenario.h"
#include "text.h"
#include <stdlib.h>
#include <string.h>

/* ---------- list */

static const struct {
    const char *plural, *schema;
    rc_catalog_kind kind;
    const rc_table *table;
} kinds[] = {
    {"accelerators", "accelerator", RC_CATALOG_ACCELERATOR, &rc_accelerator_table},
    {"fabrics", "fabric", RC_CATALOG_FABRIC, &rc_fabric_table},
    {"stacks", "stack", RC_CATALOG_STACK, &rc_stack_table},
    {"models", "model", RC_CATALOG_MODEL, &rc_model_table},
    {"drafts", "draft", RC_CATALOG_DRAFT, &rc_draft_table},
    {"mixes", "mix", RC_CATALOG_MIX, &rc_workload_table},
    {"traces", NULL, RC_CATALOG_TRACE, NULL},
    {"scenarios", "scenario", RC_CATALOG_SCENARIO, &rc_scenario_table},
    {"prices", "prices", RC_CATALOG_PRICES, &rc_price_books_table},
    {"measurements", NULL, RC_CATALOG_MEASURED, NULL},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* The title in a data file; a table has none. */
static char *title_of(rc_catalog_kind kind, const char *name, rc_arena *arena) {
    char *file = rc_catalog_find(kind, name, arena);
    rc_problems *ignored = rc_problems_new();
    cJSON *json =
        file && kind != RC_CATALOG_TRACE && kind != RC_CATALOG_MEASURED ? rc_catalog_load(file, ignored) : NULL;
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
    for (size_t i = 0; rc_routers[i]; i++)
        add_entry(list, rc_routers[i]->name, rc_routers[i]->doc);
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
    const char *names[KINDS + 3];
    bool all = !wanted || !*wanted, hardware = !all && strcmp(wanted, "hardware") == 0;
    for (size_t i = 0; i < KINDS; i++) {
        bool part_of_hardware = hardware && (kinds[i].kind <= RC_CATALOG_STACK);
        names[i] = kinds[i].plural;
        if (all || part_of_hardware || strcmp(wanted, kinds[i].plural) == 0)
            list_kind(answer, i, arena);
    }
    names[KINDS] = "policies";
    names[KINDS + 1] = "hardware";
    names[KINDS + 2] = "support";
    if (all || strcmp(wanted, "policies") == 0)
        list_policies(answer);
    char words[200];
    if (!answer->child) {
        rc_choices_text(words, sizeof words, wanted, names, KINDS + 3);
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

/* ---------- show, schema */

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
    snprintf(expected, sizeof expected, meant ? "did you mean \"%s\"?" : "a name from `rackcast list`%s",
             meant ? meant : "");
    rc_problem_add(problems, RC_UNKNOWN_NAME, "", "", 0, name, expected, "nothing of this name");
    free(all);
}

/* A price book by its name, or NULL. */
static cJSON *find_book(const char *name, rc_arena *arena) {
    rc_problems *ignored = rc_problems_new();
    char *file = rc_catalog_find(RC_CATALOG_PRICES, "prices", arena);
    cJSON *json = file ? rc_catalog_load(file, ignored) : NULL;
    cJSON *book = json ? cJSON_DetachItemFromObjectCaseSensitive(rc_json_get(json, "books"), name) : NULL;
    cJSON_Delete(json);
    rc_problems_free(ignored);
    return book;
}

static cJSON *find_policy(const char *name) {
    const rc_policy *policy = rc_policy_find(name);
    const rc_router *router = rc_router_find(name);
    cJSON *json = policy || router ? cJSON_CreateObject() : NULL;
    if (json) {
        rc_json_add_text(json, "name", name);
        rc_json_add_text(json, "title", policy ? policy->doc : router->doc);
    }
    return json;
}

rc_status rc_show(const char *name, FILE *out, rc_format format, rc_problems *problems) {
    (void)format; /* data files are JSON, whoever asks */
    rc_arena *arena = rc_arena_new();
    char *file = NULL;
    for (size_t i = 0; i < KINDS && !file; i++)
        file = rc_catalog_find(kinds[i].kind, name, arena);
    cJSON *other = file ? NULL : find_book(name, arena);
    if (!file && !other)
        other = find_policy(name);
    if (other)
        rc_json_print(out, other);
    else if (!file)
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
