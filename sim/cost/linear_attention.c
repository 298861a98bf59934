/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "linear_attention.h"
#include <math.h>

enum { CHUNK = 64, STATE_BYTES = 4, STREAM_BYTES = 16, DECODE_FLOPS = 7 };

bool rc_linear_attention_init(rc_linear_attention *l, const rc_mixer *m, const rc_scenario *s) {
    bool kda = m->kind == RC_KDA;
    double tp = s->parallel.tp, keys = kda ? m->heads : m->key_heads;
    *l = (rc_linear_attention){
        .queries = 1,
        .family = kda ? RC_FAMILY_KDA : RC_FAMILY_GDN,
        .heads = ceil(m->heads / tp),
        .key_dim = m->key_dim,
        .value_dim = m->value_dim,
        .convolution_bytes = kda ? 0 : 2 * 2 * ceil((2 * keys * m->key_dim + m->heads * m->value_dim) / tp),
    };
    return rc_rate_first(s, kda ? "kda-decode" : "gdn-decode", "kda-decode", &l->decode) &&
           rc_rate_first(s, kda ? "kda-prefill" : "gdn-prefill", "kda-prefill", &l->prefill) &&
           rc_rate_first(s, "elementwise", "elementwise", &l->convolution);
}

rc_work rc_linear_decode_work(double heads, double key_dim, double value_dim, double sequences) {
    double state = key_dim * value_dim;
    return (rc_work){.bytes = sequences * heads * (2 * STATE_BYTES * state + STREAM_BYTES * key_dim),
                     .flops = DECODE_FLOPS * sequences * heads * state,
                     .shape = {[RC_AXIS_TOKENS] = sequences,
                               [RC_AXIS_HEADS] = heads,
                               [RC_AXIS_WIDTH] = key_dim,
                               [RC_AXIS_BLOCKS] = sequences * heads}};
}

rc_work rc_linear_verify_work(double heads, double key_dim, double value_dim, double sequences, double queries) {
    enum { READ_AND_COPIED = 3 };
    rc_work work = rc_linear_decode_work(heads, key_dim, value_dim, sequences);
    double state = sequences * heads * STATE_BYTES * key_dim * value_dim;
    if (queries > 1)
        work.bytes = (READ_AND_COPIED + queries) * state + sequences * queries * heads * STREAM_BYTES * key_dim;
    work.flops *= queries;
    return work;
}

rc_work rc_linear_prefill_work(double heads, double key_dim, double value_dim, double tokens, double sequences) {
    double state = key_dim * value_dim;
    return (rc_work){.bytes = tokens * heads * STREAM_BYTES * key_dim + sequences * heads * 2 * STATE_BYTES * state,
                     .flops = tokens * heads * 2 * (3 * CHUNK * key_dim + 3 * state),
                     .depth = tokens / sequences,
                     .shape = {[RC_AXIS_TOKENS] = tokens,
                               [RC_AXIS_HEADS] = heads,
                               [RC_AXIS_WIDTH] = key_dim,
                               [RC_AXIS_BLOCKS] = sequences * heads}};
}

void rc_linear_attention_add(const rc_linear_attention *l, const rc_load *load, rc_step_cost *cost) {
    rc_cost_line *line = &cost->lines[l->family];
    double sequences = load->decode_sequences, tokens = load->prefill_tokens;
    if (sequences > 0)
        rc_rate_add(&l->decode, rc_linear_verify_work(l->heads, l->key_dim, l->value_dim, sequences, l->queries),
                    l->count, line);
    if (tokens > 0)
        rc_rate_add(&l->prefill,
                    rc_linear_prefill_work(l->heads, l->key_dim, l->value_dim, tokens, load->prefill_sequences),
                    l->count, line);
    if (l->convolution_bytes > 0)
        rc_rate_add(&l->convolution, (rc_work){.bytes = (tokens + sequences * l->queries) * l->convolution_bytes},
                    l->count, line);
}
