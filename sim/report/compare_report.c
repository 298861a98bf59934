/* SPDX-License-Identifier: GPL-3.0-or-later
 * Runs side by side: the best of each row is marked, and each rack gets the price at which it would cost as much a token
 * as the cheapest. */
#include "answer_json.h"
#include "money.h"
#include "table.h"
#include "text.h"
#include <math.h>

typedef struct row {
    const char *name, *key;
    double (*value)(const rc_run_result *);
    rc_unit unit; /* RC_UNIT_COUNT: a plain number */
    int better;   /* 1: more, -1: less, 0: neither */
} row;

static double output_of(const rc_run_result *r) {
    return r->output_tokens_per_s;
}
static double output_per_gpu_of(const rc_run_result *r) {
    return r->output_tokens_per_s / r->gpus;
}
static double total_of(const rc_run_result *r) {
    return r->total_tokens_per_s;
}
static double ttft_p50_of(const rc_run_result *r) {
    return r->ttft_s.p50;
}
static double ttft_p99_of(const rc_run_result *r) {
    return r->ttft_s.p99;
}
static double tpot_p50_of(const rc_run_result *r) {
    return r->tpot_s.p50;
}
static double tpot_p99_of(const rc_run_result *r) {
    return r->tpot_s.p99;
}
static double e2e_p50_of(const rc_run_result *r) {
    return r->e2e_s.p50;
}
static double price_of(const rc_run_result *r) {
    return r->usd_per_hour;
}
static double usd_output_of(const rc_run_result *r) {
    return r->usd_per_million_output;
}
static double per_usd_of(const rc_run_result *r) {
    return r->output_tokens_per_s_per_usd_hour;
}
static double ceiling_of(const rc_run_result *r) {
    return r->ceiling_output_tokens_per_s;
}
static double weights_of(const rc_run_result *r) {
    return r->fit.weights_bytes_per_gpu;
}
static double room_of(const rc_run_result *r) {
    return r->fit.kv_capacity_tokens;
}
static double goodput_of(const rc_run_result *r) {
    return r->goodput_per_s;
}

static const row rows[] = {
    {"output tokens/s", "output_tokens_per_s", output_of, RC_UNIT_COUNT, 1},
    {"  a GPU", "output_tokens_per_s_per_gpu", output_per_gpu_of, RC_UNIT_COUNT, 1},
    {"  ceiling", "ceiling_output_tokens_per_s", ceiling_of, RC_UNIT_COUNT, 0},
    {"total tokens/s", "total_tokens_per_s", total_of, RC_UNIT_COUNT, 1},
    {"TTFT p50", "ttft_p50_s", ttft_p50_of, RC_SECONDS, -1},
    {"TTFT p99", "ttft_p99_s", ttft_p99_of, RC_SECONDS, -1},
    {"TPOT p50", "tpot_p50_s", tpot_p50_of, RC_SECONDS, -1},
    {"TPOT p99", "tpot_p99_s", tpot_p99_of, RC_SECONDS, -1},
    {"E2E p50", "e2e_p50_s", e2e_p50_of, RC_SECONDS, -1},
    {"goodput requests/s", "goodput_per_s", goodput_of, RC_UNIT_COUNT, 1},
    {"weights a GPU", "weights_bytes_per_gpu", weights_of, RC_BYTES, 0},
    {"cache tokens a replica", "kv_capacity_tokens", room_of, RC_UNIT_COUNT, 1},
    {"price of the rack", "usd_per_hour", price_of, RC_USD_PER_HOUR, -1},
    {"$ a million output tokens", "usd_per_million_output", usd_output_of, RC_UNIT_COUNT, -1},
    {"output tokens/s per $/h", "output_tokens_per_s_per_usd_hour", per_usd_of, RC_UNIT_COUNT, 1},
};
enum { ROWS = sizeof rows / sizeof *rows };

static size_t best_of(const row *line, const rc_run_result *results, size_t count) {
    size_t best = count;
    for (size_t i = 0; i < count && line->better; i++) {
        double value = results[i].fits ? line->value(&results[i]) : NAN;
        bool better = !isnan(value) && (best == count || (line->better > 0 ? value > line->value(&results[best])
                                                                           : value < line->value(&results[best])));
        if (better)
            best = i;
    }
    return best;
}

/* The rack with the cheapest output token; `count` where no two have a price. */
static size_t cheapest_of(const rc_run_result *results, size_t count) {
    static const row price = {"", "", usd_output_of, RC_UNIT_COUNT, -1};
    return best_of(&price, results, count);
}

static double break_even_of(const rc_run_result *r, const rc_run_result *cheapest) {
    return rc_break_even_usd_per_hour(r->output_tokens_per_s, cheapest->usd_per_hour, cheapest->output_tokens_per_s) /
           r->gpus;
}

static void print_cell(rc_text_table *t, size_t column, const row *line, double value, bool best) {
    char text[48];
    if (line->unit == RC_UNIT_COUNT)
        rc_number_text(text, sizeof text, value);
    else
        rc_quantity_text(text, sizeof text, value, line->unit);
    rc_text_table_cell(t, column, "%s%s", text, best ? " *" : "  ");
}

static void print_break_even(rc_text_table *t, const rc_run_result *results, size_t count) {
    size_t cheapest = cheapest_of(results, count);
    if (cheapest == count)
        return;
    rc_text_table_row(t);
    rc_text_table_cell(t, 0, "break-even price a GPU");
    for (size_t i = 0; i < count; i++)
        if (!results[i].fits)
            rc_text_table_cell(t, i + 1, "-  ");
        else if (i == cheapest)
            rc_text_table_cell(t, i + 1, "cheapest  ");
        else
            rc_text_table_cell(t, i + 1, "$%.2f/h  ", break_even_of(&results[i], &results[cheapest]));
}

static cJSON *compare_json(const rc_run_result *results, size_t count) {
    cJSON *answer = cJSON_CreateObject(), *list = rc_json_add_array(answer, "scenarios");
    size_t cheapest = cheapest_of(results, count);
    for (size_t i = 0; i < count; i++) {
        const rc_run_result *r = &results[i];
        cJSON *entry = r->fits ? cJSON_CreateObject() : rc_fit_json(&r->fit);
        cJSON_AddItemToArray(list, entry);
        if (!r->fits)
            continue;
        rc_json_add_text(entry, "title", r->title.text);
        rc_json_add_bool(entry, "fits", true);
        rc_json_add_text(entry, "hardware", r->hardware.text);
        rc_json_add_text(entry, "stack", r->stack.text);
        for (size_t line = 0; line < ROWS; line++)
            rc_json_add_number(entry, rows[line].key, rows[line].value(r));
        rc_add_range(entry, "interval_output_tokens_per_s", &r->interval_output_tokens_per_s);
        rc_json_add_text(entry, "interval_provenance", r->interval_provenance);
        rc_json_add_number(entry, "break_even_usd_per_gpu_hour",
                           cheapest < count ? break_even_of(r, &results[cheapest]) : NAN);
        rc_json_add_bool(entry, "stationary", r->stationary);
        rc_json_add_text(entry, "fingerprint", r->fingerprint);
    }
    return answer;
}

static void print_csv(FILE *out, const rc_run_result *results, size_t count) {
    size_t cheapest = cheapest_of(results, count);
    fprintf(out, "title,hardware,fits");
    for (size_t line = 0; line < ROWS; line++)
        fprintf(out, ",%s", rows[line].key);
    fprintf(out, ",break_even_usd_per_gpu_hour\n");
    for (size_t i = 0; i < count; i++) {
        const rc_run_result *r = &results[i];
        rc_print_csv_cell(out, r->title.text);
        fputc(',', out);
        rc_print_csv_cell(out, r->hardware.text);
        fprintf(out, ",%s", r->fits ? "true" : "false");
        for (size_t line = 0; line < ROWS; line++)
            rc_print_csv_number(out, r->fits ? rows[line].value(r) : NAN);
        rc_print_csv_number(out, r->fits && cheapest < count ? break_even_of(r, &results[cheapest]) : NAN);
        fputc('\n', out);
    }
}

static void print_table(FILE *out, const rc_run_result *results, size_t count, rc_format format) {
    rc_text_table *t = rc_text_table_new(count + 1);
    for (size_t i = 0; i < count; i++)
        rc_text_table_cell(t, i + 1, "%s  ", results[i].hardware.text);
    for (size_t line = 0; line < ROWS; line++) {
        size_t best = best_of(&rows[line], results, count);
        rc_text_table_row(t);
        rc_text_table_cell(t, 0, "%s", rows[line].name);
        for (size_t i = 0; i < count; i++)
            if (results[i].fits)
                print_cell(t, i + 1, &rows[line], rows[line].value(&results[i]), i == best && count > 1);
            else
                rc_text_table_cell(t, i + 1, line == 0 ? "does not fit  " : "-  ");
    }
    print_break_even(t, results, count);
    rc_text_table_print(t, out, format);
}

rc_status rc_print_compare(FILE *out, const rc_run_result *results, size_t count, rc_format format) {
    if (format == RC_JSON) {
        rc_json_print(out, compare_json(results, count));
        return RC_OK;
    }
    if (format == RC_CSV) {
        print_csv(out, results, count);
        return RC_OK;
    }
    print_table(out, results, count, format);
    fprintf(
        out,
        "\n* best of its row.  Break-even: the price at which a rack's output token costs what the cheapest's does.\n");
    for (size_t i = 0; i < count; i++) {
        const rc_run_result *r = &results[i];
        char a[40], b[40];
        if (r->fits)
            fprintf(out, "%s: %s; %s to %s output tokens/s (%s)\n", r->title.text, r->load.text,
                    rc_number_text(a, sizeof a, r->interval_output_tokens_per_s.low),
                    rc_number_text(b, sizeof b, r->interval_output_tokens_per_s.high), r->interval_provenance);
        for (size_t reason = 0; reason < r->fit.reasons_count; reason++)
            fprintf(out, "%s: %s\n", r->fit.title.text, r->fit.reasons[reason].text);
    }
    return RC_OK;
}
