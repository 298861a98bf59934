/* SPDX-License-Identifier: GPL-3.0-or-later
 * movement.h - one sentence that says what moved between two runs of a scenario, and what did not.
 */
#ifndef RC_MOVEMENT_H
#define RC_MOVEMENT_H
#include "rackcast.h"

/* Writes "From A to B: ..." into `text`: output, the decode step and the parts of it that changed, the prompt, the
 * requests that run at a time, and the share that does not depend on the value. */
void rc_movement_text(char *text, size_t size, const rc_whatif_row *from, const rc_whatif_row *to);
#endif
