/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "answer_json.h"

void rc_add_texts(cJSON *object, const char *key, const rc_text *texts, size_t count) {
    cJSON *list = rc_json_add_array(object, key);
    for (size_t i = 0; i < count; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(texts[i].text));
}

void rc_add_percentiles(cJSON *object, const char *key, const rc_percentiles *p) {
    cJSON *entry = rc_json_add_object(object, key);
    rc_json_add_number(entry, "mean", p->mean);
    rc_json_add_number(entry, "p50", p->p50);
    rc_json_add_number(entry, "p90", p->p90);
    rc_json_add_number(entry, "p95", p->p95);
    rc_json_add_number(entry, "p99", p->p99);
    rc_json_add_number(entry, "count", p->count);
}

void rc_add_range(cJSON *object, const char *key, const rc_range *range) {
    cJSON *list = rc_json_add_array(object, key);
    cJSON_AddItemToArray(list, cJSON_CreateNumber(range->low));
    cJSON_AddItemToArray(list, cJSON_CreateNumber(range->high));
}

void rc_print_texts(FILE *out, const char *heading, const rc_text *texts, size_t count) {
    if (count)
        fprintf(out, "\n%s\n", heading);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "  %s\n", texts[i].text);
}

static void problem_json(cJSON *object, const rc_problem *p) {
    rc_json_add_text(object, "status", rc_status_name(p->status));
    rc_json_add_text(object, "file", p->file);
    rc_json_add_text(object, "path", p->path);
    rc_json_add_number(object, "line", (double)p->line);
    rc_json_add_text(object, "found", p->found);
    rc_json_add_text(object, "expected", p->expected);
    rc_json_add_text(object, "message", p->message);
}

void rc_print_problems_json(FILE *out, const rc_problems *problems) {
    cJSON *answer = cJSON_CreateObject(), *first = rc_json_add_object(answer, "error");
    if (rc_problems_count(problems))
        problem_json(first, rc_problems_at(problems, 0));
    cJSON *all = rc_json_add_array(answer, "all");
    for (size_t i = 0; i < rc_problems_count(problems); i++) {
        cJSON *entry = cJSON_CreateObject();
        problem_json(entry, rc_problems_at(problems, i));
        cJSON_AddItemToArray(all, entry);
    }
    rc_json_print(out, answer);
}

void rc_print_problems(FILE *out, const rc_problems *problems) {
    for (size_t i = 0; i < rc_problems_count(problems); i++) {
        const rc_problem *p = rc_problems_at(problems, i);
        fprintf(out, "error: ");
        if (p->file[0])
            fprintf(out, "%s: ", p->file);
        if (p->line > 0)
            fprintf(out, "line %ld: ", p->line);
        if (p->path[0])
            fprintf(out, "%s: ", p->path);
        fprintf(out, "%s", p->message);
        if (p->found[0])
            fprintf(out, "\n  found:    %s", p->found);
        if (p->expected[0])
            fprintf(out, "\n  expected: %s", p->expected);
        fputc('\n', out);
    }
    for (size_t i = 0; i < rc_notes_count(problems); i++)
        fprintf(out, "note: %s\n", rc_notes_at(problems, i));
}

const char *rc_breakdown_name(const rc_run_result *r, int part) {
    static const char *const names[] = {
#define RC_X(name, text) text,
        RC_BREAKDOWN_LIST(RC_X)
#undef RC_X
    };
    bool link = part == RC_TIME_LINK_INNER || part == RC_TIME_LINK_OUTER;
    return link ? r->link_names[part - RC_TIME_LINK_INNER].text : names[part];
}
