/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "load.h"
#include <math.h>

double rc_chunk_pairs(double past, double chunk, double reach) {
    double free_tokens = fmin(fmax(reach - past, 0), chunk); /* tokens that still see everything before them */
    double growing = free_tokens * past + free_tokens * (free_tokens + 1) / 2;
    return chunk > free_tokens ? growing + (chunk - free_tokens) * reach : growing;
}

rc_load rc_load_decode(double sequences, double context, const double *reaches, int reaches_count) {
    rc_load load = {.tokens = sequences, .logits = sequences, .decode_sequences = sequences};
    for (int r = 0; r < reaches_count; r++)
        load.decode_context[r] = sequences * fmin(context, reaches[r]);
    return load;
}

rc_load rc_load_prefill(double chunk, double past, bool last, const double *reaches, int reaches_count) {
    rc_load load = {.tokens = chunk,
                    .logits = last ? 1 : 0,
                    .prefill_tokens = chunk,
                    .prefill_sequences = 1,
                    .prefill_past = past,
                    .prefill_longest = past + chunk};
    for (int r = 0; r < reaches_count; r++)
        load.prefill_pairs[r] = rc_chunk_pairs(past, chunk, reaches[r]);
    return load;
}
