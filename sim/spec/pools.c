/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pools.h"
#include "text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const pool_keys[] = {"role", "hardware", "parallel", "offload", "engine", "price"};
enum { POOL_KEYS = sizeof pool_keys / sizeof *pool_keys, POOLS_MAX = 16 };

static bool check_pool(const rc_resolution *r, const cJSON *pool, const char *path) {
    rc_reader reader = {r->arena, r->problems, rc_resolution_file, r};
    char words[300];
    bool good = cJSON_IsObject(pool) || rc_complain_value(&reader, RC_BAD_VALUE, path, pool,
                                                          "an object with role, hardware, parallel, ...", "not a pool");
    for (const cJSON *entry = good ? pool->child : NULL; entry; entry = entry->next) {
        bool known = false;
        for (size_t i = 0; i < POOL_KEYS; i++)
            known = known || strcmp(entry->string, pool_keys[i]) == 0;
        if (known)
            continue;
        rc_choices_text(words, sizeof words, entry->string, pool_keys, POOL_KEYS);
        good = rc_complain(&reader, RC_UNKNOWN_KEY, rc_arena_format(r->arena, "%s.%s", path, entry->string),
                           entry->string, words, "unknown key");
    }
    return good;
}

/* The whole scenario with the keys of one pool in it. */
static cJSON *view_of(const cJSON *root, const cJSON *pool) {
    cJSON *view = cJSON_Duplicate(root, true);
    cJSON_DeleteItemFromObjectCaseSensitive(view, "pools");
    for (const cJSON *entry = pool->child; entry; entry = entry->next) {
        cJSON_DeleteItemFromObjectCaseSensitive(view, entry->string);
        cJSON_AddItemToObject(view, entry->string, cJSON_Duplicate(entry, true));
    }
    return view;
}

static bool check_pools(const rc_resolution *r, const cJSON *pools) {
    rc_reader reader = {r->arena, r->problems, rc_resolution_file, r};
    static const char *const instead[] = {"hardware", "parallel"};
    int count = cJSON_GetArraySize(pools);
    char found[32];
    snprintf(found, sizeof found, "%d pools", count);
    bool good = (cJSON_IsArray(pools) && count >= 1 && count <= POOLS_MAX) ||
                rc_complain(&reader, RC_BAD_VALUE, "pools", cJSON_IsArray(pools) ? found : "no list",
                            "a list of 1 to 16 pools", "not a list of pools");
    for (size_t i = 0; i < sizeof instead / sizeof *instead; i++)
        if (rc_json_get(r->root, instead[i]))
            good = rc_complain(&reader, RC_BAD_VALUE, instead[i], "pools beside it", "it in each pool",
                               "pools have hardware and layouts of their own");
    return good;
}

/* The scenario as it can be asked again: what is common, and a list of what each pool has of its own. */
static const char *resolved_pools(const rc_resolution *r, rc_scenario *const *pools, size_t count) {
    cJSON *whole = cJSON_Parse(pools[0]->resolved), *list = cJSON_CreateArray();
    for (size_t i = 0; i < count; i++) {
        cJSON *view = cJSON_Parse(pools[i]->resolved), *pool = cJSON_CreateObject();
        for (size_t k = 0; k < POOL_KEYS; k++) {
            cJSON *own = cJSON_DetachItemFromObjectCaseSensitive(view, pool_keys[k]);
            if (own)
                cJSON_AddItemToObject(pool, pool_keys[k], own);
            cJSON_DeleteItemFromObjectCaseSensitive(whole, pool_keys[k]);
        }
        cJSON_AddItemToArray(list, pool);
        cJSON_Delete(view);
    }
    cJSON_AddItemToObject(whole, "pools", list);
    char *text = rc_json_canonical(whole);
    const char *kept = rc_arena_text(r->arena, text);
    free(text);
    cJSON_Delete(whole);
    return kept;
}

static const char *title_of_pools(const rc_resolution *r, const rc_question *question, rc_scenario *const *pools,
                                  size_t count) {
    const char *given = cJSON_GetStringValue(rc_json_get(r->root, "title")), *racks = "";
    char layout[64];
    if (given && !rc_question_changes_rack(question))
        return pools[0]->title;
    for (size_t i = 0; i < count; i++)
        racks = rc_arena_format(r->arena, "%s%s%.0f x %s, %s", racks, i ? " and " : "", pools[i]->hardware.count,
                                pools[i]->hardware.accelerator.title,
                                rc_parallel_text(layout, sizeof layout, &pools[i]->parallel));
    return rc_arena_format(r->arena, "%s on %s", pools[0]->model.title, racks);
}

/* One pool, opened as a scenario of its own.  *common: mistakes that every pool would have. */
static rc_scenario *open_pool(const rc_resolution *r, const rc_question *question, size_t index, size_t *common) {
    const cJSON *pool = cJSON_GetArrayItem(rc_json_get(r->root, "pools"), (int)index);
    const char *path = rc_arena_format(r->arena, "pools[%zu]", index);
    *common = 0;
    if (!check_pool(r, pool, path))
        return NULL;
    size_t before = rc_problems_count(r->problems);
    rc_resolution view = *r;
    view.root = view_of(r->root, pool);
    rc_scenario *opened = rc_scenario_open_one(&view, question, true);
    *common = rc_problems_prefix(r->problems, before, rc_arena_format(r->arena, "%s.", path), pool_keys, POOL_KEYS);
    cJSON_Delete(view.root);
    return opened;
}

/* Either all do everything, or some compute prompts and some write answers. */
static bool check_roles(const rc_resolution *r, rc_scenario *const *pools, size_t count) {
    rc_reader reader = {r->arena, r->problems, rc_resolution_file, r};
    size_t of[3] = {0};
    for (size_t i = 0; i < count; i++)
        of[pools[i]->role]++;
    if (of[RC_POOL_ANY] == count || (of[RC_POOL_ANY] == 0 && of[RC_POOL_PREFILL] > 0 && of[RC_POOL_DECODE] > 0))
        return true;
    char found[80];
    snprintf(found, sizeof found, "%zu for prefill, %zu for decode, %zu for any", of[RC_POOL_PREFILL],
             of[RC_POOL_DECODE], of[RC_POOL_ANY]);
    return rc_complain(&reader, RC_BAD_VALUE, "pools", found, "all of role any, or some of prefill and some of decode",
                       "the roles of the pools do not go together");
}

rc_scenario *rc_pools_open(rc_resolution *r, const rc_question *question, bool good) {
    const cJSON *pools = rc_json_get(r->root, "pools");
    if (!check_pools(r, pools))
        return NULL;
    size_t count = (size_t)cJSON_GetArraySize(pools), common = 0;
    rc_scenario **opened = rc_arena_take(r->arena, count * sizeof(rc_scenario *));
    for (size_t i = 0; i < count && common == 0; i++) {
        opened[i] = open_pool(r, question, i, &common);
        good = opened[i] && good;
    }
    if (!good)
        return NULL;
    if (!check_roles(r, opened, count))
        return NULL;
    rc_scenario *s = rc_arena_take(r->arena, sizeof *s);
    *s = *opened[0];
    s->pools = opened;
    s->pools_count = count;
    s->resolved = resolved_pools(r, opened, count);
    s->title = title_of_pools(r, question, opened, count);
    return s;
}

size_t rc_pools_count(const rc_scenario *s) {
    return s->pools_count ? s->pools_count : 1;
}

const rc_scenario *rc_pool(const rc_scenario *s, size_t index) {
    return s->pools_count ? s->pools[index] : s;
}

double rc_pools_gpus(const rc_scenario *s) {
    double gpus = 0;
    for (size_t i = 0; i < rc_pools_count(s); i++)
        gpus += rc_pool(s, i)->hardware.count;
    return gpus;
}
