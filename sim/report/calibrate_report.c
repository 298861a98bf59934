/* SPDX-License-Identifier: GPL-3.0-or-later
 * What was fitted, how well it does on rows that were held out, and what its few numbers could not explain. */
#include "answer_json.h"
#include "table.h"
#include "text.h"
#include <math.h>

static void family_json(cJSON *list, const rc_calibrated_family *f) {
    cJSON *entry = cJSON_CreateObject();
    rc_json_add_text(entry, "family", f->family);
    rc_json_add_text(entry, "code", f->code);
    rc_json_add_bool(entry, "in_stack", f->in_stack);
    rc_json_add_number(entry, "samples", f->fitted + f->held_out);
    rc_json_add_number(entry, "held_out", f->held_out);
    rc_json_add_number(entry, "launch_s", f->launch_s);
    rc_json_add_number(entry, "memory_efficiency", f->memory_efficiency);
    rc_json_add_number(entry, "compute_efficiency", f->compute_efficiency);
    rc_json_add_number(entry, "sharpness", f->sharpness);
    rc_json_add_number(entry, "unit_time_s", f->unit_time_s);
    rc_json_add_number(entry, "group_time_s", f->group_time_s);
    rc_json_add_number(entry, "depth_time_s", f->depth_time_s);
    rc_json_add_number(entry, "tile", f->tile);
    rc_json_add_number(entry, "token_tile", f->token_tile);
    rc_json_add_bool(entry, "packs_heads", f->packs_heads);
    rc_json_add_text(entry, "curves", f->curves);
    rc_json_add_number(entry, "median_error", f->median_error);
    rc_json_add_number(entry, "p90_error", f->p90_error);
    rc_json_add_number(entry, "fitted_median_error", f->fitted_median);
    rc_json_add_number(entry, "fitted_p90_error", f->fitted_p90);
    rc_json_add_number(entry, "floor_median_error", f->floor_median);
    rc_json_add_number(entry, "floor_p90_error", f->floor_p90);
    rc_json_add_number(entry, "falls", f->falls);
    rc_json_add_bool(entry, "explained", f->explained);
    cJSON_AddItemToArray(list, entry);
}

/* A time of a term, or a dash where the family has none. */
static void term(rc_text_table *t, size_t column, double seconds) {
    char text[40];
    rc_text_table_cell(t, column, "%s", seconds > 0 ? rc_quantity_text(text, sizeof text, seconds, RC_SECONDS) : "-");
}

/* A number of the kernel formula, or a dash where a family has none (messages). */
static void number(rc_text_table *t, size_t column, int digits, double value) {
    if (value > 0)
        rc_text_table_cell(t, column, "%.*f", digits, value);
    else
        rc_text_table_cell(t, column, "-");
}

static void print_families(FILE *out, const rc_calibrate_result *r, rc_format format) {
    static const char *const header[] = {"family", "rows",    "launch",  "memory",       "compute", "p",
                                         "a unit", "a group", "a depth", "tiles",        "fitted",  "held out",
                                         "p90",    "floor",   "falls",   "curves along", "kernel"};
    enum { COLUMNS = sizeof header / sizeof *header };
    rc_text_table *t = rc_text_table_new(COLUMNS);
    for (size_t i = 0; i < COLUMNS; i++)
        rc_text_table_cell(t, i, "%s", header[i]);
    for (size_t i = 0; i < r->families_count; i++) {
        const rc_calibrated_family *f = &r->families[i];
        char tokens[40] = "";
        if (f->token_tile > 1)
            snprintf(tokens, sizeof tokens, " x %.0f%s", f->token_tile, f->packs_heads ? " packed" : "");
        rc_text_table_row(t);
        rc_text_table_cell(t, 0, "%s%s", f->family, f->explained ? "" : " (!)");
        rc_text_table_cell(t, 1, "%.0f", f->fitted + f->held_out);
        term(t, 2, f->launch_s);
        number(t, 3, 3, f->memory_efficiency);
        number(t, 4, 3, f->compute_efficiency);
        number(t, 5, 2, f->sharpness);
        term(t, 6, f->unit_time_s);
        term(t, 7, f->group_time_s);
        term(t, 8, f->depth_time_s);
        if (f->tile > 0)
            rc_text_table_cell(t, 9, "%.0f%s", f->tile, tokens);
        rc_text_table_cell(t, 10, "%.1f %%", 100 * f->fitted_median);
        rc_text_table_cell(t, 11, "%.1f %%", 100 * f->median_error);
        rc_text_table_cell(t, 12, "%.1f %%", 100 * f->p90_error);
        if (isnan(f->floor_median))
            rc_text_table_cell(t, 13, "-");
        else
            rc_text_table_cell(t, 13, "%.1f, %.0f %%", 100 * f->floor_median, 100 * f->floor_p90);
        rc_text_table_cell(t, 14, "%.1f %%", 100 * f->falls);
        rc_text_table_cell(t, 15, "%s", f->curves[0] ? f->curves : "-");
        rc_text_table_cell(t, 16, "%s%s", f->in_stack ? "" : "not in the stack: ", f->code);
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
        "fitted, held out: median errors of the rows that were fitted and of the third of the shapes that was not, "
        "p90\n"
        "of the latter.  floor: both, had they been told from the nearest shapes that were fitted.  falls: neighbours\n"
        "where the time falls by 5 %% or more though the work grows, where a library switched kernels.  curves along:\n"
        "axes of the shape with factors of their own, found in what the other numbers leave.  (!): more than 10 %% in\n"
        "the median or 30 %% at the 90th percentile, which these numbers do not explain.  Of several kernels of a "
        "family\n"
        "the stack takes the one with the most rows, or the one asked for.\n");
    return RC_OK;
}
