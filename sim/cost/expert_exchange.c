/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "expert_exchange.h"
#include "number_format.h"
#include <math.h>

/* Different ones among n that k picks fall on. */
static double distinct(double n, double k) {
    return n * (1 - pow(1 - 1 / n, k));
}

double rc_exchange_copies(rc_algorithm algorithm, const rc_exchange *x, int level) {
    double n = x->ranks, domains = x->domains, holders = n / x->splits; /* groups of ranks that hold an expert */
    double most = level ? domains - 1 : n - 1, copies;
    if (algorithm == RC_COPY_PER_EXPERT)
        copies = x->top_k * x->splits * (level ? 1 - 1 / domains : (n / domains - 1) / n);
    else
        copies = level ? distinct(domains, x->top_k) * (1 - 1 / domains)
                       : distinct(holders, x->top_k) * x->splits * (1 - domains / n);
    return algorithm == RC_COPY_PER_EXPERT ? copies * x->busiest : fmin(copies * x->busiest, most);
}

static double bytes_of(const rc_collective *c, const rc_exchange *x) {
    return x->tokens * rc_exchange_copies((rc_algorithm)c->algorithm, x, c->level) * x->width *
           rc_bytes_per_value((rc_format_id)c->format);
}

static double wire_s(const rc_group *group, const rc_collective *c, const rc_exchange *x) {
    return bytes_of(c, x) * group->distance[c->level] / (c->efficiency * group->bytes_per_s[c->level]);
}

static double seconds_of(const rc_group *group, const rc_collective *c, const rc_exchange *x) {
    return c->latency_s + c->hops * group->distance[c->level] * group->link_latency_s[c->level] +
           x->tokens * c->token_s + x->experts * c->expert_s + wire_s(group, c, x);
}

/* The stack's numbers for one operation and algorithm on a level; NULL: none. */
static const rc_collective *find(const rc_group *group, rc_operation operation, rc_algorithm algorithm, int level) {
    for (size_t i = 0; i < group->algorithms_count; i++) {
        const rc_collective *c = &group->algorithms[i];
        if (c->operation == (int)operation && c->algorithm == (int)algorithm && c->level == level)
            return c;
    }
    return NULL;
}

/* The slower of the levels that an algorithm needs; infinite where it lacks one. */
static double slowest(const rc_group *group, rc_operation operation, rc_algorithm algorithm, const rc_exchange *x,
                      const rc_collective **which) {
    double seconds = 0;
    for (int level = 0; level < 2; level++) {
        bool needed = level ? group->outer > 1 : group->inner > 1;
        const rc_collective *c = needed ? find(group, operation, algorithm, level) : NULL;
        if (needed && !c)
            return INFINITY;
        if (c && seconds_of(group, c, x) > seconds) {
            seconds = seconds_of(group, c, x);
            *which = c;
        }
    }
    return seconds;
}

double rc_exchange_seconds(const rc_group *group, rc_operation operation, rc_algorithm algorithm,
                           const rc_exchange *x) {
    const rc_collective *ignored;
    return slowest(group, operation, algorithm, x, &ignored);
}

static bool add_one_way(const rc_group *group, rc_operation operation, const rc_exchange *x, double count,
                        rc_cost_line *line) {
    double best = INFINITY;
    const rc_collective *chosen = NULL;
    for (int algorithm = RC_COPY_PER_EXPERT; algorithm <= RC_COPY_PER_RANK; algorithm++) {
        const rc_collective *c = NULL;
        double seconds = slowest(group, operation, (rc_algorithm)algorithm, x, &c);
        if (c && seconds < best) {
            best = seconds;
            chosen = c;
        }
    }
    if (chosen)
        rc_message_add(line, chosen->level, best, bytes_of(chosen, x), count);
    if (chosen && chosen->level)
        line->outer_wire_s += count * wire_s(group, chosen, x);
    return chosen;
}

bool rc_exchange_is_known(const rc_group *group) {
    const rc_exchange any = {.ranks = group->inner * group->outer, .domains = group->outer, .splits = 1, .top_k = 1};
    rc_cost_line ignored = {0};
    return add_one_way(group, RC_DISPATCH, &any, 1, &ignored) && add_one_way(group, RC_COMBINE, &any, 1, &ignored);
}

static bool has(const rc_group *group, rc_operation operation) {
    for (size_t i = 0; i < group->algorithms_count; i++)
        if (group->algorithms[i].operation == (int)operation && group->algorithms[i].level == 0)
            return true;
    return false;
}

void rc_expert_exchange_add(const rc_group *group, const rc_exchange *x, double count, rc_cost_line *line) {
    enum { BF16_BYTES = 2 };
    double ranks = group->inner * group->outer;
    if (x->tokens <= 0 || ranks <= 1 || count <= 0)
        return;
    rc_exchange one_domain = *x; /* a copy per rank, whatever domain it lies in */
    one_domain.domains = 1;
    double bytes = x->tokens * rc_exchange_copies(RC_COPY_PER_RANK, &one_domain, 0) * x->width * BF16_BYTES;
    if (x->splits == ranks && group->outer == 1 && has(group, RC_ALL_GATHER) && has(group, RC_REDUCE_SCATTER)) {
        double all = ranks * x->tokens * x->width * BF16_BYTES;
        rc_message_add(line, 0, rc_collective_seconds(group, RC_ALL_GATHER, all), all, count);
        rc_message_add(line, 0, rc_collective_seconds(group, RC_REDUCE_SCATTER, all), all, count);
        return;
    }
    for (rc_operation way = RC_DISPATCH; way <= RC_COMBINE; way++)
        if (!add_one_way(group, way, x, count, line))
            rc_all_to_all_add(group, bytes * ranks / (ranks - 1), count, line);
}

double rc_exchange_weights_s(const rc_group *group, double bytes, int *level) {
    double ranks = group->inner * group->outer, slowest = 0;
    const double shares[] = {(group->inner - 1) / ranks, (ranks - group->inner) / ranks};
    *level = 0;
    for (int at = 0; at < 2; at++) {
        double latency_s, bytes_per_s;
        if (shares[at] <= 0)
            continue;
        rc_point_to_point(group, at, &latency_s, &bytes_per_s);
        double seconds = latency_s + bytes * shares[at] / bytes_per_s;
        if (seconds > slowest) {
            slowest = seconds;
            *level = at;
        }
    }
    return slowest;
}
