/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "host_weights.h"
#include <assert.h>
#include <math.h>

typedef struct splitter {
    const rc_scenario *scenario;
    const rc_host *host;
    bool by_host;
    double sharers; /* GPUs of a node, which share the host */
} splitter;

static double gpus_of_node(const rc_scenario *s) {
    return fmin(s->hardware.per_node, s->hardware.count);
}

double rc_host_link_s_per_byte(const rc_scenario *s) {
    const rc_host *host = &s->hardware.host;
    return fmin(host->gpus_per_link, gpus_of_node(s)) /
           (host->link_efficiency * s->hardware.accelerator.host_link_bytes_per_s);
}

/* The same kernel where its weights lie. */
static void move(const splitter *s, rc_rate *rate) {
    if (!s->by_host) {
        rate->link_s_per_weight_byte = rc_host_link_s_per_byte(s->scenario);
        return;
    }
    const rc_host *h = s->host;
    *rate = (rc_rate){.on_host = true,
                      .s_per_byte = s->sharers / (h->memory_efficiency * h->memory_bytes_per_s),
                      .s_per_flop = s->sharers / (h->compute_efficiency * h->flops_per_s),
                      .sharpness = rate->sharpness,
                      .column_tile = 1,
                      .token_tile = 1,
                      .head_tile = 1,
                      .query_tile = 1,
                      .provenance = RC_ASSUMED};
}

/* Takes a share of an entry's layers away from it; the copy gets them. */
#define SPLIT(list, count_of, most, i, share)                                                                          \
    do {                                                                                                               \
        assert((count_of) < (most));                                                                                   \
        (list)[count_of] = (list)[i];                                                                                  \
        (list)[i].count *= 1 - (share);                                                                                \
        (list)[(count_of)++].count *= (share);                                                                         \
    } while (0)

static void split_gemms(const splitter *s, rc_step_plan *plan, double share) {
    bool all = rc_offloads_all(&s->scenario->offload);
    for (int i = 0, n = plan->gemms_count; i < n; i++)
        if (all || plan->gemms[i].tokens != RC_GEMM_LOGITS) {
            SPLIT(plan->gemms, plan->gemms_count, RC_GEMMS_MAX, i, share);
            move(s, &plan->gemms[plan->gemms_count - 1].rate);
        }
}

static void split_experts(const splitter *s, rc_step_plan *plan, double share) {
    for (int i = 0, n = plan->experts_count; i < n; i++) {
        plan->exchanges[plan->experts_count] = plan->exchanges[i];
        SPLIT(plan->experts, plan->experts_count, RC_PLAN_EXPERTS_MAX, i, share);
        rc_experts *moved = &plan->experts[plan->experts_count - 1];
        move(s, &moved->rate);
        if (s->by_host) {
            moved->padded_inner = moved->inner;
            moved->fused = false;
        }
    }
}

/* What has no weights goes only with the host's own layers. */
static void split_mixers(const splitter *s, rc_step_plan *plan, double share) {
    for (int i = 0, n = plan->attentions_count; i < n; i++) {
        SPLIT(plan->attentions, plan->attentions_count, RC_PLAN_MIXERS_MAX, i, share);
        rc_attention *a = &plan->attentions[plan->attentions_count - 1];
        rc_rate *rates[] = {&a->decode, &a->prefill, &a->indexer, &a->top_k, &a->sparse};
        for (size_t r = 0; r < sizeof rates / sizeof *rates; r++)
            move(s, rates[r]);
    }
    for (int i = 0, n = plan->linears_count; i < n; i++) {
        SPLIT(plan->linears, plan->linears_count, RC_PLAN_MIXERS_MAX, i, share);
        rc_linear_attention *l = &plan->linears[plan->linears_count - 1];
        rc_rate *rates[] = {&l->decode, &l->prefill, &l->convolution};
        for (size_t r = 0; r < sizeof rates / sizeof *rates; r++)
            move(s, rates[r]);
    }
    bool all = rc_offloads_all(&s->scenario->offload);
    for (int i = 0, n = plan->elementwise_count; i < n; i++)
        if (all || !plan->elementwise[i].logits) {
            SPLIT(plan->elementwise, plan->elementwise_count, RC_ELEMENTWISE_MAX, i, share);
            move(s, &plan->elementwise[plan->elementwise_count - 1].rate);
        }
}

static void plan_copies(const splitter *s, rc_step_plan *plan) {
    enum { BF16_BYTES = 2 };
    const rc_offload *o = &s->scenario->offload;
    double moe = 0;
    for (int i = 0; i < plan->experts_count; i++)
        moe += plan->experts[i].count;
    plan->host_copies = (rc_host_copies){.count = 2 * ((o->layers > 0) + moe * (1 - o->layers) * o->experts),
                                         .bytes_per_token = s->scenario->model.hidden * BF16_BYTES,
                                         .s_per_byte = rc_host_link_s_per_byte(s->scenario),
                                         .latency_s = s->host->link_latency_s};
}

void rc_host_weights_apply(rc_step_plan *plan, const rc_scenario *scenario) {
    const rc_offload *o = &scenario->offload;
    if (!rc_offloads(o))
        return;
    splitter s = {.scenario = scenario,
                  .host = &scenario->hardware.host,
                  .by_host = o->computed_by == RC_BY_HOST,
                  .sharers = fmin(scenario->hardware.count, scenario->hardware.per_node)};
    if (s.by_host)
        plan_copies(&s, plan);
    if (rc_offload_share(o, true) > 0)
        split_experts(&s, plan, rc_offload_share(o, true));
    if (o->layers > 0)
        split_gemms(&s, plan, o->layers);
    if (o->layers > 0 && s.by_host)
        split_mixers(&s, plan, o->layers);
}

void rc_host_copies_add(const rc_step_plan *plan, double tokens, rc_step_cost *cost) {
    const rc_host_copies *copies = &plan->host_copies;
    if (copies->count <= 0 || tokens <= 0)
        return;
    rc_cost_line *line = &cost->lines[RC_FAMILY_HOST_COPIES];
    double bytes = copies->count * tokens * copies->bytes_per_token;
    line->seconds[RC_LINK_HOST] += copies->count * copies->latency_s + bytes * copies->s_per_byte;
    line->bytes += bytes;
    line->host_link_bytes += bytes;
    line->launches += copies->count;
}
