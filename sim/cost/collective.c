/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collective.h"
#include <math.h>

/* Bytes a second out of one GPU, for a group of n on a level. */
static double out_of_gpu(const rc_fabric_level *level, double ranks, double per_node) {
    enum { RING_LINKS = 2, TORUS_LINKS = 4 };
    double others = fmax(ranks - 1, 1);
    switch (level->topology) {
    case RC_FULL_MESH: return level->bytes_per_s * others;
    case RC_RING_OF_LINKS: return level->bytes_per_s * fmin(RING_LINKS, others);
    case RC_TORUS: return level->bytes_per_s * fmin(TORUS_LINKS, others);
    default: break;
    }
    return level->bandwidth_of == RC_OF_NIC    ? level->bytes_per_s * level->nics / per_node
           : level->bandwidth_of == RC_OF_NODE ? level->bytes_per_s / per_node
                                               : level->bytes_per_s;
}

/* Links between two of n ranks, on average; at least one. */
static double distance(const rc_fabric_level *level, double ranks) {
    return level->topology == RC_RING_OF_LINKS ? fmax(ranks / 4, 1)
           : level->topology == RC_TORUS       ? fmax(sqrt(ranks) / 2, 1)
                                               : 1;
}

static void join(rc_group *group, int at, const rc_fabric_level *level, double ranks, double per_node) {
    group->bytes_per_s[at] = out_of_gpu(level, ranks, per_node);
    group->link_latency_s[at] = level->latency_s;
    group->distance[at] = distance(level, ranks);
}

bool rc_group_init(rc_group *group, const rc_hardware *hardware, double ranks) {
    const rc_fabric *fabric = &hardware->fabric;
    const rc_fabric_level *inner = &fabric->levels[0], *outer = fabric->levels_count > 1 ? &fabric->levels[1] : NULL;
    double inside = fmin(ranks, inner->reach);
    *group = (rc_group){.inner = inside,
                        .outer = ceil(ranks / inside),
                        .rails = outer && outer->topology == RC_RAILS,
                        .algorithms = hardware->stack.collectives,
                        .algorithms_count = hardware->stack.collectives_count};
    join(group, 0, inner, inside, hardware->per_node);
    if (outer)
        join(group, 1, outer, group->outer, hardware->per_node);
    return group->outer == 1 || outer;
}

rc_group rc_group_inside(const rc_fabric *fabric, double ranks, const rc_collective *algorithms, size_t count) {
    rc_group group = {.inner = ranks, .outer = 1, .algorithms = algorithms, .algorithms_count = count};
    join(&group, 0, &fabric->levels[0], ranks, fabric->levels[0].reach);
    return group;
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
    case RC_TREE: return 2;
    case RC_NVLS: return (ranks + 1) / ranks;
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
        bool neighbours = c->algorithm == RC_RING || operation == RC_POINT_TO_POINT;
        double crossed = neighbours ? 1 : group->distance[level];
        double hops = c->algorithm == RC_RING   ? rounds(operation) * (ranks - 1)
                      : c->algorithm == RC_TREE ? 2 * ceil(log2(ranks)) * crossed
                                                : c->hops * crossed;
        double seconds = c->latency_s + hops * group->link_latency_s[level] +
                         wire_factor(operation, (rc_algorithm)c->algorithm, ranks) * bytes * crossed /
                             (c->efficiency * group->bytes_per_s[level]);
        best = fmin(best, seconds);
    }
    return best;
}

/* A stack without an algorithm for a level pays the link's own latency and bandwidth. */
static double priced(const rc_group *group, rc_operation operation, int level, double ranks, double bytes) {
    double seconds = cheapest(group, operation, level, ranks, bytes);
    bool reduce = operation == RC_ALL_REDUCE;
    return isfinite(seconds)
               ? seconds
               : group->distance[level] * (2 * group->link_latency_s[level] +
                                           (reduce ? 2 * (ranks - 1) / ranks : 1) * bytes / group->bytes_per_s[level]);
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

/* What takes longer the more bytes there are counts as time on the wire. */
static void add_priced(const rc_group *group, rc_operation operation, int level, double bytes, double count,
                       rc_cost_line *line) {
    double ranks = level ? group->outer : group->inner, seconds = priced(group, operation, level, ranks, bytes);
    rc_message_add(line, level, seconds, bytes, count);
    if (level)
        line->outer_wire_s += count * fmax(seconds - priced(group, operation, level, ranks, 0), 0);
}

void rc_all_reduce_add(const rc_group *group, double bytes, double count, rc_cost_line *line) {
    if (bytes <= 0 || group->inner * group->outer <= 1)
        return;
    if (group->inner > 1)
        add_priced(group, RC_ALL_REDUCE, 0, bytes, count, line);
    if (group->outer > 1)
        add_priced(group, RC_ALL_REDUCE, 1, bytes / group->inner, count, line);
}

void rc_all_to_all_add(const rc_group *group, double bytes, double count, rc_cost_line *line) {
    double ranks = group->inner * group->outer;
    if (bytes <= 0 || ranks <= 1)
        return;
    double inside = bytes * (group->inner - 1) / ranks, outside = bytes * (ranks - group->inner) / ranks;
    if (group->rails)
        inside += outside * (group->inner - 1) / group->inner;
    if (group->inner > 1)
        add_priced(group, RC_ALL_TO_ALL, 0, inside, count, line);
    if (group->outer > 1)
        add_priced(group, RC_ALL_TO_ALL, 1, outside, count, line);
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
