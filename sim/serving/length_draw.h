/* SPDX-License-Identifier: GPL-3.0-or-later
 * length_draw.h - lengths of prompts and answers, drawn.
 */
#ifndef RC_LENGTH_DRAW_H
#define RC_LENGTH_DRAW_H
#include "random.h"
#include "workload.h"

uint32_t rc_length_draw(rc_random *random, const rc_length *length);
#endif
