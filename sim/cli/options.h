/* SPDX-License-Identifier: GPL-3.0-or-later
 * options.h - the command line, read from one table that also prints the help.
 */
#ifndef RC_OPTIONS_H
#define RC_OPTIONS_H
#include "rackcast.h"

enum { RC_WORDS_MAX = 32, RC_SETTINGS_MAX = 128 };

typedef struct rc_options {
    const char *words[RC_WORDS_MAX]; /* what is no option: scenarios, files, names */
    size_t words_count;
    char *settings[RC_SETTINGS_MAX]; /* "path=value", made here; the short options first */
    size_t settings_count;
    const char *varied[RC_VARIED_MAX];
    size_t varied_count;
    rc_format format;
    double batch, context, prompt;
    const char *stack, *source, *kernel, *recipes, *out_file, *requests_file, *database_file, *name, *time_unit;
    bool stepwise, timing, help;
} rc_options;

/* Reads what follows the verb.  False after a problem was added; `format` is right even then. */
bool rc_options_read(rc_options *options, const char *verb, int count, char **arguments, rc_problems *problems);
void rc_options_free(rc_options *options);
/* Prints the options that a verb takes. */
void rc_options_print(FILE *out, const char *verb);
#endif
