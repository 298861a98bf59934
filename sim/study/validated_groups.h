/* SPDX-License-Identifier: GPL-3.0-or-later
 * validated_groups.h - how far forecasts were off, by group of rows and metric.
 */
#ifndef RC_VALIDATED_GROUPS_H
#define RC_VALIDATED_GROUPS_H
#include "arena.h"
#include "rackcast.h"

/* Fills the groups of a result from its rows; floors stay NaN. */
void rc_validated_groups(rc_validate_result *result, rc_arena *arena);
#endif
