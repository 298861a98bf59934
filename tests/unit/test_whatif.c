/* SPDX-License-Identifier: GPL-3.0-or-later
 * What one change does: values and multiples of them, elasticities that are known beforehand, what moved. */
#include "asking.h"
#include "movement.h"
#include "variation.h"

static rc_whatif_result *vary(const char *scenario, const char *const *settings, const char *const *varied,
                              rc_problems *problems) {
    rc_whatif_question question = {.scenario = {.scenario = scenario, .settings = settings}, .varied = varied};
    while (settings && settings[question.scenario.settings_count])
        question.scenario.settings_count++;
    while (varied[question.varied_count])
        question.varied_count++;
    rc_whatif_result *result = calloc(1, sizeof *result);
    rc_whatif(&question, result, problems);
    return result;
}

static rc_whatif_result *varied(const char *scenario, const char *const *settings, const char *const *paths) {
    rc_problems *problems = rc_problems_new();
    rc_whatif_result *result = vary(scenario, settings, paths, problems);
    for (size_t i = 0; i < rc_problems_count(problems); i++)
        ck_abort_msg("%s: %s", rc_problems_at(problems, i)->path, rc_problems_at(problems, i)->message);
    rc_problems_free(problems);
    return result;
}

static void give_back(rc_whatif_result *result) {
    rc_whatif_result_free(result);
    free(result);
}

/* Dollars a token are proportional to the price, tokens do not know it. */
START_TEST(the_price_of_a_token_follows_the_price) {
    rc_whatif_result *r =
        varied("k3-8xb300", SETTINGS("workload.requests=40"), SETTINGS("price.usd_per_gpu_hour=$3/h,$6/h,$12/h"));
    close_to(r->elasticity.usd_per_million_output, 1, 1e-9);
    ck_assert_double_eq_tol(r->elasticity.output_tokens_per_s, 0, 1e-9);
    ck_assert_double_eq_tol(r->elasticity.tpot, 0, 1e-9);
    ck_assert_uint_eq(r->rows_count, 4); /* as it is has a price book, not a price */
    ck_assert_ptr_nonnull(strstr(r->sentence, "stays at"));
    give_back(r);
}
END_TEST

/* One client, always one request: output tokens a second are 1 / TPOT but for the prompt, so the two mirror each other. */
START_TEST(a_lone_client_mirrors_its_tpot) {
    rc_whatif_result *r = varied(
        "k3-8xb300", SETTINGS("workload.arrival.clients=1", "workload.requests=3", "workload.output_tokens=4000"),
        SETTINGS("hardware.accelerator.memory_bandwidth=x0.5,x2"));
    ck_assert_uint_eq(r->rows_count, 3);
    ck_assert(r->rows[0].as_it_is);
    close_to(r->rows[1].number, r->rows[0].number / 2, 1e-12);
    close_to(r->rows[2].number, r->rows[0].number * 2, 1e-12);
    ck_assert_double_lt(r->elasticity.tpot, -0.2);
    ck_assert_double_gt(r->elasticity.tpot, -1);
    ck_assert_double_eq_tol(r->elasticity.output_tokens_per_s, -r->elasticity.tpot, 0.02);
    give_back(r);
}
END_TEST

/* Across the slow link at one request only latency counts, at many it is the bandwidth. */
START_TEST(links_are_latency_for_one_and_bandwidth_for_many) {
    static const char *const clients[] = {"workload.arrival.clients=1", "workload.arrival.clients=64"},
                             *const requests[] = {"workload.requests=4", "workload.requests=256"};
    double bandwidth[2], latency[2];
    for (int many = 0; many < 2; many++) {
        rc_whatif_result *r = varied("k3-16xb200", SETTINGS(clients[many], requests[many]),
                                     SETTINGS("hardware.fabric.levels[1].bandwidth=x0.5,x2"));
        bandwidth[many] = r->elasticity.output_tokens_per_s;
        give_back(r);
        r = varied("k3-16xb200", SETTINGS(clients[many], requests[many]),
                   SETTINGS("hardware.fabric.levels[1].latency=x0.5,x2"));
        latency[many] = -r->elasticity.output_tokens_per_s;
        ck_assert_ptr_nonnull(strstr(r->sentence, "through all-reduce ("));
        give_back(r);
    }
    ck_assert_double_lt(bandwidth[0], 0.01);
    ck_assert_double_gt(latency[0], 0.1);
    ck_assert_double_gt(bandwidth[1], 0.1);
    ck_assert_double_lt(latency[1], bandwidth[1]);
}
END_TEST

/* 96 heads padded to 128: the arithmetic of attention in a prompt grows by a third, and nothing else. */
START_TEST(padded_heads_cost_a_third_of_prefill_attention) {
    rc_whatif_result *r =
        varied("k3-8xmi355x", SETTINGS("workload.requests=24", "hardware.stack.kernels.mla-prefill.fast_heads=12"),
               SETTINGS("hardware.stack.kernels.mla-prefill.head_tile=1,16"));
    double flops[2] = {0};
    for (int i = 0; i < 2; i++)
        for (size_t p = 0; p < r->rows[i].why.prefill_parts_count; p++)
            if (strcmp(r->rows[i].why.prefill_parts[p].family, "mla") == 0)
                flops[i] = r->rows[i].why.prefill_parts[p].flops;
    ck_assert(!r->rows[0].as_it_is && r->rows[1].as_it_is); /* in the order of the question */
    ck_assert_double_gt(flops[1], 1.1 * flops[0]);          /* the expansion of latents is not padded */
    ck_assert_double_lt(flops[1], 4.0 / 3 * flops[0]);
    close_to(r->rows[0].run.fit.kv_bytes_per_token_per_gpu, r->rows[1].run.fit.kv_bytes_per_token_per_gpu, 1e-12);
    close_to(r->rows[0].why.step_s, r->rows[1].why.step_s, 1e-12);
    give_back(r);
}
END_TEST

START_TEST(paths_vary_together) {
    rc_whatif_result *r = varied("k3-nvl72", SETTINGS("workload.requests=100"),
                                 SETTINGS("parallel.tp=8,16", "parallel.replicas=9,4", "hardware.count=72,64"));
    ck_assert_uint_eq(r->rows_count, 2);
    ck_assert(r->rows[0].as_it_is);
    ck_assert_str_eq(r->rows[1].value.text, "parallel.tp=16, parallel.replicas=4, hardware.count=64");
    ck_assert_uint_eq(r->rows[1].run.gpus, 64);
    give_back(r);
}
END_TEST

/* Whole parts vary as well; the one that is there is known by its content, not by its spelling. */
START_TEST(objects_are_values) {
    rc_whatif_result *r = varied("k3-16xb200", SETTINGS("workload.arrival.clients=2", "workload.requests=4"),
                                 SETTINGS("parallel={\"tp\":8,\"pp\":2},{ \"tp\": 16 }"));
    ck_assert_uint_eq(r->rows_count, 2);
    ck_assert(!r->rows[0].as_it_is && r->rows[1].as_it_is);
    ck_assert(isnan(r->elasticity.output_tokens_per_s));
    ck_assert_ptr_nonnull(strstr(r->sentence, "through all-reduce ("));
    give_back(r);
}
END_TEST

/* What does not fit is a row with its reasons; the others are played. */
START_TEST(a_value_that_does_not_fit_is_a_row) {
    rc_whatif_result *r = varied("k3-8xb300", SETTINGS("workload.requests=24"),
                                 SETTINGS("hardware.accelerator.memory_usable=200GiB,260GiB"));
    ck_assert_uint_eq(r->rows_count, 3);
    ck_assert(r->rows[0].run.fits && !r->rows[1].run.fits && r->rows[2].run.fits);
    ck_assert_uint_ge(r->rows[1].run.fit.reasons_count, 1);
    give_back(r);
}
END_TEST

START_TEST(values_are_read_as_they_are_meant) {
    rc_arena *arena = rc_arena_new();
    rc_problems *problems = rc_problems_new();
    cJSON *there = cJSON_Parse("{\"a\":{\"b\":[{\"c\":\"900GB/s\"},{\"c\":\"$2.50/h\"}],\"n\":6,\"t\":\"text\"},"
                               "\"hardware\":{\"stack\":{\"defaults\":{\"max_running\":64}}}}");
    rc_variation v;
    ck_assert(rc_variation_read("a.b[0].c=x2,450GB/s,x0.5", there, &v, arena, problems));
    ck_assert_str_eq(v.path, "a.b[0].c");
    ck_assert_uint_eq(v.count, 3);
    ck_assert_str_eq(v.values[0], "1800GB/s");
    ck_assert_str_eq(v.values[1], "450GB/s");
    ck_assert_str_eq(v.values[2], "450GB/s");
    ck_assert(rc_variation_read("a.b[1].c=x3", there, &v, arena, problems));
    ck_assert_str_eq(v.values[0], "$7.5/h");
    ck_assert(rc_variation_read("a.n=x1.5,{\"uniform\":[1,2]},[3,4],\"x,y\"", there, &v, arena, problems));
    ck_assert_uint_eq(v.count, 4);
    ck_assert_str_eq(v.values[0], "9");
    ck_assert_str_eq(v.values[1], "{\"uniform\":[1,2]}");
    ck_assert_str_eq(v.values[3], "\"x,y\"");
    ck_assert(rc_variation_read("engine.max_running=x2", there, &v, arena, problems)); /* the stack's default */
    ck_assert_str_eq(v.values[0], "128");
    ck_assert_uint_eq(rc_problems_count(problems), 0);
    ck_assert(!rc_variation_read("a.t=x2", there, &v, arena, problems));
    ck_assert(!rc_variation_read("a.none=x2", there, &v, arena, problems));
    ck_assert(!rc_variation_read("a.n", there, &v, arena, problems));
    ck_assert(!rc_variation_read("a.n=1,,2", there, &v, arena, problems));
    ck_assert_uint_eq(rc_problems_count(problems), 4);
    cJSON_Delete(there);
    rc_problems_free(problems);
    rc_arena_free(arena);
}
END_TEST

START_TEST(questions_that_cannot_be_asked_are_refused) {
    static const char *const refused[][3] = {{"parallel.tp=8,16", "hardware.count=8"}, /* not as many values */
                                             {"parallel.tp"},                          /* no values */
                                             {"hardware.accelerator.memory_bandwith=1TB/s,2TB/s"}, /* no such key */
                                             {"hardware.accelerator.memory_bandwidth=8GB,16GB"},   /* another unit */
                                             {"parallel.tp=5"}, /* not a layout of this rack */
                                             {NULL}};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        rc_problems *problems = rc_problems_new();
        rc_whatif_result *r = vary("k3-8xb300", NULL, refused[i], problems);
        ck_assert_msg(rc_problems_count(problems) > 0, "question %zu was answered", i);
        give_back(r);
        rc_problems_free(problems);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("whatif");
    add_tests(suite, "whatif",
              (const TTest *const[]){
                  the_price_of_a_token_follows_the_price, a_lone_client_mirrors_its_tpot,
                  links_are_latency_for_one_and_bandwidth_for_many, padded_heads_cost_a_third_of_prefill_attention,
                  paths_vary_together, objects_are_values, a_value_that_does_not_fit_is_a_row,
                  values_are_read_as_they_are_meant, questions_that_cannot_be_asked_are_refused, NULL});
    return run_suite(suite);
}
