/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel_row.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int rc_row_column(const rc_kernel_rows *t, const char *name) {
    for (size_t i = 0; i < t->columns; i++)
        if (strcmp(t->names[i], name) == 0)
            return (int)i;
    return -1;
}

const char *rc_row_text(const rc_kernel_rows *t, const char *name) {
    int column = rc_row_column(t, name);
    return column < 0 ? "" : rc_csv_cell(t->csv, (size_t)column);
}

double rc_row_number(rc_kernel_rows *t, const char *name) {
    const char *cell = rc_row_text(t, name);
    char *end;
    double value = strtod(cell, &end);
    if (end != cell && !*end && isfinite(value))
        return value;
    if (!t->failed)
        rc_problem_add(t->problems, RC_BAD_TRACE, t->file, name, rc_csv_line(t->csv), cell[0] ? cell : "an empty cell",
                       "a number", "not a number");
    t->failed = true;
    return NAN;
}

static bool begins(const char *text, const char *beginning) {
    return strncasecmp(text, beginning, strlen(beginning)) == 0;
}

/* The format and arithmetic of a table's dtype, and the ending of the family's name; NULL where it is none of ours. */
static const char *format_of(const char *dtype, rc_sample *s) {
    static const struct {
        const char *dtype, *ending;
        rc_format_id format;
        rc_peak peak;
    } known[] = {{"bfloat16", "bf16", RC_BF16, RC_PEAK_BF16},
                 {"bf16", "bf16", RC_BF16, RC_PEAK_BF16},
                 {"mxfp4_a4w4", "mxfp4", RC_MXFP4, RC_PEAK_FP4},
                 {"fp8_block", "fp8", RC_FP8, RC_PEAK_FP8},
                 {"fp8", "fp8-tensor", RC_FP8_TENSOR, RC_PEAK_FP8},
                 {"nvfp4", "nvfp4", RC_NVFP4, RC_PEAK_FP4},
                 {"w4a8_mxfp4_mxfp8", "mxfp4", RC_MXFP4, RC_PEAK_FP8},
                 {"w4a16_mxfp4", "mxfp4-a16", RC_MXFP4, RC_PEAK_BF16},
                 {"int4_wo", "int4", RC_INT4, RC_PEAK_BF16}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].dtype, dtype) == 0) {
            s->format = known[i].format;
            s->peak = known[i].peak;
            return known[i].ending;
        }
    return NULL;
}

static bool read_gemm(rc_kernel_rows *t, rc_sample *s) {
    const char *ending = format_of(rc_row_text(t, "gemm_dtype"), s);
    if (!ending)
        return false;
    s->kind = RC_SAMPLE_GEMM;
    s->family = rc_arena_format(t->arena, "gemm-%s", ending);
    s->shape[0] = rc_row_number(t, "m");
    s->shape[1] = rc_row_number(t, "n");
    s->shape[2] = rc_row_number(t, "k");
    return true;
}

/* The latent matrix absorbed into queries and outputs: 128 x 512 a head. */
static bool read_bmm(rc_kernel_rows *t, rc_sample *s) {
    bool fp8 = strcmp(rc_row_text(t, "bmm_dtype"), "fp8") == 0;
    s->kind = RC_SAMPLE_BMM;
    s->family = fp8 ? "bmm-fp8" : "bmm-bf16";
    s->format = fp8 ? RC_FP8_TENSOR : RC_BF16;
    s->peak = fp8 ? RC_PEAK_FP8 : RC_PEAK_BF16;
    s->shape[0] = rc_row_number(t, "num_tokens");
    s->shape[1] = rc_row_number(t, "num_heads");
    return true;
}

static bool read_experts(rc_kernel_rows *t, rc_sample *s) {
    const char *ending = format_of(rc_row_text(t, "moe_dtype"), s);
    if (!ending || strcmp(rc_row_text(t, "distribution"), "balanced") != 0)
        return false;
    double ep = rc_row_number(t, "moe_ep_size");
    s->kind = RC_SAMPLE_EXPERTS;
    s->family = rc_arena_format(t->arena, "experts-%s", ending);
    s->shape[0] = rc_row_number(t, "num_tokens");
    s->shape[1] = rc_row_number(t, "hidden_size");
    s->shape[2] = rc_row_number(t, "inter_size") / rc_row_number(t, "moe_tp_size");
    s->shape[3] = rc_row_number(t, "topk");
    s->shape[4] = rc_row_number(t, "num_experts") / ep;
    s->shape[5] = ep;
    return true;
}

/* MegaMoE: sending and computing in one kernel. */
static bool read_fused_experts(rc_kernel_rows *t, rc_sample *s) {
    if (strcmp(rc_row_text(t, "distribution"), "balanced") != 0)
        return false;
    const double shape[RC_SAMPLE_SHAPES] = {rc_row_number(t, "num_tokens"),  rc_row_number(t, "hidden_size"),
                                            rc_row_number(t, "inter_size"),  rc_row_number(t, "topk"),
                                            rc_row_number(t, "num_experts"), rc_row_number(t, "moe_ep_size")};
    memcpy(s->shape, shape, sizeof shape);
    const char *ending = format_of(rc_row_text(t, "moe_dtype"), s);
    s->kind = RC_SAMPLE_FUSED_EXPERTS;
    s->family = rc_arena_format(t->arena, "experts-%s-fused", ending ? ending : "");
    return ending != NULL;
}

/* Tuned experts: uniform routing, the columns of one rank. */
static bool read_tuned_experts(rc_kernel_rows *t, rc_sample *s) {
    static const struct {
        const char *weights, *activations, *family;
        rc_format_id format;
        rc_peak peak;
    } known[] = {{"bfloat16", "bf16", "experts-bf16", RC_BF16, RC_PEAK_BF16},
                 {"fp8", "fp8", "experts-fp8", RC_FP8, RC_PEAK_FP8},
                 {"int4", "bf16", "experts-int4", RC_INT4, RC_PEAK_BF16},
                 {"mxfp4", "bf16", "experts-mxfp4-a16", RC_MXFP4, RC_PEAK_BF16},
                 {"mxfp4", "fp8", "experts-mxfp4", RC_MXFP4, RC_PEAK_FP8}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(rc_row_text(t, "weights"), known[i].weights) != 0 ||
            strcmp(rc_row_text(t, "activations"), known[i].activations) != 0)
            continue;
        s->kind = RC_SAMPLE_EXPERTS;
        s->family = known[i].family;
        s->format = known[i].format;
        s->peak = known[i].peak;
        const double shape[RC_SAMPLE_SHAPES] = {rc_row_number(t, "num_tokens"),
                                                rc_row_number(t, "hidden_size"),
                                                rc_row_number(t, "inter_size_local"),
                                                rc_row_number(t, "topk"),
                                                rc_row_number(t, "num_experts"),
                                                1,
                                                RC_UNIFORM_ROUTING};
        memcpy(s->shape, shape, sizeof shape);
        return true;
    }
    return false;
}

static double kv_bytes_of(const rc_kernel_rows *t) {
    return begins(rc_row_text(t, "kv_cache_dtype"), "fp8") ? 1 : 2;
}

static bool read_mla(rc_kernel_rows *t, rc_sample *s, const char *operation) {
    bool decode = strstr(operation, "generation") != NULL;
    double w = kv_bytes_of(t), isl = rc_row_number(t, "isl"), step = rc_row_number(t, "step");
    s->kind = decode ? RC_SAMPLE_MLA_DECODE : RC_SAMPLE_MLA_PREFILL;
    s->family = decode ? (w < 2 ? "mla-decode-fp8" : "mla-decode") : "mla-prefill";
    s->peak = decode && w < 2 ? RC_PEAK_FP8 : RC_PEAK_BF16;
    if (!decode && w < 2)
        return false; /* prefill multiplies out in BF16 */
    s->shape[0] = rc_row_number(t, "batch_size");
    s->shape[1] = decode ? isl + step : isl;
    s->shape[2] = decode ? rc_row_number(t, "num_heads") : step;
    s->shape[3] = decode ? w : rc_row_number(t, "num_heads");
    return true;
}

/* Kernels of attention with an indexer: GLM-5's and DeepSeek-V3.2's shapes. */
static bool read_sparse(rc_kernel_rows *t, rc_sample *s) {
    static const struct {
        const char *table, *family;
        rc_sample_kind kind;
        rc_peak peak;
    } known[] = {{"glm5_dsa_attn_module", "mla-sparse", RC_SAMPLE_MLA_SPARSE, RC_PEAK_BF16},
                 {"glm5_mqa_logits_module", "indexer", RC_SAMPLE_INDEXER, RC_PEAK_FP8},
                 {"glm5_topk_module", "top-k", RC_SAMPLE_TOP_K, RC_PEAK_BF16}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(rc_row_text(t, "table"), known[i].table) != 0)
            continue;
        s->family = known[i].family;
        s->kind = known[i].kind;
        s->peak = known[i].peak;
        s->shape[0] = rc_row_number(t, "batch_size");
        s->shape[1] = rc_row_number(t, "isl");
        s->shape[2] = rc_row_number(t, "step");
        s->shape[3] = rc_row_number(t, "num_heads");
        if (rc_row_text(t,
                        "score_mode")[0]) /* how far apart the scores lie decides how long they take to be sorted out */
            s->kernel = rc_arena_format(t->arena, "%s %s", s->kernel, rc_row_text(t, "score_mode"));
        return true;
    }
    return false;
}

static bool read_attention(rc_kernel_rows *t, rc_sample *s, const char *operation) {
    bool decode = strstr(operation, "generation") != NULL;
    double w = kv_bytes_of(t), isl = rc_row_number(t, "isl"), step = rc_row_number(t, "step"),
           window = rc_row_number(t, "window_size");
    if (!begins(rc_row_text(t, "attn_dtype"), "bf") || (!decode && w < 2))
        return false;
    const double decoded[RC_SAMPLE_SHAPES] = {rc_row_number(t, "batch_size"),
                                              isl + step,
                                              rc_row_number(t, "num_heads"),
                                              rc_row_number(t, "num_key_value_heads"),
                                              rc_row_number(t, "head_dim"),
                                              w,
                                              window};
    const double computed[RC_SAMPLE_SHAPES] = {rc_row_number(t, "batch_size"),
                                               isl,
                                               step,
                                               rc_row_number(t, "num_heads"),
                                               rc_row_number(t, "num_key_value_heads"),
                                               rc_row_number(t, "head_dim"),
                                               w,
                                               window};
    s->kind = decode ? RC_SAMPLE_GQA_DECODE : RC_SAMPLE_GQA_PREFILL;
    s->family = decode ? (w < 2 ? "attention-decode-fp8" : "attention-decode") : "attention-prefill";
    memcpy(s->shape, decode ? decoded : computed, sizeof s->shape);
    return true;
}

/* Kernels of one call: the convolution is part of Kimi's, a kernel of its own beside the gated delta net's. */
static bool read_linear(rc_kernel_rows *t, rc_sample *s) {
    const char *kernel = rc_row_text(t, "kernel_source"), *phase = rc_row_text(t, "phase");
    bool gdn = strstr(kernel, "gated_delta") || strcmp(rc_row_text(t, "table"), "gdn") == 0,
         conv = strstr(kernel, "conv1d");
    bool context = strcmp(phase, "context") == 0, generation = strcmp(phase, "generation") == 0;
    bool fused = strstr(kernel, "fused_decode") || strstr(kernel, "fused_kda_decode");
    bool counted = context ? !(gdn && conv) : gdn ? !conv : fused;
    if ((!context && !generation) || !counted)
        return false;
    s->kind = context ? RC_SAMPLE_LINEAR_PREFILL : RC_SAMPLE_LINEAR_DECODE;
    s->family = context ? (gdn ? "gdn-prefill" : "kda-prefill") : gdn ? "gdn-decode" : "kda-decode";
    s->shape[0] = rc_row_number(t, "batch_size");
    s->shape[1] = rc_row_number(t, "num_v_heads");
    s->shape[2] = rc_row_number(t, "head_k_dim");
    s->shape[3] = rc_row_number(t, "head_v_dim");
    s->shape[4] = rc_row_number(t, "seq_len");
    return true;
}

/* Messages: all-reduces of the engine's own kernels as captured graphs run them, and all operations of NCCL, which every
 * engine may use.  Sizes count elements, of two bytes but for NCCL's int8. */
static bool read_message(rc_kernel_rows *t, rc_sample *s) {
    static const struct {
        const char *operation, *family;
        rc_sample_kind kind;
    } known[] = {{"all_reduce", "all-reduce", RC_SAMPLE_ALL_REDUCE},
                 {"alltoall", "all-to-all", RC_SAMPLE_ALL_TO_ALL},
                 {"all_gather", "all-gather", RC_SAMPLE_ALL_GATHER},
                 {"reduce_scatter", "reduce-scatter", RC_SAMPLE_REDUCE_SCATTER}};
    const char *operation = rc_row_text(t, "op_name");
    bool one_byte = strcmp(rc_row_text(t, "nccl_dtype"), "int8") == 0;
    if (strstr(rc_row_text(t, "kernel_source"), "eager"))
        return false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(operation, known[i].operation) != 0)
            continue;
        s->kind = known[i].kind;
        s->family = known[i].family;
        s->shape[0] = (one_byte ? 1 : 2) * rc_row_number(t, "message_size");
        s->shape[1] = rc_row_number(t, "num_gpus");
        return true;
    }
    return false;
}

/* One way of an exchange of tokens with their experts, measured on all ranks.  The normal kernels share the GPU with others:
 * rows with the library's own number of SMs count.  They wait for each other (notify) before they send. */
bool rc_row_read_exchange(rc_kernel_rows *t, rc_sample *s, bool combine) {
    const double library_sms = 20; /* of DeepEP's Buffer */
    const char *mode = rc_row_text(t, "op_name");
    bool normal = strcmp(mode, "normal") == 0;
    if ((!normal && strcmp(mode, "ll") != 0) ||
        (normal && rc_row_number(t, combine ? "combine_sms" : "dispatch_sms") != library_sms))
        return false;
    double nodes = rc_row_number(t, "node_num");
    const double per_node = 8, shape[RC_SAMPLE_SHAPES] = {rc_row_number(t, "num_token"),
                                                          rc_row_number(t, "hidden_size"),
                                                          rc_row_number(t, "num_topk"),
                                                          rc_row_number(t, "num_experts"),
                                                          per_node * nodes,
                                                          nodes,
                                                          normal ? RC_COPY_PER_RANK : RC_COPY_PER_EXPERT};
    memcpy(s->shape, shape, sizeof shape);
    s->kind = combine ? RC_SAMPLE_COMBINE : RC_SAMPLE_DISPATCH;
    s->family = combine ? "combine" : "dispatch";
    s->kernel = rc_arena_format(t->arena, "%s %s%s", rc_row_text(t, "kernel_source"), normal ? "normal" : "low-latency",
                                nodes > 1 ? " between nodes" : "");
    double us = normal ? rc_row_number(t, combine ? "combine_transmit_us" : "dispatch_transmit_us") +
                             rc_row_number(t, combine ? "combine_notify_us" : "dispatch_notify_us")
                       : rc_row_number(t, combine ? "combine_avg_t_us" : "dispatch_avg_t_us");
    s->seconds = us / 1e6;
    return true;
}

bool rc_row_read(rc_kernel_rows *t, rc_sample *s) {
    const char *operation = rc_row_column(t, "op_name") >= 0 ? rc_row_text(t, "op_name") : rc_row_text(t, "table");
    bool linear = rc_row_column(t, "num_v_heads") >= 0;
    if (!linear && rc_row_column(t, "kernel_source") >= 0)
        s->kernel = rc_arena_text(t->arena, rc_row_text(t, "kernel_source"));
    if (rc_row_column(t, "message_size") >= 0)
        return read_message(t, s);
    if (linear)
        return read_linear(t, s);
    if (rc_row_column(t, "gemm_dtype") >= 0)
        return read_gemm(t, s);
    if (rc_row_column(t, "bmm_dtype") >= 0)
        return read_bmm(t, s);
    if (rc_row_column(t, "moe_dtype") >= 0)
        return strstr(rc_row_text(t, "kernel_source"), "megamoe") ? read_fused_experts(t, s) : read_experts(t, s);
    if (rc_row_column(t, "inter_size_local") >= 0)
        return read_tuned_experts(t, s);
    if (rc_row_column(t, "score_mode") >= 0)
        return read_sparse(t, s);
    if (rc_row_column(t, "mla_dtype") >= 0)
        return read_mla(t, s, operation);
    return read_attention(t, s, operation);
}
