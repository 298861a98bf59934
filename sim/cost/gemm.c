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
    case RC_INT8:
    case RC_INT8_G32: return int8;
    case RC_INT4:
    case RC_INT4_G32: return int4;
    default: return bf16;
    }
}

/* Batched kernels compute in FP8 or BF16; an engine without one of FP8 stores the weight in BF16. */
static const char *const *batched_kernels_for(rc_format_id format) {
    static const char *const bf16[] = {"bmm-bf16", "gemm-bf16", NULL};
    static const char *const fp8[] = {"bmm-fp8", "bmm-bf16", "gemm-bf16", NULL};
    return format == RC_FP8 || format == RC_MXFP8 || format == RC_FP8_TENSOR ? fp8 : bf16;
}

rc_work rc_gemm_work(double rows, double columns, rc_format_id format, double tokens) {
    enum { OUTPUT_BYTES = 2 };
    double activation_bytes = rc_number_format_of(format)->activation_bytes;
    double weight_bytes = rows * columns * rc_bytes_per_value(format);
    return (rc_work){.bytes = weight_bytes + tokens * columns * activation_bytes + tokens * rows * OUTPUT_BYTES,
                     .weight_bytes = weight_bytes,
                     .flops = 2 * tokens * rows * columns,
                     .depth = columns,
                     .shape = {[RC_AXIS_TOKENS] = tokens, [RC_AXIS_WIDTH] = rows, [RC_AXIS_BLOCKS] = tokens * rows}};
}

rc_work rc_bmm_work(double heads, double rows, double columns, rc_format_id format, double tokens) {
    rc_work work = rc_gemm_work(rows, columns, format, tokens);
    work.bytes *= heads;
    work.weight_bytes *= heads;
    work.flops *= heads;
    work.shape[RC_AXIS_HEADS] = heads;
    work.shape[RC_AXIS_BLOCKS] = tokens * heads;
    return work;
}

bool rc_gemm_init(rc_gemm *gemm, const rc_stack *stack, const rc_accelerator *accelerator, rc_format_id format,
                  double heads, double rows, double columns) {
    gemm->heads = heads;
    gemm->rows = rows;
    gemm->columns = columns;
    gemm->format = format;
    return rc_rate_find(stack, accelerator, heads > 0 ? batched_kernels_for(format) : kernels_for(format), &gemm->rate);
}

void rc_gemm_add(const rc_gemm *gemm, double tokens, rc_step_cost *cost) {
    if (tokens <= 0)
        return;
    rc_work work = gemm->heads > 0 ? rc_bmm_work(gemm->heads, gemm->rows, gemm->columns, gemm->format, tokens)
                                   : rc_gemm_work(gemm->rows, gemm->columns, gemm->format, tokens);
    rc_rate_add(&gemm->rate, work, gemm->count, &cost->lines[gemm->family]);
}
