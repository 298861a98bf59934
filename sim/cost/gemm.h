/* SPDX-License-Identifier: GPL-3.0-or-later
 * gemm.h - dense matrix work: tokens times a weight.
 * For m tokens and a rank's weight of n x k: bytes = n k w + m k a + 2 m n (w and a bytes of a weight and an activation,
 * outputs in BF16), flops = 2 m n k, depth = k: a thread block walks the columns of its tile one after another.
 * A batched GEMM does so with one weight a head, each head with tokens of its own: H times the bytes and flops.
 */
#ifndef RC_COST_GEMM_H
#define RC_COST_GEMM_H
#include "kernel.h"

/* Which of a step's tokens meet the weight. */
typedef enum rc_gemm_tokens { RC_GEMM_ALL, RC_GEMM_LOGITS, RC_GEMM_DECODE, RC_GEMM_CACHED } rc_gemm_tokens;

typedef struct rc_gemm {
    rc_family family;
    rc_gemm_tokens tokens;
    double count;         /* layers that have it */
    double rows, columns; /* n and k on this rank; of one head where there are heads */
    double heads;         /* of a batched GEMM; 0: one weight for all */
    rc_format_id format;
    rc_rate rate;
} rc_gemm;

/* Work of `tokens` against a weight of rows x columns stored in a format. */
rc_work rc_gemm_work(double rows, double columns, rc_format_id format, double tokens);
/* The same with a weight for each head. */
rc_work rc_bmm_work(double heads, double rows, double columns, rc_format_id format, double tokens);
/* `heads` 0: a dense weight. */
bool rc_gemm_init(rc_gemm *gemm, const rc_stack *stack, const rc_accelerator *accelerator, rc_format_id format,
                  double heads, double rows, double columns);
void rc_gemm_add(const rc_gemm *gemm, double tokens, rc_step_cost *cost);
#endif
