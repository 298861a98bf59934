/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog.h"
#include "text.h"
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { INCLUDE_DEPTH_MAX = 8 };

static const struct {
    const char *name, *folder, *ending;
} kinds[RC_CATALOG_COUNT] = {
    [RC_CATALOG_ACCELERATOR] = {"accelerator", "hwmodels/accelerators", ".json"},
    [RC_CATALOG_FABRIC] = {"fabric", "hwmodels/fabrics", ".json"},
    [RC_CATALOG_STACK] = {"stack", "hwmodels/stacks", ".json"},
    [RC_CATALOG_MODEL] = {"model", "workloads/models", ".json"},
    [RC_CATALOG_DRAFT] = {"draft", "workloads/drafts", ".json"},
    [RC_CATALOG_MIX] = {"mix", "workloads/mixes", ".json"},
    [RC_CATALOG_TRACE] = {"trace", "workloads/traces", ".csv"},
    [RC_CATALOG_SCENARIO] = {"scenario", "scenarios", ".json"},
    [RC_CATALOG_PRICES] = {"prices", "hwmodels", ".json"},
    [RC_CATALOG_MEASURED] = {"table of measurements", "tests/validation", ".csv"},
};

const char *rc_catalog_kind_name(rc_catalog_kind kind) {
    return kinds[kind].name;
}

const char *rc_catalog_kind_folder(rc_catalog_kind kind) {
    return kinds[kind].folder;
}

/* Calls `visit` with each root until it returns true. */
static bool each_root(bool (*visit)(const char *root, void *context), void *context) {
    const char *listed = getenv("RACKCAST_PATH");
    char *copy = strdup(listed ? listed : ""), *rest = copy;
    bool stop = false;
    for (char *root; !stop && (root = strsep(&rest, ":"));)
        stop = root[0] && visit(root, context);
    free(copy);
    return stop || visit(RACKCAST_SOURCE_DATA, context) || visit(RACKCAST_INSTALLED_DATA, context);
}

typedef struct finder {
    rc_catalog_kind kind;
    const char *name;
    rc_arena *arena;
    char *found;
} finder;

static bool is_path(const char *name) {
    return strchr(name, '/') || rc_text_ends(name, ".json") || rc_text_ends(name, ".csv");
}

static bool find_in(const char *root, void *context) {
    finder *f = context;
    char *file = rc_arena_format(f->arena, "%s/%s/%s%s", root, kinds[f->kind].folder, f->name, kinds[f->kind].ending);
    if (access(file, R_OK) != 0)
        return false;
    f->found = file;
    return true;
}

char *rc_catalog_find(rc_catalog_kind kind, const char *name, rc_arena *arena) {
    if (is_path(name) && access(name, R_OK) == 0)
        return rc_arena_text(arena, name);
    finder f = {.kind = kind, .name = name, .arena = arena};
    return !is_path(name) && each_root(find_in, &f) ? f.found : NULL;
}

typedef struct lister {
    rc_catalog_kind kind;
    rc_arena *arena;
    const char **names;
    size_t count, capacity;
} lister;

static bool list_in(const char *root, void *context) {
    lister *l = context;
    DIR *folder = opendir(rc_arena_format(l->arena, "%s/%s", root, kinds[l->kind].folder));
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        if (!rc_text_ends(entry->d_name, kinds[l->kind].ending))
            continue;
        l->names = rc_grow(l->names, l->count, &l->capacity, sizeof *l->names);
        char *name = rc_arena_text(l->arena, entry->d_name);
        name[strlen(name) - strlen(kinds[l->kind].ending)] = 0;
        l->names[l->count++] = name;
    }
    if (folder)
        closedir(folder);
    return false;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char **rc_catalog_names(rc_catalog_kind kind, size_t *count, rc_arena *arena) {
    lister l = {.kind = kind, .arena = arena};
    each_root(list_in, &l);
    if (l.count)
        qsort(l.names, l.count, sizeof *l.names, compare_names);
    const char **names = rc_arena_take(arena, (l.count + 1) * sizeof *names);
    *count = 0;
    for (size_t i = 0; i < l.count; i++)
        if (*count == 0 || strcmp(names[*count - 1], l.names[i]) != 0)
            names[(*count)++] = l.names[i];
    free(l.names);
    return names;
}

void rc_catalog_complain(rc_catalog_kind kind, const char *name, const char *file, const char *path, rc_arena *arena,
                         rc_problems *problems) {
    if (is_path(name)) {
        rc_problem_add(problems, RC_NO_FILE, name, path, 0, "no such file", "a file that can be read",
                       "cannot open the %s file", kinds[kind].name);
        return;
    }
    size_t count;
    const char **names = rc_catalog_names(kind, &count, arena);
    enum { LISTED_MAX = 24 };
    char words[600];
    const char *meant = rc_did_you_mean(name, names, count);
    if (count > LISTED_MAX)
        snprintf(words, sizeof words, "%s%s%sone of the %zu that `rackcast list` shows", meant ? "did you mean \"" : "",
                 meant ? meant : "", meant ? "\"? " : "", count);
    else
        rc_choices_text(words, sizeof words, name, names, count);
    rc_problem_add(problems, RC_UNKNOWN_NAME, file, path, 0, name, words, "unknown %s", kinds[kind].name);
}

const char *rc_catalog_need(rc_catalog_kind kind, const char *name, rc_arena *arena, rc_problems *problems) {
    const char *file = rc_catalog_find(kind, name, arena);
    if (!file && access(name, R_OK) == 0)
        return name;
    if (!file)
        rc_catalog_complain(kind, name, "", "", arena, problems);
    return file;
}

/* ---------- includes */

static cJSON *load(const char *file, int depth, rc_problems *problems);

/* A file beside the one that includes it. */
static cJSON *load_beside(const char *file, const char *included, int depth, rc_problems *problems) {
    const char *slash = strrchr(file, '/');
    size_t folder = included[0] == '/' || !slash ? 0 : (size_t)(slash - file) + 1;
    char *path = rc_allocate(folder + strlen(included) + 1);
    memcpy(path, file, folder);
    strcpy(path + folder, included);
    cJSON *json = load(path, depth, problems);
    free(path);
    return json;
}

static bool merge_included(cJSON *base, const cJSON *name, const char *file, int depth, rc_problems *problems) {
    if (!cJSON_IsString(name)) {
        char brief[64];
        rc_problem_add(problems, RC_BAD_VALUE, file, "include", 0, rc_json_brief(brief, sizeof brief, name),
                       "a file name or a list of them", "an include is not a text");
        return false;
    }
    cJSON *below = load_beside(file, name->valuestring, depth + 1, problems);
    if (below)
        rc_json_merge(base, below);
    cJSON_Delete(below);
    return below != NULL;
}

static cJSON *load(const char *file, int depth, rc_problems *problems) {
    if (depth > INCLUDE_DEPTH_MAX) {
        rc_problem_add(problems, RC_BAD_VALUE, file, "include", 0, "files that include one another",
                       "at most 8 files deep", "includes go in a circle");
        return NULL;
    }
    cJSON *json = rc_json_load(file, problems);
    cJSON *include = cJSON_IsObject(json) ? cJSON_DetachItemFromObjectCaseSensitive(json, "include") : NULL;
    if (!include)
        return json;
    cJSON *base = cJSON_CreateObject();
    bool good = true;
    if (cJSON_IsArray(include))
        for (const cJSON *name = include->child; name; name = name->next)
            good = merge_included(base, name, file, depth, problems) && good;
    else
        good = merge_included(base, include, file, depth, problems);
    rc_json_merge(base, json);
    cJSON_Delete(include);
    cJSON_Delete(json);
    if (good)
        return base;
    cJSON_Delete(base);
    return NULL;
}

cJSON *rc_catalog_load(const char *file, rc_problems *problems) {
    return load(file, 0, problems);
}
