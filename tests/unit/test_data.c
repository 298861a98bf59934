/* SPDX-License-Identifier: GPL-3.0-or-later
 * The shipped data: every file is read, every number has a source, sizes are plausible, published censuses come out. */
#include "asking.h"
#include "catalog.h"
#include "memory.h"

static rc_arena *arena;

static void open_arena(void) {
    arena = rc_arena_new();
}

static void close_arena(void) {
    rc_arena_free(arena);
}

/* Whether a source of the file speaks of a path; "*" speaks of everything, "a" of "a.b" too. */
static bool has_source(const cJSON *file, const char *path) {
    const cJSON *sources = rc_json_get(file, "sources");
    for (const cJSON *source = sources ? sources->child : NULL; source; source = source->next) {
        const cJSON *of = rc_json_get(source, "of");
        for (const cJSON *name = of ? of->child : NULL; name; name = name->next) {
            size_t length = strlen(name->valuestring);
            if (strcmp(name->valuestring, "*") == 0 ||
                (strncmp(path, name->valuestring, length) == 0 && strchr(".[", path[length])))
                return true;
        }
    }
    return false;
}

static void check_sources(const cJSON *file, const cJSON *node, const char *path) {
    for (const cJSON *child = node->child; child; child = child->next) {
        char below[200];
        int index = 0;
        for (const cJSON *other = node->child; other != child; other = other->next)
            index++;
        if (cJSON_IsArray(node))
            snprintf(below, sizeof below, "%s[%d]", path, index);
        else
            snprintf(below, sizeof below, "%s%s%s", path, path[0] ? "." : "", child->string);
        if (strcmp(below, "sources") == 0 || strcmp(below, "title") == 0)
            continue;
        bool quantity = cJSON_IsNumber(child) ||
                        (cJSON_IsString(child) && child->valuestring[0] >= '0' && child->valuestring[0] <= '9');
        if (quantity)
            ck_assert_msg(has_source(file, below), "%s of %s has no source", below,
                          rc_json_get(file, "name") ? rc_json_get(file, "name")->valuestring : "?");
        check_sources(file, child, below);
    }
}

START_TEST(every_number_has_a_source) {
    static const rc_catalog_kind kinds[] = {RC_CATALOG_ACCELERATOR, RC_CATALOG_FABRIC, RC_CATALOG_MODEL};
    rc_problems *problems = rc_problems_new();
    for (size_t k = 0; k < 3; k++) {
        size_t count;
        const char **names = rc_catalog_names(kinds[k], &count, arena);
        ck_assert_uint_ge(count, 15);
        for (size_t i = 0; i < count; i++) {
            cJSON *file = rc_catalog_load(rc_catalog_find(kinds[k], names[i], arena), problems);
            ck_assert_ptr_nonnull(file);
            ck_assert_str_eq(rc_json_get(file, "name")->valuestring, names[i]);
            cJSON *left_out =
                cJSON_DetachItemFromObjectCaseSensitive(file, "node"); /* how racks are sold, no measurement */
            check_sources(file, file, "");
            cJSON_Delete(left_out);
            cJSON_Delete(file);
        }
    }
    rc_problems_free(problems);
}
END_TEST

START_TEST(every_accelerator_can_be_asked) {
    size_t count;
    const char **names = rc_catalog_names(RC_CATALOG_ACCELERATOR, &count, arena);
    ck_assert_uint_ge(count, 22);
    for (size_t i = 0; i < count; i++) {
        char rack[64];
        snprintf(rack, sizeof rack, "hardware=1x%s", names[i]);
        rc_scenario *s = ask(NULL, SETTINGS("model=llama-3.1-8b", rack));
        const rc_accelerator *a = &s->hardware.accelerator;
        ck_assert_double_le(a->memory_usable_bytes, a->memory_nameplate_bytes * 1.01);
        ck_assert_double_ge(a->memory_usable_bytes, a->memory_nameplate_bytes * 0.7);
        ck_assert_double_ge(a->memory_bytes_per_s, 200e9);
        if (!isnan(a->peak.fp8_flops_per_s))
            close_to(a->peak.fp8_flops_per_s, 2 * a->peak.bf16_flops_per_s, 0.02);
        rc_explain_result e;
        rc_problems *problems = rc_problems_new();
        rc_explain(s, 1, 1024, 1024, &e, problems);
        ck_assert_uint_eq(rc_problems_count(problems), 0);
        if (e.fits) {
            ck_assert_double_gt(e.step_s, e.ceiling_s); /* no forecast beats its ceiling */
            ck_assert_double_lt(e.step_s, 10 * e.ceiling_s);
            ck_assert_double_gt(e.prefill_s, e.prefill_ceiling_s);
        }
        rc_problems_free(problems);
        rc_close(s);
    }
}
END_TEST

START_TEST(every_stack_and_fabric_can_be_used) {
    size_t count;
    const char **names = rc_catalog_names(RC_CATALOG_STACK, &count, arena);
    ck_assert_uint_ge(count, 22);
    for (size_t i = 0; i < count; i++) {
        char stack[96], accelerator[96];
        snprintf(stack, sizeof stack, "hardware.stack=%s", names[i]);
        const char *chip = strchr(names[i], '-') + 1; /* "b200" of "sglang-b200" and of "sglang-0.5.10-b200" */
        if (strcspn(chip, ".") < strcspn(chip, "-"))
            chip = strchr(chip, '-') + 1;
        snprintf(accelerator, sizeof accelerator, "hardware.accelerator=%s", chip);
        rc_scenario *s = ask(NULL, SETTINGS("model=qwen3-30b-a3b", "hardware.count=1", accelerator, stack));
        ck_assert_str_eq(s->hardware.stack.accelerator, s->hardware.accelerator.name);
        rc_close(s);
    }
    names = rc_catalog_names(RC_CATALOG_FABRIC, &count, arena);
    for (size_t i = 0; i < count; i++) {
        char fabric[96];
        snprintf(fabric, sizeof fabric, "hardware.fabric=%s", names[i]);
        rc_close(ask(NULL, SETTINGS("model=llama-3.1-8b", "hardware=1xb200", fabric)));
    }
}
END_TEST

/* Parameters of the published checkpoints; their multi-token-prediction layers and vision towers left out. */
START_TEST(published_censuses_come_out) {
    static const struct {
        const char *model;
        double parameters;
    } known[] = {{"llama-3.1-8b", 8030261248},      {"llama-3.1-70b", 70553706496}, {"llama-2-13b", 13015864320},
                 {"mixtral-8x7b", 46702792704},     {"qwen3-32b", 32762123264},     {"qwen3-30b-a3b", 30532122624},
                 {"qwen3-235b-a22b", 235093634560}, {"gpt-oss-120b", 116829156672}, {"deepseek-v3", 671026419200}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char model[64];
        snprintf(model, sizeof model, "model=%s", known[i].model);
        rc_fit_result fit = fit_of(SETTINGS(model, "hardware=8xb300", "parallel.tp=8"));
        double parameters = fit.parameters_total;
        for (size_t c = 0; c < fit.components_count; c++)
            if (!fit.components[c].loaded)
                parameters -= fit.components[c].parameters;
        close_to(parameters, known[i].parameters, strcmp(known[i].model, "deepseek-v3") == 0 ? 1e-4 : 0);
    }
}
END_TEST

START_TEST(every_scenario_opens_and_fits) {
    static const char *const names[] = {"k3-8xmi355x",      "k3-16xb200", "k3-8xb300",      "k3-8xb300-8k1k",
                                        "k3-8xmi350x-8k1k", "k3-nvl72",   "llama70b-4xh100"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        rc_scenario *s = ask(names[i], NULL);
        rc_fit_result fit;
        ck_assert_int_eq(rc_memory_fit(s, &fit), RC_OK);
        ck_assert_str_eq(s->name, names[i]);
        rc_close(s);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("data");
    TCase *tests = tcase_create("shipped data");
    tcase_add_checked_fixture(tests, open_arena, close_arena);
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, every_number_has_a_source);
    tcase_add_test(tests, every_accelerator_can_be_asked);
    tcase_add_test(tests, every_stack_and_fabric_can_be_used);
    tcase_add_test(tests, published_censuses_come_out);
    tcase_add_test(tests, every_scenario_opens_and_fits);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
