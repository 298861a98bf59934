/* SPDX-License-Identifier: GPL-3.0-or-later
 * load.h - what one step of a replica works on, as the few sums that its price depends on.
 *
 * Attention that looks back a limited way (a sliding window, an indexer's top-k) needs sums of cut-off contexts; each
 * distinct limit of a model is a "reach".  Reach 0 is no limit.
 */
#ifndef RC_COST_LOAD_H
#define RC_COST_LOAD_H
#include <stdbool.h>

enum { RC_REACHES_MAX = 3 }; /* no limit, and as many as a model may have (RC_MODEL_REACHES_MAX) */

typedef struct rc_load {
    double tokens; /* all tokens of the step: one a decoding sequence, plus the chunks */
    double logits; /* sequences that produce a token */
    double decode_sequences;
    double decode_context[RC_REACHES_MAX]; /* sum over sequences of min(context, reach) */
    double prefill_tokens, prefill_sequences;
    double prefill_past;                  /* sum of tokens cached before each chunk */
    double prefill_longest;               /* most keys that a chunk sees, its own tokens included */
    double prefill_pairs[RC_REACHES_MAX]; /* sum over chunk tokens of keys each looks at, at most reach */
} rc_load;

/* Keys that the tokens of one chunk look at: token i of `chunk` sees past + i + 1 keys, at most `reach`. */
double rc_chunk_pairs(double past, double chunk, double reach);
/* A step that decodes `sequences` of `context` cached tokens each; reaches[0] is infinite. */
rc_load rc_load_decode(double sequences, double context, const double *reaches, int reaches_count);
/* A step that runs one chunk of a prompt and, where it is the last, its first token. */
rc_load rc_load_prefill(double chunk, double past, bool last, const double *reaches, int reaches_count);
#endif
