/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "attention.h"
#include <math.h>

enum { QUERY_BYTES = 2, INDEX_SCALE_BYTES = 4, SCORE_BYTES = 4, QUERY_TILE = 128 };

double rc_query_tiles(rc_tiling tiling, rc_chunks c) {
    return c.count * (tiling.rows > 1 ? ceil(c.tokens * tiling.shared / tiling.rows) : c.tokens / QUERY_TILE + 1);
}

double rc_tiled_pairs(rc_tiling tiling, rc_chunks c) {
    if (tiling.rows <= 1)
        return c.count * rc_chunk_pairs(c.past, c.tokens, c.reach);
    double tile = tiling.rows / tiling.shared, rows = ceil(c.tokens / tile) * tile;
    double seen = c.reach >= c.past + rows ? c.past + (rows + tile) / 2 : fmin(c.reach + tiling.rows, c.past + rows);
    return c.count * rows * seen;
}

rc_work rc_gqa_decode_work(double heads, double kv_heads, double d, double value_bytes, double sequences,
                           double context) {
    return (rc_work){.bytes = 2 * context * kv_heads * d * value_bytes + 2 * sequences * heads * d * QUERY_BYTES,
                     .flops = 4 * context * heads * d,
                     .units = sequences * kv_heads};
}

rc_work rc_gqa_prefill_work(double heads, double kv_heads, double d, double value_bytes, double tokens, double past,
                            double pairs) {
    return (rc_work){.bytes = 2 * tokens * heads * d * QUERY_BYTES + 2 * (past + tokens) * kv_heads * d * value_bytes,
                     .flops = 4 * pairs * heads * d};
}

rc_work rc_mla_decode_work(double heads, double kv_rank, double rope_dim, double value_bytes, double sequences,
                           double context) {
    double absorbed = 2 * kv_rank + rope_dim;
    return (rc_work){.bytes = context * (kv_rank + rope_dim) * value_bytes + sequences * heads * absorbed * QUERY_BYTES,
                     .flops = 2 * context * heads * absorbed,
                     .units = sequences};
}

rc_work rc_mla_prefill_work(double heads, double width, double tokens, double past, double pairs) {
    return (rc_work){.bytes = (2 * tokens + past) * heads * width * QUERY_BYTES, .flops = 2 * pairs * heads * width};
}

void rc_shape_decode(rc_work *work, double sequences, double heads, double group, double width) {
    work->shape[RC_AXIS_TOKENS] = sequences;
    work->shape[RC_AXIS_HEADS] = heads;
    work->shape[RC_AXIS_GROUP] = group;
    work->shape[RC_AXIS_WIDTH] = width;
    work->shape[RC_AXIS_BLOCKS] = sequences * (group > 0 ? heads / group : heads);
}

void rc_shape_prefill(rc_work *work, double tokens, double chunk, double heads, double group, double width) {
    work->shape[RC_AXIS_TOKENS] = tokens;
    work->shape[RC_AXIS_CHUNK] = chunk;
    work->shape[RC_AXIS_HEADS] = heads;
    work->shape[RC_AXIS_GROUP] = group;
    work->shape[RC_AXIS_WIDTH] = width;
    work->shape[RC_AXIS_BLOCKS] = tokens * heads;
}

rc_work rc_indexer_work(double heads, double dim, double queries, double keys, double pairs, double longest) {
    return (rc_work){.bytes = keys * (dim + INDEX_SCALE_BYTES) + pairs * SCORE_BYTES,
                     .flops = 2 * heads * dim * pairs,
                     .depth = longest,
                     .shape = {[RC_AXIS_TOKENS] = queries}};
}

rc_work rc_top_k_work(double queries, double pairs) {
    return (rc_work){.bytes = pairs * SCORE_BYTES,
                     .units = queries,
                     .depth = pairs / queries,
                     .shape = {[RC_AXIS_TOKENS] = queries}};
}

rc_work rc_mla_sparse_work(double heads, double kv_rank, double rope_dim, double kept, double tokens) {
    return (rc_work){.bytes = tokens * kept * (kv_rank + rope_dim) * QUERY_BYTES,
                     .flops = 2 * tokens * kept * heads * (2 * kv_rank + rope_dim),
                     .shape = {[RC_AXIS_TOKENS] = tokens, [RC_AXIS_HEADS] = heads}};
}

/* The coefficients of linear work: what one sequence, one cached token, one token of a chunk each cost. */
static void init_gqa(rc_attention *a, const rc_mixer *m, double tp, double w) {
    double heads = ceil(m->heads / tp), kv = ceil(m->kv_heads / tp), d = m->head_dim;
    a->family = RC_FAMILY_ATTENTION;
    a->shape_heads = heads;
    a->shape_group = heads / kv;
    a->shape_width = d;
    a->read_bytes = rc_gqa_decode_work(heads, kv, d, w, 0, 1).bytes;
    a->decode_query_bytes = rc_gqa_decode_work(heads, kv, d, w, 1, 0).bytes;
    a->decode_flops = rc_gqa_decode_work(rc_round_up(heads, a->decode.head_tile), kv, d, w, 0, 1).flops;
    a->decode_units = rc_gqa_decode_work(heads, kv, d, w, 1, 0).units;
    a->prefill_query_bytes = rc_gqa_prefill_work(heads, kv, d, w, 1, 0, 0).bytes;
    a->prefill_past_bytes = rc_gqa_prefill_work(heads, kv, d, w, 0, 1, 0).bytes;
    a->prefill_flops = rc_gqa_prefill_work(rc_round_up(heads, a->prefill.head_tile), kv, d, w, 0, 0, 1).flops;
    a->prefill_tiling = (rc_tiling){a->prefill.query_tile, a->prefill.packs_heads ? heads / kv : 1};
    a->prefill_heads = heads / a->prefill_tiling.shared;
}

static void init_mla(rc_attention *a, const rc_mixer *m, double tp, double w) {
    double heads = ceil(m->heads / tp), r = m->kv_rank, p = m->rope_dim, width = m->nope_dim + p + m->value_dim;
    a->family = RC_FAMILY_MLA;
    a->shape_heads = heads;
    a->read_bytes = rc_mla_decode_work(heads, r, p, w, 0, 1).bytes;
    a->decode_query_bytes = rc_mla_decode_work(heads, r, p, w, 1, 0).bytes;
    a->decode_flops = rc_mla_decode_work(rc_round_up(heads, a->decode.head_tile), r, p, w, 0, 1).flops;
    a->decode_units = rc_mla_decode_work(heads, r, p, w, 1, 0).units;
    a->prefill_query_bytes = rc_mla_prefill_work(heads, width, 1, 0, 0).bytes;
    a->prefill_past_bytes = rc_mla_prefill_work(heads, width, 0, 1, 0).bytes;
    a->prefill_flops = rc_mla_prefill_work(rc_round_up(heads, a->prefill.head_tile), width, 0, 0, 1).flops;
    a->prefill_tiling = (rc_tiling){a->prefill.query_tile, 1};
    a->prefill_heads = heads;
    a->indexed = m->index_heads > 0;
    a->index_heads = m->index_heads;
    a->index_dim = m->index_dim;
    if (a->has_sparse)
        a->sparse_of_token = rc_mla_sparse_work(rc_round_up(heads, a->sparse.head_tile), r, p, a->reach_tokens, 1);
}

bool rc_attention_init(rc_attention *a, const rc_mixer *mixer, const rc_scenario *s) {
    double value_bytes = rc_number_format_of((rc_format_id)s->engine.kv_format)->bits / 8;
    bool mla = mixer->kind == RC_MLA, fp8 = value_bytes < 2;
    double heads = ceil(mixer->heads / s->parallel.tp);
    *a = (rc_attention){.queries = 1, .context_split = s->parallel.dcp, .reach_tokens = rc_mixer_reach(mixer)};
    bool found = mla ? rc_rate_for_heads(s, heads, fp8 ? "mla-decode-fp8" : "mla-decode", "mla-decode", &a->decode) &&
                           rc_rate_for_heads(s, heads, "mla-prefill", "attention-prefill", &a->prefill)
                     : rc_rate_for_heads(s, heads, fp8 ? "attention-decode-fp8" : "attention-decode",
                                         "attention-decode", &a->decode) &&
                           rc_rate_for_heads(s, heads, "attention-prefill", "attention-prefill", &a->prefill);
    a->has_sparse = mla && mixer->index_heads > 0 &&
                    rc_rate_find(&s->hardware.stack, &s->hardware.accelerator,
                                 (const char *const[]){"mla-sparse", NULL}, &a->sparse);
    if (mla)
        init_mla(a, mixer, s->parallel.tp, value_bytes);
    else
        init_gqa(a, mixer, s->parallel.tp, value_bytes);
    if (a->indexed)
        found = found && rc_rate_first(s, "indexer", "indexer", &a->indexer) &&
                rc_rate_first(s, "top-k", "elementwise", &a->top_k);
    return found;
}

/* Work of one layer on a rank that sees so many cached tokens of all sequences. */
static rc_work decode_work(const rc_attention *a, double sequences, double seen) {
    double split = a->context_split; /* every rank's heads meet on each rank */
    rc_work work = {.bytes = seen * a->read_bytes + sequences * a->queries * a->decode_query_bytes,
                    .flops = seen * a->decode_flops * split * a->queries,
                    .units = sequences * a->decode_units,
                    .depth = seen / sequences};
    rc_shape_decode(&work, sequences, a->shape_heads * split, a->shape_group * split, a->shape_width);
    return work;
}

static rc_work score_work(const rc_attention *a, double sequences, double scored) {
    return rc_indexer_work(a->index_heads, a->index_dim, sequences * a->queries, scored, scored * a->queries,
                           scored / sequences);
}

void rc_attention_add_decode(const rc_attention *a, double sequences, const double *context, rc_cost_line *line,
                             rc_cost_line *index_line) {
    if (sequences <= 0)
        return;
    double scored = context[0] / a->context_split;
    rc_rate_add(&a->decode, decode_work(a, sequences, context[a->reach] / a->context_split), a->count, line);
    if (!a->indexed)
        return;
    rc_rate_add(&a->indexer, score_work(a, sequences, scored), a->count, index_line);
    rc_rate_add(&a->top_k, rc_top_k_work(sequences * a->queries, scored * a->queries), a->count, index_line);
}

double rc_attention_next_bend(const rc_attention *a, double sequences, const double *context, const double *growth) {
    double seen = context[a->reach] / a->context_split, grown = growth[a->reach] / a->context_split;
    rc_work none = decode_work(a, sequences, 0), one = decode_work(a, sequences, 1);
    double steps = grown > 0 ? (rc_rate_next_bend(&a->decode, &none, &one, seen) - seen) / grown : INFINITY;
    seen = context[0] / a->context_split;
    grown = growth[0] / a->context_split;
    if (!a->indexed || grown <= 0)
        return steps;
    none = score_work(a, sequences, 0);
    one = score_work(a, sequences, 1);
    steps = fmin(steps, (rc_rate_next_bend(&a->indexer, &none, &one, seen) - seen) / grown);
    none = rc_top_k_work(sequences * a->queries, 0);
    one = rc_top_k_work(sequences * a->queries, a->queries);
    return fmin(steps, (rc_rate_next_bend(&a->top_k, &none, &one, seen) - seen) / grown);
}

void rc_attention_add_prefill(const rc_attention *a, const rc_load *load, rc_step_cost *cost) {
    if (load->prefill_tokens <= 0)
        return;
    double count = load->prefill_sequences;
    rc_chunks chunks = {count, load->prefill_tokens / count, load->prefill_past / count, a->reach_tokens};
    double pairs =
        a->prefill_tiling.rows > 1 ? rc_tiled_pairs(a->prefill_tiling, chunks) : load->prefill_pairs[a->reach];
    rc_work work = {.bytes = load->prefill_tokens * a->prefill_query_bytes + load->prefill_past * a->prefill_past_bytes,
                    .flops = pairs * a->prefill_flops,
                    .units = a->prefill_heads * rc_query_tiles(a->prefill_tiling, chunks),
                    .depth = fmin(load->prefill_longest, a->reach_tokens)};
    rc_shape_prefill(&work, load->prefill_tokens, chunks.tokens, a->shape_heads, a->shape_group, a->shape_width);
    bool sparse = a->has_sparse && load->prefill_longest > a->reach_tokens;
    if (sparse) {
        work = a->sparse_of_token;
        work.bytes *= load->prefill_tokens;
        work.flops *= load->prefill_tokens;
        work.shape[RC_AXIS_TOKENS] = load->prefill_tokens;
    }
    rc_rate_add(sparse ? &a->sparse : &a->prefill, work, a->count, &cost->lines[a->family]);
    if (!a->indexed)
        return;
    double scored = load->prefill_pairs[0], cached = load->prefill_past + load->prefill_tokens;
    rc_rate_add(
        &a->indexer,
        rc_indexer_work(a->index_heads, a->index_dim, load->prefill_tokens, cached, scored, load->prefill_longest),
        a->count, &cost->lines[RC_FAMILY_INDEXER]);
    rc_rate_add(&a->top_k, rc_top_k_work(load->prefill_tokens, scored), a->count, &cost->lines[RC_FAMILY_INDEXER]);
}
