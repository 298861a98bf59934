/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline.h"
#include <math.h>
#include <string.h>

void rc_recorder_init(rc_recorder *recorder) {
    *recorder = (rc_recorder){.bucket_s = 1e-3};
}

static void halve(rc_recorder *r) {
    for (int line = 0; line < 3; line++) {
        double *sums = r->sums[line];
        for (int i = 0; i < RC_TIMELINE_POINTS / 2; i++)
            sums[i] = sums[2 * i] + sums[2 * i + 1];
        memset(sums + RC_TIMELINE_POINTS / 2, 0, RC_TIMELINE_POINTS / 2 * sizeof *sums);
    }
    r->bucket_s *= 2;
}

static void add(rc_recorder *r, double from, double to, double kv_ramp) {
    for (double at = from; at < to;) {
        int bucket = (int)(at / r->bucket_s);
        if (bucket >= RC_TIMELINE_POINTS)
            bucket = RC_TIMELINE_POINTS - 1;
        double end = fmin(to, (bucket + 1) * r->bucket_s);
        if (end <= at)
            end = to; /* rounding at a bucket's edge */
        double middle = to > from ? ((at + end) / 2 - from) / (to - from) : 0;
        r->sums[0][bucket] += r->waiting * (end - at);
        r->sums[1][bucket] += r->running * (end - at);
        r->sums[2][bucket] += (r->kv_used + (kv_ramp - r->kv_used) * middle) * (end - at);
        at = end;
    }
}

void rc_recorder_advance(rc_recorder *r, double now_s, double kv_ramp, double waiting, double running, double kv_used) {
    while (now_s >= r->bucket_s * RC_TIMELINE_POINTS)
        halve(r);
    add(r, r->now_s, now_s, kv_ramp);
    r->waiting_s += r->waiting * (now_s - r->now_s);
    r->running_s += r->running * (now_s - r->now_s);
    r->now_s = now_s;
    r->waiting = waiting;
    r->running = running;
    r->kv_used = kv_used;
}

void rc_recorder_finish(const rc_recorder *r, rc_timeline *timeline) {
    *timeline = (rc_timeline){.bucket_s = r->bucket_s};
    for (int i = 0; i < RC_TIMELINE_POINTS; i++) {
        double width = fmin(r->now_s - i * r->bucket_s, r->bucket_s);
        if (width <= 0)
            break;
        timeline->waiting[i] = r->sums[0][i] / width;
        timeline->running[i] = r->sums[1][i] / width;
        timeline->kv_used[i] = r->sums[2][i] / width;
        timeline->count++;
    }
}
