/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "memory.h"

rc_status rc_fit(const rc_scenario *scenario, rc_fit_result *result, rc_problems *problems) {
    (void)problems; /* a refusal is an answer, not a mistake */
    rc_status status = rc_memory_fit(scenario, result);
    rc_memory_smallest(scenario, result);
    return status;
}
