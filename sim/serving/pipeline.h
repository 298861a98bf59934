/* SPDX-License-Identifier: GPL-3.0-or-later
 * pipeline.h - models in stages: micro-batches pass one stage after another, and links in between.
 *
 * A copy of a model of S stages keeps S micro-batches under way (each a replica of its own to the scheduler).  A stage works
 * on one at a time, in the order in which they came; when it is done with one it hands it off to the next stage: the latency of
 * a message, then its bytes over the links from the first GPU of the one to the first of the other (the ranks beside it do
 * the same on links of their own; where a bandwidth belongs to a node they share it).  Collectives of a stage that spans
 * domains are bytes on the links of its first GPU, both ways, after the rest of its work.  All of them share links
 * (engine/links.h).  A micro-batch starts its next step when it has left the last stage.  Bubbles are what stages wait.
 * A prompt longer than a step is a train of chunks: the next enters when the one before has left the first stage, so that a
 * long prompt fills all stages by itself.
 * Known values, without hand-offs: two equal stages, one micro-batch: half of the time idle; two micro-batches alike: a step
 * each leaves every half step, no stage idle.  A train of k chunks alike over S stages takes (k + S - 1) / S steps.
 *
 * Events are the caller's: it schedules what it is told and calls back when they are due.
 */
#ifndef RC_PIPELINE_H
#define RC_PIPELINE_H
#include "links.h"
#include "step.h"

/* Kinds of the three events, as the caller names them, and their priority.  Stages are numbered as micro-batches are: those of
 * copy c are first + c S and on. */
typedef struct rc_pipeline_events {
    rc_event_queue *queue;
    uint32_t stage_done; /* subject: the stage */
    uint32_t flows_done; /* subject: `pool` */
    uint32_t handed_off; /* subject: the stage that something comes to */
    uint8_t priority;
    uint32_t pool;  /* whose copies these are */
    uint32_t first; /* number of their first micro-batch, and of their first stage */
} rc_pipeline_events;

/* What passes the stages. */
typedef struct rc_pass {
    double work_s;       /* of all stages together */
    double tokens;       /* on a rank */
    double outer_wire_s; /* of work_s: bytes of its collectives between domains, on an idle link */
} rc_pass;

typedef struct rc_pipelines rc_pipelines;

/* All copies of a scenario's model; NULL where it has one stage. */
rc_pipelines *rc_pipelines_new(const rc_scenario *scenario, const rc_pipeline_events *events);
void rc_pipelines_free(rc_pipelines *pipelines); /* NULL is fine */
/* Micro-batch m (of copy (m - first) / S) begins a step: a train of passes, which stay where they are until it is done. */
void rc_pipelines_enter(rc_pipelines *pipelines, uint32_t micro_batch, const rc_pass *train, size_t count);
/* A stage is done: hands off and lets the next one in.  True where that was the last of a micro-batch's train in the last
 * stage: then *micro_batch is done with its step, after so many seconds in hand-offs by the level of the fabric. */
bool rc_pipelines_stage_done(rc_pipelines *pipelines, uint32_t stage, uint32_t *micro_batch, double link_s[2]);
void rc_pipelines_flows_done(rc_pipelines *pipelines);
void rc_pipelines_handed_off(rc_pipelines *pipelines, uint32_t stage);
bool rc_pipelines_beyond_clock(const rc_pipelines *pipelines); /* a stage would end after the clock does */
#endif
