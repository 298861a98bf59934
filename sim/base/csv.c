/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "csv.h"
#include "arena.h"
#include "json.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

struct rc_csv {
    gzFile in;
    const char *file;
    rc_problems *problems;
    char *text; /* the cells of the row, each ended by a zero byte */
    size_t used, text_capacity;
    size_t *starts;
    size_t count, starts_capacity;
    long line, row_line;
    char separator;
    bool failed, started;
    bool objects;    /* each line is a JSON object */
    cJSON *header;   /* of those: the first, whose keys are the columns */
    bool first_told; /* its values were given as a row too */
};

rc_csv *rc_csv_open(const char *file, rc_problems *problems) {
    gzFile in = gzopen(file, "rb");
    if (!in) {
        rc_problem_add(problems, RC_NO_FILE, file, "", 0, strerror(errno), "a file that can be read",
                       "cannot open the file");
        return NULL;
    }
    gzbuffer(in, 1 << 17);
    rc_csv *csv = rc_allocate(sizeof *csv);
    *csv = (rc_csv){.in = in, .file = file, .problems = problems, .line = 1};
    return csv;
}

void rc_csv_close(rc_csv *csv) {
    if (!csv)
        return;
    gzclose(csv->in);
    cJSON_Delete(csv->header);
    free(csv->text);
    free(csv->starts);
    free(csv);
}

static void put(rc_csv *csv, int c) {
    csv->text = rc_grow(csv->text, csv->used, &csv->text_capacity, 1);
    csv->text[csv->used++] = (char)c;
}

static void start_cell(rc_csv *csv) {
    csv->starts = rc_grow(csv->starts, csv->count, &csv->starts_capacity, sizeof *csv->starts);
    csv->starts[csv->count++] = csv->used;
}

static int peek(rc_csv *csv) {
    int c = gzgetc(csv->in);
    if (c != -1)
        gzungetc(c, csv->in);
    return c;
}

static void fail(rc_csv *csv, const char *found, const char *expected, const char *message) {
    csv->failed = true;
    rc_problem_add(csv->problems, RC_BAD_TRACE, csv->file, "", csv->line, found, expected, "%s", message);
}

/* A quoted cell, its opening quote already read. */
static void read_quoted(rc_csv *csv) {
    long opened = csv->line;
    for (int c; (c = gzgetc(csv->in)) != -1;) {
        csv->line += c == '\n';
        if (c != '"')
            put(csv, c);
        else if (peek(csv) == '"')
            put(csv, gzgetc(csv->in));
        else
            return;
    }
    csv->line = opened;
    fail(csv, "the end of the file", "a closing quote", "a quoted cell that begins here does not end");
}

static void skip_byte_order_mark(rc_csv *csv) {
    int first = gzgetc(csv->in);
    if (first == 0xEF && gzgetc(csv->in) == 0xBB && gzgetc(csv->in) == 0xBF)
        rc_note_add(csv->problems, "%s: starts with a UTF-8 byte-order mark, which was skipped", csv->file);
    else if (first == 0xFE || first == 0xFF)
        fail(csv, "a UTF-16 byte-order mark", "UTF-8 text", "the file is not UTF-8");
    else
        gzrewind(csv->in);
}

/* Reads the header once to see how its cells are separated. */
static char find_separator(rc_csv *csv) {
    long commas = 0, semicolons = 0, tabs = 0;
    z_off_t start = gztell(csv->in);
    for (int c; (c = gzgetc(csv->in)) != -1 && c != '\n';) {
        commas += c == ',';
        semicolons += c == ';';
        tabs += c == '\t';
    }
    gzseek(csv->in, start, SEEK_SET);
    return commas ? ',' : semicolons ? ';' : tabs ? '\t' : ',';
}

static bool at_row_end(rc_csv *csv, int c) {
    if (c == '\r' && peek(csv) == '\n')
        c = gzgetc(csv->in);
    if (c != '\n')
        return c == -1;
    csv->line++;
    return true;
}

static bool read_row(rc_csv *csv) {
    csv->used = csv->count = 0;
    csv->row_line = csv->line;
    start_cell(csv);
    bool any = false;
    for (int c; !csv->failed; any = true) {
        c = gzgetc(csv->in);
        if (at_row_end(csv, c)) {
            put(csv, 0);
            return any || c != -1;
        }
        if (c == '"' && csv->used == csv->starts[csv->count - 1])
            read_quoted(csv);
        else if (c == csv->separator) {
            put(csv, 0);
            start_cell(csv);
        } else if (c == 0)
            fail(csv, "a zero byte", "text", "the file is not text");
        else
            put(csv, c);
    }
    return false;
}

/* ---------- JSON lines */

static void put_text(rc_csv *csv, const char *text) {
    start_cell(csv);
    for (; *text; text++)
        put(csv, *text);
    put(csv, 0);
}

/* The object of the next line that is not empty; NULL at the end or after a problem. */
static cJSON *read_object(rc_csv *csv) {
    while (!csv->failed) {
        csv->used = 0;
        csv->row_line = csv->line;
        int c;
        while ((c = gzgetc(csv->in)) != -1 && c != '\n')
            put(csv, c);
        csv->line += c == '\n';
        if (csv->used == 0 && c == -1)
            return NULL;
        put(csv, 0);
        if (!csv->text[strspn(csv->text, " \t\r")])
            continue;
        cJSON *object = cJSON_ParseWithOpts(csv->text, NULL, true);
        if (cJSON_IsObject(object))
            return object;
        cJSON_Delete(object);
        csv->line = csv->row_line;
        csv->text[csv->used > 40 ? 40 : csv->used - 1] = 0;
        fail(csv, csv->text, "one JSON object a line", "a line is no JSON object");
    }
    return NULL;
}

/* Whole numbers whole; lists as they are written; objects are nobody's column. */
static void put_value(rc_csv *csv, const cJSON *value) {
    if (cJSON_IsArray(value)) {
        char *list = cJSON_PrintUnformatted(value);
        put_text(csv, list);
        cJSON_free(list);
        return;
    }
    char text[40] = "";
    if (cJSON_IsNumber(value))
        snprintf(text, sizeof text, value->valuedouble == floor(value->valuedouble) ? "%.0f" : "%.17g",
                 value->valuedouble);
    put_text(csv, cJSON_IsString(value) ? value->valuestring : text);
}

/* Keys of the first object are the columns; what another line lacks is an empty cell. */
static bool read_object_row(rc_csv *csv) {
    bool header = !csv->header;
    cJSON *object = header || csv->first_told ? read_object(csv) : NULL;
    if (header)
        csv->header = object;
    if (!csv->header || (!object && csv->first_told))
        return false;
    csv->used = csv->count = 0;
    for (const cJSON *column = csv->header->child; column; column = column->next)
        if (header)
            put_text(csv, column->string);
        else
            put_value(csv, object ? rc_json_get(object, column->string) : column);
    if (!header) {
        csv->first_told = true;
        cJSON_Delete(object);
    }
    return true;
}

bool rc_csv_next(rc_csv *csv) {
    if (!csv->started) {
        csv->started = true;
        skip_byte_order_mark(csv);
        csv->objects = peek(csv) == '{';
        csv->separator = find_separator(csv);
    }
    if (csv->objects && !csv->failed && read_object_row(csv))
        return true;
    while (!csv->objects && !csv->failed && read_row(csv))
        if (csv->count > 1 || csv->text[0])
            return true;
    int code;
    gzerror(csv->in, &code);
    if (!csv->failed && code < 0)
        fail(csv, "damaged data", "a whole gzip or text file", "the file cannot be read to its end");
    return false;
}

size_t rc_csv_count(const rc_csv *csv) {
    return csv->count;
}

const char *rc_csv_cell(const rc_csv *csv, size_t index) {
    return index < csv->count ? csv->text + csv->starts[index] : "";
}

long rc_csv_line(const rc_csv *csv) {
    return csv->row_line;
}

bool rc_csv_failed(const rc_csv *csv) {
    return csv->failed;
}
