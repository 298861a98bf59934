/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "offered.h"
#include "resolve.h"
#include <string.h>

/* The file struct of a load begins with what the program keeps. */
static bool read_load(const cJSON *json, void *target, const char *path, rc_reader *reader) {
    if (cJSON_IsString(json))
        return false; /* a name that was not found, which was said */
    void *whole = rc_arena_take(reader->arena, rc_workload_table.size);
    bool good = rc_read(&rc_workload_table, json, whole, path, reader);
    memcpy(target, whole, sizeof(rc_workload));
    return good && rc_workload_finish(target, path, reader);
}

RC_LOCAL_TABLE(offered_table, rc_offered, "load", "What is asked, whoever serves it.",
               {"workload", RC_FIELD_CUSTOM, offsetof(rc_offered, workload), "name, path or object of a load",
                .required = true, .custom = read_load},
               {"seed", RC_FIELD_COUNT, offsetof(rc_offered, seed), "of all random numbers", .absent = 1, .low = 0,
                .high = 9e15});

static bool is_key_of(const rc_table *table, const char *key) {
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->fields[i].name, key) == 0)
            return true;
    return false;
}

/* Drops what only a scenario looks at; a key that nobody knows stays and is refused. */
static void drop_rack(cJSON *root) {
    for (cJSON *member = root->child, *next; member; member = next) {
        next = member->next;
        if (is_key_of(&rc_scenario_table, member->string) && !is_key_of(&offered_table, member->string))
            cJSON_Delete(cJSON_DetachItemViaPointer(root, member));
    }
}

bool rc_offered_open(const rc_question *question, rc_arena *arena, rc_offered *offered, rc_problems *problems) {
    rc_resolution r = {.arena = arena, .problems = problems};
    rc_reader reader = {arena, problems, rc_resolution_file, &r};
    bool good = rc_resolve_question(&r, question) && rc_resolve_names(&r);
    if (good) {
        drop_rack(r.root);
        good = rc_read(&offered_table, r.root, offered, "", &reader);
    }
    cJSON_Delete(r.root);
    return good && rc_problems_count(problems) == 0;
}
