/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "resolve.h"
#include "catalog.h"
#include "hash.h"
#include "text.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Places in a scenario that hold a name, a path, or the object itself. */
static const struct {
    const char *path;
    rc_catalog_kind kind;
} slots[] = {
    {"model", RC_CATALOG_MODEL},
    {"hardware.accelerator", RC_CATALOG_ACCELERATOR},
    {"hardware.fabric", RC_CATALOG_FABRIC},
    {"hardware.stack", RC_CATALOG_STACK},
    {"workload", RC_CATALOG_MIX},
    {"speculation.draft", RC_CATALOG_DRAFT},
};
enum { SLOTS = sizeof slots / sizeof *slots };

const char *rc_resolution_file(const void *resolution, const char *path) {
    const rc_resolution *r = resolution;
    const char *file = r->scenario_file;
    size_t longest = 0;
    for (size_t i = 0; i < r->origins_count; i++) {
        size_t length = strlen(r->origins[i].prefix);
        bool below = strncmp(path, r->origins[i].prefix, length) == 0 && (path[length] == '.' || path[length] == 0);
        if (below && length >= longest) {
            file = r->origins[i].file;
            longest = length;
        }
    }
    return file;
}

void rc_resolution_assume(rc_resolution *resolution, const char *text) {
    if (resolution->assumptions_count < sizeof resolution->assumptions / sizeof *resolution->assumptions)
        resolution->assumptions[resolution->assumptions_count++] = rc_arena_text(resolution->arena, text);
}

void rc_resolution_add_file(rc_resolution *resolution, const char *path) {
    if (resolution->files_count == sizeof resolution->files / sizeof *resolution->files)
        return;
    const char *slash = strrchr(path, '/');
    resolution->files[resolution->files_count++] = (rc_data_file){
        .name = rc_arena_text(resolution->arena, slash ? slash + 1 : path),
        .path = rc_arena_text(resolution->arena, path),
        .hash = rc_hash_file(path),
    };
}

/* ---------- expanding */

static int slot_of(const char *path) {
    for (int i = 0; i < SLOTS; i++)
        if (strcmp(slots[i].path, path) == 0)
            return i;
    return -1;
}

/* Replaces the name at a slot by the content of its file.  NULL and a problem where there is no such file. */
static cJSON *expand(rc_resolution *r, cJSON *parent, const char *key, int slot) {
    cJSON *named = rc_json_get(parent, key);
    char *file = rc_catalog_find(slots[slot].kind, named->valuestring, r->arena);
    const char *slash = strrchr(r->scenario_file, '/');
    if (!file && slash) /* beside the scenario */
        file = rc_catalog_find(slots[slot].kind,
                               rc_arena_format(r->arena, "%.*s%s", (int)(slash - r->scenario_file) + 1,
                                               r->scenario_file, named->valuestring),
                               r->arena);
    if (!file) {
        rc_catalog_complain(slots[slot].kind, named->valuestring, r->scenario_file, slots[slot].path, r->arena,
                            r->problems);
        return NULL;
    }
    cJSON *content = rc_catalog_load(file, r->problems);
    if (!content)
        return NULL;
    rc_resolution_add_file(r, file);
    r->origins[r->origins_count++] = (rc_origin){slots[slot].path, file};
    cJSON_ReplaceItemInObjectCaseSensitive(parent, key, content);
    return content;
}

static const char *name_of(const cJSON *json) {
    const cJSON *name = cJSON_IsObject(json) ? rc_json_get(json, "name") : json;
    return cJSON_IsString(name) ? name->valuestring : NULL;
}

static double number_at(const cJSON *object, const char *key, double otherwise) {
    const cJSON *number = rc_json_get(object, key);
    return cJSON_IsNumber(number) ? number->valuedouble : otherwise;
}

/* "8xb300" -> {"accelerator": "b300", "count": 8} */
static bool expand_rack(rc_resolution *r) {
    cJSON *hardware = rc_json_get(r->root, "hardware");
    if (!cJSON_IsString(hardware))
        return true;
    const char *text = hardware->valuestring;
    if (strchr(text, '/') || rc_text_ends(text, ".json")) {
        cJSON *content = rc_catalog_load(text, r->problems);
        if (content) {
            r->origins[r->origins_count++] = (rc_origin){"hardware", rc_arena_text(r->arena, text)};
            rc_resolution_add_file(r, text);
            cJSON_ReplaceItemInObjectCaseSensitive(r->root, "hardware", content);
        }
        return content != NULL;
    }
    char *end;
    long count = strtol(text, &end, 10);
    if (end == text || (*end != 'x' && *end != 'X') || count <= 0 || !end[1]) {
        rc_problem_add(r->problems, RC_BAD_VALUE, r->scenario_file, "hardware", 0, text,
                       "a count and an accelerator, as \"8xb300\"", "not a rack");
        return false;
    }
    cJSON *rack = cJSON_CreateObject();
    rc_json_add_text(rack, "accelerator", end + 1);
    rc_json_add_number(rack, "count", (double)count);
    cJSON_ReplaceItemInObjectCaseSensitive(r->root, "hardware", rack);
    return true;
}

static double product_of(const cJSON *parallel) {
    static const char *const keys[] = {"tp", "pp", "dp", "replicas"};
    double product = 1;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        product *= number_at(parallel, keys[i], 1);
    return product;
}

/* The name of the default fabric or stack; NULL where none is shipped. */
static const char *default_name(rc_resolution *r, int slot) {
    static const char *const one_node[] = {"nvl72", "nvlink", "mesh", "pcie", "unified", "ici", "roce-200", NULL};
    static const char *const many_nodes[] = {"nvl72", "roce-400", "ib-400", "roce-200", "ici", "pcie", NULL};
    static const char *const engines[] = {"sglang", "vllm", "trtllm", NULL};
    cJSON *hardware = rc_json_get(r->root, "hardware");
    const char *accelerator = name_of(rc_json_get(hardware, "accelerator"));
    if (!accelerator)
        return NULL;
    bool stack = slots[slot].kind == RC_CATALOG_STACK;
    double count = number_at(hardware, "count", product_of(rc_json_get(r->root, "parallel")));
    const char *const *words = stack ? engines : count > number_at(hardware, "per_node", 8) ? many_nodes : one_node;
    for (; *words; words++) {
        char *name = stack ? rc_arena_format(r->arena, "%s-%s", *words, accelerator)
                           : rc_arena_format(r->arena, "%s-%s", accelerator, *words);
        if (rc_catalog_find(slots[slot].kind, name, r->arena))
            return name;
    }
    return NULL;
}

static bool fill_default(rc_resolution *r, int slot) {
    cJSON *hardware = rc_json_get(r->root, "hardware");
    const char *key = strchr(slots[slot].path, '.') + 1;
    if (!cJSON_IsObject(hardware) || rc_json_get(hardware, key))
        return true;
    const char *name = default_name(r, slot);
    if (name) {
        rc_json_add_text(hardware, key, name);
        rc_resolution_assume(r, rc_arena_format(r->arena, "%s: %s", key, name));
    }
    return name != NULL;
}

/* ---------- settings */

static void put_child(cJSON *node, const char *step, cJSON *value) {
    if (cJSON_IsArray(node)) {
        if (rc_json_child(node, step))
            cJSON_ReplaceItemInArray(node, atoi(step), value);
        else
            cJSON_AddItemToArray(node, value);
    } else if (rc_json_get(node, step))
        cJSON_ReplaceItemInObjectCaseSensitive(node, step, value);
    else
        cJSON_AddItemToObject(node, step, value);
}

/* Goes one step down, opening a named file or making an object where need be. */
static cJSON *descend(rc_resolution *r, cJSON *node, const char *path, const char *step) {
    int slot = slot_of(path);
    if (strcmp(path, "hardware") == 0 && !expand_rack(r))
        return NULL;
    if (slot >= 0 && strncmp(path, "hardware.", 9) == 0)
        fill_default(r, slot);
    cJSON *child = rc_json_child(node, step);
    if (child && cJSON_IsString(child) && slot >= 0)
        return expand(r, node, step, slot);
    if (!child || !(cJSON_IsObject(child) || cJSON_IsArray(child)))
        put_child(node, step, child = cJSON_CreateObject());
    return child;
}

/* Objects and lists must be JSON as strict as in a file; anything else that is no JSON is plain text. */
static cJSON *value_of(const char *text, rc_problems *problems) {
    if (text[0] == '{' || text[0] == '[')
        return rc_json_parse(text, "--set", problems);
    cJSON *value = cJSON_ParseWithOpts(text, NULL, true);
    return value ? value : cJSON_CreateString(text);
}

static bool apply(rc_resolution *r, const char *setting) {
    const char *equals = strchr(setting, '=');
    if (!equals || equals == setting) {
        rc_problem_add(r->problems, RC_USAGE, "", setting, 0, setting, "path=value, as parallel.tp=8", "not a setting");
        return false;
    }
    const char *steps[RC_JSON_STEPS_MAX];
    size_t count = rc_json_split_path(rc_arena_format(r->arena, "%.*s", (int)(equals - setting), setting), steps);
    if (count == 0) {
        rc_problem_add(r->problems, RC_USAGE, "", setting, 0, setting, "path=value, as parallel.tp=8", "not a setting");
        return false;
    }
    cJSON *node = r->root;
    char *walked = rc_arena_text(r->arena, "");
    for (size_t i = 0; node && i + 1 < count; i++) {
        walked = rc_arena_format(r->arena, "%s%s%s", walked, i ? "." : "", steps[i]);
        node = descend(r, node, walked, steps[i]);
    }
    cJSON *value = node && count ? value_of(equals + 1, r->problems) : NULL;
    if (!value)
        return false;
    if (r->origins_count < sizeof r->origins / sizeof *r->origins)
        r->origins[r->origins_count++] =
            (rc_origin){rc_arena_format(r->arena, "%.*s", (int)(equals - setting), setting), "--set"};
    bool remove = cJSON_IsNull(value) && cJSON_IsObject(node);
    if (remove) {
        cJSON_DeleteItemFromObjectCaseSensitive(node, steps[count - 1]);
        cJSON_Delete(value);
    } else
        put_child(node, steps[count - 1], value);
    return true;
}

/* ---------- whole */

static bool load_scenario(rc_resolution *r, const char *scenario) {
    r->scenario_file = "";
    if (!scenario || !*scenario) {
        r->root = cJSON_CreateObject();
        return true;
    }
    char *file = rc_catalog_find(RC_CATALOG_SCENARIO, scenario, r->arena);
    if (!file) {
        rc_catalog_complain(RC_CATALOG_SCENARIO, scenario, "", "", r->arena, r->problems);
        return false;
    }
    r->scenario_file = file;
    r->root = rc_catalog_load(file, r->problems);
    if (r->root && !cJSON_IsObject(r->root)) {
        rc_problem_add(r->problems, RC_BAD_VALUE, file, "", 0, "no object", "a scenario object",
                       "the file is not a scenario");
        return false;
    }
    return r->root != NULL;
}

static void fill_schema(rc_resolution *r, const rc_question *question) {
    if (!question->scenario && !rc_json_get(r->root, "schema"))
        rc_json_add_text(r->root, "schema", "rackcast/scenario/1");
}

bool rc_resolve_question(rc_resolution *r, const rc_question *question) {
    if (!load_scenario(r, question->scenario))
        return false;
    fill_schema(r, question);
    bool good = true;
    for (size_t i = 0; i < question->settings_count; i++)
        good = apply(r, question->settings[i]) && good;
    return good;
}

bool rc_resolve_names(rc_resolution *r) {
    size_t before = rc_problems_count(r->problems);
    bool good = expand_rack(r);
    for (int slot = 0; slot < SLOTS; slot++) {
        bool hardware = strncmp(slots[slot].path, "hardware.", 9) == 0;
        if (hardware && slots[slot].kind != RC_CATALOG_ACCELERATOR)
            fill_default(r, slot);
    }
    for (int slot = 0; slot < SLOTS; slot++) {
        const char *dot = strchr(slots[slot].path, '.');
        char *above = rc_arena_format(r->arena, "%.*s", dot ? (int)(dot - slots[slot].path) : 0, slots[slot].path);
        cJSON *parent = dot ? rc_json_get(r->root, above) : r->root;
        const char *key = dot ? dot + 1 : slots[slot].path;
        if (cJSON_IsObject(parent) && cJSON_IsString(rc_json_get(parent, key)))
            good = expand(r, parent, key, slot) && good;
    }
    return good && rc_problems_count(r->problems) == before;
}
