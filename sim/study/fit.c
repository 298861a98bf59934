/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fit.h"
#include "text.h"

rc_status rc_fit_pools(const rc_scenario *s, rc_fit_result *result, size_t *shown) {
    size_t count = rc_pools_count(s);
    rc_status status = RC_OK;
    for (size_t i = count; i-- > 0;) { /* the first is told last */
        rc_fit_result of_pool;
        rc_status fits = rc_memory_fit(rc_pool(s, i), &of_pool);
        if (fits == RC_OK && status != RC_OK)
            continue;
        status = fits;
        *result = of_pool;
        *shown = i;
    }
    if (count > 1)
        rc_reason_add(result->warnings, &result->warnings_count, "this is pool %zu of %zu%s", *shown + 1, count,
                      status == RC_OK ? "; all fit" : "");
    return status;
}

rc_status rc_fit(const rc_scenario *scenario, rc_fit_result *result, rc_problems *problems) {
    (void)problems; /* a refusal is an answer, not a mistake */
    size_t shown;
    rc_status status = rc_fit_pools(scenario, result, &shown);
    rc_memory_smallest(rc_pool(scenario, shown), result);
    return status;
}
