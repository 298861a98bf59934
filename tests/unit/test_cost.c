/* SPDX-License-Identifier: GPL-3.0-or-later
 * Kernels, routing, collectives, stretches of steps, placement and memory of layouts. */
#include "asking.h"
#include "attention.h"
#include "ceiling.h"
#include "collective.h"
#include "expert_exchange.h"
#include "experts.h"
#include "gemm.h"
#include "kernel.h"
#include "load.h"
#include "memory.h"
#include "placement.h"
#include "rank_load.h"
#include "routing.h"
#include "step.h"
#include "stretch.h"

START_TEST(a_kernel_adds_up) {
    rc_rate rate = {
        .launch_s = 1e-6, .s_per_byte = 1e-6, .s_per_flop = 1e-6, .sharpness = 2, .unit_s = 2e-6, .group_s = 1e-7};
    rc_cost_line line = {0};
    rc_rate_add(&rate, (rc_work){.bytes = 3, .flops = 4}, 2, &line);
    close_to(line.seconds[RC_HBM], 2 * 1.8e-6, 1e-12);
    close_to(line.seconds[RC_COMPUTE], 2 * 3.2e-6, 1e-12);
    close_to(line.seconds[RC_LAUNCH], 2e-6, 1e-12);
    close_to(rc_line_seconds(&line), 12e-6, 1e-12);
    line = (rc_cost_line){0};
    rc_rate_add(&rate, (rc_work){.bytes = 0, .flops = 0, .units = 3, .groups = 10}, 1, &line);
    close_to(rc_line_seconds(&line), 8e-6, 1e-12);
    rate.depth_s = 1e-8;
    line = (rc_cost_line){0};
    rc_rate_add(&rate, (rc_work){.depth = 100}, 1, &line);
    close_to(rc_line_seconds(&line), 2e-6, 1e-12);
}
END_TEST

/* A curve: straight lines between its points, its ends beyond them; the factors of several are multiplied. */
START_TEST(shape_curves_scale_a_kernel) {
    rc_curve_point by_width[] = {{64, 1}, {128, 2}}, by_tokens[] = {{1, 0.5}, {3, 1}};
    rc_shape_curve curves[] = {{RC_AXIS_WIDTH, by_width, 2}, {RC_AXIS_TOKENS, by_tokens, 2}};
    close_to(rc_shape_curve_at(&curves[0], 10), 1, 1e-12);
    close_to(rc_shape_curve_at(&curves[0], 64), 1, 1e-12);
    close_to(rc_shape_curve_at(&curves[0], 96), 1.5, 1e-12);
    close_to(rc_shape_curve_at(&curves[0], 128), 2, 1e-12);
    close_to(rc_shape_curve_at(&curves[0], 1000), 2, 1e-12);
    rc_rate rate = {.launch_s = 1e-6, .s_per_byte = 1e-6, .s_per_flop = 1e-6, .sharpness = 1, .curves = curves};
    rc_work work = {.bytes = 3, .flops = 4, .shape = {[RC_AXIS_WIDTH] = 96, [RC_AXIS_TOKENS] = 2}};
    for (size_t count = 0; count <= 2; count++) {
        static const double factor[] = {1, 1.5, 1.5 * 0.75};
        rc_cost_line line = {0};
        rate.curves_count = count;
        rc_rate_add(&rate, work, 1, &line);
        close_to(rc_line_seconds(&line), factor[count] * 8e-6, 1e-12);
        close_to(line.seconds[RC_LAUNCH], factor[count] * 1e-6, 1e-12);
        close_to(line.bytes, 3, 1e-12); /* the work is what it was */
    }
}
END_TEST

/* What a curve may look at, of the work itself and of its shape. */
START_TEST(every_axis_has_its_value) {
    rc_work gemm = rc_gemm_work(1024, 7168, RC_BF16, 8);
    ck_assert_double_eq(rc_work_axis(&gemm, RC_AXIS_TOKENS), 8);
    ck_assert_double_eq(rc_work_axis(&gemm, RC_AXIS_WIDTH), 1024);
    ck_assert_double_eq(rc_work_axis(&gemm, RC_AXIS_DEPTH), 7168);
    ck_assert_double_eq(rc_work_axis(&gemm, RC_AXIS_BLOCKS), 8 * 1024);
    ck_assert_double_eq(rc_work_axis(&gemm, RC_AXIS_BYTES), gemm.bytes);
    ck_assert_double_eq(rc_work_axis(&gemm, RC_AXIS_INTENSITY), gemm.flops / gemm.bytes);
    ck_assert_double_eq(rc_work_axis(&gemm, RC_AXIS_EXPERTS), 0);
    rc_work decode = rc_gqa_decode_work(16, 4, 128, 2, 10, 10 * 1000.0);
    rc_shape_decode(&decode, 10, 16, 4, 128);
    ck_assert_double_eq(rc_work_axis(&decode, RC_AXIS_BLOCKS), decode.units); /* sequences x KV heads */
    ck_assert_double_eq(rc_work_axis(&decode, RC_AXIS_GROUP), 4);
}
END_TEST

/* A GEMM's depth is what it sums over, however many rows and tokens there are. */
START_TEST(a_gemm_is_as_deep_as_its_columns) {
    ck_assert_double_eq(rc_gemm_work(64, 7168, RC_BF16, 1).depth, 7168);
    ck_assert_double_eq(rc_gemm_work(65536, 7168, RC_BF16, 4096).depth, 7168);
}
END_TEST

/* Absorbed queries of 16 heads, 128 x 512 each in BF16: one token reads 16 (512 128 2 + 128 2 + 512 2) bytes. */
START_TEST(a_batched_gemm_has_a_weight_for_each_head) {
    rc_work work = rc_bmm_work(16, 512, 128, RC_BF16, 1);
    ck_assert_double_eq(work.bytes, 2117632);
    ck_assert_double_eq(work.flops, 2097152);
    ck_assert_double_eq(rc_bmm_work(16, 128, 512, RC_BF16, 1).bytes, work.bytes); /* on the way back as well */
}
END_TEST

/* 200 tokens after 1,000: two tiles of a head, or seven of four heads side by side, each against whole tiles of keys. */
START_TEST(prefill_computes_whole_tiles) {
    rc_chunks chunk = {1, 200, 1000, INFINITY};
    ck_assert_double_eq(rc_tiled_pairs((rc_tiling){1, 1}, chunk), rc_chunk_pairs(1000, 200, INFINITY));
    ck_assert_double_eq(rc_query_tiles((rc_tiling){128, 1}, chunk), 2);
    ck_assert_double_eq(rc_tiled_pairs((rc_tiling){128, 1}, chunk), 256 * 1000 + 128 * 128 + 128 * 256.0);
    ck_assert_double_eq(rc_query_tiles((rc_tiling){128, 4}, chunk), 7);
    ck_assert_double_eq(rc_tiled_pairs((rc_tiling){128, 4}, chunk), 224 * 1000 + 32 * 32 * 28.0);
    chunk.reach = 100; /* a window: a tile of keys more than it */
    ck_assert_double_eq(rc_tiled_pairs((rc_tiling){128, 1}, chunk), 256 * 228.0);
    chunk.count = 3;
    ck_assert_double_eq(rc_tiled_pairs((rc_tiling){128, 1}, chunk), 3 * 256 * 228.0);
}
END_TEST

/* GLM-5: 2,048 latents of 576 values for each token, 64 heads; an indexer of 32 heads of 128 over 8,192 keys. */
START_TEST(sparse_attention_gathers_what_the_indexer_keeps) {
    rc_work sparse = rc_mla_sparse_work(64, 512, 64, 2048, 10);
    ck_assert_double_eq(sparse.bytes, 10 * 2048 * 576 * 2.0);
    ck_assert_double_eq(sparse.flops, 2 * 10 * 2048.0 * 64 * 1088);
    rc_work indexer = rc_indexer_work(32, 128, 1, 8192, 8192, 8192);
    ck_assert_double_eq(indexer.bytes, 8192 * (128 + 4 + 4));
    ck_assert_double_eq(indexer.flops, 2 * 32 * 128 * 8192);
    ck_assert_double_eq(rc_top_k_work(3, 8192).bytes, 4 * 8192);
    ck_assert_double_eq(rc_top_k_work(3, 8192).units, 3);
}
END_TEST

/* Under skewed traffic experts fill their tiles better or worse than when tokens are dealt in turn.  K3 on B300, TP8 (NVIDIA
 * aiconfigurator, Apache-2.0): 8,192 tokens take 0.76 to 0.80 of the time, 6,144 take 1.06 to 1.10, 384 1.03. */
START_TEST(skewed_tokens_fill_tiles_otherwise) {
    static const struct {
        double tokens, low, high;
    } known[] = {{8192, 0.7, 0.85}, {6144, 1.02, 1.15}, {12288, 1.02, 1.15}, {4096, 0.7, 0.9}};
    rc_arena *arena = rc_arena_new();
    rc_routing routing = {.kind = RC_ROUTING_LOGNORMAL, .sigma = 1.5};
    rc_popularity popularity;
    rc_popularity_init(&popularity, &routing, 896, 16, arena);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        double tokens = known[i].tokens, pairs = tokens * 16;
        rc_expert_call dealt = {.width = 3584,
                                .inner = 512,
                                .weight_bytes = 0.53,
                                .tokens = tokens,
                                .pairs = pairs,
                                .distinct = 896,
                                .mean_tokens = pairs / 896,
                                .widest_tile = 256,
                                .dealt = true},
                       skewed = dealt;
        skewed.dealt = false;
        skewed.distinct = rc_popularity_distinct(&popularity, tokens);
        double ratio = rc_experts_work(&skewed).flops / rc_experts_work(&dealt).flops;
        ck_assert_double_ge(ratio, known[i].low);
        ck_assert_double_le(ratio, known[i].high);
    }
    rc_expert_call few = {.width = 10, .inner = 20, .pairs = 100, .distinct = 100, .mean_tokens = 1, .widest_tile = 64};
    close_to(rc_experts_work(&few).flops, 6 * 10 * 20 * 100 * 8., 1e-12); /* a tile is the least */
    rc_arena_free(arena);
}
END_TEST

/* Tiles of an expert's tokens: the power of two from the mean on, as if all tokens' experts were on this rank. */
START_TEST(tokens_of_experts_run_in_tiles) {
    static const struct {
        double pairs, distinct, mean, widest, rows; /* rows: of one expert */
    } known[] = {
        {100, 100, 1, 128, 8},  /* at least 8 */
        {900, 100, 9, 128, 16}, /* 9 tokens run as 16 */
        {10000, 100, 100, 128, 128},
        {10000, 100, 100, 64, 128}, /* two tiles of 64 */
        {30000, 100, 300, 256, 512},
        {700, 7, 1600, 256, 256}, /* few experts on the rank: chosen for 1,600, filled with 100 */
        {700, 7, 1600, 1, 100},   /* no tiles */
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        rc_expert_call call = {.width = 10,
                               .inner = 20,
                               .weight_bytes = 1,
                               .tokens = 5,
                               .pairs = known[i].pairs,
                               .distinct = known[i].distinct,
                               .mean_tokens = known[i].mean,
                               .widest_tile = known[i].widest,
                               .dealt = true};
        rc_work work = rc_experts_work(&call);
        close_to(work.flops, 6 * 10 * 20 * known[i].distinct * known[i].rows, 1e-12);
        ck_assert_double_eq(work.units, 5);
        ck_assert_double_eq(work.groups, known[i].distinct);
    }
}
END_TEST

static rc_step_cost prefill_of(const char *const *settings) {
    rc_scenario *s = ask(NULL, settings);
    rc_problems *problems = rc_problems_new();
    rc_arena *arena = rc_arena_new();
    rc_step_plan *plan = rc_step_plan_new(s, arena, problems);
    ck_assert_ptr_nonnull(plan);
    rc_load load = rc_load_prefill(8192, 65536, true, plan->reaches, plan->reaches_count);
    rc_step_cost cost;
    rc_step_price(plan, &load, &cost);
    rc_arena_free(arena);
    rc_problems_free(problems);
    rc_close(s);
    return cost;
}

/* 12 heads a rank: padded to 16 they do a third more work on the fast kernel; unpadded they fall back, unless the
 * kernel is told to exist for 12. */
START_TEST(heads_without_a_fast_kernel_pad_or_fall_back) {
    rc_step_cost padded = prefill_of(SETTINGS("model=kimi-k3", "hardware=8xmi355x", "parallel.tp=8"));
    rc_step_cost fallen = prefill_of(SETTINGS("model=kimi-k3", "hardware=8xmi355x", "parallel.tp=8",
                                              "hardware.stack.kernels.mla-prefill.head_tile=1"));
    rc_step_cost exact = prefill_of(SETTINGS("model=kimi-k3", "hardware=8xmi355x", "parallel.tp=8",
                                             "hardware.stack.kernels.mla-prefill.head_tile=1",
                                             "hardware.stack.kernels.mla-prefill.fast_heads=12"));
    double pad = rc_line_seconds(&padded.lines[RC_FAMILY_MLA]), fall = rc_line_seconds(&fallen.lines[RC_FAMILY_MLA]),
           fit = rc_line_seconds(&exact.lines[RC_FAMILY_MLA]);
    ck_assert_double_gt(fall, 8 * pad);
    ck_assert_double_gt(pad, 1.2 * fit);
    ck_assert_double_lt(pad, 1.34 * fit);
    close_to(exact.lines[RC_FAMILY_MLA].flops, fallen.lines[RC_FAMILY_MLA].flops, 1e-12);
}
END_TEST

/* A norm over queries of all heads needs one small message more a layer where heads lie on several ranks. */
START_TEST(norms_over_split_heads_are_reduced) {
    rc_step_cost whole = prefill_of(SETTINGS("model=minimax-m2.5", "hardware=4xb200", "parallel.tp=4"));
    rc_step_cost heads = prefill_of(
        SETTINGS("model=minimax-m2.5", "hardware=4xb200", "parallel.tp=4", "model.mixers.full.qk_norm=head"));
    ck_assert_double_eq(whole.lines[RC_FAMILY_ALL_REDUCE].launches, heads.lines[RC_FAMILY_ALL_REDUCE].launches + 62);
}
END_TEST

static rc_rank_load load_of(rc_routing routing, double experts, double top_k, double ranks, rc_balance balance) {
    rc_arena *arena = rc_arena_new();
    rc_popularity popularity;
    rc_rank_load load;
    rc_popularity_init(&popularity, &routing, experts, top_k, arena);
    rc_rank_load_init(&load, &popularity, ranks, &balance);
    rc_arena_free(arena);
    return load;
}

/* One rank is the mean; many tokens of uniform popularity even out; two experts of unlike popularity do not. */
START_TEST(the_busiest_rank_is_known) {
    const double many = 1e6;
    const rc_balance none = {0};
    rc_rank_load alone = load_of((rc_routing){.kind = RC_ROUTING_ZIPF, .exponent = 1}, 256, 8, 1, none);
    ck_assert_double_eq(rc_rank_load_pairs(&alone, 1), 1);
    ck_assert_double_eq(rc_rank_load_distinct(&alone, many), 1);
    rc_rank_load even = load_of((rc_routing){.kind = RC_ROUTING_UNIFORM}, 256, 8, 32, none);
    close_to(rc_rank_load_pairs(&even, many), 1, 0.01);
    close_to(rc_rank_load_distinct(&even, many), 1, 1e-9);
    ck_assert_double_gt(rc_rank_load_pairs(&even, 4), 1.5); /* 32 pairs dealt by chance to 32 ranks */
    double counts[] = {3, 1};                               /* x^3 + x = 1, successive sampling: 1 - x^3 = 0.682 */
    rc_rank_load two =
        load_of((rc_routing){.kind = RC_ROUTING_HISTOGRAM, .counts = counts, .counts_count = 2}, 2, 1, 2, none);
    close_to(rc_rank_load_pairs(&two, many), 2 * 0.6823278, 0.01);
}
END_TEST

/* Published loads of DeepSeek-R1: one sigma explains the unbalanced ones, one drift the balanced ones.
 * https://github.com/NVIDIA/TensorRT-LLM/tree/main/examples/wide_ep/ep_load_balancer, 2026-11-30 */
START_TEST(loads_of_deepseek_r1_come_out) {
    const double sampled = 1e6;
    rc_routing routing = {.kind = RC_ROUTING_LOGNORMAL, .sigma = 1.21};
    rc_rank_load before = load_of(routing, 256, 8, 32, (rc_balance){0});
    close_to(rc_rank_load_pairs(&before, sampled), 2.56, 0.03);
    rc_rank_load after = load_of(routing, 256, 8, 36, (rc_balance){true, 32, 0.115});
    close_to(rc_rank_load_pairs(&after, sampled), 1.12, 0.01);
    rc_rank_load stale = load_of(routing, 256, 8, 36, (rc_balance){true, 32, 1.21}); /* counts of other traffic */
    ck_assert_double_gt(rc_rank_load_pairs(&stale, sampled), 1.5);
    close_to(rc_rank_load_distinct(&stale, 16), rc_rank_load_distinct(&after, 16), 0.25); /* as skewed as before */
    rc_rank_load ideal = load_of(routing, 256, 8, 36, (rc_balance){true, 32, 0});
    ck_assert_double_lt(rc_rank_load_pairs(&ideal, sampled), 1.02);
    rc_rank_load copies = load_of(routing, 256, 8, 32, (rc_balance){true, 0, 0}); /* moved, not copied */
    ck_assert_double_lt(rc_rank_load_pairs(&ideal, sampled), rc_rank_load_pairs(&copies, sampled));
    ck_assert_double_lt(rc_rank_load_pairs(&copies, sampled), rc_rank_load_pairs(&before, sampled));
}
END_TEST

static double experts_s(const char *routing, double tokens) {
    rc_scenario *s = ask(NULL, SETTINGS("model=kimi-k3", "hardware=8xb300", "parallel.tp=8", "parallel.ep=8",
                                        "workload=k3-8k1k", routing));
    rc_arena *arena = rc_arena_new();
    rc_problems *problems = rc_problems_new();
    rc_step_plan *plan = rc_step_plan_new(s, arena, problems);
    rc_step_cost cost = {0};
    rc_experts_add(&plan->experts[0], tokens, rc_popularity_distinct(&plan->experts[0].popularity, tokens), &cost);
    double seconds = rc_line_seconds(&cost.lines[RC_FAMILY_EXPERTS]);
    rc_close(s);
    rc_problems_free(problems);
    rc_arena_free(arena);
    return seconds;
}

/* Skewed traffic touches fewer experts and is read faster in a small decode batch; in a prompt all wait for the busiest
 * rank. */
START_TEST(skew_helps_small_batches_and_hurts_prompts) {
    const char *even = "workload.routing={\"kind\":\"uniform\"}",
               *skewed = "workload.routing={\"kind\":\"zipf\",\"exponent\":0.8}";
    ck_assert_double_lt(experts_s(skewed, 32), 0.85 * experts_s(even, 32));
    ck_assert_double_gt(experts_s(skewed, 65536), 1.1 * experts_s(even, 65536));
}
END_TEST

/* Kimi K3 over 8 B200 in one fused kernel that sends, computes and brings back, us (NVIDIA aiconfigurator, Apache-2.0,
 * megamoe): tokens of a rank; tokens dealt evenly, then under three skewed traffics. */
static const double fused_us[][5] = {{1, 107, 115, 121, 102},
                                     {2, 148, 166, 155, 123},
                                     {4, 229, 201, 192, 153},
                                     {8, 383, 314, 308, 261},
                                     {16, 390, 336, 328, 316},
                                     {32, 384, 376, 360, 393},
                                     {64, 395, 388, 404, 435},
                                     {128, 426, 437, 434, 485},
                                     {256, 488, 490, 481, 542},
                                     {512, 541, 641, 646, 713},
                                     {1024, 747, 979, 990, 1083},
                                     {2048, 1333, 1700, 1734, 1874},
                                     {4096, 2645, 3216, 3495, 3730},
                                     {8192, 5124, 6383, 7073, 7357},
                                     {16384, 9528, 12564, 14407, 14258},
                                     {32768, 18858, 25817, 30995, 28481}};

/* Seconds of the kernel for a rank with so many pairs and experts. */
static double fused_s(const rc_rate *rate, double pairs, double distinct) {
    rc_cost_line line = {0};
    rc_rate_add(rate, rc_fused_experts_work(3584, 3072, rc_bytes_per_value(RC_MXFP4), pairs, distinct), 1, &line);
    return rc_line_seconds(&line);
}

/* One exponent for each traffic, from all its rows: the ratio to even dealing within a quarter in every row, and on its side of
 * 1 wherever it is 5 % away from it. */
START_TEST(skew_of_a_fused_kernel_comes_out) {
    enum { EXPERTS = 896, TOP_K = 16, RANKS = 8, HELD = EXPERTS / RANKS };
    static const double exponents[] = {0.5, 0.75, 0.85};
    rc_scenario *s = ask(NULL, SETTINGS("model=kimi-k3", "hardware=8xb200", "parallel.tp=8"));
    const char *const names[] = {"experts-mxfp4-fused", NULL};
    rc_arena *arena = rc_arena_new();
    rc_rate rate;
    ck_assert(rc_rate_find(&s->hardware.stack, &s->hardware.accelerator, names, &rate));
    for (int traffic = 0; traffic < 3; traffic++) {
        rc_routing routing = {.kind = RC_ROUTING_ZIPF, .exponent = exponents[traffic]};
        rc_popularity popularity;
        rc_rank_load load;
        rc_popularity_init(&popularity, &routing, EXPERTS, TOP_K, arena);
        rc_rank_load_init(&load, &popularity, RANKS, &(rc_balance){.balanced = false});
        for (size_t i = 0; i < sizeof fused_us / sizeof *fused_us; i++) {
            double tokens = fused_us[i][0], all = tokens * RANKS, pairs = tokens * TOP_K;
            double distinct =
                fmin(rc_popularity_distinct(&popularity, all) / RANKS * rc_rank_load_distinct(&load, all), HELD);
            double ratio = fused_s(&rate, pairs * rc_rank_load_pairs(&load, all), distinct) /
                           fused_s(&rate, pairs, fmin(pairs, HELD));
            double measured = fused_us[i][2 + traffic] / fused_us[i][1];
            ck_assert_msg(fabs(ratio / measured - 1) < 0.25, "traffic %d, %.0f tokens: %.2f, measured %.2f", traffic,
                          tokens, ratio, measured);
            ck_assert_msg(fabs(measured - 1) < 0.05 || (ratio > 1) == (measured > 1),
                          "traffic %d, %.0f tokens: %.2f, measured %.2f", traffic, tokens, ratio, measured);
        }
    }
    rc_arena_free(arena);
    rc_close(s);
}
END_TEST

START_TEST(distinct_experts_are_known) {
    static const double k3[][2] = {{1, 16.0},   {8, 120.3},   {16, 224.4}, {32, 392.6},
                                   {64, 613.2}, {128, 806.7}, {256, 887.1}};
    for (size_t i = 0; i < sizeof k3 / sizeof *k3; i++)
        ck_assert_double_eq_tol(rc_distinct_uniform(896, 16, k3[i][0]), k3[i][1], 0.05);
    ck_assert_double_eq_tol(rc_distinct_uniform(8, 2, 3), 4.625, 1e-12);
    ck_assert_double_eq_tol(rc_distinct_uniform(256, 8, 32), 163.3, 0.05);
    ck_assert_double_eq_tol(rc_distinct_uniform(384, 8, 16), 109.8, 0.1);
}
END_TEST

START_TEST(skew_touches_fewer_experts_and_keeps_top_k) {
    rc_arena *arena = rc_arena_new();
    rc_popularity previous, skewed;
    rc_routing uniform = {.kind = RC_ROUTING_UNIFORM};
    rc_popularity_init(&previous, &uniform, 896, 16, arena);
    for (double sigma = 0.5; sigma < 3; sigma += 0.5) {
        rc_routing routing = {.kind = RC_ROUTING_LOGNORMAL, .sigma = sigma};
        rc_popularity_init(&skewed, &routing, 896, 16, arena);
        close_to(rc_popularity_distinct(&skewed, 1), 16, 1e-9);
        for (double tokens = 2; tokens < 20000; tokens *= 1.37) {
            double exact = rc_popularity_distinct_exactly(&skewed, tokens);
            ck_assert_double_le(exact, rc_popularity_distinct_exactly(&previous, tokens));
            close_to(rc_popularity_distinct(&skewed, tokens), exact, 2e-6);
        }
        previous = skewed;
    }
    rc_arena_free(arena);
}
END_TEST

START_TEST(a_chunk_sees_what_lies_before_it) {
    ck_assert_double_eq(rc_chunk_pairs(0, 4, INFINITY), 10);
    ck_assert_double_eq(rc_chunk_pairs(100, 3, INFINITY), 306);
    ck_assert_double_eq(rc_chunk_pairs(0, 5, 3), 1 + 2 + 3 + 3 + 3);
    ck_assert_double_eq(rc_chunk_pairs(10, 5, 3), 15);
    ck_assert_double_eq(rc_chunk_pairs(0, 7, INFINITY),
                        rc_chunk_pairs(0, 3, INFINITY) + rc_chunk_pairs(3, 4, INFINITY));
}
END_TEST

START_TEST(collectives_follow_their_formula) {
    rc_collective two_shot = {.operation = RC_ALL_REDUCE, .algorithm = RC_TWO_SHOT, .efficiency = 1};
    rc_collective one_shot = {.operation = RC_ALL_REDUCE, .algorithm = RC_ONE_SHOT, .efficiency = 1, .latency_s = 1e-9};
    rc_collective both[] = {two_shot, one_shot};
    rc_group group = {.inner = 8,
                      .outer = 1,
                      .bytes_per_s = {900e9, 0},
                      .distance = {1, 1},
                      .algorithms = both,
                      .algorithms_count = 1};
    rc_cost_line line = {0};
    rc_all_reduce_add(&group, 7e6, 1, &line);
    close_to(line.seconds[RC_LINK_0], 2 * 7. / 8 * 7e6 / 900e9, 1e-12);
    group.algorithms_count = 2; /* the cheaper is taken */
    both[0].latency_s = 10e-6;
    line = (rc_cost_line){0};
    rc_all_reduce_add(&group, 14336, 186, &line);
    close_to(line.seconds[RC_LINK_0], 186 * (1e-9 + 7 * 14336 / 900e9), 1e-12);
    ck_assert_double_eq(line.launches, 186);
    static const struct {
        rc_algorithm algorithm;
        double wire, hops;
    } others[] = {{RC_RING, 14. / 8, 14}, {RC_TREE, 2, 6}, {RC_NVLS, 9. / 8, 3}};
    group.link_latency_s[0] = 1e-6;
    group.algorithms_count = 1;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        both[0] = (rc_collective){.operation = RC_ALL_REDUCE,
                                  .algorithm = (int)others[i].algorithm,
                                  .efficiency = 0.5,
                                  .latency_s = 2e-6,
                                  .hops = 3};
        line = (rc_cost_line){0};
        rc_all_reduce_add(&group, 7e6, 1, &line);
        close_to(line.seconds[RC_LINK_0], 2e-6 + others[i].hops * 1e-6 + others[i].wire * 7e6 / 450e9, 1e-12);
    }
    group.inner = 1; /* one rank has nobody to talk to */
    line = (rc_cost_line){0};
    rc_all_reduce_add(&group, 1e6, 5, &line);
    ck_assert_double_eq(rc_line_seconds(&line), 0);
}
END_TEST

/* Copies by hand: 8 of 256 experts on 8 ranks and on 2 nodes of 8.  The slower level counts, the faster algorithm is taken,
 * and without any the stack's all-to-all is. */
START_TEST(tokens_go_to_experts_as_the_algorithm_sends_them) {
    rc_exchange x = {
        .tokens = 100, .width = 7168, .top_k = 8, .experts = 256, .ranks = 8, .domains = 1, .splits = 1, .busiest = 1};
    close_to(rc_exchange_copies(RC_COPY_PER_EXPERT, &x, 0), 7, 1e-12);
    close_to(rc_exchange_copies(RC_COPY_PER_RANK, &x, 0), 7 * (1 - pow(7. / 8, 8)), 1e-12);
    x.busiest = 3; /* a rank gets no token twice */
    close_to(rc_exchange_copies(RC_COPY_PER_EXPERT, &x, 0), 21, 1e-12);
    close_to(rc_exchange_copies(RC_COPY_PER_RANK, &x, 0), 7, 1e-12);
    x.busiest = 1;
    x.ranks = 16;
    x.domains = 2;
    close_to(rc_exchange_copies(RC_COPY_PER_EXPERT, &x, 0), 3.5, 1e-12);
    close_to(rc_exchange_copies(RC_COPY_PER_EXPERT, &x, 1), 4, 1e-12);
    close_to(rc_exchange_copies(RC_COPY_PER_RANK, &x, 1), 1 - pow(0.5, 8), 1e-12);
    rc_collective known[] = {
        {.operation = RC_DISPATCH,
         .algorithm = RC_COPY_PER_EXPERT,
         .latency_s = 5e-6,
         .efficiency = 0.5,
         .token_s = 1e-9,
         .expert_s = 2e-9,
         .format = RC_MXFP8,
         .level = 0},
        {.operation = RC_DISPATCH,
         .algorithm = RC_COPY_PER_EXPERT,
         .latency_s = 9e-6,
         .efficiency = 0.8,
         .format = RC_MXFP8,
         .level = 1},
        {.operation = RC_COMBINE,
         .algorithm = RC_COPY_PER_EXPERT,
         .latency_s = 5e-6,
         .efficiency = 0.5,
         .format = RC_BF16,
         .level = 0},
        {.operation = RC_COMBINE,
         .algorithm = RC_COPY_PER_EXPERT,
         .latency_s = 7e-6,
         .efficiency = 0.5,
         .format = RC_BF16,
         .level = 1,
         .hops = 1},
        {.operation = RC_DISPATCH, .algorithm = RC_COPY_PER_RANK, .latency_s = 1, .efficiency = 1, .level = 0},
        {.operation = RC_DISPATCH, .algorithm = RC_COPY_PER_RANK, .latency_s = 1, .efficiency = 1, .level = 1}};
    rc_group group = {.inner = 8,
                      .outer = 2,
                      .bytes_per_s = {900e9, 50e9},
                      .distance = {1, 1},
                      .link_latency_s = {1e-6, 3e-6},
                      .algorithms = known,
                      .algorithms_count = sizeof known / sizeof *known};
    rc_cost_line line = {0};
    rc_expert_exchange_add(&group, &x, 2, &line);
    double there = 9e-6 + 100 * 4 * 7168 * (1 + 1. / 32) / (0.8 * 50e9), back = 7e-6 + 3e-6 + 100 * 4 * 7168 * 2 / 25e9;
    close_to(line.seconds[RC_LINK_1], 2 * (there + back), 1e-12);
    ck_assert_double_eq(line.seconds[RC_LINK_0], 0);
    ck_assert_double_eq(line.launches, 4);
    ck_assert(rc_exchange_is_known(&group));
    group.outer = 1;
    x.ranks = 8;
    x.domains = 1;
    x.tokens = 1;
    line = (rc_cost_line){0};
    rc_expert_exchange_add(&group, &x, 1, &line);
    close_to(line.seconds[RC_LINK_0],
             5e-6 + 1e-9 + 512e-9 + 7 * 7168 * (1 + 1. / 32) / 450e9 + 5e-6 + 7 * 7168 * 2 / 450e9, 1e-12);
    group.algorithms_count = 0;
    ck_assert(!rc_exchange_is_known(&group));
    line = (rc_cost_line){0};
    rc_expert_exchange_add(&group, &x, 1, &line);
    close_to(line.seconds[RC_LINK_0], 2 * (2e-6 + 7 * (1 - pow(7. / 8, 8)) * 7168 * 2 / 900e9), 1e-12);
}
END_TEST

static rc_part part_of(const rc_part *parts, size_t count, const char *family) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(parts[i].family, family) == 0)
            return parts[i];
    return (rc_part){.seconds = NAN};
}

static rc_explain_result explained(const char *scenario, const char *const *settings, double batch) {
    static rc_explain_result result;
    rc_scenario *s = ask(scenario, settings);
    rc_problems *problems = rc_problems_new();
    ck_assert_int_eq(rc_explain(s, batch, 1000, 2048, &result, problems), RC_OK);
    rc_problems_free(problems);
    rc_close(s);
    return result;
}

/* A model of 96 layers, 12,288 wide, on two GPUs joined by 109 Gb/s, split by columns or by layers: what each step sends is
 * arithmetic.  https://github.com/defilantech/LLMKube/issues/1423 */
START_TEST(columns_send_a_lot_and_layers_little) {
#define WIDE                                                                                                           \
    "model=llama-3.1-70b", "hardware={\"accelerator\":\"b300\",\"count\":2,\"per_node\":1}",                           \
        "hardware.fabric=b300-roce-400", "model.hidden=12288",                                                         \
        "model.mixers.full={\"kind\":\"gqa\",\"heads\":96,\"kv_heads\":8,\"head_dim\":128}",                           \
        "model.layers=[{\"mixer\":\"full\",\"ffn\":\"dense\",\"count\":96}]", "hardware.stack.collectives=[]",         \
        "hardware.fabric.levels[0].reach=1", "hardware.fabric.levels[1].bandwidth=109Gb/s",                            \
        "hardware.fabric.levels[1].latency=0us"
    rc_explain_result columns = explained(NULL, SETTINGS(WIDE, "parallel.tp=2"), 32);
    rc_part step = part_of(columns.parts, columns.parts_count, "all-reduce"),
            prompt = part_of(columns.prefill_parts, columns.prefill_parts_count, "all-reduce");
    ck_assert_double_eq(step.launches, 192);
    ck_assert_double_eq(step.bytes, 192 * 32 * 12288 * 2.0); /* 151 MB */
    close_to(step.seconds, 11.08e-3, 1e-3);
    close_to(prompt.bytes, 9.66e9, 1e-3);
    close_to(prompt.seconds, 0.709, 1e-3);
    rc_explain_result layers = explained(NULL, SETTINGS(WIDE, "parallel.pp=2"), 32);
    rc_part hand_off = part_of(layers.parts, layers.parts_count, "stage hand-off");
    ck_assert_double_eq(hand_off.launches, 1);
    ck_assert_double_eq(hand_off.bytes, 32 * 12288 * 2.0); /* 786 KB */
    close_to(hand_off.seconds, 57.7e-6, 1e-3);
#undef WIDE
}
END_TEST

/* 12 heads a GPU exactly, padded to 16, or 16 of a model with 128: the arithmetic of a prompt's attention grows by a third
 * with either; a decode step reads the same cache and takes the same time. */
START_TEST(sixteen_heads_cost_prompts_a_third_and_decode_nothing) {
    static const char *const tiles[] = {"1", "16", "16"}, *const heads[] = {"96", "96", "128"};
    for (double batch = 1; batch <= 64; batch += 63)
        for (double context = 8192; context <= 131072; context *= 16) {
            rc_part decode[3], prompt[3];
            for (int i = 0; i < 3; i++) {
                char pad_decode[80], pad_prompt[80], count[80];
                snprintf(pad_decode, sizeof pad_decode, "hardware.stack.kernels.mla-decode-fp8.head_tile=%s", tiles[i]);
                snprintf(pad_prompt, sizeof pad_prompt, "hardware.stack.kernels.mla-prefill.head_tile=%s", tiles[i]);
                snprintf(count, sizeof count, "model.mixers.mla.heads=%s", heads[i]);
                rc_scenario *s = ask("k3-8xmi355x", SETTINGS(pad_decode, pad_prompt, count,
                                                             "hardware.stack.kernels.mla-prefill.fast_heads=4"));
                rc_problems *problems = rc_problems_new();
                static rc_explain_result r;
                ck_assert_int_eq(rc_explain(s, batch, context, context, &r, problems), RC_OK);
                decode[i] = part_of(r.parts, r.parts_count, "mla");
                prompt[i] = part_of(r.prefill_parts, r.prefill_parts_count, "mla");
                rc_problems_free(problems);
                rc_close(s);
            }
            double third = context > 100000 ? 0.015 : 0.05; /* the rest is the expansion of latents */
            close_to(prompt[1].flops / prompt[0].flops, 4.0 / 3, third);
            close_to(prompt[2].flops / prompt[1].flops, 1, 0.03);
            ck_assert_double_eq(decode[1].bytes, decode[0].bytes);
            close_to(decode[2].bytes, decode[0].bytes, context > 100000 ? 0.02 : 0.15); /* queries, o and its weight */
            close_to(decode[1].seconds, decode[0].seconds, 0.01);
            close_to(decode[2].seconds, decode[0].seconds, 0.015);
        }
}
END_TEST

/* Decode context parallelism splits the latent cache by position and leaves the states alone: eight times as many tokens fit
 * into a GPU, short contexts pay for the messages, long ones gain. */
START_TEST(splitting_contexts_makes_room_and_pays_for_long_ones) {
    const char *const split[] = {"parallel.dcp=1", "parallel.dcp=8"};
    rc_explain_result short_context[2], long_context[2];
    rc_fit_result fits[2];
    for (int i = 0; i < 2; i++) {
        rc_scenario *s = ask("k3-8xb300", SETTINGS(split[i]));
        rc_problems *problems = rc_problems_new();
        rc_fit(s, &fits[i], problems);
        rc_explain(s, 16, 8192, 0, &short_context[i], problems);
        rc_explain(s, 16, 120000, 0, &long_context[i], problems);
        ck_assert_uint_eq(rc_problems_count(problems), 0);
        rc_problems_free(problems);
        rc_close(s);
    }
    ck_assert_double_eq(fits[0].kv_bytes_per_token_per_gpu, 13824);
    ck_assert_double_eq(fits[1].kv_bytes_per_token_per_gpu, 1728);
    ck_assert_double_eq(fits[0].state_bytes_per_request_per_gpu, fits[1].state_bytes_per_request_per_gpu);
    close_to(fits[1].kv_capacity_tokens, 8 * fits[0].kv_capacity_tokens, 1e-6);
    ck_assert_double_gt(short_context[1].step_s, short_context[0].step_s);
    ck_assert_double_lt(long_context[1].step_s, 0.9 * long_context[0].step_s);
}
END_TEST

/* K3 on two nodes: 186 all-reduces cross the slow link at TP16, one hand-off of 14,336 B a token at TP8 x PP2.  One request
 * is answered fastest by stages. */
START_TEST(two_nodes_of_k3_send_what_their_layout_says) {
    rc_explain_result tensor = explained("k3-16xb200", NULL, 1),
                      stages = explained("k3-16xb200", SETTINGS("parallel.tp=8", "parallel.pp=2"), 1),
                      experts =
                          explained("k3-16xb200", SETTINGS("parallel.tp=8", "parallel.dp=2", "parallel.ep=16"), 1);
    ck_assert_double_eq(part_of(tensor.parts, tensor.parts_count, "all-reduce").launches, 186 * 2); /* each level */
    rc_part hand_off = part_of(stages.parts, stages.parts_count, "stage hand-off");
    ck_assert_double_eq(hand_off.launches, 1);
    ck_assert_double_eq(hand_off.bytes, 14336);
    ck_assert_double_lt(stages.step_s, tensor.step_s);
    ck_assert_double_lt(tensor.step_s, experts.step_s);
}
END_TEST

START_TEST(a_mesh_has_a_link_for_each_pair) {
    rc_scenario *s = ask(NULL, SETTINGS("model=kimi-k3", "hardware=8xmi355x", "parallel.tp=8"));
    rc_group group;
    ck_assert(rc_group_init(&group, &s->hardware, 8));
    close_to(group.bytes_per_s[0], 7 * 76.8e9, 1e-9);
    ck_assert(rc_group_init(&group, &s->hardware, 2));
    close_to(group.bytes_per_s[0], 76.8e9, 1e-9);
    rc_close(s);
}
END_TEST

/* By hand.  Eight on a ring of 45 GB/s links: two leave each, and a byte crosses 2 links between two of them; 16 on a torus: four
 * links, 2 crossed.  Speaking to neighbours costs no detour. */
START_TEST(rings_and_tori_pass_through_others) {
    rc_collective known[] = {{.operation = RC_ALL_TO_ALL, .algorithm = RC_DIRECT, .efficiency = 1, .hops = 1},
                             {.operation = RC_ALL_REDUCE, .algorithm = RC_RING, .efficiency = 1}};
    static const struct {
        int topology;
        double ranks, out, distance;
    } cases[] = {{RC_RING_OF_LINKS, 8, 90e9, 2}, {RC_TORUS, 16, 180e9, 2}, {RC_SWITCH, 8, 45e9, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rc_fabric_level level = {.topology = cases[i].topology, .reach = 64, .bytes_per_s = 45e9, .latency_s = 1e-6};
        rc_fabric fabric = {.levels = &level, .levels_count = 1};
        double n = cases[i].ranks;
        rc_group group = rc_group_inside(&fabric, n, known, 2);
        close_to(group.bytes_per_s[0], cases[i].out, 1e-12);
        rc_cost_line line = {0};
        rc_all_to_all_add(&group, 1e9, 1, &line);
        close_to(line.seconds[RC_LINK_0], cases[i].distance * (1e-6 + 1e9 * (n - 1) / n / cases[i].out), 1e-12);
        line = (rc_cost_line){0};
        rc_all_reduce_add(&group, 1e9, 1, &line);
        close_to(line.seconds[RC_LINK_0], 2 * (n - 1) * 1e-6 + 2 * (n - 1) / n * 1e9 / cases[i].out, 1e-12);
    }
}
END_TEST

/* Four NICs of 50 GB/s for eight GPUs are 25 GB/s each; on rails what is for another place crosses NVLink first. */
START_TEST(nodes_have_nics_and_rails) {
    rc_scenario *s =
        ask(NULL, SETTINGS("model=kimi-k3", "hardware.accelerator=b200", "parallel.tp=16",
                           "hardware.fabric=b200-roce-400", "hardware.fabric.levels.1.topology=rails",
                           "hardware.fabric.levels.1.bandwidth_of=nic", "hardware.fabric.levels.1.nics=4"));
    rc_group group;
    ck_assert(rc_group_init(&group, &s->hardware, 16));
    close_to(group.bytes_per_s[1], 25e9, 1e-12);
    ck_assert(group.rails);
    group.algorithms_count = 0;
    rc_cost_line line = {0};
    rc_all_to_all_add(&group, 16e6, 1, &line);
    close_to(line.seconds[RC_LINK_0], 2e-6 + (7e6 + 8e6 * 7 / 8) / 900e9, 1e-9);
    rc_close(s);
}
END_TEST

/* Moving the experts of 16 ranks on two nodes: half of a rank's bytes cross between them, and that takes longest. */
START_TEST(experts_are_placed_anew_at_a_price) {
    rc_collective known[] = {
        {.operation = RC_POINT_TO_POINT, .level = 0, .efficiency = 0.9, .latency_s = 3e-6},
        {.operation = RC_POINT_TO_POINT, .level = 1, .efficiency = 0.8, .latency_s = 9e-6, .hops = 1}};
    rc_group group = {.inner = 8,
                      .outer = 2,
                      .bytes_per_s = {900e9, 50e9},
                      .link_latency_s = {1e-6, 3e-6},
                      .distance = {1, 1},
                      .algorithms = known,
                      .algorithms_count = 2};
    int level;
    close_to(rc_exchange_weights_s(&group, 80e9, &level), 12e-6 + 40e9 / 40e9, 1e-12);
    ck_assert_int_eq(level, 1);
    group.outer = 1;
    close_to(rc_exchange_weights_s(&group, 80e9, &level), 3e-6 + 70e9 / 810e9, 1e-12);
    ck_assert_int_eq(level, 0);
    const char *layout = "parallel={\"dp\":8,\"ep\":8,\"balanced_experts\":true,\"redundant_experts\":32,"
                         "\"rebalance_steps\":500}";
    rc_scenario *s = ask(NULL, SETTINGS("model=deepseek-r1", "hardware=8xh200-sxm", layout, "engine.max_context=4096"));
    rc_explain_result r;
    rc_problems *problems = rc_problems_new();
    ck_assert_int_eq(rc_explain(s, 64, 1024, 1024, &r, problems), RC_OK);
    double held = (256 + 32) / 8. * 3 * 7168 * 2048 * rc_bytes_per_value(RC_FP8);
    close_to(part_of(r.parts, r.parts_count, "rebalancing experts").bytes, 58 * held / 500, 1e-6);
    close_to(r.fit.redundant_bytes_per_gpu, 58 * held * 32 / 288, 1e-3);
    rc_problems_free(problems);
    rc_close(s);
}
END_TEST

static double plain_sum(const rc_stretch *s, double n) {
    double sum = 0;
    for (double i = 0; i < n; i++)
        sum += rc_stretch_step_s(s, i);
    return sum;
}

START_TEST(a_stretch_is_the_sum_of_its_steps) {
    rc_arena *arena = rc_arena_new();
    rc_problems *problems = rc_problems_new();
    static const char *const models[] = {"model=kimi-k3", "model=llama-3.1-70b", "model=gpt-oss-120b",
                                         "model=deepseek-v3"};
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        rc_scenario *s = ask(NULL, SETTINGS(models[m], "hardware=8xb300", "parallel.tp=8"));
        rc_step_plan *plan = rc_step_plan_new(s, arena, problems);
        ck_assert_ptr_nonnull(plan);
        static const double batches[] = {1, 7, 64}, contexts[] = {12, 2385, 70001},
                            steps[] = {1, 2, 5, 6, 7, 100, 4097, 60000};
        for (size_t b = 0; b < 3; b++)
            for (size_t c = 0; c < 3; c++)
                for (size_t n = 0; n < sizeof steps / sizeof *steps; n++) {
                    rc_stretch stretch = {.plan = plan, .sequences = batches[b], .fixed_s = 3e-3};
                    stretch.context[0] = batches[b] * contexts[c];
                    stretch.growth[0] = batches[b];
                    double sum = plain_sum(&stretch, steps[n]), by_where[RC_WHERE_COUNT], parts = 0;
                    close_to(rc_stretch_sum_s(&stretch, steps[n], by_where), sum, 1e-9);
                    for (int where = 0; where < RC_WHERE_COUNT; where++)
                        parts += by_where[where];
                    close_to(parts + steps[n] * stretch.fixed_s, sum, 1e-9);
                    double k = rc_stretch_find(&stretch, steps[n], 0.37 * sum);
                    ck_assert_double_ge(rc_stretch_sum_s(&stretch, k, NULL), 0.37 * sum * (1 - 1e-12));
                    if (k > 1)
                        ck_assert_double_lt(rc_stretch_sum_s(&stretch, k - 1, NULL), 0.37 * sum);
                }
        rc_close(s);
    }
    rc_problems_free(problems);
    rc_arena_free(arena);
}
END_TEST

START_TEST(the_parts_of_a_step_add_up) {
    rc_arena *arena = rc_arena_new();
    rc_problems *problems = rc_problems_new();
    static const char *const models[] = {"model=kimi-k3", "model=glm-5", "model=qwen3.5-397b-a17b",
                                         "model=mixtral-8x7b"};
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        rc_scenario *s = ask(NULL, SETTINGS(models[m], "hardware=8xb300", "parallel.tp=8"));
        rc_step_plan *plan = rc_step_plan_new(s, arena, problems);
        ck_assert_ptr_nonnull(plan);
        rc_load load = rc_load_decode(13, 2385, plan->reaches, plan->reaches_count);
        rc_step_cost whole, fixed;
        double by_where[RC_WHERE_COUNT], growing[RC_WHERE_COUNT] = {0}, sum = 0;
        rc_step_price(plan, &load, &whole);
        rc_step_fixed(plan, &load, &fixed);
        rc_step_growing(plan, 13, load.decode_context, true, growing);
        for (int where = 0; where < RC_WHERE_COUNT; where++)
            sum += growing[where];
        double seconds = rc_step_seconds(&whole, by_where);
        close_to(rc_step_seconds(&fixed, by_where) + sum, seconds, 1e-12);
        rc_close(s);
    }
    rc_problems_free(problems);
    rc_arena_free(arena);
}
END_TEST

START_TEST(more_work_is_never_faster) {
    rc_arena *arena = rc_arena_new();
    rc_problems *problems = rc_problems_new();
    rc_scenario *s = ask("k3-8xb300", NULL);
    rc_step_plan *plan = rc_step_plan_new(s, arena, problems);
    double previous = 0, by_where[RC_WHERE_COUNT];
    rc_step_cost cost;
    for (double batch = 1; batch < 300; batch++) {
        rc_load load = rc_load_decode(batch, 2385, plan->reaches, plan->reaches_count);
        rc_step_price(plan, &load, &cost);
        double seconds = rc_step_seconds(&cost, by_where);
        ck_assert_double_gt(seconds, previous);
        previous = seconds;
    }
    for (double past = 0; past < 1e6; past += 99999) {
        rc_load load = rc_load_prefill(8192, past, true, plan->reaches, plan->reaches_count);
        rc_step_price(plan, &load, &cost);
        double seconds = rc_step_seconds(&cost, by_where);
        ck_assert_double_gt(seconds, past > 0 ? previous : 0);
        previous = seconds;
    }
    rc_close(s);
    rc_problems_free(problems);
    rc_arena_free(arena);
}
END_TEST

START_TEST(ceilings_of_simple_machines) {
    close_to(rc_ceiling_tokens_per_s(40e9, 256e9, 1), 6.4, 1e-12);
    /* 50 B active at 50 tokens/s: bytes a second at FP16 and at MXFP4 with scales */
    close_to(50e9 * rc_bytes_per_value(RC_BF16) * 50, 5e12, 1e-12);
    close_to(50e9 * rc_bytes_per_value(RC_MXFP4) * 50, 1.33e12, 2e-3);
    close_to(rc_bytes_per_value(RC_MXFP4) * 8, 4.25, 1e-12);
    close_to(rc_bytes_per_value(RC_NVFP4) * 8, 4.5, 1e-12);
}
END_TEST

START_TEST(stages_share_all_layers) {
    rc_scenario *s = ask(NULL, SETTINGS("model=kimi-k3", "hardware=8xb300", "parallel.tp=8"));
    for (double stages = 1; stages <= 93; stages++) {
        double at = 0;
        for (double i = 0; i < stages; i++) {
            double first, last;
            rc_stage_layers(&s->model, stages, i, &first, &last);
            ck_assert_double_eq(first, at);
            ck_assert_double_gt(last, first);
            at = last;
        }
        ck_assert_double_eq(at, 93);
    }
    rc_close(s);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("cost");
    add_tests(suite, "cost",
              (const TTest *const[]){a_kernel_adds_up,
                                     shape_curves_scale_a_kernel,
                                     every_axis_has_its_value,
                                     a_gemm_is_as_deep_as_its_columns,
                                     a_batched_gemm_has_a_weight_for_each_head,
                                     prefill_computes_whole_tiles,
                                     sparse_attention_gathers_what_the_indexer_keeps,
                                     tokens_of_experts_run_in_tiles,
                                     skewed_tokens_fill_tiles_otherwise,
                                     heads_without_a_fast_kernel_pad_or_fall_back,
                                     norms_over_split_heads_are_reduced,
                                     the_busiest_rank_is_known,
                                     loads_of_deepseek_r1_come_out,
                                     skew_helps_small_batches_and_hurts_prompts,
                                     skew_of_a_fused_kernel_comes_out,
                                     distinct_experts_are_known,
                                     skew_touches_fewer_experts_and_keeps_top_k,
                                     a_chunk_sees_what_lies_before_it,
                                     collectives_follow_their_formula,
                                     tokens_go_to_experts_as_the_algorithm_sends_them,
                                     columns_send_a_lot_and_layers_little,
                                     sixteen_heads_cost_prompts_a_third_and_decode_nothing,
                                     splitting_contexts_makes_room_and_pays_for_long_ones,
                                     two_nodes_of_k3_send_what_their_layout_says,
                                     a_mesh_has_a_link_for_each_pair,
                                     rings_and_tori_pass_through_others,
                                     nodes_have_nics_and_rails,
                                     experts_are_placed_anew_at_a_price,
                                     a_stretch_is_the_sum_of_its_steps,
                                     the_parts_of_a_step_add_up,
                                     more_work_is_never_faster,
                                     ceilings_of_simple_machines,
                                     stages_share_all_layers,
                                     NULL});
    return run_suite(suite);
}
