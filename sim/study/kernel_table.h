/* SPDX-License-Identifier: GPL-3.0-or-later
 * kernel_table.h - tables of measured kernels, read into samples that a family can be fitted to.
 *
 * A table is a CSV (plain or gzipped) with one measured call a row; its header tells what it measures:
 *   GEMM             gemm_dtype (bfloat16, fp8: one scale a tensor, fp8_block, nvfp4, mxfp4_a4w4, int4_wo), m, n, k
 *   batched GEMM     bmm_dtype (bfloat16, fp8), num_tokens, num_heads (of the rank); 128 x 512 a head
 *   experts          moe_dtype (also w4a8_mxfp4_mxfp8, w4a16_mxfp4), num_tokens, hidden_size, inter_size, topk,
 *                    num_experts, moe_tp_size, moe_ep_size, distribution (only "balanced" rows: they say how many
 *                    experts are touched)
 *   fused experts    the same with kernel_source ..megamoe.., num_tokens of a rank; sending and computing in one
 *   tuned experts    weights, activations, num_tokens, hidden_size, inter_size_local, topk, num_experts; uniform routing
 *   latent attention op_name or table (..generation.. or ..context..), kv_cache_dtype, num_heads (of the rank),
 *                    batch_size, isl, step; DeepSeek's widths 512 + 64, 128, 128
 *   sparse attention table (glm5_dsa_attn_module, glm5_mqa_logits_module, glm5_topk_module), score_mode, batch_size,
 *                    isl, step, num_heads; 2,048 tokens kept, indexer of 32 heads of 128
 *   attention        table, batch_size, isl, num_heads, num_key_value_heads, head_dim, kv_cache_dtype, step, window_size
 *   recurrent        phase, kernel_source, batch_size, seq_len, num_v_heads, head_k_dim, head_v_dim; the kernels of one
 *                    call are added up
 *   messages         op_name (all_reduce, alltoall, all_gather, reduce_scatter), kernel_source ("NCCL": of any engine),
 *                    num_gpus, message_size (elements of two bytes; of one where nccl_dtype is int8)
 *   experts' tokens  op_name (ll: a copy per expert, normal: a copy per rank), kernel_source, node_num (of 8), hidden_size,
 *                    num_token (of a rank), num_topk, num_experts; microseconds of both ways: dispatch_avg_t_us and
 *                    combine_avg_t_us, or ..._transmit_us and ..._notify_us with ..._sms
 * and in all of them system ("b300_sxm") or device ("NVIDIA B300"); framework, engine or, for a library's kernels that all engines use, source; and
 * latency in milliseconds or latency_us.  kernel_source names the code that ran: where a family has several, each is
 * fitted alone.
 */
#ifndef RC_KERNEL_TABLE_H
#define RC_KERNEL_TABLE_H
#include "kernel_sample.h"

/* The header of a file is one of these tables'. */
bool rc_kernel_table_is(const char *file);

/* Who measured: the pairs of system and engine in a table. */
typedef struct rc_measurer {
    const char *system, *engine; /* "b300_sxm"; "SGLang", or "" for kernels that all engines use */
} rc_measurer;
/* Pairs in the arena, and how many rows there are; false and problems where the table is bad. */
bool rc_kernel_table_measurers(const char *file, rc_measurer **measurers, size_t *count, double *rows, rc_arena *arena,
                               rc_problems *problems);
bool rc_measurer_is(const rc_measurer *measurer, const char *accelerator, const char *engine);

/* Adds the rows of a table that were measured on an accelerator under an engine; false and problems where the table is
 * bad (a column missing, a time that is not positive, or faster than the memory by a factor of three). */
bool rc_kernel_table_read(const char *file, const rc_accelerator *accelerator, const char *engine, rc_samples *samples,
                          rc_arena *arena, rc_problems *problems);
#endif
