/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel_table.h"
#include "csv.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---------- a row */

enum { COLUMNS_MAX = 40 };

typedef struct table {
    rc_csv *csv;
    const char *file;
    rc_problems *problems;
    rc_arena *arena;
    const rc_accelerator *accelerator;
    const char *engine;
    char *names[COLUMNS_MAX];
    size_t columns;
    bool failed;
} table;

static int column_of(const table *t, const char *name) {
    for (size_t i = 0; i < t->columns; i++)
        if (strcmp(t->names[i], name) == 0)
            return (int)i;
    return -1;
}

static const char *text_of(const table *t, const char *name) {
    int column = column_of(t, name);
    return column < 0 ? "" : rc_csv_cell(t->csv, (size_t)column);
}

static double number_of(table *t, const char *name) {
    const char *cell = text_of(t, name);
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

/* "b300_sxm" and "NVIDIA B300" are b300, "h200_sxm" is h200-sxm. */
static bool is_system(const char *system, const char *accelerator) {
    const char *space = strrchr(system, ' ');
    size_t i = 0;
    system = space ? space + 1 : system;
    for (; accelerator[i] && system[i]; i++) {
        char a = accelerator[i] == '-' ? '_' : accelerator[i];
        if (tolower((unsigned char)system[i]) != a)
            return false;
    }
    return !accelerator[i] && (!system[i] || strcmp(system + i, "_sxm") == 0);
}

static rc_measurer measurer_of(const table *t) {
    const char *engine = column_of(t, "framework") >= 0 ? text_of(t, "framework") : text_of(t, "engine");
    bool library = column_of(t, "source") >= 0 ||
                   (column_of(t, "kernel_source") >= 0 && rc_kernel_is_library(text_of(t, "kernel_source")));
    const char *system = text_of(t, column_of(t, "system") >= 0 ? "system" : "device");
    return (rc_measurer){system, library ? "" : engine};
}

bool rc_measurer_is(const rc_measurer *measurer, const char *accelerator, const char *engine) {
    return is_system(measurer->system, accelerator) &&
           (!measurer->engine[0] || strcasecmp(measurer->engine, engine) == 0);
}

static bool is_ours(const table *t) {
    rc_measurer measurer = measurer_of(t);
    return rc_measurer_is(&measurer, t->accelerator->name, t->engine);
}

/* ---------- kinds of tables */

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

static bool read_gemm(table *t, rc_sample *s) {
    const char *ending = format_of(text_of(t, "gemm_dtype"), s);
    if (!ending)
        return false;
    s->kind = RC_SAMPLE_GEMM;
    s->family = rc_arena_format(t->arena, "gemm-%s", ending);
    s->shape[0] = number_of(t, "m");
    s->shape[1] = number_of(t, "n");
    s->shape[2] = number_of(t, "k");
    return true;
}

/* The latent matrix absorbed into queries and outputs: 128 x 512 a head. */
static bool read_bmm(table *t, rc_sample *s) {
    bool fp8 = strcmp(text_of(t, "bmm_dtype"), "fp8") == 0;
    s->kind = RC_SAMPLE_BMM;
    s->family = fp8 ? "bmm-fp8" : "bmm-bf16";
    s->format = fp8 ? RC_FP8_TENSOR : RC_BF16;
    s->peak = fp8 ? RC_PEAK_FP8 : RC_PEAK_BF16;
    s->shape[0] = number_of(t, "num_tokens");
    s->shape[1] = number_of(t, "num_heads");
    return true;
}

static bool read_experts(table *t, rc_sample *s) {
    const char *ending = format_of(text_of(t, "moe_dtype"), s);
    if (!ending || strcmp(text_of(t, "distribution"), "balanced") != 0)
        return false;
    double ep = number_of(t, "moe_ep_size");
    s->kind = RC_SAMPLE_EXPERTS;
    s->family = rc_arena_format(t->arena, "experts-%s", ending);
    s->shape[0] = number_of(t, "num_tokens");
    s->shape[1] = number_of(t, "hidden_size");
    s->shape[2] = number_of(t, "inter_size") / number_of(t, "moe_tp_size");
    s->shape[3] = number_of(t, "topk");
    s->shape[4] = number_of(t, "num_experts") / ep;
    s->shape[5] = ep;
    return true;
}

/* MegaMoE: sending and computing in one kernel. */
static bool read_fused_experts(table *t, rc_sample *s) {
    if (strcmp(text_of(t, "distribution"), "balanced") != 0)
        return false;
    const double shape[RC_SAMPLE_SHAPES] = {number_of(t, "num_tokens"),  number_of(t, "hidden_size"),
                                            number_of(t, "inter_size"),  number_of(t, "topk"),
                                            number_of(t, "num_experts"), number_of(t, "moe_ep_size")};
    memcpy(s->shape, shape, sizeof shape);
    const char *ending = format_of(text_of(t, "moe_dtype"), s);
    s->kind = RC_SAMPLE_FUSED_EXPERTS;
    s->family = rc_arena_format(t->arena, "experts-%s-fused", ending ? ending : "");
    return ending != NULL;
}

/* Tuned experts: uniform routing, the columns of one rank. */
static bool read_tuned_experts(table *t, rc_sample *s) {
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
        if (strcmp(text_of(t, "weights"), known[i].weights) != 0 ||
            strcmp(text_of(t, "activations"), known[i].activations) != 0)
            continue;
        s->kind = RC_SAMPLE_EXPERTS;
        s->family = known[i].family;
        s->format = known[i].format;
        s->peak = known[i].peak;
        const double shape[RC_SAMPLE_SHAPES] = {
            number_of(t, "num_tokens"), number_of(t, "hidden_size"), number_of(t, "inter_size_local"),
            number_of(t, "topk"),       number_of(t, "num_experts"), 1,
            RC_UNIFORM_ROUTING};
        memcpy(s->shape, shape, sizeof shape);
        return true;
    }
    return false;
}

static double kv_bytes_of(const table *t) {
    return begins(text_of(t, "kv_cache_dtype"), "fp8") ? 1 : 2;
}

static bool read_mla(table *t, rc_sample *s, const char *operation) {
    bool decode = strstr(operation, "generation") != NULL;
    double w = kv_bytes_of(t), isl = number_of(t, "isl"), step = number_of(t, "step");
    s->kind = decode ? RC_SAMPLE_MLA_DECODE : RC_SAMPLE_MLA_PREFILL;
    s->family = decode ? (w < 2 ? "mla-decode-fp8" : "mla-decode") : "mla-prefill";
    s->peak = decode && w < 2 ? RC_PEAK_FP8 : RC_PEAK_BF16;
    if (!decode && w < 2)
        return false; /* prefill multiplies out in BF16 */
    s->shape[0] = number_of(t, "batch_size");
    s->shape[1] = decode ? isl + step : isl;
    s->shape[2] = decode ? number_of(t, "num_heads") : step;
    s->shape[3] = decode ? w : number_of(t, "num_heads");
    return true;
}

/* Kernels of attention with an indexer: GLM-5's and DeepSeek-V3.2's shapes. */
static bool read_sparse(table *t, rc_sample *s) {
    static const struct {
        const char *table, *family;
        rc_sample_kind kind;
        rc_peak peak;
    } known[] = {{"glm5_dsa_attn_module", "mla-sparse", RC_SAMPLE_MLA_SPARSE, RC_PEAK_BF16},
                 {"glm5_mqa_logits_module", "indexer", RC_SAMPLE_INDEXER, RC_PEAK_FP8},
                 {"glm5_topk_module", "top-k", RC_SAMPLE_TOP_K, RC_PEAK_BF16}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(text_of(t, "table"), known[i].table) != 0)
            continue;
        s->family = known[i].family;
        s->kind = known[i].kind;
        s->peak = known[i].peak;
        s->shape[0] = number_of(t, "batch_size");
        s->shape[1] = number_of(t, "isl");
        s->shape[2] = number_of(t, "step");
        s->shape[3] = number_of(t, "num_heads");
        if (text_of(t, "score_mode")[0]) /* how far apart the scores lie decides how long they take to be sorted out */
            s->kernel = rc_arena_format(t->arena, "%s %s", s->kernel, text_of(t, "score_mode"));
        return true;
    }
    return false;
}

static bool read_attention(table *t, rc_sample *s, const char *operation) {
    bool decode = strstr(operation, "generation") != NULL;
    double w = kv_bytes_of(t), isl = number_of(t, "isl"), step = number_of(t, "step"),
           window = number_of(t, "window_size");
    if (!begins(text_of(t, "attn_dtype"), "bf") || (!decode && w < 2))
        return false;
    const double decoded[RC_SAMPLE_SHAPES] = {number_of(t, "batch_size"),
                                              isl + step,
                                              number_of(t, "num_heads"),
                                              number_of(t, "num_key_value_heads"),
                                              number_of(t, "head_dim"),
                                              w,
                                              window};
    const double computed[RC_SAMPLE_SHAPES] = {
        number_of(t, "batch_size"), isl, step,  number_of(t, "num_heads"), number_of(t, "num_key_value_heads"),
        number_of(t, "head_dim"),   w,   window};
    s->kind = decode ? RC_SAMPLE_GQA_DECODE : RC_SAMPLE_GQA_PREFILL;
    s->family = decode ? (w < 2 ? "attention-decode-fp8" : "attention-decode") : "attention-prefill";
    memcpy(s->shape, decode ? decoded : computed, sizeof s->shape);
    return true;
}

/* Kernels of one call: the convolution is part of Kimi's, a kernel of its own beside the gated delta net's. */
static bool read_linear(table *t, rc_sample *s) {
    const char *kernel = text_of(t, "kernel_source"), *phase = text_of(t, "phase");
    bool gdn = strstr(kernel, "gated_delta") || strcmp(text_of(t, "table"), "gdn") == 0,
         conv = strstr(kernel, "conv1d");
    bool context = strcmp(phase, "context") == 0, generation = strcmp(phase, "generation") == 0;
    bool fused = strstr(kernel, "fused_decode") || strstr(kernel, "fused_kda_decode");
    bool counted = context ? !(gdn && conv) : gdn ? !conv : fused;
    if ((!context && !generation) || !counted)
        return false;
    s->kind = context ? RC_SAMPLE_LINEAR_PREFILL : RC_SAMPLE_LINEAR_DECODE;
    s->family = context ? (gdn ? "gdn-prefill" : "kda-prefill") : gdn ? "gdn-decode" : "kda-decode";
    s->shape[0] = number_of(t, "batch_size");
    s->shape[1] = number_of(t, "num_v_heads");
    s->shape[2] = number_of(t, "head_k_dim");
    s->shape[3] = number_of(t, "head_v_dim");
    s->shape[4] = number_of(t, "seq_len");
    return true;
}

/* Messages: all-reduces of the engine's own kernels as captured graphs run them, and all operations of NCCL, which every
 * engine may use.  Sizes count elements, of two bytes but for NCCL's int8. */
static bool read_message(table *t, rc_sample *s) {
    static const struct {
        const char *operation, *family;
        rc_sample_kind kind;
    } known[] = {{"all_reduce", "all-reduce", RC_SAMPLE_ALL_REDUCE},
                 {"alltoall", "all-to-all", RC_SAMPLE_ALL_TO_ALL},
                 {"all_gather", "all-gather", RC_SAMPLE_ALL_GATHER},
                 {"reduce_scatter", "reduce-scatter", RC_SAMPLE_REDUCE_SCATTER}};
    const char *operation = text_of(t, "op_name");
    bool one_byte = strcmp(text_of(t, "nccl_dtype"), "int8") == 0;
    if (strstr(text_of(t, "kernel_source"), "eager"))
        return false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(operation, known[i].operation) != 0)
            continue;
        s->kind = known[i].kind;
        s->family = known[i].family;
        s->shape[0] = (one_byte ? 1 : 2) * number_of(t, "message_size");
        s->shape[1] = number_of(t, "num_gpus");
        return true;
    }
    return false;
}

/* One way of an exchange of tokens with their experts, measured on all ranks.  The normal kernels share the GPU with others:
 * rows with the library's own number of SMs count.  They wait for each other (notify) before they send. */
static bool read_exchange(table *t, rc_sample *s, bool combine) {
    const double library_sms = 20; /* of DeepEP's Buffer */
    const char *mode = text_of(t, "op_name");
    bool normal = strcmp(mode, "normal") == 0;
    if ((!normal && strcmp(mode, "ll") != 0) ||
        (normal && number_of(t, combine ? "combine_sms" : "dispatch_sms") != library_sms))
        return false;
    double nodes = number_of(t, "node_num");
    const double per_node = 8, shape[RC_SAMPLE_SHAPES] = {number_of(t, "num_token"),
                                                          number_of(t, "hidden_size"),
                                                          number_of(t, "num_topk"),
                                                          number_of(t, "num_experts"),
                                                          per_node * nodes,
                                                          nodes,
                                                          normal ? RC_COPY_PER_RANK : RC_COPY_PER_EXPERT};
    memcpy(s->shape, shape, sizeof shape);
    s->kind = combine ? RC_SAMPLE_COMBINE : RC_SAMPLE_DISPATCH;
    s->family = combine ? "combine" : "dispatch";
    s->kernel = rc_arena_format(t->arena, "%s %s%s", text_of(t, "kernel_source"), normal ? "normal" : "low-latency",
                                nodes > 1 ? " between nodes" : "");
    double us = normal ? number_of(t, combine ? "combine_transmit_us" : "dispatch_transmit_us") +
                             number_of(t, combine ? "combine_notify_us" : "dispatch_notify_us")
                       : number_of(t, combine ? "combine_avg_t_us" : "dispatch_avg_t_us");
    s->seconds = us / 1e6;
    return true;
}

static bool read_row(table *t, rc_sample *s) {
    const char *operation = column_of(t, "op_name") >= 0 ? text_of(t, "op_name") : text_of(t, "table");
    bool linear = column_of(t, "num_v_heads") >= 0;
    if (!linear && column_of(t, "kernel_source") >= 0)
        s->kernel = rc_arena_text(t->arena, text_of(t, "kernel_source"));
    if (column_of(t, "message_size") >= 0)
        return read_message(t, s);
    if (linear)
        return read_linear(t, s);
    if (column_of(t, "gemm_dtype") >= 0)
        return read_gemm(t, s);
    if (column_of(t, "bmm_dtype") >= 0)
        return read_bmm(t, s);
    if (column_of(t, "moe_dtype") >= 0)
        return strstr(text_of(t, "kernel_source"), "megamoe") ? read_fused_experts(t, s) : read_experts(t, s);
    if (column_of(t, "inter_size_local") >= 0)
        return read_tuned_experts(t, s);
    if (column_of(t, "score_mode") >= 0)
        return read_sparse(t, s);
    if (column_of(t, "mla_dtype") >= 0)
        return read_mla(t, s, operation);
    return read_attention(t, s, operation);
}

/* ---------- a table */

static bool is_exchange(const table *t) {
    return column_of(t, "num_topk") >= 0 && column_of(t, "dispatch_avg_t_us") >= 0;
}

static bool has_latency(const table *t) {
    return column_of(t, "latency") >= 0 || column_of(t, "latency_us") >= 0 || is_exchange(t);
}

/* Reads the names of the columns; whether one of them tells what the table measures. */
static bool read_names(table *t) {
    static const char *const kinds[] = {"gemm_dtype", "bmm_dtype",   "moe_dtype",    "mla_dtype",        "attn_dtype",
                                        "score_mode", "num_v_heads", "message_size", "inter_size_local", "num_topk"};
    if (!rc_csv_next(t->csv))
        return false;
    t->columns = rc_csv_count(t->csv) < COLUMNS_MAX ? rc_csv_count(t->csv) : COLUMNS_MAX;
    for (size_t i = 0; i < t->columns; i++)
        t->names[i] = rc_arena_text(t->arena, rc_csv_cell(t->csv, i));
    bool known = false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        known = known || column_of(t, kinds[i]) >= 0;
    return known;
}

static bool read_header(table *t) {
    bool known = read_names(t);
    const char *missing = !known ? "gemm_dtype, bmm_dtype, moe_dtype, mla_dtype, attn_dtype, score_mode, num_v_heads, "
                                   "message_size, inter_size_local or num_topk"
                          : column_of(t, "system") < 0 && column_of(t, "device") < 0 ? "system or device"
                          : !has_latency(t)                                          ? "latency"
                          : column_of(t, "framework") < 0 && column_of(t, "engine") < 0 && column_of(t, "source") < 0
                              ? "framework, engine or source"
                              : NULL;
    if (missing)
        rc_problem_add(t->problems, RC_BAD_TRACE, t->file, "", 1, "no such column", missing,
                       "the table of kernels lacks a column");
    return !missing;
}

static bool refuse_time(table *t, const rc_sample *s, const char *expected, const char *message) {
    char found[64];
    snprintf(found, sizeof found, "%.6g ms for %.4g bytes", s->seconds * 1e3, rc_sample_work(s, RC_NO_TILES).bytes);
    rc_problem_add(t->problems, RC_BAD_TRACE, t->file, "latency", s->line, found, expected, "%s", message);
    return false;
}

/* Three times faster than the memory can stream a set that no cache holds: most likely another unit. */
static bool check_possible(table *t, const rc_sample *s) {
    const double impossible = 3, surely_uncached = 2; /* times the bandwidth, times the last-level cache */
    double bytes = rc_sample_work(s, RC_NO_TILES).bytes;
    double cache = isnan(t->accelerator->last_level_cache_bytes) ? 0 : t->accelerator->last_level_cache_bytes;
    if (bytes > surely_uncached * cache && s->seconds * impossible * t->accelerator->memory_bytes_per_s < bytes)
        return refuse_time(t, s, "milliseconds", "three times faster than the memory allows: is it another unit?");
    return true;
}

static double seconds_of(table *t) {
    return column_of(t, "latency") >= 0 ? number_of(t, "latency") / 1e3 : number_of(t, "latency_us") / 1e6;
}

/* The samples of a row: two of an exchange with experts, one of anything else. */
static bool read_samples(table *t, rc_samples *samples) {
    bool exchange = is_exchange(t);
    for (int way = 0; way <= exchange; way++) {
        rc_sample sample = {.line = rc_csv_line(t->csv), .kernel = "", .peak = RC_PEAK_BF16};
        if (!is_ours(t) || !(exchange ? read_exchange(t, &sample, way) : read_row(t, &sample))) {
            samples->ignored += way == 0;
            continue;
        }
        if (!exchange)
            sample.seconds = seconds_of(t);
        if (!t->failed && !(sample.seconds > 0))
            return refuse_time(t, &sample, "milliseconds above 0", "a time that is not positive");
        samples->list = rc_grow(samples->list, samples->count, &samples->capacity, sizeof *samples->list);
        samples->list[samples->count++] = sample;
    }
    return !t->failed;
}

bool rc_kernel_table_is(const char *file) {
    rc_problems *unheard = rc_problems_new();
    rc_arena *arena = rc_arena_new();
    table t = {.csv = rc_csv_open(file, unheard), .file = file, .problems = unheard, .arena = arena};
    bool is = t.csv && read_names(&t);
    rc_csv_close(t.csv);
    rc_arena_free(arena);
    rc_problems_free(unheard);
    return is;
}

static bool same_measurer(const rc_measurer *a, const rc_measurer *b) {
    return strcmp(a->system, b->system) == 0 && strcmp(a->engine, b->engine) == 0;
}

bool rc_kernel_table_measurers(const char *file, rc_measurer **measurers, size_t *count, double *rows, rc_arena *arena,
                               rc_problems *problems) {
    enum { MEASURERS_MAX = 256 };
    table t = {.csv = rc_csv_open(file, problems), .file = file, .problems = problems, .arena = arena};
    *measurers = rc_arena_take(arena, MEASURERS_MAX * sizeof **measurers);
    *count = 0;
    *rows = 0;
    bool good = t.csv && read_header(&t);
    for (; good && *count < MEASURERS_MAX && rc_csv_next(t.csv); (*rows)++) {
        rc_measurer measurer = measurer_of(&t);
        bool known = false;
        for (size_t i = *count; i-- > 0 && !known;)
            known = same_measurer(&(*measurers)[i], &measurer);
        if (!known)
            (*measurers)[(*count)++] =
                (rc_measurer){rc_arena_text(arena, measurer.system), rc_arena_text(arena, measurer.engine)};
    }
    good = good && !rc_csv_failed(t.csv);
    rc_csv_close(t.csv);
    return good;
}

bool rc_kernel_table_read(const char *file, const rc_accelerator *accelerator, const char *engine, rc_samples *samples,
                          rc_arena *arena, rc_problems *problems) {
    table t = {.csv = rc_csv_open(file, problems),
               .file = file,
               .problems = problems,
               .arena = arena,
               .accelerator = accelerator,
               .engine = engine};
    size_t from = samples->count;
    bool good = t.csv && read_header(&t);
    while (good && rc_csv_next(t.csv))
        good = read_samples(&t, samples);
    good = good && !rc_csv_failed(t.csv);
    rc_csv_close(t.csv);
    if (good && samples->count > from)
        rc_samples_add_up(samples, from);
    for (size_t i = from; i < samples->count && good; i++)
        good = check_possible(&t, &samples->list[i]);
    return good;
}
