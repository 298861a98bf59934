/* SPDX-License-Identifier: GPL-3.0-or-later
 * Serving figures that operators published, beside what comes out here; nothing in them was fitted to these. */
#include "asking.h"
#include "simulation.h"

static rc_run_result *run_of(const char *scenario, const char *const *settings) {
    static rc_run_result result;
    rc_scenario *s = ask(scenario, settings);
    rc_problems *problems = rc_problems_new();
    rc_status status = rc_run(s, NULL, &result, problems);
    ck_assert_msg(status == RC_OK || status == RC_OBJECTIVE_MISSED, "status %d", status);
    rc_problems_free(problems);
    rc_close(s);
    return &result;
}

/* Kimi K3 on 8 x B300 at TP8 with a cache of 3.25 M tokens and coding sessions beyond 150,000 tokens (InferenceX, pull requests 2371
 * and 2397): at 8 in flight host memory for caches changes nothing; at 16 the card alone finds hardly any prefix again, 49.6
 * tokens/s against 245.0. */
START_TEST(long_sessions_collapse_where_they_outgrow_the_cache) {
    static const char load[] =
        "workload={\"arrival\":{\"kind\":\"closed\",\"clients\":16},\"sessions\":{\"turns\":15,\"system_tokens\":8000,"
        "\"context_tokens\":{\"uniform\":[150000,190000]},\"pause\":\"5s\"},\"input_tokens\":{\"uniform\":[1000,3000]},"
        "\"output_tokens\":{\"uniform\":[200,800]},\"requests\":960}";
    static const char cache[] = "engine.kv_tokens=3250000", kept[] = "engine.prefix_cache=true",
                      host[] = "engine.host_cache=220GB";
    rc_run_result *r =
        run_of("k3-8xb300", SETTINGS(load, cache, kept, "workload.arrival.clients=8", "workload.requests=480"));
    double alone = r->output_tokens_per_s;
    rc_run_result_free(r);
    r = run_of("k3-8xb300", SETTINGS(load, cache, kept, host, "workload.arrival.clients=8", "workload.requests=480"));
    close_to(r->output_tokens_per_s, alone, 0.01);
    rc_run_result_free(r);
    r = run_of("k3-8xb300", SETTINGS(load, cache, kept));
    alone = r->output_tokens_per_s;
    close_to(alone, 49.6, 0.25);
    ck_assert_double_lt(r->found_tokens / r->prompt_tokens, 0.4);
    rc_run_result_free(r);
    r = run_of("k3-8xb300", SETTINGS(load, cache, kept, host));
    close_to(r->output_tokens_per_s, 245.0, 0.25);
    ck_assert_double_gt(r->output_tokens_per_s / alone, 4);
    ck_assert_double_lt(r->output_tokens_per_s / alone, 5.5);
    ck_assert_double_lt(r->ttft_s.p50, 1);
    rc_run_result_free(r);
}
END_TEST

/* DeepSeek's own day (open-infra-index, day 6): 73,700 input tokens/s a node that computes prompts, 56.3 % of them found in caches;
 * 14,800 output tokens/s a node that writes answers, 20 to 22 tokens/s a request.  Lengths from its totals: 3.62 input tokens an
 * output token, 4,989 in the cache on average. */
START_TEST(a_day_of_deepseek) {
    rc_run_result *r = run_of("deepseek-day", SETTINGS("workload.arrival.clients=9000", "workload.requests=60000"));
    double prefill_nodes = 12;
    close_to(r->input_tokens_per_s / prefill_nodes, 73700, 0.25); /* prompts are what it waits for */
    close_to(r->found_tokens / r->prompt_tokens, 0.563, 0.02);
    rc_run_result_free(r);
}
END_TEST

START_TEST(answers_of_deepseek) {
    static rc_explain_result e;
    rc_problems *problems = rc_problems_new();
    rc_scenario *s =
        ask(NULL, SETTINGS("model=deepseek-v3", "weights=fp8",
                           "hardware={\"accelerator\":\"h800-sxm\",\"count\":144,\"per_node\":8,\"fabric\":\"h800-sxm-"
                           "ib-400\",\"stack\":"
                           "\"sglang-h800-sxm\"}",
                           "parallel={\"dp\":144,\"ep\":144,\"balanced_experts\":true,\"redundant_experts\":32}",
                           "engine.two_batch_overlap=true",
                           "speculation={\"draft\":\"deepseek-mtp\",\"tokens\":1,\"acceptance\":\"any\"}"));
    ck_assert_int_eq(rc_explain(s, 144 * 88, 4989, 4096, &e, problems), RC_OK);
    close_to(e.batch * e.step_tokens / e.step_s / 18, 14800, 0.25);
    close_to(e.step_tokens / e.step_s, 21, 0.15);
    rc_close(s);
    rc_problems_free(problems);
}
END_TEST

int main(void) {
    const TTest *const tests[] = {long_sessions_collapse_where_they_outgrow_the_cache, a_day_of_deepseek,
                                  answers_of_deepseek, NULL};
    Suite *suite = suite_create("published");
    add_tests(suite, "published", tests);
    return run_suite(suite);
}
