/* SPDX-License-Identifier: GPL-3.0-or-later
 * kernel_sample.h - measured calls of kernels, and the work that each of them did.
 */
#ifndef RC_KERNEL_SAMPLE_H
#define RC_KERNEL_SAMPLE_H
#include "kernel.h"

typedef enum rc_sample_kind {
    RC_SAMPLE_GEMM,
    RC_SAMPLE_BMM,
    RC_SAMPLE_EXPERTS,
    RC_SAMPLE_FUSED_EXPERTS, /* tokens of a rank, width, inner, top-k, experts, ranks; messages inside the kernel */
    RC_SAMPLE_MLA_DECODE,
    RC_SAMPLE_MLA_PREFILL,
    RC_SAMPLE_MLA_SPARSE,
    RC_SAMPLE_INDEXER,
    RC_SAMPLE_TOP_K,
    RC_SAMPLE_GQA_DECODE,
    RC_SAMPLE_GQA_PREFILL,
    RC_SAMPLE_LINEAR_DECODE,
    RC_SAMPLE_LINEAR_PREFILL,
    RC_SAMPLE_ALL_REDUCE, /* messages have the shape bytes, ranks, and no kernel of the formula */
    RC_SAMPLE_ALL_TO_ALL,
    RC_SAMPLE_ALL_GATHER,
    RC_SAMPLE_REDUCE_SCATTER,
    RC_SAMPLE_DISPATCH, /* of experts: tokens of a rank, width, top-k, experts, ranks, nodes, algorithm */
    RC_SAMPLE_COMBINE
} rc_sample_kind;

enum { RC_SAMPLE_SHAPES = 8 };
/* shape[6] of experts: tokens dealt round robin, or sent to experts at random. */
enum { RC_DEALT_ROUTING, RC_UNIFORM_ROUTING };

/* One measured call.  shape[0] is what grows from row to row of one kernel: tokens or sequences. */
typedef struct rc_sample {
    const char *family; /* "gemm-bf16": the name in a stack */
    const char *kernel; /* what the table calls the code that ran; "" where a call is several kernels */
    rc_sample_kind kind;
    rc_format_id format;
    rc_peak peak; /* the arithmetic */
    double shape[RC_SAMPLE_SHAPES];
    double seconds;
    long line;
} rc_sample;

typedef struct rc_samples {
    rc_sample *list;
    size_t count, capacity;
    size_t duplicates; /* rows with the shape of another and another time: kept both (set by rc_samples_sort) */
    size_t ignored;    /* rows of other systems, engines, kernels or distributions */
} rc_samples;

/* What a kernel rounds up to; 1: nothing. */
typedef struct rc_tiles {
    double shape;  /* columns of an expert, heads of a latent decode */
    double tokens; /* widest tile of an expert's tokens; rows of a tile of prefill */
    bool packed;   /* heads of one KV head share the rows of a tile of prefill */
} rc_tiles;

bool rc_sample_is_message(const rc_sample *sample);
bool rc_kernel_is_library(const char *kernel); /* NCCL's: any engine may run it */
#define RC_NO_TILES ((rc_tiles){1, 1, false})
rc_work rc_sample_work(const rc_sample *sample, rc_tiles tiles);
/* A third of the shapes, whatever is measured beside them, is left out of every fit. */
bool rc_sample_is_held_out(const rc_sample *sample);
/* The kernels of one recurrent call, rows of one shape in one table, become one sample.  The first `from` samples are of
 * other tables and stay as they are. */
void rc_samples_add_up(rc_samples *samples, size_t from);
/* By family, then kernel and shape, so that a family lies together and what grows (shape[0]) rises within it. */
void rc_samples_sort(rc_samples *samples);
void rc_samples_free(rc_samples *samples);
#endif
