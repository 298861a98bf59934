/* SPDX-License-Identifier: GPL-3.0-or-later
 * From a question to a scenario: names, settings, includes, units, mistakes. */
#include "asking.h"
#include "weights.h"
#include <unistd.h>

typedef struct mistake {
    const char *setting, *path;
    rc_status status;
} mistake;

/* The first problem of a question that must fail. */
static rc_problem first_problem(rc_problems *problems, const char *scenario, const char *const *settings,
                                size_t count) {
    rc_question question = {scenario, settings, count};
    ck_assert_ptr_null(rc_open(&question, problems));
    ck_assert_uint_gt(rc_problems_count(problems), 0);
    return *rc_problems_at(problems, 0);
}

static void write_file(const char *path, const char *text) {
    FILE *out = fopen(path, "w");
    ck_assert_ptr_nonnull(out);
    fputs(text, out);
    fclose(out);
}

START_TEST(each_mistake_has_a_place_and_a_kind) {
    static const mistake mistakes[] = {
        {"parallel.tp=0", "parallel.tp", RC_BAD_VALUE},
        {"parallel.tp=-8", "parallel.tp", RC_BAD_VALUE},
        {"parallel.tp=7", "parallel", RC_BAD_VALUE},
        {"parallel.ep=3", "parallel.ep", RC_BAD_VALUE},
        {"parallel.dcp=3", "parallel.dcp", RC_BAD_VALUE},
        {"model=kimi-k33", "model", RC_UNKNOWN_NAME},
        {"hardware.accelerator=b301", "hardware.accelerator", RC_UNKNOWN_NAME},
        {"hardware.accelerator.memory_bandwidth=8", "hardware.accelerator.memory_bandwidth", RC_BAD_UNIT},
        {"hardware.accelerator.memory_bandwidth=8TB", "hardware.accelerator.memory_bandwidth", RC_BAD_UNIT},
        {"engine.memmory_fraction=0.9", "engine.memmory_fraction", RC_UNKNOWN_KEY},
        {"engine.memory_fraction=1.1", "engine.memory_fraction", RC_BAD_VALUE},
        {"engine.kv_dtype=fp9", "engine.kv_dtype", RC_UNKNOWN_NAME},
        {"engine.host_cache=64GB", "engine.prefix_cache", RC_BAD_VALUE},
        {"speculation.tokens=7", "speculation.draft", RC_MISSING_KEY},
        {"workload.arrival.kind=open", "workload.arrival.kind", RC_UNKNOWN_NAME},
        {"workload.arrival.clients=null", "workload.arrival.clients", RC_MISSING_KEY},
        {"workload.input_tokens=0", "workload.input_tokens", RC_BAD_VALUE},
        {"workload.input_tokens=1.5", "workload.input_tokens", RC_BAD_VALUE},
        {"workload.output_tokens={\"uniform\":[5,2]}", "workload.output_tokens.uniform", RC_BAD_VALUE},
        {"workload.requests=null", "workload.requests", RC_MISSING_KEY},
        {"price.book=tree-racks", "price.book", RC_UNKNOWN_NAME},
        {"objectives=[\"ttft:2:p99\"]", "objectives[0]", RC_BAD_VALUE},
        {"hardware.stack.kernels.gemm-bf16.launch=5", "hardware.stack.kernels.gemm-bf16.launch", RC_BAD_UNIT},
        {"model.layers[0].mixer=kdb", "model.layers[0].mixer", RC_UNKNOWN_NAME},
        {"model.mixers.kda.key_dim=0", "model.mixers.kda.key_dim", RC_MISSING_KEY},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        rc_problems *problems = rc_problems_new();
        rc_problem p = first_problem(problems, "k3-8xb300", &mistakes[i].setting, 1);
        ck_assert_str_eq(p.path, mistakes[i].path);
        ck_assert_msg(p.status == mistakes[i].status, "%s: %s", mistakes[i].setting, rc_status_name(p.status));
        ck_assert_uint_gt(strlen(p.expected), 0);
        rc_problems_free(problems);
    }
}
END_TEST

START_TEST(all_mistakes_are_listed_at_once) {
    rc_problems *problems = rc_problems_new();
    first_problem(problems, "k3-8xb300",
                  SETTINGS("engine.policyy=a", "parallel.tp=0", "hardware.accelerator.power=3", "weights=fp7"), 4);
    ck_assert_uint_eq(rc_problems_count(problems), 4);
    rc_problems_free(problems);
}
END_TEST

START_TEST(a_mistake_in_a_data_file_names_that_file) {
    char path[] = "/tmp/rackcast-chip-XXXXXX.json", setting[80];
    ck_assert_int_ge(mkstemps(path, 5), 0);
    write_file(path, "{\"schema\":\"rackcast/accelerator/1\",\"name\":\"x\",\"power\":3}");
    snprintf(setting, sizeof setting, "hardware.accelerator=%s", path);
    rc_problems *problems = rc_problems_new();
    rc_problem p = first_problem(problems, "k3-8xb300", SETTINGS(setting), 1);
    ck_assert_str_eq(p.file, path);
    ck_assert_uint_gt(rc_problems_count(problems), 5); /* all that is missing, and the power without its unit */
    rc_problems_free(problems);
    problems = rc_problems_new();
    p = first_problem(problems, "k3-8xb300", SETTINGS("hardware.accelerator.power=3"), 1);
    ck_assert_str_eq(p.file, "--set");
    rc_problems_free(problems);
    unlink(path);
}
END_TEST

START_TEST(settings_reach_into_named_files) {
    rc_scenario *s = ask("k3-8xb300", SETTINGS("hardware.accelerator.memory_bandwidth=16TB/s", "model.max_context=4096",
                                               "hardware.fabric.levels[0].latency=7us",
                                               "workload.arrival={\"kind\":\"poisson\",\"rate\":2}", "seed=5",
                                               "price=null", "hardware.stack.kernels.gemm-bf16.launch=9us"));
    ck_assert_double_eq(s->hardware.accelerator.memory_bytes_per_s, 16e12);
    ck_assert_double_eq(s->model.max_context, 4096);
    close_to(s->hardware.fabric.levels[0].latency_s, 7e-6, 1e-12);
    ck_assert_int_eq(s->workload.arrival.kind, RC_ARRIVAL_POISSON);
    ck_assert_double_eq(s->workload.arrival.rate_per_s, 2);
    ck_assert_uint_eq(s->seed, 5);
    ck_assert(isnan(s->usd_per_gpu_hour));
    close_to(rc_stack_kernel(&s->hardware.stack, "gemm-bf16")->launch_s, 9e-6, 1e-12);
    rc_close(s);
}
END_TEST

START_TEST(what_is_not_given_is_taken_from_the_stack_and_said) {
    rc_scenario *s = ask(NULL, SETTINGS("model=llama-3.1-8b", "hardware=1xh100-sxm"));
    ck_assert_str_eq(s->hardware.fabric.name, "h100-sxm-nvlink");
    ck_assert_str_eq(s->hardware.stack.name, "sglang-h100-sxm");
    ck_assert_double_eq(s->engine.memory_fraction, s->hardware.stack.defaults.memory_fraction);
    ck_assert_uint_ge(s->assumptions_count, 6);
    rc_close(s);
    s = ask(NULL, SETTINGS("model=kimi-k3", "hardware=16xb200"));
    ck_assert_str_eq(s->hardware.fabric.name, "b200-roce-400");
    ck_assert_double_eq(s->parallel.tp, 16);
    rc_close(s);
}
END_TEST

START_TEST(includes_merge_below) {
    char folder[] = "/tmp/rackcast-include-XXXXXX", path[64], other[64];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.json", folder);
    snprintf(other, sizeof other, "%s/b.json", folder);
    write_file(other,
               "{\"schema\":\"rackcast/scenario/1\",\"model\":\"llama-3.1-8b\",\"hardware\":\"1xh100-sxm\",\"seed\":3,"
               "\"engine\":{\"max_running\":7,\"policy\":\"decode-first\"}}");
    write_file(path, "{\"include\":\"b.json\",\"seed\":4,\"engine\":{\"max_running\":9}}");
    rc_scenario *s = ask(path, NULL);
    ck_assert_uint_eq(s->seed, 4);
    ck_assert_double_eq(s->engine.max_running, 9);
    ck_assert_str_eq(s->engine.policy, "decode-first");
    rc_close(s);
    write_file(other, "{\"include\":\"a.json\"}");
    rc_problems *problems = rc_problems_new();
    first_problem(problems, path, NULL, 0);
    rc_problems_free(problems);
    unlink(path);
    unlink(other);
    rmdir(folder);
}
END_TEST

START_TEST(the_order_of_keys_means_nothing) {
    char path[] = "/tmp/rackcast-order-XXXXXX.json";
    ck_assert_int_ge(mkstemps(path, 5), 0);
    write_file(path, "{\"seed\":1,\"model\":\"llama-3.1-8b\",\"hardware\":{\"count\":1,\"accelerator\":\"h100-sxm\"},"
                     "\"schema\":\"rackcast/scenario/1\"}");
    rc_scenario *a = ask(path, NULL);
    write_file(path,
               "{\"schema\":\"rackcast/scenario/"
               "1\",\"hardware\":{\"accelerator\":\"h100-sxm\",\"count\":1},\"model\":\"llama-3.1-8b\",\"seed\":1}");
    rc_scenario *b = ask(path, NULL);
    ck_assert_str_eq(rc_scenario_resolved(a), rc_scenario_resolved(b));
    rc_close(a);
    rc_close(b);
    unlink(path);
}
END_TEST

START_TEST(objectives_are_read) {
    rc_scenario *s = ask("k3-8xb300", SETTINGS("objectives=[\"ttft:2s:p99\",\"tpot:50ms:p95\",\"e2e:1.5min\"]"));
    ck_assert_uint_eq(s->objectives_count, 3);
    ck_assert_double_eq(s->objectives[0].limit_s, 2);
    close_to(s->objectives[1].percentile, 0.95, 1e-12);
    ck_assert_double_eq(s->objectives[2].limit_s, 90);
    close_to(s->objectives[2].percentile, 0.99, 1e-12);
    rc_close(s);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("spec");
    add_tests(suite, "scenarios",
              (const TTest *const[]){each_mistake_has_a_place_and_a_kind, all_mistakes_are_listed_at_once,
                                     a_mistake_in_a_data_file_names_that_file, settings_reach_into_named_files,
                                     what_is_not_given_is_taken_from_the_stack_and_said, includes_merge_below,
                                     the_order_of_keys_means_nothing, objectives_are_read, NULL});
    return run_suite(suite);
}
