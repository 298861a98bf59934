/* SPDX-License-Identifier: GPL-3.0-or-later
 * pipeline.h - the stages of a replica, passed by one micro-batch after another.
 *
 * A replica of S stages keeps S micro-batches under way.  A stage works on one at a time, in the order in which they came
 * to the first; none overtakes, so when a step begins its way through all stages is known:
 *   enters s = max(leaves s - 1, stage s is free)        leaves s = enters s + its share of the step
 * A micro-batch starts its next step when it has left the last stage.  Bubbles are what stages wait.
 * Known values: two equal stages, one micro-batch: half of the time idle; two micro-batches alike: a step each leaves every
 * half step, no stage idle.
 */
#ifndef RC_PIPELINE_H
#define RC_PIPELINE_H
#include "event_queue.h"

typedef struct rc_pipeline {
    size_t stages;
    double *shares;   /* of a step's seconds, by stage; they add up to 1 */
    rc_time *free_at; /* when each stage has left the last micro-batch that was sent */
} rc_pipeline;

/* Sends a step of so many seconds into the first stage, at `now` or when it is free; returns when it leaves the last. */
rc_time rc_pipeline_send(rc_pipeline *pipeline, rc_time now, double seconds);
#endif
