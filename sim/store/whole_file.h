/* SPDX-License-Identifier: GPL-3.0-or-later
 * whole_file.h - files written whole or not at all.
 * Writing goes to a file beside the target; only a complete one takes its name.  After a failure the old file is as it
 * was.  A symbolic link stays one; what is no regular file (a pipe, a terminal) is written to as it is.
 */
#ifndef RC_WHOLE_FILE_H
#define RC_WHOLE_FILE_H
#include "problems.h"

typedef struct rc_whole_file {
    FILE *out; /* write here */
    char *path, *unfinished;
} rc_whole_file;

/* False and a problem where the file cannot be made. */
bool rc_whole_file_open(rc_whole_file *file, const char *path, rc_problems *problems);
/* Gives the file its name, or drops it where `keep` is false; RC_WRITE_FAILED and a problem where not all was written. */
rc_status rc_whole_file_close(rc_whole_file *file, bool keep, rc_problems *problems);
#endif
