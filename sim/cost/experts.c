/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experts.h"
#include <math.h>
#include <stdio.h>

static const char *const *kernels_for(rc_format_id format) {
    static const char *const bf16[] = {"experts-bf16", NULL};
    static const char *const fp8[] = {"experts-fp8", "experts-bf16", NULL};
    static const char *const fp8_tensor[] = {"experts-fp8-tensor", "experts-fp8", "experts-bf16", NULL};
    static const char *const nvfp4[] = {"experts-nvfp4", "experts-mxfp4", "experts-mxfp4-a16", "experts-bf16", NULL};
    static const char *const mxfp4[] = {"experts-mxfp4", "experts-mxfp4-a16", "experts-nvfp4", "experts-bf16", NULL};
    static const char *const int4[] = {"experts-int4", "experts-bf16", NULL};
    switch (format) {
    case RC_FP8_TENSOR: return fp8_tensor;
    case RC_FP8:
    case RC_MXFP8:
    case RC_INT8:
    case RC_INT8_G32: return fp8;
    case RC_NVFP4: return nvfp4;
    case RC_MXFP4: return mxfp4;
    case RC_INT4:
    case RC_INT4_G32: return int4;
    default: return bf16;
    }
}

bool rc_experts_init(rc_experts *experts, const rc_ffn *ffn, double hidden, rc_format_id format, const rc_scenario *s,
                     rc_arena *arena) {
    *experts = (rc_experts){
        .width = ffn->latent > 0 ? ffn->latent : hidden,
        .inner = ceil(ffn->inner / rc_expert_tp(&s->parallel)),
        .top_k = ffn->top_k,
        .ranks = s->parallel.ep,
        .held = (ffn->experts + s->parallel.redundant_experts) / s->parallel.ep,
        .sent = s->parallel.dp > 1,
        .weight_bytes = rc_bytes_per_value(format),
    };
    rc_popularity_init(&experts->popularity, &s->workload.routing, ffn->experts, ffn->top_k, arena);
    rc_balance balance = {s->parallel.balanced_experts, s->parallel.redundant_experts, s->workload.routing.drift};
    rc_rank_load_init(&experts->load, &experts->popularity, s->parallel.ep, &balance);
    char fused[48];
    snprintf(fused, sizeof fused, "experts-%s-fused", rc_format_names[format]);
    const char *const fused_names[] = {fused, NULL};
    experts->fused = s->engine.fused_experts && experts->sent && s->parallel.ep > 1;
    bool found = rc_rate_find(&s->hardware.stack, &s->hardware.accelerator,
                              experts->fused ? fused_names : kernels_for(format), &experts->rate);
    experts->padded_inner = rc_round_up(experts->inner, experts->rate.column_tile);
    return found;
}

static const double narrowest_tile = 8;

/* The tile for a mean of tokens of an expert: the power of two from there on, or, `filled`, the one below. */
static double tile_for(double tokens, double widest, bool filled) {
    double power = log2(fmax(tokens, 1));
    return fmin(fmax(exp2(filled ? floor(power) : ceil(power)), narrowest_tile), widest);
}

/* Rows that are computed: whole tiles.  Dealt in turn, all experts have the same tokens, and one tile holds them or two half as
 * wide do.  Else the tiles are those half as wide; the last of each expert is half full on average, and one is the least. */
static double padded_pairs(const rc_expert_call *c) {
    if (c->distinct <= 0 || c->widest_tile <= narrowest_tile)
        return c->pairs;
    double tile = tile_for(c->mean_tokens, c->widest_tile, !c->dealt);
    return c->dealt ? c->distinct * rc_round_up(c->pairs / c->distinct, tile)
                    : fmax(c->distinct * tile, c->pairs + c->distinct * tile / 2);
}

rc_work rc_experts_work(const rc_expert_call *c) {
    enum { ACTIVATION_BYTES = 2 };
    double weight_bytes = 3 * c->distinct * c->width * c->inner * c->weight_bytes;
    return (rc_work){.weight_bytes = weight_bytes,
                     .bytes = weight_bytes + c->pairs * (2 * c->width + 3 * c->inner) * ACTIVATION_BYTES,
                     .flops = 6 * c->width * c->inner * padded_pairs(c),
                     .units = c->tokens,
                     .groups = c->distinct,
                     .depth = c->width,
                     .shape = {[RC_AXIS_TOKENS] = c->tokens,
                               [RC_AXIS_WIDTH] = c->inner,
                               [RC_AXIS_EXPERTS] = c->held,
                               [RC_AXIS_TOP_K] = c->top_k,
                               [RC_AXIS_RANKS] = c->ranks,
                               [RC_AXIS_TOKENS_EACH] = c->mean_tokens}};
}

rc_work rc_fused_experts_work(double width, double inner, double weight_bytes, double pairs, double distinct) {
    enum { ACTIVATION_BYTES = 2 };
    double weights = 3 * distinct * width * inner * weight_bytes;
    return (rc_work){.weight_bytes = weights,
                     .bytes = weights + pairs * 2 * width * ACTIVATION_BYTES,
                     .flops = 6 * width * inner * pairs,
                     .units = pairs,
                     .groups = distinct,
                     .depth = width,
                     .shape = {[RC_AXIS_TOKENS] = pairs, [RC_AXIS_WIDTH] = inner, [RC_AXIS_EXPERTS] = distinct}};
}

void rc_experts_add(const rc_experts *e, double tokens, double distinct, rc_step_cost *cost) {
    double pairs = tokens * e->top_k / e->ranks * rc_rank_load_pairs(&e->load, tokens),
           entering = e->sent ? fmin(tokens, pairs) : tokens;
    rc_expert_call call = {.width = e->width,
                           .inner = e->padded_inner,
                           .weight_bytes = e->weight_bytes,
                           .tokens = entering,
                           .pairs = pairs,
                           .distinct = fmin(distinct / e->ranks * rc_rank_load_distinct(&e->load, tokens), e->held),
                           .mean_tokens = tokens * e->top_k / (e->sent ? e->ranks : 1) / e->held,
                           .top_k = e->top_k,
                           .held = e->held,
                           .ranks = e->ranks,
                           .widest_tile = e->rate.token_tile};
    if (tokens > 0 && e->fused)
        rc_rate_add(&e->rate,
                    rc_fused_experts_work(call.width, call.inner, call.weight_bytes, call.pairs, call.distinct),
                    e->count, &cost->lines[RC_FAMILY_EXPERTS]);
    else if (tokens > 0)
        rc_rate_add(&e->rate, rc_experts_work(&call), e->count, &cost->lines[RC_FAMILY_EXPERTS]);
}
