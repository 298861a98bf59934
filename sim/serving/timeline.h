/* SPDX-License-Identifier: GPL-3.0-or-later
 * timeline.h - queue and cache over time, in a fixed number of buckets.
 * Buckets double their width whenever time runs past the last one, so a run of any length costs the same memory.
 */
#ifndef RC_TIMELINE_H
#define RC_TIMELINE_H
#include "rackcast.h"

typedef struct rc_recorder {
    double bucket_s, now_s;
    double waiting, running, kv_used; /* what has held since now_s */
    double sums[3][RC_TIMELINE_POINTS];
    double waiting_s, running_s; /* integrals over the whole run */
} rc_recorder;

void rc_recorder_init(rc_recorder *recorder);
/* Adds what held until `now_s`, then notes what holds from now on.  The cache filled evenly until it was used to
 * `kv_ramp`, just before what changes now. */
void rc_recorder_advance(rc_recorder *recorder, double now_s, double kv_ramp, double waiting, double running,
                         double kv_used);
void rc_recorder_finish(const rc_recorder *recorder, rc_timeline *timeline);
#endif
