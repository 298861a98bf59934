/* SPDX-License-Identifier: GPL-3.0-or-later
 * What was fitted, how well it does on rows that were held out, and what its few numbers could not explain. */
#include "answer_json.h"
#include "table.h"
#include "text.h"

static void family_json(cJSON *list, const rc_calibrated_family *f) {
    cJSON *entry = cJSON_CreateObject();
    rc_json_add_text(entry, "family", f->family);
    rc_json_add_number(entry, "samples", f->fitted + f->held_out);
    rc_json_add_number(entry, "held_out", f->held_out);
    rc_json_add_number(entry, "launch_s", f->launch_s);
    rc_json_add_number(entry, "memory_efficiency", f->memory_efficiency);
    rc_json_add_number(entry, "compute_efficiency", f->compute_efficiency);
    rc_json_add_number(entry, "sharpness", f->sharpness);
    rc_json_add_number(entry, "unit_time_s", f->unit_time_s);
    rc_json_add_number(entry, "group_time_s", f->group_time_s);
    rc_json_add_number(entry, "tile", f->tile);
    rc_json_add_number(entry, "median_error", f->median_error);
    rc_json_add_number(entry, "p90_error", f->p90_error);
    rc_json_add_number(entry, "falls", f->falls);
    rc_json_add_bool(entry, "explained", f->explained);
    cJSON_AddItemToArray(list, entry);
}

static void print_families(FILE *out, const rc_calibrate_result *r, rc_format format) {
    enum { COLUMNS = 12 };
    const char *const header[] = {"family", "rows",    "launch", "memory", "compute", "p",
                                  "a unit", "a group", "tile",   "median", "p90",     "falls"};
    rc_text_table *t = rc_text_table_new(COLUMNS);
    char a[40];
    for (size_t i = 0; i < COLUMNS; i++)
        rc_text_table_cell(t, i, "%s", header[i]);
    for (size_t i = 0; i < r->families_count; i++) {
        const rc_calibrated_family *f = &r->families[i];
        rc_text_table_row(t);
        rc_text_table_cell(t, 0, "%s%s", f->family, f->explained ? "" : " (!)");
        rc_text_table_cell(t, 1, "%.0f", f->fitted + f->held_out);
        rc_text_table_cell(t, 2, "%s", rc_quantity_text(a, sizeof a, f->launch_s, RC_SECONDS));
        rc_text_table_cell(t, 3, "%.3f", f->memory_efficiency);
        rc_text_table_cell(t, 4, "%.3f", f->compute_efficiency);
        rc_text_table_cell(t, 5, "%.2f", f->sharpness);
        rc_text_table_cell(t, 6, "%s",
                           f->unit_time_s > 0 ? rc_quantity_text(a, sizeof a, f->unit_time_s, RC_SECONDS) : "-");
        rc_text_table_cell(t, 7, "%s",
                           f->group_time_s > 0 ? rc_quantity_text(a, sizeof a, f->group_time_s, RC_SECONDS) : "-");
        rc_text_table_cell(t, 8, "%.0f", f->tile);
        rc_text_table_cell(t, 9, "%.1f %%", 100 * f->median_error);
        rc_text_table_cell(t, 10, "%.1f %%", 100 * f->p90_error);
        rc_text_table_cell(t, 11, "%.1f %%", 100 * f->falls);
    }
    rc_text_table_print(t, out, format);
}

rc_status rc_print_calibrate(FILE *out, const rc_calibrate_result *r, rc_format format) {
    if (format == RC_JSON) {
        cJSON *answer = cJSON_CreateObject();
        rc_json_add_number(answer, "rows", r->rows);
        rc_json_add_number(answer, "ignored", r->ignored);
        rc_json_add_number(answer, "duplicates", r->duplicates);
        cJSON *list = rc_json_add_array(answer, "families");
        for (size_t i = 0; i < r->families_count; i++)
            family_json(list, &r->families[i]);
        rc_json_print(out, answer);
        return RC_OK;
    }
    print_families(out, r, format);
    fprintf(out, "\n%.0f rows used, %.0f of other systems, engines or kernels left out\n", r->rows, r->ignored);
    if (r->duplicates > 0)
        fprintf(out, "%.0f rows have the shape of another and another time: both are kept\n", r->duplicates);
    fprintf(
        out,
        "Errors are those of the third of the shapes that was held out.  falls: neighbours where the time falls by\n"
        "5 %% or more though the work grows, where a library switched kernels.  (!): more than 10 %% in the median or\n"
        "30 %% at the 90th percentile, which these numbers do not explain.\n");
    return RC_OK;
}
