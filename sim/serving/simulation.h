/* SPDX-License-Identifier: GPL-3.0-or-later
 * simulation.h - the load played on the rack: arrival -> router -> replica -> end of a stretch -> the next.
 * Events: an arrival, the end of a replica's stretch, the end of the run.  At one time arrivals come before ends, so that
 * a request that comes as a step ends is there for the next.
 * The router sends each request to the replica with the fewest requests, the first of equals.
 */
#ifndef RC_SIMULATION_H
#define RC_SIMULATION_H
#include "scenario.h"

/* Plays a scenario that fits.  RC_OK or a problem; `result` has what rc_metrics_finish fills, events and fingerprint
 * excepted.  `stepwise` plays every step: the reference that stretches are held to. */
rc_status rc_simulate(const rc_scenario *scenario, bool stepwise, rc_run_result *result, rc_problems *problems);
#endif
