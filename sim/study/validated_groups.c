/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "validated_groups.h"
#include "quantile.h"
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void judge_group(const rc_validated_row *rows, size_t count, rc_validated_group *g) {
    double *absolute = rc_allocate(count * sizeof *absolute), *error = rc_allocate(count * sizeof *error);
    double *predicted = rc_allocate(count * sizeof *predicted), *value = rc_allocate(count * sizeof *value);
    double *work = rc_allocate(2 * count * sizeof *work), inside = 0;
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].group, g->group) != 0 || strcmp(rows[i].metric, g->metric) != 0)
            continue;
        if (rows[i].skipped[0]) {
            g->skipped++;
            continue;
        }
        absolute[n] = fabs(rows[i].error);
        error[n] = rows[i].error;
        predicted[n] = rows[i].predicted;
        value[n] = rows[i].measured;
        inside += rows[i].inside;
        n++;
    }
    g->n = (double)n;
    g->rank_correlation = n > 2 ? gsl_stats_spearman(predicted, 1, value, 1, n, work) : NAN;
    g->median_abs_error = rc_quantile(absolute, n, 0.5);
    g->p90_abs_error = n ? gsl_stats_quantile_from_sorted_data(absolute, 1, n, 0.9) : NAN;
    g->bias = rc_quantile(error, n, 0.5);
    g->coverage = n ? inside / (double)n : NAN;
    free(absolute);
    free(error);
    free(predicted);
    free(value);
    free(work);
}

static int compare_groups(const void *a, const void *b) {
    const rc_validated_group *x = a, *y = b;
    int order = strcmp(x->group, y->group);
    return order ? order : strcmp(x->metric, y->metric);
}

void rc_validated_groups(rc_validate_result *r, rc_arena *arena) {
    r->groups = rc_arena_take(arena, (r->rows_count + 1) * sizeof *r->groups);
    for (size_t i = 0; i < r->rows_count; i++) {
        bool known = false;
        for (size_t g = 0; g < r->groups_count && !known; g++)
            known = strcmp(r->groups[g].group, r->rows[i].group) == 0 &&
                    strcmp(r->groups[g].metric, r->rows[i].metric) == 0;
        if (!known)
            r->groups[r->groups_count++] =
                (rc_validated_group){.group = r->rows[i].group, .metric = r->rows[i].metric, .floor = NAN};
    }
    qsort(r->groups, r->groups_count, sizeof *r->groups, compare_groups);
    for (size_t g = 0; g < r->groups_count; g++)
        judge_group(r->rows, r->rows_count, &r->groups[g]);
}
