/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "intake.h"

void rc_intake_look(rc_intake *n, uint64_t step) {
    n->looked = step;
    if (n->opens > step && n->wait == 0)
        n->opens = step;
}

void rc_intake_add(rc_intake *n, uint64_t step, double waiting_tokens) {
    uint64_t look = n->looked + (step - n->looked + n->interval - 1) / n->interval * n->interval;
    if (waiting_tokens >= n->wait_tokens)
        n->opens = look;
    else if (n->opens < step) /* nothing waits for its opening yet */
        n->opens = look + n->wait;
}
