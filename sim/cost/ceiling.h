/* SPDX-License-Identifier: GPL-3.0-or-later
 * ceiling.h - what the data sheet alone would allow: a bound, never a forecast.
 * A decode step reads each weight it needs once per replica, evenly sharded, at the sheet's bandwidth, or does its
 * arithmetic at the dense peak, whichever is longer.  What replicated weights and caches add are numbers of their own.
 * Known values: 40 GB a token on 256 GB/s: 6.4 tokens/s.  Kimi K3 at batch 1 on 8 x 7.75 TB/s: 453 tokens/s.
 */
#ifndef RC_COST_CEILING_H
#define RC_COST_CEILING_H
#include "scenario.h"

typedef struct rc_ceiling {
    double seconds;                    /* of the step */
    double replication_s;              /* what weights held whole on every rank add */
    double cache_s;                    /* what reading KV and reading and writing state adds */
    double weight_bytes;               /* read by the step, whole replica, each once */
    double weight_bytes_uniform;       /* had routing been uniform */
    double distinct, distinct_uniform; /* experts touched in a layer (the last kind that has experts) */
} rc_ceiling;

/* Tokens a second of `batch` sequences where each step reads `bytes` at `bytes_per_s`. */
double rc_ceiling_tokens_per_s(double bytes, double bytes_per_s, double batch);
/* A decode step of `batch` sequences of `context` tokens in one replica. */
rc_ceiling rc_ceiling_decode(const rc_scenario *scenario, double batch, double context);
/* The arithmetic of a prompt at the dense peak. */
double rc_ceiling_prefill_s(const rc_scenario *scenario, double prompt);
#endif
