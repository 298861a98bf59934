/* SPDX-License-Identifier: GPL-3.0-or-later
 * asking.h - what tests share: opening a question, a tolerance for floats.
 */
#ifndef RC_TESTS_ASKING_H
#define RC_TESTS_ASKING_H
#include "scenario.h"
#include "problems.h"
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define close_to(found, expected, share)                                                                               \
    ck_assert_msg(fabs((double)(found) - (double)(expected)) <= (share)*fabs((double)(expected)),                      \
                  "%s: %.15g, expected %.15g within %g", #found, (double)(found), (double)(expected), (double)(share))

/* Opens a scenario (or none) with settings, which end with NULL; fails the test where it cannot. */
static inline rc_scenario *ask(const char *scenario, const char *const *settings) {
    size_t count = 0;
    while (settings && settings[count])
        count++;
    rc_problems *problems = rc_problems_new();
    rc_question question = {scenario, settings, count};
    rc_scenario *opened = rc_open(&question, problems);
    for (size_t i = 0; i < rc_problems_count(problems); i++)
        fprintf(stderr, "%s: %s\n", rc_problems_at(problems, i)->path, rc_problems_at(problems, i)->message);
    ck_assert_ptr_nonnull(opened);
    rc_problems_free(problems);
    return opened;
}

#define SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Asks only whether a model fits. */
static inline rc_fit_result fit_of(const char *const *settings) {
    static rc_fit_result result;
    rc_scenario *scenario = ask(NULL, settings);
    rc_problems *problems = rc_problems_new();
    rc_fit(scenario, &result, problems);
    rc_problems_free(problems);
    rc_close(scenario);
    return result;
}

/* Runs every test case of a suite; the exit code of main. */
static inline int run_suite(Suite *suite) {
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

static inline void add_tests(Suite *suite, const char *name, const TTest *const *tests) {
    TCase *tests_case = tcase_create(name);
    tcase_set_timeout(tests_case, 120);
    for (; *tests; tests++)
        tcase_add_test(tests_case, *tests);
    suite_add_tcase(suite, tests_case);
}
#endif
