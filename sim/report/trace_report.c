/* SPDX-License-Identifier: GPL-3.0-or-later
 * What is in a trace; and the trace in our own format. */
#include "answer_json.h"
#include "catalog.h"
#include "histogram.h"
#include "text.h"
#include "trace_content.h"
#include "whole_file.h"
#include <gsl/gsl_sort.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static rc_percentiles length_percentiles(const rc_trace *trace, bool output) {
    double *values = rc_allocate(trace->count * sizeof *values), sum = 0;
    for (size_t i = 0; i < trace->count; i++)
        sum += values[i] = output ? trace->rows[i].output_tokens : trace->rows[i].input_tokens;
    gsl_sort(values, 1, trace->count);
    rc_percentiles p = {sum / (double)trace->count,
                        rc_sorted_quantile(values, trace->count, 0.5),
                        rc_sorted_quantile(values, trace->count, 0.9),
                        rc_sorted_quantile(values, trace->count, 0.95),
                        rc_sorted_quantile(values, trace->count, 0.99),
                        (double)trace->count};
    free(values);
    return p;
}

/* The busiest minute, in requests a second. */
static double peak_rate(const rc_trace *trace) {
    const int64_t minute = 60000000000;
    size_t first = 0, most = 0;
    for (size_t i = 0; i < trace->count; i++) {
        while (trace->rows[i].arrival_ns - trace->rows[first].arrival_ns >= minute)
            first++;
        most = i - first + 1 > most ? i - first + 1 : most;
    }
    double span = (double)trace->span_ns / 1e9;
    return span < 60 ? (span > 0 ? (double)trace->count / span : 0) : (double)most / 60;
}

static void print_lengths(FILE *out, const char *name, const rc_percentiles *p) {
    char a[40], b[40], c[40], d[40];
    fprintf(out, "%s tokens: mean %s, p50 %s, p90 %s, p99 %s\n", name, rc_number_text(a, sizeof a, p->mean),
            rc_number_text(b, sizeof b, p->p50), rc_number_text(c, sizeof c, p->p90),
            rc_number_text(d, sizeof d, p->p99));
}

static void print_trace(FILE *out, const char *file, const rc_trace *trace, rc_format format) {
    double span = (double)trace->span_ns / 1e9, rate = span > 0 ? (double)trace->count / span : 0;
    rc_percentiles input = length_percentiles(trace, false), output = length_percentiles(trace, true);
    if (format == RC_JSON) {
        cJSON *a = cJSON_CreateObject();
        rc_json_add_number(a, "rows", (double)trace->count);
        rc_json_add_number(a, "skipped_zero_tokens", (double)trace->skipped_zero);
        rc_json_add_number(a, "span_s", span);
        rc_json_add_number(a, "rate_per_s", rate);
        rc_json_add_number(a, "peak_minute_rate_per_s", peak_rate(trace));
        rc_json_add_number(a, "input_tokens_total", input.mean * input.count);
        rc_json_add_number(a, "output_tokens_total", output.mean * output.count);
        if (trace->blocks > 0) {
            rc_json_add_number(a, "blocks", trace->blocks);
            rc_json_add_number(a, "block_hit_rate", trace->repeated_blocks / trace->blocks);
        }
        if (trace->sessions > 0)
            rc_json_add_number(a, "sessions", (double)trace->sessions);
        rc_json_add_number(a, "repeated_tokens", trace->repeated_tokens);
        rc_add_percentiles(a, "input_tokens", &input);
        rc_add_percentiles(a, "output_tokens", &output);
        rc_json_print(out, a);
        return;
    }
    char a[40];
    fprintf(out, "%s: %s requests over %s", file, rc_count_text(a, sizeof a, (double)trace->count),
            rc_quantity_text((char[40]){0}, 40, span, RC_SECONDS));
    fprintf(out, ", %.3g a second on average, %.3g in the busiest minute\n", rate, peak_rate(trace));
    print_lengths(out, "input", &input);
    print_lengths(out, "output", &output);
    if (trace->blocks > 0)
        fprintf(out,
                "prefixes: %.1f %% of %s blocks of %d tokens were there before, the most that any cache could find\n",
                100 * trace->repeated_blocks / trace->blocks, rc_count_text(a, sizeof a, trace->blocks),
                RC_TRACE_BLOCK_TOKENS);
    if (trace->sessions > 0)
        fprintf(out, "prefixes: %s sessions; %.1f %% of input tokens repeat what was said before\n",
                rc_count_text(a, sizeof a, (double)trace->sessions),
                100 * trace->repeated_tokens / (input.mean * input.count));
    if (trace->skipped_zero)
        fprintf(out, "%zu rows without input or output tokens are not played\n", trace->skipped_zero);
}

static bool is_one_of(const char *word, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

rc_status rc_describe_trace(const char *file, const char *time_unit, const char *out_file, FILE *out, rc_format format,
                            rc_problems *problems) {
    static const char *const units[] = {"s", "ms", "us", "ns"};
    if (time_unit && !is_one_of(time_unit, units, 4))
        return rc_problem_add(problems, RC_BAD_UNIT, "", "--unit", 0, time_unit, "s, ms, us or ns",
                              "not a unit of time");
    rc_arena *arena = rc_arena_new();
    char *found = rc_catalog_find(RC_CATALOG_TRACE, file, arena);
    bool is_file = found || access(file, F_OK) == 0;
    rc_trace trace;
    if (!is_file)
        rc_catalog_complain(RC_CATALOG_TRACE, file, "", "", arena, problems);
    else if (rc_trace_read(found ? found : file, time_unit, &trace, problems)) {
        rc_whole_file whole;
        if (out_file && rc_whole_file_open(&whole, out_file, problems)) {
            rc_trace_write(whole.out, &trace);
            rc_whole_file_close(&whole, true, problems);
        }
        if (rc_problems_count(problems) == 0)
            print_trace(out, file, &trace, format);
        rc_trace_free(&trace);
    }
    rc_arena_free(arena);
    return rc_problems_status(problems);
}
