/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table.h"
#include "arena.h"
#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

rc_text_table *rc_text_table_new(size_t columns) {
    rc_text_table *table = rc_allocate(sizeof *table);
    assert(columns <= RC_TABLE_COLUMNS);
    table->columns = columns;
    rc_text_table_row(table);
    return table;
}

void rc_text_table_cell(rc_text_table *table, size_t column, const char *format, ...) {
    va_list arguments;
    assert(column < table->columns);
    va_start(arguments, format);
    vsnprintf(table->cells[table->rows - 1][column], RC_TABLE_CELL, format, arguments);
    va_end(arguments);
}

void rc_text_table_row(rc_text_table *table) {
    table->cells = rc_grow(table->cells, table->rows, &table->capacity, sizeof *table->cells);
    memset(table->cells[table->rows++], 0, sizeof *table->cells);
}

void rc_print_csv_cell(FILE *out, const char *cell) {
    if (!strpbrk(cell, ",\"\n")) {
        fputs(cell, out);
        return;
    }
    fputc('"', out);
    for (; *cell; cell++)
        fprintf(out, *cell == '"' ? "\"\"" : "%c", *cell);
    fputc('"', out);
}

void rc_print_csv_number(FILE *out, double value) {
    char text[40] = "";
    for (int digits = 15; isfinite(value) && digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    fprintf(out, ",%s", text);
}

static void print_row(const rc_text_table *table, size_t row, const int *widths, FILE *out, rc_format format) {
    for (size_t c = 0; c < table->columns; c++) {
        const char *cell = table->cells[row][c];
        if (format == RC_CSV) {
            fputs(c ? "," : "", out);
            rc_print_csv_cell(out, cell);
        } else if (format == RC_MARKDOWN)
            fprintf(out, "| %s ", cell);
        else
            fprintf(out, c ? "  %*s" : "%-*s", widths[c], cell);
    }
    fputs(format == RC_MARKDOWN ? "|\n" : "\n", out);
}

void rc_text_table_print(rc_text_table *table, FILE *out, rc_format format) {
    int widths[RC_TABLE_COLUMNS] = {0};
    for (size_t row = 0; row < table->rows; row++)
        for (size_t c = 0; c < table->columns; c++)
            if ((int)strlen(table->cells[row][c]) > widths[c])
                widths[c] = (int)strlen(table->cells[row][c]);
    for (size_t row = 0; row < table->rows; row++) {
        print_row(table, row, widths, out, format);
        for (size_t c = 0; row == 0 && format == RC_MARKDOWN && c < table->columns; c++)
            fprintf(out, c ? "| --: %s" : "| --- %s", c + 1 == table->columns ? "|\n" : "");
    }
    free(table->cells);
    free(table);
}
