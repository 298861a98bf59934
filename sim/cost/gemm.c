/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "gemm.h"

/* The kernel for a weight format: its own, or that of the format the hardware would compute in. */
static const char *const *kernels_for(rc_format_id format) {
    static const char *const bf16[] = {"gemm-bf16", NULL};
    static const char *const fp8[] = {"gemm-fp8", "gemm-bf16", NULL};
    static const char *const fp8_tensor[] = {"gemm-fp8-tensor", "gemm-fp8", "gemm-bf16", NULL};
    static const char *const nvfp4[] = {"gemm-nvfp4", "gemm-fp8", "gemm-bf16", NULL};
    static const char *const mxfp4[] = {"gemm-mxfp4", "gemm-fp8", "gemm-bf16", NULL};
    static const char *const int8[] = {"gemm-int8", "gemm-fp8", "gemm-bf16", NULL};
    static const char *const int4[] = {"gemm-int4", "gemm-bf16", NULL};
    switch (format) {
    case RC_FP8:
    case RC_MXFP8: return fp8;
    case RC_FP8_TENSOR: return fp8_tensor;
    case RC_NVFP4: return nvfp4;
    case RC_MXFP4: return mxfp4;
    case RC_INT8: return int8;
    case RC_INT4:
    case RC_INT4_G32: return int4;
    default: return bf16;
    }
}

rc_work rc_gemm_work(double rows, double columns, rc_format_id format, double tokens) {
    enum { OUTPUT_BYTES = 2 };
    double activation_bytes = rc_number_format_of(format)->activation_bytes;
    return (rc_work){.bytes = rows * columns * rc_bytes_per_value(format) + tokens * columns * activation_bytes +
                              tokens * rows * OUTPUT_BYTES,
                     .flops = 2 * tokens * rows * columns,
                     .depth = columns};
}

bool rc_gemm_init(rc_gemm *gemm, const rc_stack *stack, const rc_accelerator *accelerator, rc_format_id format,
                  double rows, double columns) {
    gemm->rows = rows;
    gemm->columns = columns;
    gemm->format = format;
    return rc_rate_find(stack, accelerator, kernels_for(format), &gemm->rate);
}

void rc_gemm_add(const rc_gemm *gemm, double tokens, rc_step_cost *cost) {
    if (tokens > 0)
        rc_rate_add(&gemm->rate, rc_gemm_work(gemm->rows, gemm->columns, gemm->format, tokens), gemm->count,
                    &cost->lines[gemm->family]);
}
