/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collective.h"
#include <math.h>

/* Bytes a second out of one GPU, for a group of n on a level. */
static double out_of_gpu(const rc_fabric_level *level, double ranks, double per_node) {
    if (level->topology == RC_FULL_MESH)
        return level->bytes_per_s * fmax(ranks - 1, 1);
    return level->bandwidth_of ? level->bytes_per_s / per_node : level->bytes_per_s;
}

bool rc_group_init(rc_group *group, const rc_hardware *hardware, double ranks) {
    const rc_fabric *fabric = &hardware->fabric;
    const rc_fabric_level *inner = &fabric->levels[0], *outer = fabric->levels_count > 1 ? &fabric->levels[1] : NULL;
    double inside = fmin(ranks, inner->reach);
    *group = (rc_group){.inner = inside,
                        .outer = ceil(ranks / inside),
                        .algorithms = hardware->stack.collectives,
                        .algorithms_count = hardware->stack.collectives_count};
    group->bytes_per_s[0] = out_of_gpu(inner, inside, hardware->per_node);
    group->link_latency_s[0] = inner->latency_s;
    if (outer) {
        group->bytes_per_s[1] = out_of_gpu(outer, group->outer, hardware->per_node);
        group->link_latency_s[1] = outer->latency_s;
    }
    return group->outer == 1 || outer;
}

rc_group rc_group_inside(const rc_fabric *fabric, double ranks, const rc_collective *algorithms, size_t count) {
    const rc_fabric_level *inner = &fabric->levels[0];
    return (rc_group){.inner = ranks,
                      .outer = 1,
                      .bytes_per_s = {out_of_gpu(inner, ranks, inner->reach)},
                      .link_latency_s = {inner->latency_s},
                      .algorithms = algorithms,
                      .algorithms_count = count};
}

/* Ways round a ring: reduce-scatter and all-gather go once, an all-reduce is both. */
static double rounds(rc_operation operation) {
    return operation == RC_ALL_REDUCE ? 2 : 1;
}

static double wire_factor(rc_operation operation, rc_algorithm algorithm, double ranks) {
    switch (algorithm) {
    case RC_ONE_SHOT: return ranks - 1;
    case RC_TWO_SHOT: return 2 * (ranks - 1) / ranks;
    case RC_RING: return rounds(operation) * (ranks - 1) / ranks;
    default: return 1;
    }
}

/* The cheapest algorithm of an operation on a level; infinite where the stack has none. */
static double cheapest(const rc_group *group, rc_operation operation, int level, double ranks, double bytes) {
    double best = INFINITY;
    for (size_t i = 0; i < group->algorithms_count; i++) {
        const rc_collective *c = &group->algorithms[i];
        if (c->operation != (int)operation || c->level != level)
            continue;
        double hops = c->algorithm == RC_RING ? rounds(operation) * (ranks - 1) : c->hops;
        double seconds = c->latency_s + hops * group->link_latency_s[level] +
                         wire_factor(operation, (rc_algorithm)c->algorithm, ranks) * bytes /
                             (c->efficiency * group->bytes_per_s[level]);
        best = fmin(best, seconds);
    }
    return best;
}

/* A stack without an algorithm for a level pays the link's own latency and bandwidth. */
static double priced(const rc_group *group, rc_operation operation, int level, double ranks, double bytes) {
    double seconds = cheapest(group, operation, level, ranks, bytes);
    bool reduce = operation == RC_ALL_REDUCE;
    return isfinite(seconds) ? seconds
                             : 2 * group->link_latency_s[level] +
                                   (reduce ? 2 * (ranks - 1) / ranks : 1) * bytes / group->bytes_per_s[level];
}

double rc_collective_seconds(const rc_group *group, rc_operation operation, double bytes) {
    double leaves = operation == RC_ALL_TO_ALL ? (group->inner - 1) / group->inner : 1;
    return priced(group, operation, 0, group->inner, leaves * bytes);
}

void rc_message_add(rc_cost_line *line, int level, double seconds, double bytes, double count) {
    line->seconds[level ? RC_LINK_1 : RC_LINK_0] += count * seconds;
    line->bytes += count * bytes;
    line->launches += count;
}

void rc_all_reduce_add(const rc_group *group, double bytes, double count, rc_cost_line *line) {
    if (bytes <= 0 || group->inner * group->outer <= 1)
        return;
    if (group->inner > 1)
        rc_message_add(line, 0, priced(group, RC_ALL_REDUCE, 0, group->inner, bytes), bytes, count);
    if (group->outer > 1)
        rc_message_add(line, 1, priced(group, RC_ALL_REDUCE, 1, group->outer, bytes / group->inner),
                       bytes / group->inner, count);
}

void rc_all_to_all_add(const rc_group *group, double bytes, double count, rc_cost_line *line) {
    double ranks = group->inner * group->outer;
    if (bytes <= 0 || ranks <= 1)
        return;
    double inside = bytes * (group->inner - 1) / ranks, outside = bytes * (ranks - group->inner) / ranks;
    if (group->inner > 1)
        rc_message_add(line, 0, priced(group, RC_ALL_TO_ALL, 0, group->inner, inside), inside, count);
    if (group->outer > 1)
        rc_message_add(line, 1, priced(group, RC_ALL_TO_ALL, 1, group->outer, outside), outside, count);
}

/* The first algorithm that the stack has; else the link's own latency and bandwidth. */
void rc_point_to_point(const rc_group *group, int level, double *latency_s, double *bytes_per_s) {
    *latency_s = 2 * group->link_latency_s[level];
    *bytes_per_s = group->bytes_per_s[level];
    for (size_t i = 0; i < group->algorithms_count; i++) {
        const rc_collective *c = &group->algorithms[i];
        if (c->operation != RC_POINT_TO_POINT || c->level != level)
            continue;
        *latency_s = c->latency_s + c->hops * group->link_latency_s[level];
        *bytes_per_s = c->efficiency * group->bytes_per_s[level];
        return;
    }
}

void rc_hand_off_add(const rc_group *group, double bytes, double count, rc_cost_line *line) {
    int level = group->outer > 1;
    if (bytes > 0 && count > 0)
        rc_message_add(line, level, priced(group, RC_POINT_TO_POINT, level, 2, bytes), bytes, count);
}
