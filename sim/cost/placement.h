/* SPDX-License-Identifier: GPL-3.0-or-later
 * placement.h - may a model be split this way at all?  Dimension by dimension, never a silent integer division.
 */
#ifndef RC_COST_PLACEMENT_H
#define RC_COST_PLACEMENT_H
#include "scenario.h"

/* Adds a reason for every dimension that does not divide; true where all do.  `reasons` may be NULL. */
bool rc_placement_check(const rc_scenario *scenario, const rc_parallel *parallel, rc_text *reasons, size_t *count);
/* First and last layer (not included) of a pipeline stage; earlier stages get the layers left over. */
void rc_stage_layers(const rc_model *model, double stages, double stage, double *first, double *last);
#endif
