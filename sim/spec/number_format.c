/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "number_format.h"
#include <math.h>

static const rc_number_format formats[RC_FORMAT_COUNT] = {
    [RC_F32] = {"f32", 32, 0, 1, 0, 4},
    [RC_BF16] = {"bf16", 16, 0, 1, 0, 2},
    [RC_FP8] = {"fp8", 8, 128, 128, 32, 1},
    [RC_FP8_TENSOR] = {"fp8-tensor", 8, 0, 1, 0, 1},
    [RC_MXFP8] = {"mxfp8", 8, 32, 1, 8, 1.03125},
    [RC_NVFP4] = {"nvfp4", 4, 16, 1, 8, 0.5625},
    [RC_MXFP4] = {"mxfp4", 4, 32, 1, 8, 1.03125},
    [RC_INT8] = {"int8", 8, 128, 1, 16, 1},
    [RC_INT8_G32] = {"int8-g32", 8, 32, 1, 16, 1},
    [RC_INT4] = {"int4", 4, 128, 1, 16, 2},
    [RC_INT4_G32] = {"int4-g32", 4, 32, 1, 16, 2},
};

const char *const rc_format_names[] = {"f32",   "bf16", "fp8",      "fp8-tensor", "mxfp8",    "nvfp4",
                                       "mxfp4", "int8", "int8-g32", "int4",       "int4-g32", NULL};

const rc_number_format *rc_number_format_of(rc_format_id id) {
    return &formats[id];
}

double rc_value_bytes(rc_format_id id, double rows, double columns) {
    return rows * columns * formats[id].bits / 8;
}

double rc_scale_bytes(rc_format_id id, double rows, double columns) {
    const rc_number_format *f = &formats[id];
    if (!f->group)
        return 0;
    return ceil(rows / (double)f->group_rows) * ceil(columns / (double)f->group) * f->scale_bits / 8;
}

double rc_bytes_per_value(rc_format_id id) {
    const rc_number_format *f = &formats[id];
    double scale = f->group ? f->scale_bits / (double)(f->group * f->group_rows) : 0;
    return (f->bits + scale) / 8;
}
