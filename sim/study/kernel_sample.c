/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel_sample.h"
#include "attention.h"
#include "experts.h"
#include "gemm.h"
#include "hash.h"
#include "linear_attention.h"
#include "routing.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Shapes that the tables leave out, as DeepSeek's models and GLM-5 have them. */
enum { LATENT = 512, ROTARY = 64, NOPE = 128, VALUE = 128, KEPT = 2048, INDEX_HEADS = 32, INDEX_WIDTH = 128 };

rc_work rc_sample_work(const rc_sample *s, rc_tiles tiles) {
    const double *x = s->shape;
    switch (s->kind) {
    case RC_SAMPLE_GEMM: return rc_gemm_work(x[1], x[2], s->format, x[0]);
    case RC_SAMPLE_BMM: return rc_bmm_work(x[1], LATENT, NOPE, s->format, x[0]); /* tokens, heads */
    case RC_SAMPLE_EXPERTS: { /* tokens, width, inner, top-k, experts of the rank, EP, routing */
        double pairs = x[0] * x[3] / x[5];
        rc_expert_call call = {.width = x[1],
                               .inner = rc_round_up(x[2], tiles.shape),
                               .weight_bytes = rc_bytes_per_value(s->format),
                               .tokens = x[0],
                               .pairs = pairs,
                               .distinct = x[6] == RC_UNIFORM_ROUTING ? rc_distinct_uniform(x[4], x[3], x[0])
                                                                      : fmin(x[4], fmax(pairs, 1)),
                               .mean_tokens = x[0] * x[3] / x[4],
                               .top_k = x[3],
                               .held = x[4],
                               .ranks = x[5],
                               .widest_tile = tiles.tokens,
                               .dealt = x[6] != RC_UNIFORM_ROUTING};
        return rc_experts_work(&call);
    }
    case RC_SAMPLE_FUSED_EXPERTS: { /* dealt round robin */
        double pairs = x[0] * x[3], held = x[4] / x[5];
        return rc_fused_experts_work(x[1], x[2], rc_bytes_per_value(s->format), pairs, fmin(held, fmax(pairs, 1)));
    }
    case RC_SAMPLE_MLA_DECODE: { /* sequences, context, heads, value bytes */
        rc_work work = rc_mla_decode_work(rc_round_up(x[2], tiles.shape), LATENT, ROTARY, x[3], x[0], x[0] * x[1]);
        work.depth = x[1];
        rc_shape_decode(&work, x[0], x[2], 0, 0);
        return work;
    }
    case RC_SAMPLE_MLA_PREFILL: { /* sequences, chunk, past, heads */
        rc_tiling tiling = {tiles.tokens, 1};
        rc_chunks chunks = {x[0], x[1], x[2], INFINITY};
        rc_work work =
            rc_mla_prefill_work(x[3], NOPE + ROTARY + VALUE, x[0] * x[1], x[0] * x[2], rc_tiled_pairs(tiling, chunks));
        work.units = x[3] * rc_query_tiles(tiling, chunks);
        work.depth = x[1] + x[2];
        rc_shape_prefill(&work, x[0] * x[1], x[1], x[3], 0, 0);
        return work;
    }
    case RC_SAMPLE_MLA_SPARSE:
        return rc_mla_sparse_work(x[3], LATENT, ROTARY, KEPT, x[0] * x[1]); /* sequences, chunk, past, heads */
    case RC_SAMPLE_INDEXER:                                                 /* sequences, chunk, past */
        return rc_indexer_work(INDEX_HEADS, INDEX_WIDTH, x[0] * x[1], x[0] * (x[1] + x[2]),
                               x[0] * rc_chunk_pairs(x[2], x[1], INFINITY), x[1] + x[2]);
    case RC_SAMPLE_TOP_K: return rc_top_k_work(x[0] * x[1], x[0] * rc_chunk_pairs(x[2], x[1], INFINITY));
    case RC_SAMPLE_GQA_DECODE: { /* sequences, context, heads, KV heads, width, value bytes, window */
        double seen = x[6] > 0 ? fmin(x[1], x[6]) : x[1];
        rc_work work = rc_gqa_decode_work(x[2], x[3], x[4], x[5], x[0], x[0] * seen);
        work.depth = seen;
        rc_shape_decode(&work, x[0], x[2], x[2] / x[3], x[4]);
        return work;
    }
    case RC_SAMPLE_GQA_PREFILL: { /* sequences, chunk, past, heads, KV heads, width, value bytes, window */
        double reach = x[7] > 0 ? x[7] : INFINITY;
        rc_tiling tiling = {tiles.tokens, tiles.packed ? x[3] / x[4] : 1};
        rc_chunks chunks = {x[0], x[1], x[2], reach};
        rc_work work =
            rc_gqa_prefill_work(x[3], x[4], x[5], x[6], x[0] * x[1], x[0] * x[2], rc_tiled_pairs(tiling, chunks));
        work.units = x[3] / tiling.shared * rc_query_tiles(tiling, chunks);
        work.depth = fmin(x[1] + x[2], reach);
        rc_shape_prefill(&work, x[0] * x[1], x[1], x[3], x[3] / x[4], x[5]);
        return work;
    }
    case RC_SAMPLE_LINEAR_DECODE: return rc_linear_decode_work(x[1], x[2], x[3], x[0]);
    case RC_SAMPLE_ALL_REDUCE:
    case RC_SAMPLE_ALL_TO_ALL:
    case RC_SAMPLE_ALL_GATHER:
    case RC_SAMPLE_REDUCE_SCATTER:
    case RC_SAMPLE_DISPATCH:
    case RC_SAMPLE_COMBINE: return (rc_work){0};
    default: return rc_linear_prefill_work(x[1], x[2], x[3], x[0] * x[4], x[0]);
    }
}

bool rc_sample_is_message(const rc_sample *s) {
    return s->kind >= RC_SAMPLE_ALL_REDUCE;
}

bool rc_kernel_is_library(const char *kernel) {
    return strcmp(kernel, "NCCL") == 0;
}

bool rc_sample_is_held_out(const rc_sample *s) {
    return rc_hash_bytes(RC_HASH_START, s->shape, sizeof s->shape) % 3 == 0;
}

void rc_samples_free(rc_samples *samples) {
    free(samples->list);
    *samples = (rc_samples){0};
}

static bool same_call(const rc_sample *a, const rc_sample *b) {
    return a->family == b->family && a->kernel == b->kernel && memcmp(a->shape, b->shape, sizeof a->shape) == 0;
}

static int compare_calls(const void *a, const void *b) {
    const rc_sample *x = a, *y = b;
    int order = strcmp(x->family, y->family);
    order = order ? order : strcmp(x->kernel, y->kernel);
    for (int i = RC_SAMPLE_SHAPES - 1; i >= 0 && !order; i--)
        order = (x->shape[i] > y->shape[i]) - (x->shape[i] < y->shape[i]);
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

/* Names become the same pointer where they are the same text. */
static void share_names(rc_samples *samples) {
    for (size_t i = 1; i < samples->count; i++) {
        rc_sample *s = &samples->list[i];
        if (strcmp(s->family, s[-1].family) == 0)
            s->family = s[-1].family;
        if (strcmp(s->kernel, s[-1].kernel) == 0)
            s->kernel = s[-1].kernel;
    }
}

void rc_samples_add_up(rc_samples *samples, size_t from) {
    size_t kept = from;
    qsort(samples->list + from, samples->count - from, sizeof *samples->list, compare_calls);
    share_names(samples);
    for (size_t i = from; i < samples->count; i++) {
        const rc_sample *s = &samples->list[i];
        rc_sample *last = kept > from ? &samples->list[kept - 1] : NULL;
        if (last && same_call(last, s) && strcmp(s->family, "kda-prefill") == 0)
            last->seconds += s->seconds;
        else
            samples->list[kept++] = *s;
    }
    samples->count = kept;
}

void rc_samples_sort(rc_samples *samples) {
    qsort(samples->list, samples->count, sizeof *samples->list, compare_calls);
    share_names(samples);
    samples->duplicates = 0;
    for (size_t i = 1; i < samples->count; i++)
        samples->duplicates += same_call(&samples->list[i - 1], &samples->list[i]) &&
                               samples->list[i - 1].seconds != samples->list[i].seconds;
}
