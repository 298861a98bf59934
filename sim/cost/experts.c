/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experts.h"
#include <math.h>

static const char *const *kernels_for(rc_format_id format) {
    static const char *const bf16[] = {"experts-bf16", NULL};
    static const char *const fp8[] = {"experts-fp8", "experts-bf16", NULL};
    static const char *const nvfp4[] = {"experts-nvfp4", "experts-mxfp4", "experts-bf16", NULL};
    static const char *const mxfp4[] = {"experts-mxfp4", "experts-nvfp4", "experts-bf16", NULL};
    static const char *const int4[] = {"experts-int4", "experts-bf16", NULL};
    switch (format) {
    case RC_FP8:
    case RC_MXFP8:
    case RC_INT8: return fp8;
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
        .weight_bytes = rc_bytes_per_value(format),
    };
    rc_popularity_init(&experts->popularity, &s->workload.routing, ffn->experts, ffn->top_k, arena);
    bool found = rc_rate_find(&s->hardware.stack, &s->hardware.accelerator, kernels_for(format), &experts->rate);
    experts->padded_inner = rc_round_up(experts->inner, experts->rate.column_tile);
    return found;
}

/* Tokens of an expert run in tiles: the smallest, its doubles up to 128, then multiples of 128. */
static double tiled(double tokens, double smallest) {
    enum { WIDEST_TILE = 128 };
    double tile = smallest;
    if (smallest <= 1)
        return tokens;
    while (tile < tokens && tile < WIDEST_TILE)
        tile *= 2;
    return rc_round_up(tokens, tile);
}

rc_work rc_experts_work(double width, double inner, double weight_bytes, double tokens, double distinct, double pairs,
                        double token_tile) {
    enum { ACTIVATION_BYTES = 2 };
    double padded_pairs = distinct > 0 ? distinct * tiled(pairs / distinct, token_tile) : 0;
    return (rc_work){.bytes = 3 * distinct * width * inner * weight_bytes +
                              pairs * (2 * width + 3 * inner) * ACTIVATION_BYTES,
                     .flops = 6 * width * inner * padded_pairs,
                     .units = tokens,
                     .groups = distinct};
}

void rc_experts_add(const rc_experts *e, double tokens, double distinct, rc_step_cost *cost) {
    double pairs = tokens * e->top_k / e->ranks;
    if (tokens > 0)
        rc_rate_add(&e->rate,
                    rc_experts_work(e->width, e->padded_inner, e->weight_bytes, fmin(tokens, pairs),
                                    distinct / e->ranks, pairs, e->rate.token_tile),
                    e->count, &cost->lines[RC_FAMILY_EXPERTS]);
}
