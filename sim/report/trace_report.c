/* SPDX-License-Identifier: GPL-3.0-or-later
 * What is in a trace, or in a load that is written down as one; and the trace in our own format. */
#include "answer_json.h"
#include "catalog.h"
#include "histogram.h"
#include "load_trace.h"
#include "offered.h"
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

/* ---------- opening */

/* A JSON file of ours says what it is; JSON lines of a trace do not. */
static bool is_load_file(const char *file) {
    rc_problems *ignored = rc_problems_new();
    cJSON *json = rc_text_ends(file, ".json") ? rc_json_load(file, ignored) : NULL;
    bool ours = cJSON_IsObject(json) && (rc_json_get(json, "schema") || rc_json_get(json, "include"));
    cJSON_Delete(json);
    rc_problems_free(ignored);
    return ours;
}

static bool is_mix(const char *file) {
    rc_problems *ignored = rc_problems_new();
    cJSON *json = rc_catalog_load(file, ignored);
    bool mix = cJSON_IsObject(json) && rc_json_get(json, "arrival") != NULL;
    cJSON_Delete(json);
    rc_problems_free(ignored);
    return mix;
}

/* What the question is about. */
typedef struct subject {
    const char *file; /* NULL: there is nothing of the name */
    bool load;        /* a mix or a scenario; else a trace */
    bool nominal;     /* a load with times that depend on answers */
} subject;

static subject find_subject(const char *name, rc_arena *arena) {
    const char *file = rc_catalog_find(RC_CATALOG_TRACE, name, arena);
    if (!file && access(name, F_OK) == 0)
        file = name;
    if (file)
        return (subject){.file = file, .load = is_load_file(file)};
    file = rc_catalog_find(RC_CATALOG_MIX, name, arena);
    if (!file)
        file = rc_catalog_find(RC_CATALOG_SCENARIO, name, arena);
    return (subject){.file = file, .load = file != NULL};
}

/* A mix becomes the first setting. */
static bool write_load(const rc_trace_question *q, subject *about, rc_arena *arena, rc_trace *trace,
                       rc_problems *problems) {
    const char **settings = rc_arena_take(arena, (q->settings_count + 1) * sizeof *settings);
    size_t count = 0;
    bool mix = is_mix(about->file);
    if (mix)
        settings[count++] = rc_arena_format(arena, "workload=%s", about->file);
    for (size_t i = 0; i < q->settings_count; i++)
        settings[count++] = q->settings[i];
    rc_question question = {mix ? NULL : about->file, settings, count};
    rc_offered offered;
    if (!rc_offered_open(&question, arena, &offered, problems))
        return false;
    about->nominal = offered.workload.has_sessions || offered.workload.arrival.kind == RC_ARRIVAL_CLOSED;
    return rc_load_trace(&offered.workload, (uint64_t)offered.seed, trace, problems);
}

static bool refuse(rc_problems *problems, const char *option, const char *found, const char *expected,
                   const char *message) {
    rc_problem_add(problems, RC_USAGE, "", option, 0, found, expected, "%s", message);
    return false;
}

static bool check_options(const rc_trace_question *q, bool load, rc_problems *problems) {
    static const char *const units[] = {"s", "ms", "us", "ns"};
    if (q->time_unit && !is_one_of(q->time_unit, units, 4))
        rc_problem_add(problems, RC_BAD_UNIT, "", "--unit", 0, q->time_unit, "s, ms, us or ns", "not a unit of time");
    else if (q->time_unit && load)
        refuse(problems, "--unit", q->name, "a trace whose times are numbers", "a load has no column of times");
    else if (q->settings_count && !load)
        refuse(problems, "--set", q->settings[0], "no settings; or a mix or a scenario", "a trace cannot be changed");
    return rc_problems_count(problems) == 0;
}

static bool get_trace(const rc_trace_question *q, subject *about, rc_arena *arena, rc_trace *trace,
                      rc_problems *problems) {
    *about = find_subject(q->name, arena);
    if (!check_options(q, about->load, problems))
        return false;
    if (about->file)
        return about->load ? write_load(q, about, arena, trace, problems)
                           : rc_trace_read(about->file, q->time_unit, trace, problems);
    rc_catalog_complain(RC_CATALOG_TRACE, q->name, "", "", arena, problems);
    return false;
}

static void print_speeds(FILE *out) {
    char prompt[40], answer[40];
    fprintf(out, "times: as if an answer took 1 s for %s new tokens of its prompt and 1 s for %s of its own\n",
            rc_count_text(prompt, sizeof prompt, RC_NOMINAL_PROMPT_TOKENS_PER_S),
            rc_count_text(answer, sizeof answer, RC_NOMINAL_OUTPUT_TOKENS_PER_S));
}

rc_status rc_describe_trace(const rc_trace_question *question, FILE *out, rc_format format, rc_problems *problems) {
    rc_arena *arena = rc_arena_new();
    rc_trace trace;
    subject about;
    if (get_trace(question, &about, arena, &trace, problems)) {
        rc_whole_file whole;
        if (question->out_file && rc_whole_file_open(&whole, question->out_file, problems)) {
            rc_trace_write(whole.out, &trace);
            rc_whole_file_close(&whole, true, problems);
        }
        if (rc_problems_count(problems) == 0) {
            print_trace(out, question->name, &trace, format);
            if (about.nominal && format != RC_JSON)
                print_speeds(out);
        }
        rc_trace_free(&trace);
    }
    rc_arena_free(arena);
    return rc_problems_status(problems);
}
