/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recipe.h"
#include "csv.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { OF, DATE, ENGINE, MODEL, PRECISION, HARDWARE, GPUS, INPUT, OUTPUT, CLIENTS, SETTINGS, SOURCE };

static const char *const names[RC_RECIPE_CELLS] = {"of",   "date",  "engine", "model",   "precision", "hardware",
                                                   "gpus", "input", "output", "clients", "settings",  "source"};

/* ---------- the file */

static bool read_header(rc_csv *csv, const char *file, int column[RC_RECIPE_CELLS], rc_problems *problems) {
    bool good = rc_csv_next(csv);
    for (int c = 0; c < RC_RECIPE_CELLS && good; c++) {
        column[c] = -1;
        for (size_t i = 0; i < rc_csv_count(csv); i++)
            if (strcmp(rc_csv_cell(csv, i), names[c]) == 0)
                column[c] = (int)i;
        good = column[c] >= 0;
        if (!good)
            rc_problem_add(problems, RC_BAD_TRACE, file, "", 1, "no such column", names[c],
                           "the recipes lack a column");
    }
    return good;
}

rc_recipe *rc_recipes_read(const char *file, size_t *count, rc_arena *arena, rc_problems *problems) {
    rc_csv *csv = rc_csv_open(file, problems);
    int column[RC_RECIPE_CELLS];
    rc_recipe *list = NULL, *kept = NULL;
    size_t capacity = 0;
    *count = 0;
    bool good = csv && read_header(csv, file, column, problems);
    while (good && rc_csv_next(csv)) {
        list = rc_grow(list, *count, &capacity, sizeof *list);
        for (int c = 0; c < RC_RECIPE_CELLS; c++)
            list[*count].cells[c] = rc_arena_text(arena, rc_csv_cell(csv, (size_t)column[c]));
        ++*count;
    }
    if (good && !rc_csv_failed(csv)) {
        kept = rc_arena_take(arena, (*count + 1) * sizeof *kept);
        if (list)
            memcpy(kept, list, *count * sizeof *kept);
    }
    free(list);
    rc_csv_close(csv);
    return kept;
}

/* ---------- conditions */

static bool holds_text(const char *text, const char *part) {
    size_t length = strlen(part);
    for (; *text; text++)
        if (strncasecmp(text, part, length) == 0)
            return true;
    return !length;
}

static bool begins(const char *text, const char *beginning) {
    return strncasecmp(text, beginning, strlen(beginning)) == 0;
}

/* "8", "16-", "-15" or "4-8"; an empty range holds always, a text that is no number never. */
static bool within(const char *text, const char *range) {
    char *end;
    double value = strtod(text, &end);
    if (!range[0])
        return true;
    if (end == text)
        return false;
    const char *dash = strchr(range, '-');
    if (!dash)
        return value == strtod(range, NULL);
    return (dash == range || value >= strtod(range, NULL)) && (!dash[1] || value <= strtod(dash + 1, NULL));
}

static bool holds(const rc_recipe *r, const rc_measured *row) {
    return holds_text(row->notes, r->cells[OF]) && begins(row->date, r->cells[DATE]) &&
           begins(row->engine, r->cells[ENGINE]) && holds_text(row->model, r->cells[MODEL]) &&
           begins(row->precision, r->cells[PRECISION]) && holds_text(row->hardware, r->cells[HARDWARE]) &&
           within(row->gpus, r->cells[GPUS]) && within(row->input, r->cells[INPUT]) &&
           within(row->output, r->cells[OUTPUT]) && within(row->concurrency, r->cells[CLIENTS]);
}

/* ---------- settings */

/* The sum in "clients+input+64)". */
static double sum_of(const char *terms, const rc_measured *row) {
    const struct {
        const char *name, *value;
    } numbers[] = {{"clients", row->concurrency}, {"input", row->input}, {"output", row->output}, {"gpus", row->gpus}};
    double sum = 0;
    for (const char *term = terms; *term && *term != ')';
         term += strcspn(term, "+)") + (term[strcspn(term, "+)")] == '+')) {
        double value = strtod(term, NULL);
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
            if (begins(term, numbers[i].name))
                value = strtod(numbers[i].value, NULL);
        sum += value;
    }
    return sum;
}

static void add_settings(const char *settings, const rc_measured *row, rc_playable *p, rc_arena *arena) {
    char *text = rc_arena_text(arena, settings), *rest = NULL;
    for (char *one = strtok_r(text, ";", &rest); one; one = strtok_r(NULL, ";", &rest)) {
        while (isspace((unsigned char)*one))
            one++;
        const char *sum = strstr(one, "=$(");
        if (sum)
            one = rc_arena_format(arena, "%.*s=%.0f", (int)(sum - one), one, sum_of(sum + 3, row));
        if (strcmp(one, "drafts") == 0)
            p->drafts = true;
        else if (*one && p->settings_count < RC_MEASURED_SETTINGS_MAX)
            p->settings[p->settings_count++] = one;
    }
}

bool rc_recipes_apply(const rc_recipe *recipes, size_t count, const rc_measured *row, rc_playable *playable,
                      rc_arena *arena) {
    bool any = false;
    for (size_t i = 0; i < count; i++)
        if (holds(&recipes[i], row)) {
            add_settings(recipes[i].cells[SETTINGS], row, playable, arena);
            any = true;
        }
    return any;
}
