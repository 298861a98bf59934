/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pipeline.h"

rc_time rc_pipeline_send(rc_pipeline *p, rc_time now, double seconds) {
    rc_time at = now;
    for (size_t s = 0; s < p->stages; s++) {
        rc_time enters = at > p->free_at[s] ? at : p->free_at[s];
        at = p->free_at[s] = enters + rc_time_of(seconds * p->shares[s]);
    }
    return at;
}
