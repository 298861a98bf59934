/* SPDX-License-Identifier: GPL-3.0-or-later
 * Golden runs: headline numbers of shipped scenarios as they were when last looked at.  A change here is a change of
 * the forecast: look at why, then write the new numbers down. */
#include "asking.h"

START_TEST(headline_numbers_stay_as_they_were_looked_at) {
    FILE *in = fopen("tests/golden/runs.csv", "r");
    ck_assert_ptr_nonnull(in);
    char line[512], scenario[64];
    double output, ttft, tpot, events;
    int rows = 0;
    ck_assert_ptr_nonnull(fgets(line, sizeof line, in));
    while (fgets(line, sizeof line, in)) {
        ck_assert_int_eq(sscanf(line, "%63[^,],%lf,%lf,%lf,%lf", scenario, &output, &ttft, &tpot, &events), 5);
        rc_scenario *s = ask(scenario, NULL);
        rc_problems *problems = rc_problems_new();
        rc_run_result r;
        rc_status status = rc_run(s, NULL, &r, problems);
        ck_assert(status == RC_OK || status == RC_OBJECTIVE_MISSED);
        ck_assert_msg(fabs(r.output_tokens_per_s / output - 1) < 1e-6 && fabs(r.ttft_s.p50 / ttft - 1) < 1e-6 &&
                          fabs(r.tpot_s.p50 / tpot - 1) < 1e-6 && r.events == events,
                      "%s is now %s,%.9g,%.9g,%.9g,%.0f", scenario, scenario, r.output_tokens_per_s, r.ttft_s.p50,
                      r.tpot_s.p50, r.events);
        rc_run_result_free(&r);
        rc_problems_free(problems);
        rc_close(s);
        rows++;
    }
    fclose(in);
    ck_assert_int_ge(rows, 7);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("golden");
    add_tests(suite, "golden", (const TTest *const[]){headline_numbers_stay_as_they_were_looked_at, NULL});
    return run_suite(suite);
}
