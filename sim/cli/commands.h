/* SPDX-License-Identifier: GPL-3.0-or-later
 * commands.h - the verbs: one question each.
 */
#ifndef RC_COMMANDS_H
#define RC_COMMANDS_H
#include "options.h"

typedef struct rc_command {
    const char *name, *question, *usage;
    const char *examples[2];
    size_t words_min, words_max;
    rc_status (*run)(const rc_options *options, rc_problems *problems);
} rc_command;

extern const rc_command rc_commands[];
extern const size_t rc_commands_count;
#endif
