/* SPDX-License-Identifier: GPL-3.0-or-later
 * pools.h - several kinds of hardware that share a load.  Each pool is opened as a scenario of its own: what is common, with
 * what the pool has in its place.
 */
#ifndef RC_POOLS_H
#define RC_POOLS_H
#include "resolve.h"

/* A scenario with a list of pools; `good` false: a mistake was found before.  NULL where there is one. */
rc_scenario *rc_pools_open(rc_resolution *resolution, const rc_question *question, bool good);

/* For pools.c.  One kind of hardware: names become files, files become the scenario.  NULL where a mistake was found. */
rc_scenario *rc_scenario_open_one(rc_resolution *resolution, const rc_question *question, bool good);
/* A title that names model and rack would be wrong then. */
bool rc_question_changes_rack(const rc_question *question);
extern const char *const rc_pool_role_names[]; /* "any", "prefill", "decode", NULL */
#endif
