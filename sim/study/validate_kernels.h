/* SPDX-License-Identifier: GPL-3.0-or-later
 * validate_kernels.h - tables of measured kernels held against the kernels and messages of the shipped stacks.
 */
#ifndef RC_VALIDATE_KERNELS_H
#define RC_VALIDATE_KERNELS_H
#include "arena.h"
#include "rackcast.h"

/* Fills rows, groups and what was ignored.  Every row is told by the stack ENGINE-ACCELERATOR of who measured it, whatever
 * kernel ran; a third of the shapes was never in a fit, and its groups end with "(held out)". */
void rc_validate_kernels(const char *file, rc_validate_result *result, rc_arena *arena, rc_problems *problems);
#endif
