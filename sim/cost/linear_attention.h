/* SPDX-License-Identifier: GPL-3.0-or-later
 * linear_attention.h - mixers with a recurrent state: Kimi delta attention and the gated delta net.
 * Per token and head of key width a and value width b, in chunks of 64 tokens:
 *   prefill  flops = 2 (3 * 64 a + 3 a b)   bytes = 16 a, and per sequence the state in and out, 8 a b
 *            depth = tokens of a sequence: its chunks follow one another, however many heads there are
 *   decode   flops = 7 a b                  bytes = 8 a b + 16 a        (the FP32 state is read and written)
 *   verify   of q tokens of a sequence: flops = 7 q a b, bytes = 4 a b (q + 3) + 16 q a: the state is read, one is written
 *            behind each token, and the one behind the last accepted is copied
 * Independent of the context.  The short convolution is part of the Kimi kernels and one more kernel of the gated
 * delta net's.
 */
#ifndef RC_COST_LINEAR_ATTENTION_H
#define RC_COST_LINEAR_ATTENTION_H
#include "kernel.h"
#include "load.h"

typedef struct rc_linear_attention {
    rc_family family;
    double count; /* layers */
    double heads, key_dim, value_dim;
    double queries;           /* tokens of a decoding sequence in a step: 1, more with drafts */
    double convolution_bytes; /* per token, of a convolution of its own; 0: fused */
    rc_rate decode, prefill, convolution;
} rc_linear_attention;

/* Work of one layer, as above. */
rc_work rc_linear_decode_work(double heads, double key_dim, double value_dim, double sequences);
rc_work rc_linear_verify_work(double heads, double key_dim, double value_dim, double sequences, double queries);
rc_work rc_linear_prefill_work(double heads, double key_dim, double value_dim, double tokens, double sequences);

bool rc_linear_attention_init(rc_linear_attention *linear, const rc_mixer *mixer, const rc_scenario *scenario);
void rc_linear_attention_add(const rc_linear_attention *linear, const rc_load *load, rc_step_cost *cost);
#endif
