/* SPDX-License-Identifier: GPL-3.0-or-later
 * answer_json.h - pieces that several answers share: lists of texts, percentiles, the words of a number.
 */
#ifndef RC_ANSWER_JSON_H
#define RC_ANSWER_JSON_H
#include "json.h"
#include "quantity.h"

void rc_add_texts(cJSON *object, const char *key, const rc_text *texts, size_t count);
void rc_add_percentiles(cJSON *object, const char *key, const rc_percentiles *p);
void rc_add_range(cJSON *object, const char *key, const rc_range *range);
/* The answer of `fit` as JSON; a run or an explanation that is refused prints it too. */
cJSON *rc_fit_json(const rc_fit_result *result);
/* Prints texts below a heading, one a line; nothing where there are none. */
void rc_print_texts(FILE *out, const char *heading, const rc_text *texts, size_t count);
/* "hbm", "link.nvlink": a part of a run's breakdown, links by their names. */
const char *rc_breakdown_name(const rc_run_result *r, int part);
#endif
