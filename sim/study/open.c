/* SPDX-License-Identifier: GPL-3.0-or-later
 * Opening a question: the scenario, and the names only the serving model knows. */
#include "policy.h"
#include "router.h"
#include "scenario.h"
#include "problems.h"
#include "text.h"

static void check_policy(const rc_scenario *s, rc_problems *problems) {
    const char *names[16];
    size_t count = 0;
    for (; rc_policies[count] && count < 16; count++)
        names[count] = rc_policies[count]->name;
    if (rc_policy_find(s->engine.policy))
        return;
    char words[200];
    rc_choices_text(words, sizeof words, s->engine.policy, names, count);
    rc_problem_add(problems, RC_UNKNOWN_NAME, "", "engine.policy", 0, s->engine.policy, words, "unknown policy");
}

static void check_router(const rc_scenario *s, rc_problems *problems) {
    const char *names[16];
    size_t count = 0;
    for (; rc_routers[count] && count < 16; count++)
        names[count] = rc_routers[count]->name;
    if (rc_router_find(s->router))
        return;
    char words[200];
    rc_choices_text(words, sizeof words, s->router, names, count);
    rc_problem_add(problems, RC_UNKNOWN_NAME, "", "router", 0, s->router, words, "unknown router");
}

rc_scenario *rc_open(const rc_question *question, rc_problems *problems) {
    rc_scenario *scenario = rc_scenario_open(question, problems);
    if (!scenario)
        return NULL;
    for (size_t i = 0; i < rc_pools_count(scenario); i++)
        check_policy(rc_pool(scenario, i), problems);
    check_router(scenario, problems);
    if (rc_problems_count(problems) == 0)
        return scenario;
    rc_close(scenario);
    return NULL;
}
