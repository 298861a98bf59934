/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace.h"
#include "arena.h"
#include "csv.h"
#include "text.h"
#include "trace_content.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

static const int64_t NS_PER_S = 1000000000;
static const size_t NO_COLUMN = SIZE_MAX;

typedef struct reader {
    rc_csv *csv;
    const char *file;
    rc_problems *problems;
    size_t columns, time_column, input_column, output_column;
    size_t session_column, cached_column, blocks_column; /* NO_COLUMN: none */
    rc_trace_contents contents;
    int64_t unit_ns; /* of a numeric time; 0: only dates will do */
} reader;

static bool complain(reader *r, long line, const char *found, const char *expected, const char *message) {
    rc_problem_add(r->problems, RC_BAD_TRACE, r->file, "", line, found, expected, "%s", message);
    return false;
}

/* ---------- header */

static const char *const time_names[] = {
    "timestamp",       "arrival_s",         "arrival_ms",   "arrival_us",     "arrival_ns",
    "arrival",         "arrived_at",        "arrival_time", "arrival_time_s", "arrival_time_ms",
    "arrival_time_ns", "arrival_timestamp", "time_s",       "time_ms",        NULL};
static const char *const input_names[] = {
    "contexttokens", "input_tokens",   "prompt_tokens", "prefill_tokens", "num_prefill_tokens",
    "input_toks",    "request tokens", "input_length",  "prompt_size",    NULL};
static const char *const output_names[] = {
    "generatedtokens", "output_tokens",   "completion_tokens", "decode_tokens", "num_decode_tokens",
    "output_toks",     "response tokens", "output_length",     "token_size",    NULL};

static const char *const session_names[] = {"session", "session_id", "conversation_id", "chat_id", NULL};
static const char *const cached_names[] = {"cached_tokens", "prefix_tokens", NULL};

static bool find_column(reader *r, const char *const *names, size_t *column, const char *meaning) {
    for (size_t i = 0; i < rc_csv_count(r->csv); i++)
        for (size_t n = 0; names[n]; n++)
            if (strcasecmp(rc_csv_cell(r->csv, i), names[n]) == 0) {
                *column = i;
                return true;
            }
    char header[200] = "", words[300];
    for (size_t i = 0; i < rc_csv_count(r->csv); i++) {
        size_t used = strlen(header);
        snprintf(header + used, sizeof header - used, "%s%s", i ? "," : "", rc_csv_cell(r->csv, i));
    }
    size_t count = 0;
    while (names[count])
        count++;
    rc_choices_text(words, sizeof words, "", names, count);
    char message[96];
    snprintf(message, sizeof message, "no column for %s in the header", meaning);
    return complain(r, rc_csv_line(r->csv), header, words, message);
}

static int64_t unit_of(const char *column, const char *time_unit) {
    static const struct {
        const char *unit, *ending;
        int64_t ns;
    } units[] = {{"ms", "_ms", 1000000}, {"us", "_us", 1000}, {"ns", "_ns", 1}, {"s", "_s", 1000000000}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (time_unit ? strcmp(time_unit, units[i].unit) == 0 : rc_text_ends(column, units[i].ending))
            return units[i].ns;
    return 0;
}

static const char mooncake_column[] = "hash_ids";

/* NULL: there is no such column. */
static const char *cell_of(const reader *r, size_t column) {
    return column == NO_COLUMN ? NULL : rc_csv_cell(r->csv, column);
}

static size_t column_of(const reader *r, const char *name) {
    for (size_t i = 0; i < rc_csv_count(r->csv); i++)
        if (strcasecmp(rc_csv_cell(r->csv, i), name) == 0)
            return i;
    return NO_COLUMN;
}

static size_t first_column_of(const reader *r, const char *const *names) {
    size_t column = NO_COLUMN;
    for (size_t i = 0; names[i] && column == NO_COLUMN; i++)
        column = column_of(r, names[i]);
    return column;
}

/* Public formats whose times are numbers without a unit, told by a column that only they have. */
static int64_t unit_of_format(const reader *r) {
    static const struct {
        const char *column;
        int64_t ns;
    } known[] = {{mooncake_column, 1000000}, /* Mooncake: ms */
                 {"Log Type", 1000000000},   /* BurstGPT: s */
                 {"token_size", 1000000000} /* Splitwise: s */};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (column_of(r, known[k].column) != NO_COLUMN)
            return known[k].ns;
    return 0;
}

static bool read_header(reader *r, const char *time_unit) {
    if (!rc_csv_next(r->csv))
        return rc_csv_failed(r->csv) ? false : complain(r, 1, "an empty file", "a header and rows", "no header");
    bool good = find_column(r, time_names, &r->time_column, "arrival times") &&
                find_column(r, input_names, &r->input_column, "input tokens") &&
                find_column(r, output_names, &r->output_column, "output tokens");
    r->columns = rc_csv_count(r->csv);
    if (good)
        r->unit_ns = unit_of(rc_csv_cell(r->csv, r->time_column), time_unit);
    if (good && r->unit_ns == 0)
        r->unit_ns = unit_of_format(r);
    r->blocks_column = column_of(r, mooncake_column);
    r->session_column = first_column_of(r, session_names);
    r->cached_column = first_column_of(r, cached_names);
    if (r->cached_column != NO_COLUMN && r->session_column == NO_COLUMN)
        rc_note_add(r->problems, "%s: the column %s is not used: no column says whose session a request continues",
                    r->file, rc_csv_cell(r->csv, r->cached_column));
    return good;
}

/* ---------- cells */

/* ".6805900" -> 680,590,000 ns; moves `text` behind it. */
static int64_t read_fraction(const char **text) {
    int64_t ns = 0, scale = NS_PER_S / 10;
    if (**text != '.')
        return 0;
    for (++*text; isdigit((unsigned char)**text); ++*text, scale /= 10)
        ns += (**text - '0') * scale;
    return ns;
}

/* Days since 1970-01-01 of a civil date (Gregorian). */
static int64_t days_of(int year, int month, int day) {
    int64_t y = year - (month <= 2), era = (y >= 0 ? y : y - 399) / 400, of_era = y - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* Exactly two (or four) digits. */
static bool read_digits(const char **text, int count, int *value) {
    *value = 0;
    for (int i = 0; i < count; i++, ++*text) {
        if (!isdigit((unsigned char)**text))
            return false;
        *value = *value * 10 + (**text - '0');
    }
    return true;
}

static bool read_mark(const char **text, const char *marks) {
    if (!**text || !strchr(marks, **text))
        return false;
    ++*text;
    return true;
}

/* "2023-11-16 18:15:46.6805900", "2023-11-16T18:15:46Z"; years that whole nanoseconds since 1970 can hold. */
static bool read_date(const char *text, int64_t *ns) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    enum { FIRST_YEAR = 1970, LAST_YEAR = 2261 };
    int year, month, day, hour, minute, second;
    if (!read_digits(&text, 4, &year) || !read_mark(&text, "-") || !read_digits(&text, 2, &month) ||
        !read_mark(&text, "-") || !read_digits(&text, 2, &day) || !read_mark(&text, " T") ||
        !read_digits(&text, 2, &hour) || !read_mark(&text, ":") || !read_digits(&text, 2, &minute) ||
        !read_mark(&text, ":") || !read_digits(&text, 2, &second))
        return false;
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (year < FIRST_YEAR || year > LAST_YEAR || month < 1 || month > 12 || day < 1 ||
        day > days[month - 1] + (month == 2 && leap) || hour > 23 || minute > 59 || second > 60)
        return false;
    int64_t fraction = read_fraction(&text);
    if (*text == 'Z' || strcmp(text, "+00:00") == 0)
        text += *text == 'Z' ? 1 : 6;
    *ns = ((days_of(year, month, day) * 24 + hour) * 60 + minute) * 60 * NS_PER_S + second * NS_PER_S + fraction;
    return *text == 0;
}

/* A decimal number times a unit, exactly: 0.5 s -> 500,000,000 ns. */
static bool read_number(const char *text, int64_t unit_ns, int64_t *ns) {
    char *end;
    errno = 0;
    long long whole = strtoll(text, &end, 10);
    bool exact = end != text && !errno && isdigit((unsigned char)text[0]) && whole < INT64_MAX / unit_ns / 2;
    const char *rest = end;
    if (exact && *rest == '.') {
        int64_t fraction = read_fraction(&rest);
        *ns = whole * unit_ns + (int64_t)((double)fraction * ((double)unit_ns / (double)NS_PER_S) + 0.5);
    } else if (exact)
        *ns = whole * unit_ns;
    if (exact && *rest == 0)
        return true;
    double value = strtod(text, &end); /* "1.5e3" */
    if (end == text || *end || text[strspn(text, "0123456789.eE+-")] || !isfinite(value) || value < 0 ||
        value * (double)unit_ns > 4e18)
        return false;
    *ns = (int64_t)(value * (double)unit_ns + 0.5);
    return true;
}

static bool read_time(reader *r, int64_t *ns, bool *dated) {
    const char *cell = rc_csv_cell(r->csv, r->time_column);
    if (cell[0] && read_date(cell, ns)) {
        *dated = true;
        return true;
    }
    bool number = cell[0] && read_number(cell, r->unit_ns ? r->unit_ns : 1, ns);
    if (number && r->unit_ns)
        return true;
    if (number)
        return complain(r, rc_csv_line(r->csv), cell,
                        "a column named arrival_s, arrival_ms, arrival_us or arrival_ns, or time_unit in the scenario "
                        "(--unit for trace)",
                        "the time is a number whose unit is not said");
    return complain(r, rc_csv_line(r->csv), cell[0] ? cell : "an empty cell",
                    "a time: a number, 0 or more, or a date as 2023-11-16 18:15:46.68", "not a time");
}

static bool read_tokens(reader *r, size_t column, const char *meaning, uint32_t *tokens) {
    enum { TOKENS_MAX = 1000000000 };
    const char *cell = rc_csv_cell(r->csv, column);
    char *end, message[64];
    errno = 0;
    long long value = strtoll(cell, &end, 10);
    if (end != cell && strcmp(end, ".0") == 0)
        end += 2;
    if (!errno && end != cell && *end == 0 && value >= 0 && value <= TOKENS_MAX) {
        *tokens = (uint32_t)value;
        return true;
    }
    snprintf(message, sizeof message, "the number of %s tokens is no count", meaning);
    return complain(r, rc_csv_line(r->csv), cell[0] ? cell : "an empty cell",
                    "a whole number of tokens, 0 to 1,000,000,000", message);
}

/* What the prompt is made of, where the trace says so. */
static bool read_content(reader *r, rc_trace *trace, rc_trace_row *row) {
    const char *blocks = cell_of(r, r->blocks_column), *session = cell_of(r, r->session_column);
    rc_trace_mistake mistake;
    if (!blocks && !session)
        return true;
    bool good = blocks ? rc_trace_blocks(&r->contents, trace, row, blocks, &mistake)
                       : rc_trace_turn(&r->contents, trace, row, session, cell_of(r, r->cached_column), &mistake);
    return good || complain(r, rc_csv_line(r->csv), mistake.found, mistake.expected, mistake.message);
}

/* ---------- rows */

static bool read_row(reader *r, rc_trace *trace, int64_t *first, int64_t *last, bool any) {
    int64_t ns;
    uint32_t input, output;
    bool dated = false;
    if (rc_csv_count(r->csv) > r->columns) {
        char found[48], expected[48];
        snprintf(found, sizeof found, "%zu cells", rc_csv_count(r->csv));
        snprintf(expected, sizeof expected, "%zu, as in the header", r->columns);
        return complain(r, rc_csv_line(r->csv), found, expected, "more cells than the header has");
    }
    if (!read_time(r, &ns, &dated) || !read_tokens(r, r->input_column, "input", &input) ||
        !read_tokens(r, r->output_column, "output", &output))
        return false;
    if (any && dated != trace->dated)
        return complain(r, rc_csv_line(r->csv), rc_csv_cell(r->csv, r->time_column),
                        trace->dated ? "a date, as in the first row" : "a number, as in the first row",
                        "two kinds of clocks in one column");
    if (!any)
        *first = *last = ns;
    trace->dated = dated;
    if (ns < *last) {
        char found[120];
        snprintf(found, sizeof found, "%s, %.6g s before the row above", rc_csv_cell(r->csv, r->time_column),
                 (double)(*last - ns) / (double)NS_PER_S);
        return complain(r, rc_csv_line(r->csv), found, "times that do not run backwards (sort the file)",
                        "unsorted times");
    }
    *last = ns;
    if (input == 0 || output == 0) {
        trace->skipped_zero++;
        return true;
    }
    trace->rows = rc_grow(trace->rows, trace->count, &trace->capacity, sizeof *trace->rows);
    trace->rows[trace->count] = (rc_trace_row){
        .arrival_ns = ns - *first, .input_tokens = input, .output_tokens = output, .session = RC_INDEX_NONE};
    return read_content(r, trace, &trace->rows[trace->count++]);
}

/* Requests minutes apart, all on whole seconds, are milliseconds that were called seconds. */
static bool check_scale(reader *r, const rc_trace *trace, const char *time_unit) {
    enum { ROWS_MIN = 3, GAP_MAX_S = 60 };
    if (trace->dated || time_unit || r->unit_ns != NS_PER_S || trace->count < ROWS_MIN)
        return true;
    double gap = (double)trace->span_ns / (double)NS_PER_S / (double)(trace->count - 1);
    bool whole = true;
    for (size_t i = 0; i < trace->count && whole; i++)
        whole = trace->rows[i].arrival_ns % NS_PER_S == 0;
    if (!whole || gap < GAP_MAX_S)
        return true;
    char found[120];
    snprintf(found, sizeof found, "%zu requests over %.1f days, one in %.0f s", trace->count,
             (double)trace->span_ns / (double)NS_PER_S / 86400, gap);
    return complain(r, 1, found,
                    "seconds; name the column arrival_ms if these are milliseconds, or give the time unit to insist",
                    "times in seconds look like milliseconds");
}

bool rc_trace_read(const char *file, const char *time_unit, rc_trace *trace, rc_problems *problems) {
    *trace = (rc_trace){0};
    reader r = {.csv = rc_csv_open(file, problems), .file = file, .problems = problems};
    if (!r.csv)
        return false;
    int64_t first = 0, last = 0;
    bool good = read_header(&r, time_unit), any = false;
    for (; good && rc_csv_next(r.csv); any = true)
        good = read_row(&r, trace, &first, &last, any);
    good = good && !rc_csv_failed(r.csv);
    trace->span_ns = last - first;
    if (good && trace->count == 0)
        good = complain(&r, 1, "no row that can be played", "at least one row with input and output tokens",
                        "an empty trace");
    good = good && check_scale(&r, trace, time_unit);
    rc_csv_close(r.csv);
    trace->sessions = r.contents.sessions_count;
    rc_trace_contents_free(&r.contents);
    if (!good)
        rc_trace_free(trace);
    return good;
}

typedef struct placed_row {
    rc_trace_row row;
    size_t place; /* of the row in the file: rows of one time stay in its order */
} placed_row;

static int compare_placed(const void *left, const void *right) {
    const placed_row *a = left, *b = right;
    if (a->row.arrival_ns != b->row.arrival_ns)
        return a->row.arrival_ns < b->row.arrival_ns ? -1 : 1;
    return a->place < b->place ? -1 : 1;
}

void rc_trace_jitter(rc_trace *trace, double jitter_s, rc_random *random) {
    placed_row *placed = rc_allocate(trace->count * sizeof *placed);
    for (size_t i = 0; i < trace->count; i++) {
        placed[i] = (placed_row){trace->rows[i], i};
        placed[i].row.arrival_ns += (int64_t)(rc_random_uniform(random) * jitter_s * (double)NS_PER_S);
    }
    qsort(placed, trace->count, sizeof *placed, compare_placed);
    for (size_t i = 0; i < trace->count; i++)
        trace->rows[i] = placed[i].row;
    free(placed);
}

void rc_trace_free(rc_trace *trace) {
    free(trace->rows);
    free(trace->pieces);
    *trace = (rc_trace){0};
}

static void write_blocks(FILE *out, const rc_trace *trace, const rc_trace_row *row) {
    if (row->pieces == 0) { /* not told */
        fprintf(out, ",");
        return;
    }
    fprintf(out, ",\"[");
    for (size_t i = 0; i + 1 < row->pieces; i++) /* the last is the answer's */
        fprintf(out, "%s%llu", i ? "," : "",
                (unsigned long long)rc_content_number(trace->pieces[row->first_piece + i].id));
    fprintf(out, "]\"");
}

void rc_trace_write(FILE *out, const rc_trace *trace) {
    bool blocks = trace->blocks > 0, sessions = !blocks && trace->sessions > 0;
    fprintf(out, "arrival_s,%sinput_tokens,%soutput_tokens%s\n", sessions ? "session," : "",
            sessions ? "cached_tokens," : "", blocks ? ",hash_ids" : "");
    for (size_t i = 0; i < trace->count; i++) {
        const rc_trace_row *row = &trace->rows[i];
        fprintf(out, "%lld.%09lld,", (long long)(row->arrival_ns / NS_PER_S), (long long)(row->arrival_ns % NS_PER_S));
        if (sessions)
            fprintf(out, row->session == RC_INDEX_NONE ? "," : "%u,", row->session);
        fprintf(out, "%u,", row->input_tokens);
        if (sessions)
            fprintf(out, "%u,", row->repeats);
        fprintf(out, "%u", row->output_tokens);
        if (blocks)
            write_blocks(out, trace, row);
        fprintf(out, "\n");
    }
}
