/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "whole_file.h"
#include "arena.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool rc_whole_file_open(rc_whole_file *file, const char *path, rc_problems *problems) {
    struct stat status;
    bool there = stat(path, &status) == 0;
    char *real = there ? realpath(path, NULL) : NULL;
    size_t bytes = strlen(real ? real : path) + 32;
    file->path = rc_allocate(bytes);
    snprintf(file->path, bytes, "%s", real ? real : path);
    free(real);
    file->unfinished = NULL;
    if (!there || S_ISREG(status.st_mode)) {
        file->unfinished = rc_allocate(bytes);
        snprintf(file->unfinished, bytes, "%s.%ld.unfinished", file->path, (long)getpid());
    }
    file->out = fopen(file->unfinished ? file->unfinished : file->path, "wb");
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
    bad = (file->unfinished && fsync(fileno(file->out)) != 0) || bad;
    bad = fclose(file->out) != 0 || bad;
    if (keep && !bad && file->unfinished)
        bad = rename(file->unfinished, file->path) != 0;
    if (bad && keep)
        rc_problem_add(problems, RC_WRITE_FAILED, file->path, "", 0, strerror(errno), "room on the disk",
                       "the file could not be written; what was there before is untouched");
    if (file->unfinished && (bad || !keep))
        unlink(file->unfinished);
    free(file->path);
    free(file->unfinished);
    return bad && keep ? RC_WRITE_FAILED : RC_OK;
}
