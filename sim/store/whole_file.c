/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "whole_file.h"
#include "arena.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool rc_whole_file_open(rc_whole_file *file, const char *path, rc_problems *problems) {
    size_t bytes = strlen(path) + 32;
    file->path = rc_allocate(bytes);
    file->unfinished = rc_allocate(bytes);
    snprintf(file->path, bytes, "%s", path);
    snprintf(file->unfinished, bytes, "%s.%ld.unfinished", path, (long)getpid());
    file->out = fopen(file->unfinished, "wb");
    if (file->out)
        return true;
    rc_problem_add(problems, RC_WRITE_FAILED, path, "", 0, strerror(errno), "a folder that can be written to",
                   "cannot write the file");
    free(file->path);
    free(file->unfinished);
    return false;
}

rc_status rc_whole_file_close(rc_whole_file *file, bool keep, rc_problems *problems) {
    bool bad = ferror(file->out) != 0;
    bad = fflush(file->out) != 0 || bad;
    bad = fsync(fileno(file->out)) != 0 || bad;
    bad = fclose(file->out) != 0 || bad;
    if (keep && !bad)
        bad = rename(file->unfinished, file->path) != 0;
    if (bad && keep)
        rc_problem_add(problems, RC_WRITE_FAILED, file->path, "", 0, strerror(errno), "room on the disk",
                       "the file could not be written; what was there before is untouched");
    if (bad || !keep)
        unlink(file->unfinished);
    free(file->path);
    free(file->unfinished);
    return bad && keep ? RC_WRITE_FAILED : RC_OK;
}
