/* SPDX-License-Identifier: GPL-3.0-or-later
 * host_weights.h - a plan whose weights lie partly in host memory (spec/offload.h).
 *
 * Each kernel runs in so many layers; those of the layers that went to the host are split off.
 * Read by the GPU: their weights come over the link, b bytes at e B / (GPUs that share it), while the kernel runs:
 *   t = max(kernel, b / (e B))          what the kernel waits beyond its own time is time of the link
 * Computed by the host: the kernel formula with the host's memory and arithmetic, which the GPUs of a node share; nothing
 * is launched.  Tokens go to the host and come back: once for a run of whole layers, at every layer where only the
 * experts went, each T h x 2 bytes and the link's latency.  Caches of whole layers that went lie on the host as well.
 * Known value: 20 GB of weights over 64 GB/s at 85 %: 368 ms a step.
 */
#ifndef RC_COST_HOST_WEIGHTS_H
#define RC_COST_HOST_WEIGHTS_H
#include "step.h"

/* Splits off what lies on the host; a plan without offload stays as it is. */
void rc_host_weights_apply(rc_step_plan *plan, const rc_scenario *scenario);
/* A byte between a card and the host, over the link as GPUs of a node share it. */
double rc_host_link_s_per_byte(const rc_scenario *scenario);
/* Adds the copies of `tokens` to the host and back. */
void rc_host_copies_add(const rc_step_plan *plan, double tokens, rc_step_cost *cost);
#endif
