/* SPDX-License-Identifier: GPL-3.0-or-later
 * offered.h - the load of a question alone: a mix, or what a scenario has as its workload, with settings applied.
 * What would serve it is not looked at.
 */
#ifndef RC_OFFERED_H
#define RC_OFFERED_H
#include "scenario.h"

typedef struct rc_offered {
    rc_workload workload;
    double seed; /* of its random numbers; 0 to 9e15, 1 where none is given */
} rc_offered;

/* Fills `offered`, whose texts and lists lie in the arena.  False and problems where a mistake was found. */
bool rc_offered_open(const rc_question *question, rc_arena *arena, rc_offered *offered, rc_problems *problems);
#endif
