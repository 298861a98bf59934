/* SPDX-License-Identifier: GPL-3.0-or-later
 * attention.h - attention over a cache: grouped-query and latent, full, sliding and sparse.
 *
 * On a rank with H query heads; S = sum of (cut-off) contexts of the B decoding sequences; c tokens in chunks that see
 * `pairs` keys after `past` cached ones; w bytes of a cached value.
 *   GQA decode    bytes = 2 S Hkv d w + 4 B H d                flops = 4 H d S        units = B Hkv
 *   GQA prefill   bytes = 4 c H d + 2 (past + c) Hkv d w       flops = 4 H d pairs    units = tiles x H / shared
 *   MLA decode    bytes = S (r + p) w + 2 B H (2 r + p)        flops = 2 H (2 r + p) S    units = B
 *   MLA prefill   bytes = 2 (2 c + past) H (n + p + v)         flops = 2 H (n + p + v) pairs   units as GQA
 * with d the head's width, r the latent's, p the shared slot's, n and v those of a head without position and of a value.
 * Depth of prefill: keys that the longest chunk sees.  A unit of prefill is a tile of 128 rows, what one thread
 * block works on: queries of one head, or of all heads of a KV head side by side (shared = H / Hkv).  A kernel with a query
 * tile computes whole ones:
 *   rows = tiles x 128 / shared      pairs = rows past + rows (rows + 128 / shared) / 2, or rows (reach + 128)
 * One without computes what the mask leaves; its chunks have one tile that is not full.
 * MLA reads the latent once for all heads of a rank, so it is not split by tensor parallelism; decode context
 * parallelism splits S.  MLA prefill multiplies latents out for all heads again, also those of earlier chunks: that GEMM
 * is priced with the projections.
 * An indexer of i heads of width e scores every cached token first, in FP8:
 *   indexer       bytes = S (e + 4) + 4 pairs                  flops = 2 i e pairs    depth = keys of the longest
 *   top-k         bytes = 4 pairs                              units = queries
 *   sparse MLA    bytes = 2 c k (r + p)                        flops = 2 c k H (2 r + p)
 * Sparse prefill gathers k latents for each of c tokens, whether the context has as many or not; with no more than k in
 * sight a chunk runs as dense prefill.
 */
#ifndef RC_COST_ATTENTION_H
#define RC_COST_ATTENTION_H
#include "kernel.h"
#include "load.h"

/* How a prefill kernel cuts its queries: tiles of so many rows, in each of which `shared` heads lie side by side.
 * rows 1: it rounds nothing up. */
typedef struct rc_tiling {
    double rows, shared;
} rc_tiling;
/* Chunks of one step, alike: tokens of each, cached before each, how far they look back. */
typedef struct rc_chunks {
    double count, tokens, past, reach;
} rc_chunks;

typedef struct rc_attention {
    rc_family family;
    double count;                                   /* layers */
    int reach;                                      /* index of its reach in the load */
    double queries;                                 /* tokens of a decoding sequence in a step: 1, more with drafts */
    double context_split;                           /* ranks that share a sequence's cache (DCP) */
    double read_bytes;                              /* of the cache, per cached token and layer */
    double decode_query_bytes;                      /* per sequence */
    double decode_flops;                            /* per cached token that is looked at */
    double decode_units;                            /* per sequence */
    double prefill_query_bytes, prefill_past_bytes; /* per chunk token, per cached token before the chunk */
    double prefill_flops;                           /* per pair */
    double prefill_heads;                           /* that have tiles of their own */
    rc_tiling prefill_tiling;
    double reach_tokens; /* how far it looks back */
    rc_rate decode, prefill;
    bool indexed;
    double index_heads, index_dim;
    rc_rate indexer, top_k;
    double shape_heads, shape_group, shape_width; /* for shape curves: heads of the rank, of a KV head, width of one */
    bool has_sparse;                              /* chunks that see more than the reach run on a kernel that gathers */
    rc_work sparse_of_token;                      /* of one */
    rc_rate sparse;
} rc_attention;

/* Tiles of a head, or of heads that share them. */
double rc_query_tiles(rc_tiling tiling, rc_chunks chunks);
/* Queries times keys that are computed: what the mask leaves, or whole tiles of it. */
double rc_tiled_pairs(rc_tiling tiling, rc_chunks chunks);

/* Work of one layer, as above; `context` and `pairs` are sums.  Linear in every argument behind the shapes. */
rc_work rc_gqa_decode_work(double heads, double kv_heads, double head_dim, double value_bytes, double sequences,
                           double context);
rc_work rc_gqa_prefill_work(double heads, double kv_heads, double head_dim, double value_bytes, double tokens,
                            double past, double pairs);
rc_work rc_mla_decode_work(double heads, double kv_rank, double rope_dim, double value_bytes, double sequences,
                           double context);
/* `width`: a head without position, its shared slot and its value together. */
rc_work rc_mla_prefill_work(double heads, double width, double tokens, double past, double pairs);

/* What shape curves look at; `group` and `width` 0 for latent attention, whose heads share all and are of one width. */
void rc_shape_decode(rc_work *work, double sequences, double heads, double group, double width);
void rc_shape_prefill(rc_work *work, double tokens, double chunk, double heads, double group, double width);

/* Scores of `queries` over `keys` cached tokens, `pairs` in all; one query meets at most `longest` of them. */
rc_work rc_indexer_work(double heads, double dim, double queries, double keys, double pairs, double longest);
rc_work rc_top_k_work(double queries, double pairs);
rc_work rc_mla_sparse_work(double heads, double kv_rank, double rope_dim, double kept, double tokens);

bool rc_attention_init(rc_attention *attention, const rc_mixer *mixer, const rc_scenario *scenario);
/* The part that grows with the contexts of decoding sequences; `context` as in rc_load. */
void rc_attention_add_decode(const rc_attention *attention, double sequences, const double *context, rc_cost_line *line,
                             rc_cost_line *index_line);
/* Contexts grow by `growth` a step: steps until a shape curve of a decode kernel bends; infinite where none does. */
double rc_attention_next_bend(const rc_attention *attention, double sequences, const double *context,
                              const double *growth);
/* The part of the chunks. */
void rc_attention_add_prefill(const rc_attention *attention, const rc_load *load, rc_step_cost *cost);
#endif
