/* SPDX-License-Identifier: GPL-3.0-or-later
 * stack_on_chip.h - a stack with the accelerator it is for and what joins it: what measured kernels are fitted to and held
 * against.
 */
#ifndef RC_STACK_ON_CHIP_H
#define RC_STACK_ON_CHIP_H
#include "fabric.h"
#include "json.h"
#include "stack.h"

typedef struct rc_stack_on_chip {
    cJSON *json; /* the stack's file, includes expanded */
    rc_stack stack;
    rc_accelerator accelerator;
    rc_fabric fabric;   /* of several nodes with 400 Gb/s a GPU, or of one; no levels where none ships */
    const char *engine; /* "sglang" of "sglang-b300": what a table's engine column says */
} rc_stack_on_chip;

/* False and problems where a file is missing or bad.  To be freed in both cases; texts lie in the arena. */
bool rc_stack_on_chip_load(rc_stack_on_chip *loaded, const char *name, rc_arena *arena, rc_problems *problems);
void rc_stack_on_chip_free(rc_stack_on_chip *loaded);
#endif
