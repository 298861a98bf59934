/* SPDX-License-Identifier: GPL-3.0-or-later
 * Predicted against measured: by group on the screen, row by row in JSON and CSV. */
#include "answer_json.h"
#include "table.h"
#include "text.h"
#include <math.h>
#include <string.h>

static void row_json(cJSON *list, const rc_validated_row *r) {
    cJSON *entry = cJSON_CreateObject();
    rc_json_add_number(entry, "row", (double)r->row);
    rc_json_add_text(entry, "case", r->case_name);
    rc_json_add_text(entry, "metric", r->metric);
    rc_json_add_number(entry, "measured", r->measured);
    rc_json_add_number(entry, "predicted", r->predicted);
    rc_json_add_number(entry, "error", r->error);
    rc_json_add_bool(entry, "inside", r->inside);
    rc_json_add_text(entry, "group", r->group);
    rc_json_add_text(entry, "skipped", r->skipped);
    cJSON_AddItemToArray(list, entry);
}

static void group_json(cJSON *list, const rc_validated_group *g) {
    cJSON *entry = cJSON_CreateObject();
    rc_json_add_text(entry, "group", g->group);
    rc_json_add_text(entry, "metric", g->metric);
    rc_json_add_number(entry, "n", g->n);
    rc_json_add_number(entry, "skipped", g->skipped);
    rc_json_add_number(entry, "median_abs_error", g->median_abs_error);
    rc_json_add_number(entry, "p90_abs_error", g->p90_abs_error);
    rc_json_add_number(entry, "bias", g->bias);
    rc_json_add_number(entry, "rank_correlation", g->rank_correlation);
    rc_json_add_number(entry, "coverage", g->coverage);
    rc_json_add_number(entry, "floor", g->floor);
    rc_json_add_number(entry, "floor_rows", g->floor_rows);
    cJSON_AddItemToArray(list, entry);
}

static void share_cell(rc_text_table *t, size_t column, double share) {
    if (isnan(share))
        rc_text_table_cell(t, column, "-");
    else
        rc_text_table_cell(t, column, "%.1f %%", 100 * share);
}

static void print_groups(FILE *out, const rc_validate_result *r, rc_format format) {
    const char *const header[] = {"group",     "metric", "rows",       "skipped",     "median error",
                                  "p90 error", "bias",   "rank corr.", "in interval", "floor"};
    rc_text_table *t = rc_text_table_new(10);
    for (size_t i = 0; i < 10; i++)
        rc_text_table_cell(t, i, "%s", header[i]);
    for (size_t i = 0; i < r->groups_count; i++) {
        const rc_validated_group *g = &r->groups[i];
        rc_text_table_row(t);
        rc_text_table_cell(t, 0, "%s", g->group);
        rc_text_table_cell(t, 1, "%s", g->metric);
        rc_text_table_cell(t, 2, "%.0f", g->n);
        rc_text_table_cell(t, 3, "%.0f", g->skipped);
        share_cell(t, 4, g->median_abs_error);
        share_cell(t, 5, g->p90_abs_error);
        share_cell(t, 6, g->bias);
        if (isnan(g->rank_correlation))
            rc_text_table_cell(t, 7, "-");
        else
            rc_text_table_cell(t, 7, "%.2f", g->rank_correlation);
        share_cell(t, 8, g->coverage);
        share_cell(t, 9, g->floor);
    }
    rc_text_table_print(t, out, format);
}

/* Reasons for skipping, most frequent first. */
static void print_skipped(FILE *out, const rc_validate_result *r) {
    enum { REASONS_SHOWN = 12 };
    size_t skipped = 0, shown = 0;
    for (size_t i = 0; i < r->rows_count; i++)
        skipped += r->rows[i].skipped[0] != 0;
    size_t told = r->rows_count - skipped;
    double share = r->rows_count ? 100. * (double)told / (double)r->rows_count : 0;
    if (r->kernels)
        fprintf(out,
                "\n%zu measured calls, %zu told by a stack (%.0f %%); %.0f rows of other kernels or makers left out\n",
                r->rows_count, told, share, r->ignored);
    else
        fprintf(out, "\n%zu rows, %zu played in %.0f runs (%.0f %%)\n", r->rows_count, told, r->runs, share);
    if (r->recipe_rows > 0)
        fprintf(out, "  %4.0f with engine options of the recipe they were measured by\n", r->recipe_rows);
    for (size_t i = 0; i < r->rows_count && shown < REASONS_SHOWN; i++) {
        const char *reason = r->rows[i].skipped;
        size_t before = 0, same = 0;
        for (size_t j = 0; j < r->rows_count && reason[0]; j++) {
            before += j < i && strcmp(r->rows[j].skipped, reason) == 0;
            same += strcmp(r->rows[j].skipped, reason) == 0;
        }
        if (reason[0] && before == 0) {
            fprintf(out, "  %4zu not %s: %s\n", same, r->kernels ? "told" : "played", reason);
            shown++;
        }
    }
}

static void print_csv(FILE *out, const rc_validate_result *r) {
    fprintf(out, "row,group,case,metric,measured,predicted,error,inside,skipped\n");
    for (size_t i = 0; i < r->rows_count; i++) {
        const rc_validated_row *row = &r->rows[i];
        fprintf(out, "%ld,", row->row);
        rc_print_csv_cell(out, row->group);
        fputc(',', out);
        rc_print_csv_cell(out, row->case_name);
        fputc(',', out);
        rc_print_csv_cell(out, row->metric);
        rc_print_csv_number(out, row->measured);
        rc_print_csv_number(out, row->predicted);
        rc_print_csv_number(out, row->error);
        fprintf(out, ",%s,", row->inside ? "true" : "false");
        rc_print_csv_cell(out, row->skipped);
        fputc('\n', out);
    }
}

rc_status rc_print_validate(FILE *out, const rc_validate_result *r, rc_format format) {
    if (format == RC_JSON) {
        cJSON *answer = cJSON_CreateObject(), *rows = rc_json_add_array(answer, "rows");
        for (size_t i = 0; i < r->rows_count; i++)
            row_json(rows, &r->rows[i]);
        cJSON *groups = rc_json_add_array(answer, "groups");
        for (size_t i = 0; i < r->groups_count; i++)
            group_json(groups, &r->groups[i]);
        rc_json_print(out, answer);
    } else if (format == RC_CSV)
        print_csv(out, r);
    else {
        print_groups(out, r, format);
        print_skipped(out, r);
    }
    return RC_OK;
}
