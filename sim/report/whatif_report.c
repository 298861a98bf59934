/* SPDX-License-Identifier: GPL-3.0-or-later
 * One line a value, how strongly each figure follows, and what moved. */
#include "answer_json.h"
#include "table.h"
#include "text.h"
#include <math.h>
#include <string.h>

static const rc_run_result *as_it_is(const rc_whatif_result *r) {
    for (size_t i = 0; i < r->rows_count; i++)
        if (r->rows[i].as_it_is && r->rows[i].run.fits)
            return &r->rows[i].run;
    return NULL;
}

static const char *bound_of(const rc_run_result *run) {
    int most = 0;
    for (int i = 1; i < RC_TIME_COUNT; i++)
        most = run->breakdown[i] > run->breakdown[most] ? i : most;
    return rc_breakdown_name(run, most);
}

static cJSON *row_json(const rc_whatif_row *row) {
    const rc_run_result *run = &row->run;
    cJSON *entry = run->fits ? cJSON_CreateObject() : rc_fit_json(&run->fit);
    rc_json_add_text(entry, "value", row->value.text);
    rc_json_add_number(entry, "number", row->number);
    rc_json_add_bool(entry, "as_it_is", row->as_it_is);
    if (!run->fits)
        return entry;
    rc_json_add_bool(entry, "fits", true);
    rc_json_add_number(entry, "output_tokens_per_s", run->output_tokens_per_s);
    rc_json_add_number(entry, "total_tokens_per_s", run->total_tokens_per_s);
    rc_json_add_number(entry, "ttft_mean_s", run->ttft_s.mean);
    rc_json_add_number(entry, "ttft_p99_s", run->ttft_s.p99);
    rc_json_add_number(entry, "tpot_mean_s", run->tpot_s.mean);
    rc_json_add_number(entry, "tpot_p99_s", run->tpot_s.p99);
    rc_json_add_number(entry, "usd_per_million_output", run->usd_per_million_output);
    rc_json_add_number(entry, "concurrency_mean", run->concurrency_mean);
    rc_json_add_number(entry, "kv_capacity_tokens", run->fit.kv_capacity_tokens);
    rc_json_add_bool(entry, "stationary", run->stationary);
    rc_json_add_text(entry, "bound", bound_of(run));
    rc_json_add_text(entry, "fingerprint", run->fingerprint);
    cJSON *step = rc_json_add_object(entry, "decode_step");
    rc_json_add_number(step, "batch", row->why.batch);
    rc_json_add_number(step, "context", row->why.context);
    rc_json_add_number(step, "seconds", row->why.step_s);
    cJSON *parts = rc_json_add_object(step, "parts_s");
    for (size_t i = 0; i < row->why.parts_count; i++)
        rc_json_add_number(parts, row->why.parts[i].family, row->why.parts[i].seconds);
    cJSON *prompt = rc_json_add_object(entry, "prompt");
    rc_json_add_number(prompt, "tokens", row->why.prompt);
    rc_json_add_number(prompt, "seconds", row->why.prefill_s);
    parts = rc_json_add_object(prompt, "parts_s");
    for (size_t i = 0; i < row->why.prefill_parts_count; i++)
        rc_json_add_number(parts, row->why.prefill_parts[i].family, row->why.prefill_parts[i].seconds);
    return entry;
}

static void print_json(FILE *out, const rc_whatif_result *r) {
    cJSON *answer = cJSON_CreateObject();
    rc_json_add_text(answer, "path", r->path);
    cJSON *list = rc_json_add_array(answer, "values");
    for (size_t i = 0; i < r->rows_count; i++)
        cJSON_AddItemToArray(list, row_json(&r->rows[i]));
    cJSON *elasticity = rc_json_add_object(answer, "elasticity");
    rc_json_add_number(elasticity, "output_tokens_per_s", r->elasticity.output_tokens_per_s);
    rc_json_add_number(elasticity, "ttft_mean_s", r->elasticity.ttft);
    rc_json_add_number(elasticity, "tpot_mean_s", r->elasticity.tpot);
    rc_json_add_number(elasticity, "usd_per_million_output", r->elasticity.usd_per_million_output);
    rc_json_add_text(answer, "sentence", r->sentence);
    rc_json_print(out, answer);
}

static void seconds_cell(rc_text_table *t, size_t column, double seconds) {
    char text[40];
    rc_text_table_cell(t, column, "%s", rc_quantity_text(text, sizeof text, seconds, RC_SECONDS));
}

static void number_cell(rc_text_table *t, size_t column, double value) {
    char text[40];
    rc_text_table_cell(t, column, "%s", isnan(value) ? "-" : rc_number_text(text, sizeof text, value));
}

static void print_table(FILE *out, const rc_whatif_result *r, rc_format format) {
    static const char *const header[] = {"",     "output tokens/s", "change",       "TTFT",         "TPOT",
                                         "step", "running",         "$ a M output", "cache tokens", "mostly"};
    enum { COLUMNS = sizeof header / sizeof *header };
    const rc_run_result *base = as_it_is(r);
    rc_text_table *t = rc_text_table_new(COLUMNS);
    rc_text_table_cell(t, 0, "%s", r->path);
    for (size_t i = 1; i < COLUMNS; i++)
        rc_text_table_cell(t, i, "%s", header[i]);
    for (size_t i = 0; i < r->rows_count; i++) {
        const rc_run_result *run = &r->rows[i].run;
        rc_text_table_row(t);
        rc_text_table_cell(t, 0, "%s%s%s", r->rows[i].value.text, r->rows[i].as_it_is ? " (as it is)" : "",
                           run->fits && !run->stationary ? " OVERLOAD" : "");
        for (size_t c = 1; c < COLUMNS && !run->fits; c++)
            rc_text_table_cell(t, c, c == 1 ? "does not fit" : "-");
        if (!run->fits)
            continue;
        number_cell(t, 1, run->output_tokens_per_s);
        rc_text_table_cell(t, 2, "-");
        if (base && base != run)
            rc_text_table_cell(t, 2, "%+.1f %%", 100 * (run->output_tokens_per_s / base->output_tokens_per_s - 1));
        seconds_cell(t, 3, run->ttft_s.mean);
        seconds_cell(t, 4, run->tpot_s.mean);
        seconds_cell(t, 5, r->rows[i].why.step_s);
        number_cell(t, 6, run->concurrency_mean);
        number_cell(t, 7, run->usd_per_million_output);
        number_cell(t, 8, run->fit.kv_capacity_tokens);
        rc_text_table_cell(t, 9, "%s", bound_of(run));
    }
    if (!isnan(r->elasticity.output_tokens_per_s)) {
        const rc_elasticity *e = &r->elasticity;
        const double slopes[COLUMNS] = {NAN, e->output_tokens_per_s,    NAN, e->ttft, e->tpot, NAN,
                                        NAN, e->usd_per_million_output, NAN, NAN};
        rc_text_table_row(t);
        rc_text_table_cell(t, 0, "elasticity");
        for (size_t c = 1; c < COLUMNS; c++)
            if (isnan(slopes[c]))
                rc_text_table_cell(t, c, "-");
            else
                rc_text_table_cell(t, c, "%+.3f", slopes[c]);
    }
    rc_text_table_print(t, out, format);
}

static void print_csv(FILE *out, const rc_whatif_result *r) {
    fprintf(out, "value,number,as_it_is,fits,output_tokens_per_s,total_tokens_per_s,ttft_mean_s,tpot_mean_s,"
                 "decode_step_s,concurrency_mean,usd_per_million_output,kv_capacity_tokens\n");
    for (size_t i = 0; i < r->rows_count; i++) {
        const rc_whatif_row *row = &r->rows[i];
        const rc_run_result *run = &row->run;
        const double figures[] = {run->output_tokens_per_s,
                                  run->total_tokens_per_s,
                                  run->ttft_s.mean,
                                  run->tpot_s.mean,
                                  row->why.step_s,
                                  run->concurrency_mean,
                                  run->usd_per_million_output,
                                  run->fit.kv_capacity_tokens};
        rc_print_csv_cell(out, row->value.text);
        rc_print_csv_number(out, row->number);
        fprintf(out, ",%s,%s", row->as_it_is ? "true" : "false", run->fits ? "true" : "false");
        for (size_t c = 0; c < sizeof figures / sizeof *figures; c++)
            rc_print_csv_number(out, run->fits ? figures[c] : NAN);
        fputc('\n', out);
    }
}

static bool overloaded(const rc_whatif_result *r) {
    for (size_t i = 0; i < r->rows_count; i++)
        if (r->rows[i].run.fits && !r->rows[i].run.stationary)
            return true;
    return false;
}

rc_status rc_print_whatif(FILE *out, const rc_whatif_result *r, rc_format format) {
    if (format == RC_JSON) {
        print_json(out, r);
        return RC_OK;
    }
    if (format == RC_CSV) {
        print_csv(out, r);
        return RC_OK;
    }
    print_table(out, r, format);
    fprintf(out, "\n%s\n", r->sentence);
    if (!isnan(r->elasticity.output_tokens_per_s))
        fprintf(out, "elasticity: how many per cent a figure changes where the value changes by one\n");
    if (overloaded(r))
        fprintf(out, "OVERLOAD: the queue grows for as long as the load lasts, and latencies with it\n");
    for (size_t i = 0; i < r->rows_count; i++)
        for (size_t reason = 0; reason < r->rows[i].run.fit.reasons_count; reason++)
            fprintf(out, "%s: %s\n", r->rows[i].value.text, r->rows[i].run.fit.reasons[reason].text);
    return RC_OK;
}
