/* SPDX-License-Identifier: GPL-3.0-or-later
 * Prompts computed in one pool, answers written in another. */
#include "asking.h"
#include "simulation.h"

#define NODE                                                                                                           \
    "\"accelerator\":\"b300\",\"count\":8,\"per_node\":8,\"fabric\":\"b300-roce-400\",\"stack\":\"sglang-b300\""
#define SPLIT(decode)                                                                                                  \
    "pools=[{\"role\":\"prefill\",\"hardware\":{" NODE                                                                 \
    "},\"parallel\":{\"tp\":8}},{\"role\":\"decode\",\"hardware\":{" NODE "}," decode "}]"
#define LOAD(rate)                                                                                                     \
    "workload={\"arrival\":{\"kind\":\"poisson\",\"rate\":" rate "},\"input_tokens\":{\"uniform\":[2000,14000]},"      \
    "\"output_tokens\":{\"uniform\":[100,900]},\"requests\":150}"

static rc_run_result *run_of(const char *const *settings) {
    static rc_run_result result;
    rc_scenario *s = ask(NULL, settings);
    rc_problems *problems = rc_problems_new();
    ck_assert_int_eq(rc_run(s, NULL, &result, problems), RC_OK);
    rc_problems_free(problems);
    rc_close(s);
    return &result;
}

static const char model[] = "model=kimi-k3", tp8[] = SPLIT("\"parallel\":{\"tp\":8}"),
                  tight[] = SPLIT("\"parallel\":{\"tp\":8},\"engine\":{\"kv_tokens\":120000}");

START_TEST(parts_of_the_time_to_the_first_token_add_up) {
    static const char *const loads[] = {LOAD("0.2"), LOAD("2"), LOAD("6")};
    for (size_t i = 0; i < 3; i++)
        for (size_t p = 0; p < 2; p++) {
            rc_run_result *r = run_of(SETTINGS(model, p ? tight : tp8, loads[i]));
            ck_assert_double_eq(r->completed, 150);
            close_to(r->ttft_queue_s + r->ttft_prefill_s + r->ttft_transfer_s + r->ttft_first_step_s, r->ttft_s.mean,
                     1e-9);
            ck_assert_double_gt(r->ttft_transfer_s, 0);
            double tokens = 0;
            for (size_t q = 0; q < r->requests_count; q++)
                tokens += r->requests[q].output_tokens;
            ck_assert_double_eq(r->output_tokens, tokens);
            rc_run_result_free(r);
        }
}
END_TEST

/* One prompt of 8,192 tokens, alone: what goes after it is done takes bytes over bandwidth; 8 ranks get 13,824 B a token and
 * 56,171,520 B of state each, 8 senders of 1 GB/s. */
START_TEST(a_transfer_takes_bytes_over_bandwidth) {
    rc_run_result *r = run_of(SETTINGS(
        model, tp8, "transfer={\"bandwidth\":\"1GB/s\",\"latency\":\"100us\",\"overlap\":false}", "engine.kv_dtype=fp8",
        "workload={\"arrival\":{\"kind\":\"closed\",\"clients\":1},\"input_tokens\":8192,\"output_tokens\":4,"
        "\"requests\":1}"));
    close_to(r->ttft_transfer_s, (8192 * 13824. + 56171520) / 1e9 + 100e-6, 1e-9);
    rc_run_result_free(r);
}
END_TEST

/* A faster link is never slower, nor is sending layer by layer. */
START_TEST(faster_links_are_never_slower) {
    static const char *const links[] = {"transfer={\"bandwidth\":\"300MB/s\"}", "transfer={\"bandwidth\":\"1GB/s\"}",
                                        "transfer={\"bandwidth\":\"50GB/s\"}"};
    double before = INFINITY;
    for (size_t i = 0; i < 3; i++) {
        rc_run_result *r = run_of(SETTINGS(model, tp8, LOAD("1"), links[i]));
        double overlapped = r->ttft_transfer_s;
        ck_assert_double_le(r->ttft_s.mean, before);
        before = r->ttft_s.mean;
        rc_run_result_free(r);
        r = run_of(SETTINGS(model, tp8, LOAD("1"), links[i], "transfer.overlap=false"));
        ck_assert_double_ge(r->ttft_transfer_s, overlapped);
        rc_run_result_free(r);
    }
}
END_TEST

/* Answers are not interrupted by prompts of others: the slowest tokens are nearer to the usual ones than on one node of both. */
START_TEST(answers_flow_more_evenly) {
    rc_run_result *r = run_of(SETTINGS(model, tp8, LOAD("1")));
    double split = r->itl_s.p99 / r->itl_s.p50;
    rc_run_result_free(r);
    r = run_of(SETTINGS(model, "hardware={" NODE "}", "parallel.tp=8", LOAD("1")));
    ck_assert_double_lt(split, r->itl_s.p99 / r->itl_s.p50 / 2);
    rc_run_result_free(r);
}
END_TEST

int main(void) {
    const TTest *const tests[] = {parts_of_the_time_to_the_first_token_add_up, a_transfer_takes_bytes_over_bandwidth,
                                  faster_links_are_never_slower, answers_flow_more_evenly, NULL};
    Suite *suite = suite_create("handover");
    add_tests(suite, "handover", tests);
    return run_suite(suite);
}
