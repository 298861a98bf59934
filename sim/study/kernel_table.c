/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel_table.h"
#include "kernel_row.h"
#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

/* ---------- who measured */

/* "b300_sxm" and "NVIDIA B300" are b300, "h200_sxm" is h200-sxm. */
static bool is_system(const char *system, const char *accelerator) {
    const char *space = strrchr(system, ' ');
    size_t i = 0;
    system = space ? space + 1 : system;
    for (; accelerator[i] && system[i]; i++) {
        char a = accelerator[i] == '-' ? '_' : accelerator[i];
        if (tolower((unsigned char)system[i]) != a)
            return false;
    }
    return !accelerator[i] && (!system[i] || strcmp(system + i, "_sxm") == 0);
}

static rc_measurer measurer_of(const rc_kernel_rows *t) {
    const char *engine = rc_row_column(t, "framework") >= 0 ? rc_row_text(t, "framework") : rc_row_text(t, "engine");
    bool library = rc_row_column(t, "source") >= 0 ||
                   (rc_row_column(t, "kernel_source") >= 0 && rc_kernel_is_library(rc_row_text(t, "kernel_source")));
    const char *system = rc_row_text(t, rc_row_column(t, "system") >= 0 ? "system" : "device");
    return (rc_measurer){system, library ? "" : engine};
}

bool rc_measurer_is(const rc_measurer *measurer, const char *accelerator, const char *engine) {
    return is_system(measurer->system, accelerator) &&
           (!measurer->engine[0] || strcasecmp(measurer->engine, engine) == 0);
}

static bool is_ours(const rc_kernel_rows *t) {
    rc_measurer measurer = measurer_of(t);
    return rc_measurer_is(&measurer, t->accelerator->name, t->engine);
}

/* ---------- a table */

static bool is_exchange(const rc_kernel_rows *t) {
    return rc_row_column(t, "num_topk") >= 0 && rc_row_column(t, "dispatch_avg_t_us") >= 0;
}

static bool has_latency(const rc_kernel_rows *t) {
    return rc_row_column(t, "latency") >= 0 || rc_row_column(t, "latency_us") >= 0 || is_exchange(t);
}

/* Reads the names of the columns; whether one of them tells what the table measures. */
static bool read_names(rc_kernel_rows *t) {
    static const char *const kinds[] = {"gemm_dtype", "bmm_dtype",   "moe_dtype",    "mla_dtype",        "attn_dtype",
                                        "score_mode", "num_v_heads", "message_size", "inter_size_local", "num_topk"};
    if (!rc_csv_next(t->csv))
        return false;
    t->columns = rc_csv_count(t->csv) < RC_ROW_COLUMNS_MAX ? rc_csv_count(t->csv) : RC_ROW_COLUMNS_MAX;
    for (size_t i = 0; i < t->columns; i++)
        t->names[i] = rc_arena_text(t->arena, rc_csv_cell(t->csv, i));
    bool known = false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        known = known || rc_row_column(t, kinds[i]) >= 0;
    return known;
}

static bool read_header(rc_kernel_rows *t) {
    bool known = read_names(t);
    const char *missing =
        !known ? "gemm_dtype, bmm_dtype, moe_dtype, mla_dtype, attn_dtype, score_mode, num_v_heads, "
                 "message_size, inter_size_local or num_topk"
        : rc_row_column(t, "system") < 0 && rc_row_column(t, "device") < 0 ? "system or device"
        : !has_latency(t)                                                  ? "latency"
        : rc_row_column(t, "framework") < 0 && rc_row_column(t, "engine") < 0 && rc_row_column(t, "source") < 0
            ? "framework, engine or source"
            : NULL;
    if (missing)
        rc_problem_add(t->problems, RC_BAD_TRACE, t->file, "", 1, "no such column", missing,
                       "the table of kernels lacks a column");
    return !missing;
}

static bool refuse_time(rc_kernel_rows *t, const rc_sample *s, const char *expected, const char *message) {
    char found[64];
    snprintf(found, sizeof found, "%.6g ms for %.4g bytes", s->seconds * 1e3, rc_sample_work(s, RC_NO_TILES).bytes);
    rc_problem_add(t->problems, RC_BAD_TRACE, t->file, "latency", s->line, found, expected, "%s", message);
    return false;
}

/* Three times faster than the memory can stream a set that no cache holds: most likely another unit. */
static bool check_possible(rc_kernel_rows *t, const rc_sample *s) {
    const double impossible = 3, surely_uncached = 2; /* times the bandwidth, times the last-level cache */
    double bytes = rc_sample_work(s, RC_NO_TILES).bytes;
    double cache = isnan(t->accelerator->last_level_cache_bytes) ? 0 : t->accelerator->last_level_cache_bytes;
    if (bytes > surely_uncached * cache && s->seconds * impossible * t->accelerator->memory_bytes_per_s < bytes)
        return refuse_time(t, s, "milliseconds", "three times faster than the memory allows: is it another unit?");
    return true;
}

static double seconds_of(rc_kernel_rows *t) {
    return rc_row_column(t, "latency") >= 0 ? rc_row_number(t, "latency") / 1e3 : rc_row_number(t, "latency_us") / 1e6;
}

/* The samples of a row: two of an exchange with experts, one of anything else. */
static bool read_samples(rc_kernel_rows *t, rc_samples *samples) {
    bool exchange = is_exchange(t);
    for (int way = 0; way <= exchange; way++) {
        rc_sample sample = {.line = rc_csv_line(t->csv), .kernel = "", .peak = RC_PEAK_BF16};
        if (!is_ours(t) || !(exchange ? rc_row_read_exchange(t, &sample, way) : rc_row_read(t, &sample))) {
            samples->ignored += way == 0;
            continue;
        }
        if (!exchange)
            sample.seconds = seconds_of(t);
        if (!t->failed && !(sample.seconds > 0))
            return refuse_time(t, &sample, "milliseconds above 0", "a time that is not positive");
        samples->list = rc_grow(samples->list, samples->count, &samples->capacity, sizeof *samples->list);
        samples->list[samples->count++] = sample;
    }
    return !t->failed;
}

bool rc_kernel_table_is(const char *file) {
    rc_problems *unheard = rc_problems_new();
    rc_arena *arena = rc_arena_new();
    rc_kernel_rows t = {.csv = rc_csv_open(file, unheard), .file = file, .problems = unheard, .arena = arena};
    bool is = t.csv && read_names(&t);
    rc_csv_close(t.csv);
    rc_arena_free(arena);
    rc_problems_free(unheard);
    return is;
}

static bool same_measurer(const rc_measurer *a, const rc_measurer *b) {
    return strcmp(a->system, b->system) == 0 && strcmp(a->engine, b->engine) == 0;
}

bool rc_kernel_table_measurers(const char *file, rc_measurer **measurers, size_t *count, double *rows, rc_arena *arena,
                               rc_problems *problems) {
    enum { MEASURERS_MAX = 256 };
    rc_kernel_rows t = {.csv = rc_csv_open(file, problems), .file = file, .problems = problems, .arena = arena};
    *measurers = rc_arena_take(arena, MEASURERS_MAX * sizeof **measurers);
    *count = 0;
    *rows = 0;
    bool good = t.csv && read_header(&t);
    for (; good && *count < MEASURERS_MAX && rc_csv_next(t.csv); (*rows)++) {
        rc_measurer measurer = measurer_of(&t);
        bool known = false;
        for (size_t i = *count; i-- > 0 && !known;)
            known = same_measurer(&(*measurers)[i], &measurer);
        if (!known)
            (*measurers)[(*count)++] =
                (rc_measurer){rc_arena_text(arena, measurer.system), rc_arena_text(arena, measurer.engine)};
    }
    good = good && !rc_csv_failed(t.csv);
    rc_csv_close(t.csv);
    return good;
}

bool rc_kernel_table_read(const char *file, const rc_accelerator *accelerator, const char *engine, rc_samples *samples,
                          rc_arena *arena, rc_problems *problems) {
    rc_kernel_rows t = {.csv = rc_csv_open(file, problems),
                        .file = file,
                        .problems = problems,
                        .arena = arena,
                        .accelerator = accelerator,
                        .engine = engine};
    size_t from = samples->count;
    bool good = t.csv && read_header(&t);
    while (good && rc_csv_next(t.csv))
        good = read_samples(&t, samples);
    good = good && !rc_csv_failed(t.csv);
    rc_csv_close(t.csv);
    if (good && samples->count > from)
        rc_samples_add_up(samples, from);
    for (size_t i = from; i < samples->count && good; i++)
        good = check_possible(&t, &samples->list[i]);
    return good;
}
