/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "neighbours.h"
#include "arena.h"
#include "quantile.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NEAREST = 6 };

/* The nearest so far, nearest first. */
typedef struct nearest {
    double distance[NEAREST], residual[NEAREST];
    int count;
} nearest;

rc_neighbour rc_neighbour_of(const rc_sample *sample, double residual) {
    rc_neighbour n = {.residual = residual};
    for (int i = 0; i < RC_SAMPLE_SHAPES; i++)
        n.place[i] = log2(1 + sample->shape[i]);
    return n;
}

static double squared_distance(const rc_neighbour *a, const rc_neighbour *b) {
    double sum = 0;
    for (int i = 0; i < RC_SAMPLE_SHAPES; i++)
        sum += (a->place[i] - b->place[i]) * (a->place[i] - b->place[i]);
    return sum;
}

static void consider(nearest *n, double distance, double residual) {
    if (n->count == NEAREST && distance >= n->distance[NEAREST - 1])
        return;
    int at = n->count < NEAREST ? n->count++ : NEAREST - 1;
    for (; at > 0 && n->distance[at - 1] > distance; at--) {
        n->distance[at] = n->distance[at - 1];
        n->residual[at] = n->residual[at - 1];
    }
    n->distance[at] = distance;
    n->residual[at] = residual;
}

static double weighted_residual(const nearest *n) {
    const double touching = 1e-3; /* calls of one shape, measured twice, do not outweigh all others without end */
    double sum = 0, weights = 0;
    for (int i = 0; i < n->count; i++) {
        double weight = pow(sqrt(n->distance[i]) + touching, -2);
        sum += weight * n->residual[i];
        weights += weight;
    }
    return sum / weights;
}

void rc_neighbours_floor(const rc_neighbour *known, size_t known_count, const rc_neighbour *unknown,
                         size_t unknown_count, double *median, double *p90) {
    double *errors = rc_allocate((unknown_count + 1) * sizeof *errors);
    size_t count = known_count > 0 ? unknown_count : 0;
    for (size_t u = 0; u < count; u++) {
        nearest n = {.count = 0};
        for (size_t k = 0; k < known_count; k++)
            consider(&n, squared_distance(&known[k], &unknown[u]), known[k].residual);
        errors[u] = fabs(expm1(weighted_residual(&n) - unknown[u].residual));
    }
    *median = rc_quantile(errors, count, 0.5);
    *p90 = rc_quantile(errors, count, 0.9);
    free(errors);
}
