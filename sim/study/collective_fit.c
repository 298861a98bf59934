/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collective_fit.h"
#include <math.h>

enum { SMALL, LARGE, LATENCY = 0, EFFICIENCY = 2, PARAMETERS = 4 };

/* What an operation puts on the wire and how often it crosses the link, by algorithm, and its place in a stack. */
typedef struct operation {
    double wire[2], hops[2];
    int operation, algorithms[2];
} operation;

/* NCCL's ring, with its two protocols. */
static operation ring_of(rc_operation which, double rounds, double ranks) {
    double wire = rounds * (ranks - 1) / ranks, hops = rounds * (ranks - 1);
    return (operation){{wire, wire}, {hops, hops}, which, {RC_RING, RC_RING}};
}

static operation operation_of(const rc_sample *s) {
    double n = s->shape[1], most = (n - 1) / n;
    bool library = rc_kernel_is_library(s->kernel);
    switch (s->kind) {
    case RC_SAMPLE_ALL_TO_ALL: return (operation){{most, most}, {2, 2}, RC_ALL_TO_ALL, {RC_DIRECT, RC_DIRECT}};
    case RC_SAMPLE_ALL_GATHER: return ring_of(RC_ALL_GATHER, 1, n);
    case RC_SAMPLE_REDUCE_SCATTER: return ring_of(RC_REDUCE_SCATTER, 1, n);
    default:
        return library ? ring_of(RC_ALL_REDUCE, 2, n)
                       : (operation){{n - 1, 2 * most}, {2, 4}, RC_ALL_REDUCE, {RC_ONE_SHOT, RC_TWO_SHOT}};
    }
}

static double predicted_s(const double *x, const rc_sample *s, const rc_fabric_level *link) {
    operation o = operation_of(s);
    double bytes = s->shape[0], best = INFINITY;
    for (size_t a = SMALL; a <= LARGE; a++)
        best = fmin(best, x[LATENCY + a] + o.hops[a] * link->latency_s +
                              o.wire[a] * bytes / (x[EFFICIENCY + a] * link->bytes_per_s));
    return best;
}

rc_collective_fit rc_collective_fit_messages(const rc_sample *samples, size_t count, const rc_fabric_level *link,
                                             rc_kernel_fit *fit) {
    rc_message_model model = {.predicted_s = predicted_s,
                              .links = link,
                              .parameters = PARAMETERS,
                              .shares = {[EFFICIENCY + SMALL] = true, [EFFICIENCY + LARGE] = true}};
    bool library = rc_kernel_is_library(samples->kernel);
    double x[PARAMETERS] = {library ? 6e-6 : 3e-6, library ? 15e-6 : 10e-6, library ? 0.05 : 0.5, 0.7};
    *fit = rc_message_fit(&model, samples, count, x);
    operation o = operation_of(samples);
    return (rc_collective_fit){.latency_s = {x[LATENCY + SMALL], x[LATENCY + LARGE]},
                               .efficiency = {x[EFFICIENCY + SMALL], x[EFFICIENCY + LARGE]},
                               .hops = {o.hops[SMALL], o.hops[LARGE]},
                               .operation = o.operation,
                               .algorithms = {o.algorithms[SMALL], o.algorithms[LARGE]}};
}
