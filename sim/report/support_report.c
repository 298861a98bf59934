/* SPDX-License-Identifier: GPL-3.0-or-later
 * Where the numbers of a forecast come from: model x chip x stack. */
#include "answer_json.h"
#include "stack.h"
#include "table.h"
#include <math.h>

static void print_json(FILE *out, const rc_support_result *r) {
    cJSON *answer = cJSON_CreateObject();
    rc_json_add_number(answer, "batch", r->batch);
    rc_json_add_number(answer, "context", r->context);
    cJSON *list = rc_json_add_array(answer, "support");
    for (size_t i = 0; i < r->rows_count; i++) {
        const rc_supported *row = &r->rows[i];
        cJSON *entry = cJSON_CreateObject();
        rc_json_add_text(entry, "model", row->model);
        rc_json_add_text(entry, "accelerator", row->accelerator);
        rc_json_add_text(entry, "stack", row->stack);
        rc_json_add_number(entry, "gpus", row->gpus);
        rc_json_add_bool(entry, "explained", row->explained);
        for (int word = 0; word < RC_PROVENANCES && row->explained; word++)
            rc_json_add_number(entry, rc_provenance_names[word], row->shares[word]);
        if (!row->explained)
            rc_json_add_text(entry, "reason", row->reason.text);
        cJSON_AddItemToArray(list, entry);
    }
    rc_json_print(out, answer);
}

static void print_csv(FILE *out, const rc_support_result *r) {
    fprintf(out, "model,accelerator,stack,gpus,measured,fitted,transferred,assumed,reason\n");
    for (size_t i = 0; i < r->rows_count; i++) {
        const rc_supported *row = &r->rows[i];
        fprintf(out, "%s,%s,%s", row->model, row->accelerator, row->stack);
        rc_print_csv_number(out, row->gpus);
        for (int word = 0; word < RC_PROVENANCES; word++)
            rc_print_csv_number(out, row->explained ? row->shares[word] : NAN);
        fprintf(out, ",");
        rc_print_csv_cell(out, row->explained ? "" : row->reason.text);
        fprintf(out, "\n");
    }
}

static void print_text(FILE *out, const rc_support_result *r, bool markdown) {
    const char *bar = markdown ? "| " : "", *between = markdown ? " | " : "  ", *end = markdown ? " |" : "";
    fprintf(out, "%s%-20s%s%-24s%s%5s%s%8s%s%8s%s%11s%s%8s%s\n", bar, "model", between, "stack", between, "GPUs",
            between, rc_provenance_names[0], between, rc_provenance_names[1], between, rc_provenance_names[2], between,
            rc_provenance_names[3], end);
    if (markdown)
        fprintf(out, "|---|---|--:|--:|--:|--:|--:|\n");
    for (size_t i = 0; i < r->rows_count; i++) {
        const rc_supported *row = &r->rows[i];
        const double *s = row->shares;
        fprintf(out, "%s%-20s%s%-24s%s%5.0f%s", bar, row->model, between, row->stack, between, row->gpus, between);
        if (row->explained)
            fprintf(out, "%6.0f %%%s%6.0f %%%s%9.0f %%%s%6.0f %%%s\n", 100 * s[0], between, 100 * s[1], between,
                    100 * s[2], between, 100 * s[3], end);
        else
            fprintf(out, "%s%s\n", row->reason.text, markdown ? " | | | |" : "");
    }
    fprintf(out,
            "\nShares of the time of a decode step, %.0f sequences of %.0f tokens, on the smallest count that fits: "
            "where its\n"
            "parameters come from.  A part of a step counts as the weakest of its kernels.\n",
            r->batch, r->context);
}

rc_status rc_print_support(FILE *out, const rc_support_result *r, rc_format format) {
    if (format == RC_JSON)
        print_json(out, r);
    else if (format == RC_CSV)
        print_csv(out, r);
    else
        print_text(out, r, format == RC_MARKDOWN);
    return RC_OK;
}
