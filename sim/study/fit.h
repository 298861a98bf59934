/* SPDX-License-Identifier: GPL-3.0-or-later
 * fit.h - whether every pool of a scenario fits.
 */
#ifndef RC_FIT_H
#define RC_FIT_H
#include "memory.h"

/* The answer of the first pool that does not fit, or else of the first; *shown becomes its index. */
rc_status rc_fit_pools(const rc_scenario *scenario, rc_fit_result *result, size_t *shown);
#endif
