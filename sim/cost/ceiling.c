/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ceiling.h"
#include "load.h"
#include "routing.h"
#include "weights.h"
#include <math.h>

double rc_ceiling_tokens_per_s(double bytes, double bytes_per_s, double batch) {
    return batch * bytes_per_s / bytes;
}

typedef struct reader {
    const rc_scenario *scenario;
    double batch;
    bool uniform;
    rc_arena *arena;
} reader;

static double distinct_of(const reader *r, size_t ffn) {
    const rc_ffn *f = &r->scenario->model.ffns[ffn];
    rc_routing uniform = {.kind = RC_ROUTING_UNIFORM};
    rc_popularity popularity;
    rc_popularity_init(&popularity, r->uniform ? &uniform : &r->scenario->workload.routing, f->experts, f->top_k,
                       r->arena);
    return rc_popularity_distinct(&popularity, r->batch);
}

/* Bytes of a weight that a step of `batch` tokens reads, in all layers. */
static double read_bytes(const reader *r, const rc_weight *w) {
    double bytes = rc_weight_bytes(w) * rc_weight_layers(&r->scenario->model, w);
    if (w->split == RC_SPLIT_EXPERTS)
        return bytes * distinct_of(r, w->kind) / w->copies;
    return rc_weight_is_loaded(w) && w->active > 0 ? bytes : 0;
}

static double cache_bytes(const rc_scenario *s, double batch, double context) {
    double bytes = 0;
    for (size_t i = 0; i < s->model.mixers_count; i++) {
        const rc_mixer *m = &s->model.mixers[i];
        double layers = rc_model_mixer_layers(&s->model, i, 0, s->model.layers_total);
        double reach = rc_mixer_reach(m);
        double copies = m->kind == RC_MLA ? s->parallel.tp / s->parallel.dcp : 1; /* every rank reads the latent */
        bytes += layers * batch *
                 (copies * fmin(context, reach) * rc_mixer_kv_bytes(m, (rc_format_id)s->engine.kv_format) +
                  2 * rc_mixer_state_bytes(m));
    }
    return bytes;
}

/* The fastest that hardware could multiply numbers of so many bits. */
static rc_peak peak_of(double bits) {
    return bits <= 4 ? RC_PEAK_FP4 : bits <= 8 ? RC_PEAK_FP8 : RC_PEAK_BF16;
}

/* GPU-seconds of a token's matrix work at the dense peaks of the weights' formats, with the output head or without. */
static double seconds_per_token(const rc_scenario *s, const rc_weights *weights, bool head) {
    double seconds = 0;
    for (size_t i = 0; i < weights->count; i++) {
        const rc_weight *w = &weights->list[i];
        bool is_head = w->component == RC_COMPONENT_LM_HEAD || w->component == RC_COMPONENT_EMBEDDING;
        if (w->gemm && (head || !is_head))
            seconds += 2 * rc_weight_parameters(w) * w->active * rc_weight_layers(&s->model, w) /
                       rc_peak_flops(&s->hardware.accelerator, peak_of(rc_number_format_of(w->format)->bits));
    }
    return seconds;
}

/* What can come from the hosts of a replica: over all links, or to their processors. */
static double host_bytes_per_s(const rc_scenario *s) {
    double gpus = rc_replica_gpus(&s->parallel), cards = fmin(s->hardware.count, s->hardware.per_node);
    return s->offload.computed_by == RC_BY_HOST
               ? gpus / cards * s->hardware.host.memory_bytes_per_s
               : gpus * s->hardware.accelerator.host_link_bytes_per_s / fmin(s->hardware.host.gpus_per_link, cards);
}

rc_ceiling rc_ceiling_decode(const rc_scenario *s, double batch, double context) {
    rc_arena *arena = rc_arena_new();
    rc_weights *weights = rc_arena_take(arena, sizeof *weights);
    rc_weights_list(&s->model, s->weights_format, weights);
    double tokens = batch * (s->speculation.tokens + 1); /* drafts are read and computed too */
    double unlike = batch * rc_unlike_tokens(&s->workload.routing, s->speculation.tokens);
    reader traffic = {s, unlike, false, arena}, uniform = {s, tokens, true, arena};
    double gpus = rc_replica_gpus(&s->parallel), replicated = 0;
    double bandwidth = gpus * s->hardware.accelerator.memory_bytes_per_s;
    double on_host = 0;
    rc_ceiling c = {0};
    for (size_t i = 0; i < weights->count; i++) {
        const rc_weight *w = &weights->list[i];
        double bytes = read_bytes(&traffic, w);
        c.weight_bytes += bytes;
        on_host += bytes * rc_weight_on_host(w, &s->offload);
        c.weight_bytes_uniform += read_bytes(&uniform, w);
        if (w->split == RC_SPLIT_EXPERTS) {
            c.distinct = distinct_of(&traffic, w->kind);
            c.distinct_uniform = distinct_of(&uniform, w->kind);
        } else {
            bool whole = w->split == RC_SPLIT_NONE && rc_stack_replicates(&s->hardware.stack, w->name);
            replicated += bytes * (s->parallel.dp * (whole ? s->parallel.tp : 1) - 1);
        }
    }
    double memory = fmax((c.weight_bytes - on_host) / bandwidth, on_host > 0 ? on_host / host_bytes_per_s(s) : 0);
    double compute = tokens * seconds_per_token(s, weights, true) / gpus;
    c.seconds = fmax(memory, compute);
    c.replication_s = replicated / bandwidth;
    c.cache_s = cache_bytes(s, batch, context) / bandwidth;
    rc_arena_free(arena);
    return c;
}

double rc_ceiling_prefill_s(const rc_scenario *s, double prompt) {
    rc_arena *arena = rc_arena_new();
    rc_weights *weights = rc_arena_take(arena, sizeof *weights);
    rc_weights_list(&s->model, s->weights_format, weights);
    double seconds = prompt * seconds_per_token(s, weights, false), /* the head runs once a prompt */

        kv_bits = rc_number_format_of((rc_format_id)s->engine.kv_format)->bits;
    for (size_t i = 0; i < s->model.mixers_count; i++) {
        const rc_mixer *m = &s->model.mixers[i];
        double width = m->kind == RC_GQA ? 2 * m->head_dim : m->nope_dim + m->rope_dim + m->value_dim;
        double reach = rc_mixer_reach(m);
        if (!rc_mixer_is_recurrent(m))
            seconds += rc_model_mixer_layers(&s->model, i, 0, s->model.layers_total) * 2 * m->heads * width *
                       rc_chunk_pairs(0, prompt, reach) / rc_peak_flops(&s->hardware.accelerator, peak_of(kv_bits));
    }
    rc_arena_free(arena);
    return seconds / rc_replica_gpus(&s->parallel);
}
