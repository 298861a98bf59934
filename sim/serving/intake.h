/* SPDX-License-Identifier: GPL-3.0-or-later
 * intake.h - when an engine takes up requests that came while it decodes.
 *
 * Most look after every step.  Some look only every so many decode steps (SGLang's scheduler-recv-interval), so that
 * looking costs less; some let prompts wait for more prompts, at most so many steps (TensorRT-LLM's batch_wait), so that
 * running answers pause less often.  After a step with prompts, and while nothing decodes, every engine looks at once.
 *
 * Time is the replica's count of decode steps.
 */
#ifndef RC_INTAKE_H
#define RC_INTAKE_H
#include <stdint.h>

typedef struct rc_intake {
    uint64_t interval;  /* decode steps from look to look; 1: after every step */
    uint64_t wait;      /* decode steps that a prompt waits for more; 0: none */
    double wait_tokens; /* with so many tokens waiting it need not */
    uint64_t looked;    /* step of a look; the others lie whole intervals from it */
    uint64_t opens;     /* step from which what waits may be taken up */
} rc_intake;

/* The engine looked at `step`, for other reasons than the interval. */
void rc_intake_look(rc_intake *intake, uint64_t step);
/* A request comes before the end of decode step `step`; with it `waiting_tokens` wait. */
void rc_intake_add(rc_intake *intake, uint64_t step, double waiting_tokens);
#endif
