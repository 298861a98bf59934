/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "elementwise.h"

void rc_elementwise_add(const rc_elementwise *kernel, double tokens, double logits, rc_step_cost *cost) {
    double items = kernel->logits ? logits : tokens;
    if (items > 0)
        rc_rate_add(&kernel->rate, (rc_work){.bytes = items * kernel->bytes_per_token}, kernel->count,
                    &cost->lines[kernel->family]);
}
