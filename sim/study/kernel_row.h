/* SPDX-License-Identifier: GPL-3.0-or-later
 * kernel_row.h - one row of a table of measured kernels: what it measured, by the columns that its kind of table has
 * (kernel_table.h).
 */
#ifndef RC_KERNEL_ROW_H
#define RC_KERNEL_ROW_H
#include "csv.h"
#include "kernel_sample.h"

enum { RC_ROW_COLUMNS_MAX = 40 };

/* A table at one of its rows. */
typedef struct rc_kernel_rows {
    rc_csv *csv;
    const char *file;
    rc_problems *problems;
    rc_arena *arena;
    const rc_accelerator *accelerator;
    const char *engine;
    char *names[RC_ROW_COLUMNS_MAX];
    size_t columns;
    bool failed; /* a cell was no number, which was said */
} rc_kernel_rows;

int rc_row_column(const rc_kernel_rows *rows, const char *name);       /* -1: there is none */
const char *rc_row_text(const rc_kernel_rows *rows, const char *name); /* "" where there is none */
double rc_row_number(rc_kernel_rows *rows, const char *name);          /* NaN and a problem where it is none */
/* What the row measured, but for the time; false where no stack has a place for it. */
bool rc_row_read(rc_kernel_rows *rows, rc_sample *sample);
/* One way of an exchange of tokens with experts, and its time. */
bool rc_row_read_exchange(rc_kernel_rows *rows, rc_sample *sample, bool combine);
#endif
