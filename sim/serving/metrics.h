/* SPDX-License-Identifier: GPL-3.0-or-later
 * metrics.h - what a run counts while it plays, and the result made of it at the end.
 */
#ifndef RC_METRICS_H
#define RC_METRICS_H
#include "histogram.h"
#include "request.h"
#include "scenario.h"
#include "step.h"
#include "timeline.h"

typedef struct rc_metrics {
    double where_s[RC_WHERE_COUNT]; /* busy seconds of all replicas, by where they went */
    double busy_s;
    double steps, decode_steps, decode_sequences; /* the last: sum over decode steps */
    double output_tokens, input_tokens;
    double completed, lost, preemptions;
    double prompt_tokens, found_tokens,
        loaded_tokens; /* of admitted prompts; in prefix caches; of these, below the device */
    rc_histogram itl;
    rc_recorder recorder;
} rc_metrics;

/* Fills what follows from requests and counters: throughput, percentiles, breakdown, goodput, stationarity.  `copies`: the copy
 * of the model that each replica belongs to. */
void rc_metrics_finish(const rc_metrics *metrics, const rc_scenario *scenario, const rc_request *requests, size_t count,
                       const uint32_t *copies, double end_s, rc_run_result *result);
#endif
