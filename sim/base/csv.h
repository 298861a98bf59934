/* SPDX-License-Identifier: GPL-3.0-or-later
 * csv.h - tables row by row, plain or gzipped (RFC 4180).
 * A byte-order mark, CRLF line ends, a missing last newline and quoted cells are read as they are meant; the separator
 * is a comma, or a semicolon or tab where the header has those and no comma.  Empty lines are skipped.
 * A file that begins with { holds a JSON object a line instead: the keys of the first are its header.
 */
#ifndef RC_CSV_H
#define RC_CSV_H
#include "problems.h"

typedef struct rc_csv rc_csv;

/* NULL and a problem where the file cannot be read.  `problems` is used until rc_csv_close. */
rc_csv *rc_csv_open(const char *file, rc_problems *problems);
void rc_csv_close(rc_csv *csv);
/* Reads the next row; the cells belong to the reader until the next call.  False at the end or after a problem. */
bool rc_csv_next(rc_csv *csv);
size_t rc_csv_count(const rc_csv *csv);                   /* cells in this row */
const char *rc_csv_cell(const rc_csv *csv, size_t index); /* "" beyond the row */
long rc_csv_line(const rc_csv *csv);                      /* 1-based line on which the row began */
bool rc_csv_failed(const rc_csv *csv);
#endif
