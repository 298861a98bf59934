/* SPDX-License-Identifier: GPL-3.0-or-later
 * number_format.h - how numbers are stored.
 * A block format keeps one scale for a group of values along a row (or for a square block); scales are bytes like any
 * others, so a "4-bit" weight takes 4.25 or 4.5 bits.  Known value: an expert of Kimi K3, 33,030,144 numbers in MXFP4,
 * takes 17,547,264 B.
 *   mxfp4, mxfp8   group of 32, 8-bit scale (OCP Microscaling Formats 1.0)
 *   nvfp4          group of 16, 8-bit scale (NVIDIA)
 *   fp8            block of 128 x 128, 32-bit scale (DeepSeek-V3)
 *   fp8-tensor     one scale for a tensor (ModelOpt, compressed-tensors)
 *   int8-g32       group of 32, 16-bit scale (Q8_0 of llama.cpp)
 *   int4           group of 128, 16-bit scale (AWQ, GPTQ); int4-g32: group of 32 (compressed-tensors)
 */
#ifndef RC_NUMBER_FORMAT_H
#define RC_NUMBER_FORMAT_H
#include <stddef.h>

typedef enum rc_format_id {
    RC_F32,
    RC_BF16,
    RC_FP8,
    RC_FP8_TENSOR,
    RC_MXFP8,
    RC_NVFP4,
    RC_MXFP4,
    RC_INT8,
    RC_INT8_G32,
    RC_INT4,
    RC_INT4_G32,
    RC_FORMAT_COUNT
} rc_format_id;

typedef struct rc_number_format {
    const char *name;
    double bits;       /* of one value, scales not counted */
    size_t group;      /* values that share a scale along a row; 0: none */
    size_t group_rows; /* rows that share it: 1, or 128 for square blocks */
    double scale_bits;
    double activation_bytes; /* bytes of an activation that meets such weights in a GEMM */
} rc_number_format;

const rc_number_format *rc_number_format_of(rc_format_id id);
extern const char *const rc_format_names[]; /* ends with NULL, in the order of rc_format_id */
/* Bytes of a matrix of rows x columns, without and of its scales. */
double rc_value_bytes(rc_format_id id, double rows, double columns);
double rc_scale_bytes(rc_format_id id, double rows, double columns);
/* Bytes a value takes on average, scales included. */
double rc_bytes_per_value(rc_format_id id);
#endif
