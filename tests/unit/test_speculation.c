/* SPDX-License-Identifier: GPL-3.0-or-later
 * Drafts: what acceptance tables mean, what a step brings, and published speed-ups of K3. */
#include "asking.h"
#include "memory.h"
#include "step.h"

#define DRAFTS(tokens, acceptance)                                                                                     \
    "speculation={\"draft\":\"k3-dspark\",\"tokens\":" tokens ",\"acceptance\":" acceptance "}"

static double length_of(const char *speculation) {
    rc_scenario *s = ask("k3-8xb300", SETTINGS(speculation));
    double length = rc_speculation_length(&s->speculation);
    rc_close(s);
    return length;
}

START_TEST(acceptance_lengths_are_those_of_the_table) {
    close_to(length_of(DRAFTS("1", "\"coding\"")), 1.85, 1e-12);
    close_to(length_of(DRAFTS("3", "\"coding\"")), 3.00, 1e-12);
    close_to(length_of(DRAFTS("7", "\"coding\"")), 3.84, 1e-12);
    close_to(length_of(DRAFTS("7", "\"chat\"")), 2.85, 1e-9);
    close_to(length_of(DRAFTS("7", "4.5")), 4.5, 1e-9);
    close_to(length_of(DRAFTS("2", "{\"per_position\":[0.935,0.81]}")), 2.745, 1e-12);
    ck_assert_double_lt(length_of(DRAFTS("3", "\"chat\"")), 2.85);
}
END_TEST

/* With chance p each: survival p, p^2, ...; the variance by hand for p = 1/2 and two drafts: N is 0, 1, 2 with 1/2, 1/4, 1/4. */
START_TEST(variance_is_that_of_the_accepted_ones) {
    rc_scenario *s = ask("k3-8xb300", SETTINGS(DRAFTS("2", "{\"per_position\":[0.5,0.25]}")));
    close_to(rc_speculation_variance(&s->speculation), 11.0 / 16, 1e-12);
    rc_close(s);
    s = ask("k3-8xb300", SETTINGS(DRAFTS("7", "4.5")));
    ck_assert_double_eq(rc_speculation_variance(&s->speculation), 0);
    rc_close(s);
}
END_TEST

/* 4.50 GB on every GPU, about 1,400 B of cache a token, a state behind each verified token. */
START_TEST(a_draft_takes_memory) {
    rc_scenario *with = ask("k3-8xb300", SETTINGS(DRAFTS("7", "4.5"))), *without = ask("k3-8xb300", NULL);
    rc_memory a = rc_memory_of(with, &with->parallel), b = rc_memory_of(without, &without->parallel);
    close_to(a.draft_bytes, 4.50e9, 0.01);
    close_to(a.weights_bytes - b.weights_bytes, a.draft_bytes, 1e-12);
    close_to(a.kv_bytes_per_token - b.kv_bytes_per_token, 1400, 0.1);
    ck_assert_double_eq(rc_state_slots(with) - rc_state_slots(without), 8);
    rc_close(with);
    rc_close(without);
}
END_TEST

static double step_tokens_per_s(const char *scenario, double batch, const char *speculation) {
    static rc_explain_result result;
    rc_problems *problems = rc_problems_new();
    rc_scenario *s = ask(scenario, speculation ? SETTINGS(speculation) : NULL);
    ck_assert_int_eq(rc_explain(s, batch, 2048, 2048, &result, problems), RC_OK);
    rc_close(s);
    rc_problems_free(problems);
    return batch * result.step_tokens / result.step_s;
}

/* What drafts gain falls with the batch; seven lose first; few accepted are a loss at once. */
START_TEST(long_drafts_lose_first) {
    static const char *const drafts[] = {DRAFTS("2", "\"coding\""), DRAFTS("3", "\"coding\""),
                                         DRAFTS("7", "\"coding\"")};
    static const double batches[] = {1, 16, 128, 512, 1024, 2048};
    double before[3] = {INFINITY, INFINITY, INFINITY}, gain[3];
    for (size_t b = 0; b < sizeof batches / sizeof *batches; b++) {
        double plain = step_tokens_per_s("k3-8xb300-8k1k", batches[b], NULL);
        for (size_t d = 0; d < 3; d++) {
            gain[d] = step_tokens_per_s("k3-8xb300-8k1k", batches[b], drafts[d]) / plain;
            ck_assert_msg(gain[d] < before[d] * 1.02, "%g sequences, draft %zu: %g after %g", batches[b], d, gain[d],
                          before[d]);
            before[d] = gain[d];
        }
    }
    ck_assert_double_lt(gain[2], 1);
    ck_assert_double_gt(gain[0], 1);
    double plain = step_tokens_per_s("k3-8xb300-8k1k", 16, NULL);
    ck_assert_double_gt(step_tokens_per_s("k3-8xb300-8k1k", 16, DRAFTS("7", "3.84")), 1.5 * plain);
    ck_assert_double_lt(step_tokens_per_s("k3-8xb300-8k1k", 16, DRAFTS("7", "1.4")), plain);
}
END_TEST

static rc_run_result *run_of(const char *const *settings) {
    static rc_run_result result;
    rc_scenario *s = ask("k3-8xb300-8k1k", settings);
    rc_problems *problems = rc_problems_new();
    ck_assert_int_eq(rc_run(s, NULL, &result, problems), RC_OK);
    rc_problems_free(problems);
    rc_close(s);
    return &result;
}

/* SGLang on 8 x B300, 8192/1024, acceptance pinned at 4.5 (pull request 37878): TPOT 8.51 / 2.84, 19.47 / 9.88 and, with DCP8,
 * 40.19 / 24.47 ms at 1, 16 and 64 in flight. */
START_TEST(published_speed_ups_of_k3) {
    static const struct {
        const char *clients, *requests, *dcp;
        double gain;
    } rows[] = {{"workload.arrival.clients=1", "workload.requests=6", "parallel.dcp=1", 3.00},
                {"workload.arrival.clients=16", "workload.requests=80", "parallel.dcp=1", 1.97},
                {"workload.arrival.clients=64", "workload.requests=320", "parallel.dcp=8", 1.64}};
    for (size_t i = 0; i < 3; i++) {
        rc_run_result *r = run_of(SETTINGS(rows[i].clients, rows[i].requests, rows[i].dcp));
        double plain = r->tpot_s.mean;
        rc_run_result_free(r);
        r = run_of(SETTINGS(rows[i].clients, rows[i].requests, rows[i].dcp, DRAFTS("7", "4.5")));
        close_to(plain / r->tpot_s.mean, rows[i].gain, 0.12);
        rc_run_result_free(r);
    }
}
END_TEST

/* Every answer has the tokens it was asked for, and its steps bring what was said, on average. */
START_TEST(answers_take_the_steps_that_acceptance_says) {
    rc_run_result *r =
        run_of(SETTINGS("workload.arrival.clients=32", "workload.requests=640", "workload.input_tokens=64",
                        "workload.output_tokens=800", DRAFTS("7", "\"coding\"")));
    ck_assert_double_eq(r->output_tokens, 640 * 800);
    double steps = r->decode_batch_mean * r->decode_steps / 640; /* of an answer */
    close_to(799 / steps, 3.84, 0.01);
    rc_run_result_free(r);
}
END_TEST

int main(void) {
    const TTest *const tests[] = {acceptance_lengths_are_those_of_the_table,
                                  variance_is_that_of_the_accepted_ones,
                                  a_draft_takes_memory,
                                  long_drafts_lose_first,
                                  published_speed_ups_of_k3,
                                  answers_take_the_steps_that_acceptance_says,
                                  NULL};
    Suite *suite = suite_create("speculation");
    add_tests(suite, "speculation", tests);
    return run_suite(suite);
}
