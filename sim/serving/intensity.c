/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "intensity.h"
#include <math.h>

bool rc_intensity_changes(const rc_arrival *arrival) {
    return arrival->kind == RC_ARRIVAL_MODULATED || arrival->kind == RC_ARRIVAL_DAILY;
}

/* ---------- bursts and calm */

static void begin_state(rc_intensity *in, double from_s, bool burst) {
    const rc_arrival *a = in->arrival;
    double calm_length_s = a->burst_length_s * (1 - a->burst_share) / a->burst_share;
    in->in_burst = burst;
    in->rate_per_s = burst ? rc_arrival_burst_rate(a) : rc_arrival_calm_rate(a);
    in->until_s = from_s + rc_random_exponential(in->states, burst ? a->burst_length_s : calm_length_s);
}

/* ---------- slots of a curve */

static double curve_sum(const rc_arrival *a) {
    double sum = 0;
    for (size_t i = 0; i < a->curve_count; i++)
        sum += a->curve[i];
    return sum;
}

static void begin_slot(rc_intensity *in, double slot) {
    const rc_arrival *a = in->arrival;
    double count = (double)a->curve_count;
    in->slot = slot;
    in->rate_per_s = count * (a->curve[(size_t)fmod(slot, count)] / curve_sum(a)) * a->rate_per_s;
    in->until_s = (slot + 1) * (a->period_s / count);
}

/* Spends whole periods at once, so that a rare arrival does not pass through all their slots. */
static double skip_periods(rc_intensity *in, double from_s, double *due) {
    const rc_arrival *a = in->arrival;
    double of_period = a->rate_per_s * a->period_s, periods = floor(*due / of_period);
    if (periods == 0)
        return from_s;
    *due = fmax(0, *due - periods * of_period);
    begin_slot(in, in->slot + periods * (double)a->curve_count);
    return from_s + periods * a->period_s;
}

/* ---------- both */

void rc_intensity_open(rc_intensity *in, const rc_arrival *arrival, uint64_t seed) {
    *in = (rc_intensity){.arrival = arrival};
    if (arrival->kind == RC_ARRIVAL_DAILY)
        begin_slot(in, 0);
    if (arrival->kind != RC_ARRIVAL_MODULATED)
        return;
    in->states = rc_random_new(seed, "bursts and calm");
    begin_state(in, 0, rc_random_uniform(in->states) < arrival->burst_share);
}

void rc_intensity_close(rc_intensity *in) {
    rc_random_free(in->states);
}

double rc_intensity_pass(rc_intensity *in, double from_s, double due) {
    bool daily = in->arrival->kind == RC_ARRIVAL_DAILY;
    if (daily)
        from_s = skip_periods(in, from_s, &due);
    for (;;) {
        double of_piece = in->rate_per_s * (in->until_s - from_s);
        if (due < of_piece)
            return from_s + due / in->rate_per_s;
        due -= of_piece;
        from_s = in->until_s;
        if (daily)
            begin_slot(in, in->slot + 1);
        else
            begin_state(in, from_s, !in->in_burst);
    }
}
