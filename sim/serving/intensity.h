/* SPDX-License-Identifier: GPL-3.0-or-later
 * intensity.h - Poisson arrivals whose rate changes with time, constant in pieces.
 * The integral of the rate between two arrivals is exponential with mean 1, whatever the rate does meanwhile (Cinlar,
 * Introduction to Stochastic Processes, 1975, ch. 4.7).  So one such draw, spent piece by piece, is the next arrival:
 * exact, with no arrival drawn and thrown away.
 *   daily      pieces are the slots of a curve, over and over; the run begins with the first
 *   modulated  pieces are bursts and calm in turn, of exponential lengths (a Markov-modulated Poisson process with two
 *              states).  Where a run begins, a burst is under way with the chance burst_share, and what is left of it
 *              is exponential again: the mean rate holds from the start.
 * Counts of a modulated load over t seconds, with r = 1 / (burst_length (1 - burst_share)) and d the difference of its
 * two rates (Heffes and Lucantoni, IEEE JSAC 4 (1986), 856-868):
 *   variance / mean = 1 + 2 share (1 - share) d^2 / (rate r) (1 - (1 - exp(-r t)) / (r t))
 */
#ifndef RC_INTENSITY_H
#define RC_INTENSITY_H
#include "random.h"
#include "workload.h"

typedef struct rc_intensity {
    const rc_arrival *arrival;
    rc_random *states;          /* modulated: how long bursts and calm last, and which comes first */
    bool in_burst;              /* modulated */
    double slot;                /* daily: slots that ended since the run began; whole */
    double rate_per_s, until_s; /* of the piece under way */
} rc_intensity;

bool rc_intensity_changes(const rc_arrival *arrival); /* daily and modulated arrivals */
void rc_intensity_open(rc_intensity *intensity, const rc_arrival *arrival, uint64_t seed);
void rc_intensity_close(rc_intensity *intensity);
/* When `due` more arrivals are expected than at `from_s`; `from_s` is 0 or what the call before returned. */
double rc_intensity_pass(rc_intensity *intensity, double from_s, double due);
#endif
