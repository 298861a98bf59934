/* SPDX-License-Identifier: GPL-3.0-or-later
 * table.h - a table of texts, printed with aligned columns, as Markdown, or as CSV.
 * The first column is left-aligned, the others right-aligned.
 */
#ifndef RC_REPORT_TABLE_H
#define RC_REPORT_TABLE_H
#include "rackcast.h"

enum { RC_TABLE_COLUMNS = 20, RC_TABLE_CELL = 96 };

typedef char rc_table_cells[RC_TABLE_COLUMNS][RC_TABLE_CELL]; /* of a row; longer texts are cut */

typedef struct rc_text_table {
    size_t columns, rows, capacity; /* the first row is the header */
    rc_table_cells *cells;
} rc_text_table;

/* A CSV cell, quoted where it must be. */
void rc_print_csv_cell(FILE *out, const char *cell);
/* A CSV number in SI with all its digits, behind a comma; an empty cell where it is not finite. */
void rc_print_csv_number(FILE *out, double value);

rc_text_table *rc_text_table_new(size_t columns); /* at most RC_TABLE_COLUMNS */
void rc_text_table_cell(rc_text_table *table, size_t column, const char *format, ...)
    __attribute__((format(printf, 3, 4)));    /* in the last row */
void rc_text_table_row(rc_text_table *table); /* begins the next row */
/* Prints and frees. */
void rc_text_table_print(rc_text_table *table, FILE *out, rc_format format);
#endif
