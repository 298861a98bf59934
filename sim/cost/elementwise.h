/* SPDX-License-Identifier: GPL-3.0-or-later
 * elementwise.h - norms, residual mixes, activations, routing and sampling: kernels that only stream memory.
 */
#ifndef RC_COST_ELEMENTWISE_H
#define RC_COST_ELEMENTWISE_H
#include "kernel.h"

typedef struct rc_elementwise {
    rc_family family;
    bool logits;            /* per sequence that produces a token, not per token */
    double count;           /* kernels of a step */
    double bytes_per_token; /* of one kernel */
    rc_rate rate;
} rc_elementwise;

void rc_elementwise_add(const rc_elementwise *kernel, double tokens, double logits, rc_step_cost *cost);
#endif
