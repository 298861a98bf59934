/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stack_on_chip.h"
#include "catalog.h"
#include "fields.h"
#include <string.h>

typedef struct loader {
    rc_arena *arena;
    rc_problems *problems;
} loader;

static cJSON *load_named(const loader *l, rc_catalog_kind kind, const char *name) {
    const char *file = rc_catalog_need(kind, name, l->arena, l->problems);
    return file ? rc_catalog_load(file, l->problems) : NULL;
}

/* The first `bytes` of what a table reads. */
static bool read_typed(const loader *l, const rc_table *table, const cJSON *json, void *target, size_t bytes) {
    rc_reader reader = {l->arena, l->problems, NULL, NULL};
    void *whole = rc_arena_take(l->arena, table->size);
    bool good = json && rc_read(table, json, whole, "", &reader);
    if (good)
        memcpy(target, whole, bytes);
    return good;
}

static bool load_typed(const loader *l, rc_catalog_kind kind, const char *name, const rc_table *table, void *target,
                       size_t bytes) {
    cJSON *json = load_named(l, kind, name);
    bool good = read_typed(l, table, json, target, bytes);
    cJSON_Delete(json);
    return good;
}

static bool load_fabric(const loader *l, const char *accelerator, rc_fabric *fabric) {
    static const char *const kinds[] = {"ib-400", "nvlink", "mesh", "pcie", NULL};
    for (size_t i = 0; kinds[i]; i++) {
        const char *name = rc_arena_format(l->arena, "%s-%s", accelerator, kinds[i]);
        if (rc_catalog_find(RC_CATALOG_FABRIC, name, l->arena))
            return load_typed(l, RC_CATALOG_FABRIC, name, &rc_fabric_table, fabric, sizeof *fabric);
    }
    return true;
}

static const char *engine_of(const loader *l, const char *stack) {
    const char *slash = strrchr(stack, '/');
    char *engine = rc_arena_text(l->arena, slash ? slash + 1 : stack);
    engine[strcspn(engine, "-")] = 0;
    return engine;
}

bool rc_stack_on_chip_load(rc_stack_on_chip *loaded, const char *name, rc_arena *arena, rc_problems *problems) {
    loader l = {arena, problems};
    *loaded = (rc_stack_on_chip){.json = load_named(&l, RC_CATALOG_STACK, name), .engine = engine_of(&l, name)};
    return read_typed(&l, &rc_stack_table, loaded->json, &loaded->stack, sizeof loaded->stack) &&
           load_typed(&l, RC_CATALOG_ACCELERATOR, loaded->stack.accelerator, &rc_accelerator_table,
                      &loaded->accelerator, sizeof loaded->accelerator) &&
           load_fabric(&l, loaded->accelerator.name, &loaded->fabric);
}

void rc_stack_on_chip_free(rc_stack_on_chip *loaded) {
    cJSON_Delete(loaded->json);
    loaded->json = NULL;
}
