/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "exchange_fit.h"
#include "expert_exchange.h"
#include "number_format.h"
#include <math.h>

enum { LATENCY, EFFICIENCY, TOKEN, EXPERT, PARAMETERS };
enum { TOKENS = 0, WIDTH, TOP_K, EXPERTS, RANKS, NODES, ALGORITHM }; /* of a sample's shape */
enum { HOPS = 1 };

static int level_of(const rc_sample *s) {
    return s->shape[NODES] > 1;
}

static int format_of(const rc_sample *s) {
    return s->kind == RC_SAMPLE_DISPATCH ? RC_MXFP8 : RC_BF16;
}

static rc_exchange exchange_of(const rc_sample *s) {
    return (rc_exchange){.tokens = s->shape[TOKENS],
                         .width = s->shape[WIDTH],
                         .top_k = s->shape[TOP_K],
                         .experts = s->shape[EXPERTS],
                         .ranks = s->shape[RANKS],
                         .domains = s->shape[NODES],
                         .splits = 1,
                         .busiest = 1};
}

static double predicted_s(const double *x, const rc_sample *s, const rc_fabric_level *links) {
    const rc_fabric_level *link = &links[level_of(s)];
    rc_exchange exchange = exchange_of(s);
    double copies = rc_exchange_copies((rc_algorithm)s->shape[ALGORITHM], &exchange, level_of(s));
    double bytes = exchange.tokens * copies * exchange.width * rc_bytes_per_value((rc_format_id)format_of(s));
    return x[LATENCY] + HOPS * link->latency_s + exchange.tokens * x[TOKEN] + exchange.experts * x[EXPERT] +
           bytes / (x[EFFICIENCY] * link->bytes_per_s);
}

rc_collective rc_exchange_fit(const rc_sample *samples, size_t count, const rc_fabric_level *links,
                              rc_kernel_fit *fit) {
    rc_message_model model = {
        .predicted_s = predicted_s, .links = links, .parameters = PARAMETERS, .shares = {[EFFICIENCY] = true}};
    double x[RC_MESSAGE_PARAMETERS_MAX] = {[LATENCY] = 15e-6, [EFFICIENCY] = 0.6, [TOKEN] = 5e-9, [EXPERT] = 5e-9};
    *fit = rc_message_fit(&model, samples, count, x);
    return (rc_collective){.operation = samples->kind == RC_SAMPLE_DISPATCH ? RC_DISPATCH : RC_COMBINE,
                           .algorithm = (int)samples->shape[ALGORITHM],
                           .level = level_of(samples),
                           .hops = HOPS,
                           .latency_s = x[LATENCY],
                           .efficiency = x[EFFICIENCY],
                           .token_s = x[TOKEN],
                           .expert_s = x[EXPERT],
                           .format = format_of(samples)};
}

double rc_exchange_sample_s(const rc_stack *stack, const rc_fabric *fabric, const rc_sample *s, double *share) {
    rc_exchange exchange = exchange_of(s);
    rc_operation way = s->kind == RC_SAMPLE_DISPATCH ? RC_DISPATCH : RC_COMBINE;
    rc_group group =
        rc_group_inside(fabric, s->shape[RANKS] / s->shape[NODES], stack->collectives, stack->collectives_count);
    if (s->shape[NODES] > 1 && fabric->levels_count < 2)
        return NAN;
    group.outer = s->shape[NODES];
    if (group.outer > 1) {
        group.bytes_per_s[1] = fabric->levels[1].bytes_per_s;
        group.link_latency_s[1] = fabric->levels[1].latency_s;
    }
    for (size_t i = 0; i < stack->collectives_count; i++) {
        const rc_collective *c = &stack->collectives[i];
        if (c->operation == (int)way && c->algorithm == (int)s->shape[ALGORITHM] && c->level == level_of(s))
            *share = c->p90_error;
    }
    return rc_exchange_seconds(&group, way, (rc_algorithm)s->shape[ALGORITHM], &exchange);
}
