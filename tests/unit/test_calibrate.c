/* SPDX-License-Identifier: GPL-3.0-or-later
 * Calibration: made-up kernels give back the numbers they were made from; tables that cannot be right are refused, and
 * nothing is written then. */
#include "asking.h"
#include "attention.h"
#include "gemm.h"
#include "kernel_sample.h"
#include "quantity.h"
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

static const char gemm_header[] = "system,framework,version,gemm_dtype,m,n,k,latency\n";
static const char experts_header[] =
    "system,framework,moe_dtype,num_tokens,hidden_size,inter_size,topk,num_experts,moe_tp_size,moe_ep_size,"
    "distribution,latency\n";

static void write_table(char *path, const char *header, const char *rows) {
    strcpy(path, "/tmp/rackcast-kernels-XXXXXX.csv");
    ck_assert_int_ge(mkstemps(path, 4), 0);
    FILE *out = fopen(path, "w");
    ck_assert_ptr_nonnull(out);
    fprintf(out, "%s%s", header, rows);
    fclose(out);
}

static rc_calibrate_result calibrate_file(const char *file, const char *out_file, rc_problems *problems) {
    rc_calibrate_result result;
    rc_calibrate_question question = {.tables = &file, .tables_count = 1, .stack = "sglang-b300", .out_file = out_file};
    rc_calibrate(&question, &result, problems);
    return result;
}

/* A table that nothing is wrong with. */
static rc_calibrate_result calibrated(const char *header, const char *rows) {
    char path[64];
    write_table(path, header, rows);
    rc_problems *problems = rc_problems_new();
    rc_calibrate_result result = calibrate_file(path, NULL, problems);
    ck_assert_uint_eq(rc_problems_count(problems), 0);
    rc_problems_free(problems);
    unlink(path);
    return result;
}

static const rc_calibrated_family *family_of(const rc_calibrate_result *r, const char *name) {
    for (size_t i = 0; i < r->families_count; i++)
        if (strcmp(r->families[i].family, name) == 0)
            return &r->families[i];
    ck_abort_msg("no family %s", name);
    return NULL;
}

static char *text_of_file(const char *path) {
    enum { LONGEST = 1 << 16 };
    char *text = malloc(LONGEST);
    FILE *in = fopen(path, "r");
    ck_assert_ptr_nonnull(in);
    text[fread(text, 1, LONGEST - 1, in)] = 0;
    fclose(in);
    return text;
}

START_TEST(made_up_kernels_give_back_their_numbers) {
    rc_problems *problems = rc_problems_new();
    rc_calibrate_result r = calibrate_file("made-up-kernels", NULL, problems);
    ck_assert_uint_eq(rc_problems_count(problems), 0);
    const rc_calibrated_family *gemm = family_of(&r, "gemm-bf16");
    ck_assert_double_eq_tol(gemm->launch_s, 6.2e-6, 0.4e-6);
    ck_assert_double_eq_tol(gemm->memory_efficiency, 0.83, 0.03);
    ck_assert_double_eq_tol(gemm->compute_efficiency, 0.71, 0.03);
    ck_assert_double_lt(gemm->median_error, 0.03);
    ck_assert(gemm->explained);
    ck_assert_double_eq(gemm->fitted + gemm->held_out, r.rows);
    ck_assert_double_gt(gemm->held_out, 0.2 * r.rows);
    rc_calibrate_result_free(&r);
    rc_problems_free(problems);
}
END_TEST

/* Time of an expert kernel with known numbers; width 3584, 16 of 896 experts, MXFP4 weights, FP8 arithmetic. */
static double made_up_experts_s(double tokens, double inner, double tile, double token_tile) {
    const double launch = 25e-6, memory = 0.8, compute = 0.5, token = 20e-9, group = 100e-9;
    const double bandwidth = 7.75e12, peak = 4.5e15; /* data sheet of B300 */
    rc_sample s = {.kind = RC_SAMPLE_EXPERTS, .format = RC_MXFP4, .shape = {tokens, 3584, inner, 16, 896, 1}};
    rc_work work = rc_sample_work(&s, (rc_tiles){tile, token_tile, false});
    double m = work.bytes / memory / bandwidth, c = work.flops / compute / peak;
    return launch + sqrt(m * m + c * c) + token * tokens + group * work.groups;
}

START_TEST(tiles_of_columns_are_found) {
    char rows[1 << 14];
    size_t used = 0;
    for (double tokens = 1; tokens <= 16384; tokens *= 2)
        for (double tp = 1; tp <= 32; tp *= 2)
            used += (size_t)snprintf(rows + used, sizeof rows - used,
                                     "b300_sxm,SGLang,w4a8_mxfp4_mxfp8,%.0f,3584,3072,16,896,%.0f,1,balanced,%.9g\n",
                                     tokens, tp, 1e3 * made_up_experts_s(tokens, 3072 / tp, 256, 128));
    rc_calibrate_result r = calibrated(experts_header, rows);
    const rc_calibrated_family *experts = family_of(&r, "experts-mxfp4");
    ck_assert_double_eq(experts->tile, 256);
    ck_assert_double_eq(experts->token_tile, 128);
    ck_assert_double_eq_tol(experts->unit_time_s, 20e-9, 1e-9);
    ck_assert_double_eq_tol(experts->group_time_s, 100e-9, 5e-9);
    ck_assert_double_eq_tol(experts->memory_efficiency, 0.8, 0.01);
    ck_assert_double_eq_tol(experts->compute_efficiency, 0.5, 0.02);
    ck_assert_double_lt(experts->p90_error, 0.01);
    rc_calibrate_result_free(&r);
}
END_TEST

/* Absorbed latent matrices: both formats from one table. */
START_TEST(batched_gemms_give_back_their_numbers) {
    static const char header[] = "system,framework,bmm_dtype,num_tokens,num_heads,latency\n";
    char rows[1 << 15];
    size_t used = 0;
    for (double tokens = 1; tokens <= 8192; tokens *= 2)
        for (double heads = 1; heads <= 128; heads *= 2)
            for (int fp8 = 0; fp8 < 2; fp8++) {
                rc_work work = rc_bmm_work(heads, 512, 128, fp8 ? RC_FP8_TENSOR : RC_BF16, tokens);
                double m = work.bytes / 0.8 / 7.75e12, c = work.flops / 0.5 / (fp8 ? 4.5e15 : 2.25e15);
                double seconds = (fp8 ? 7e-6 : 4e-6) + sqrt(m * m + c * c);
                used += (size_t)snprintf(rows + used, sizeof rows - used, "b300_sxm,SGLang,%s,%.0f,%.0f,%.9g\n",
                                         fp8 ? "fp8" : "bfloat16", tokens, heads, 1e3 * seconds);
            }
    rc_calibrate_result r = calibrated(header, rows);
    ck_assert_double_eq_tol(family_of(&r, "bmm-bf16")->launch_s, 4e-6, 4e-8);
    ck_assert_double_eq_tol(family_of(&r, "bmm-fp8")->launch_s, 7e-6, 7e-8);
    ck_assert_double_eq_tol(family_of(&r, "bmm-bf16")->memory_efficiency, 0.8, 0.01);
    ck_assert_double_eq_tol(family_of(&r, "bmm-fp8")->memory_efficiency, 0.8, 0.01);
    rc_calibrate_result_free(&r);
}
END_TEST

/* The kernels around an indexer; how far the scores lie apart makes two kernels of one. */
START_TEST(sparse_attention_gives_back_its_numbers) {
    static const char header[] = "system,engine,table,kernel_source,score_mode,batch_size,isl,step,num_heads,latency\n";
    char rows[1 << 15];
    size_t used = 0;
    for (double chunk = 4; chunk <= 16384; chunk *= 2)
        for (double past = 4096; past <= 65536; past *= 2) {
            rc_work sparse = rc_mla_sparse_work(64, 512, 64, 2048, chunk);
            double pairs = chunk * past + chunk * (chunk + 1) / 2;
            double m = sparse.bytes / 0.8 / 7.75e12, c = sparse.flops / 0.3 / 2.25e15;
            used += (size_t)snprintf(rows + used, sizeof rows - used,
                                     "b300_sxm,sglang,glm5_dsa_attn_module,a,,1,%.0f,%.0f,64,%.9g\n"
                                     "b300_sxm,sglang,glm5_topk_module,k,flat,1,%.0f,%.0f,64,%.9g\n"
                                     "b300_sxm,sglang,dsa_context_module,whole,,1,%.0f,%.0f,64,1\n",
                                     chunk, past, 1e3 * (20e-6 + sqrt(m * m + c * c)), chunk, past,
                                     1e3 * (5e-6 + 10e-9 * chunk + 4 * pairs / 0.4 / 7.75e12), chunk, past);
        }
    rc_calibrate_result r = calibrated(header, rows);
    ck_assert_double_lt(family_of(&r, "mla-sparse")->p90_error, 0.01); /* bytes and FLOP grow alike: not told apart */
    ck_assert_double_eq_tol(family_of(&r, "mla-sparse")->launch_s, 20e-6, 2e-7);
    ck_assert_double_eq_tol(family_of(&r, "top-k")->unit_time_s, 10e-9, 2e-10);
    ck_assert_double_eq_tol(family_of(&r, "top-k")->memory_efficiency, 0.4, 0.01);
    ck_assert_double_eq(r.ignored, r.rows / 2); /* whole modules are not kernels */
    rc_calibrate_result_free(&r);
}
END_TEST

/* Heads of a group that lie side by side in a tile: short chunks of four heads take the time of one. */
START_TEST(packed_heads_are_found) {
    static const char header[] = "system,engine,table,attn_dtype,kv_cache_dtype,batch_size,isl,step,num_heads,"
                                 "num_key_value_heads,head_dim,window_size,latency\n";
    char rows[1 << 15];
    size_t used = 0;
    for (double chunk = 8; chunk <= 4096; chunk *= 2)
        for (double batch = 1; batch <= 16; batch *= 4)
            for (double group = 1; group <= 16; group *= 4) {
                rc_sample s = {.kind = RC_SAMPLE_GQA_PREFILL, .shape = {batch, chunk, 0, 16, 16 / group, 128, 2, 0}};
                rc_work work = rc_sample_work(&s, (rc_tiles){1, 128, true});
                double m = work.bytes / 0.8 / 7.75e12, c = work.flops / 0.6 / 2.25e15;
                used += (size_t)snprintf(rows + used, sizeof rows - used,
                                         "b300_sxm,sglang,context,bfloat16,bfloat16,%.0f,%.0f,0,16,%.0f,128,0,%.9g\n",
                                         batch, chunk, 16 / group, 1e3 * (9e-6 + sqrt(m * m + c * c)));
            }
    rc_calibrate_result r = calibrated(header, rows);
    const rc_calibrated_family *prefill = family_of(&r, "attention-prefill");
    ck_assert(prefill->packs_heads);
    ck_assert_double_eq(prefill->token_tile, 128);
    ck_assert_double_lt(prefill->p90_error, 0.02);
    rc_calibrate_result_free(&r);
}
END_TEST

/* A library's variant for one head width is half as fast: the formula cannot know, a curve along the width does; where
 * the formula says all, there are no curves. */
START_TEST(variants_of_a_shape_become_curves) {
    static const char header[] = "system,engine,table,attn_dtype,kv_cache_dtype,batch_size,isl,step,num_heads,"
                                 "num_key_value_heads,head_dim,window_size,latency\n";
    for (int slow = 1; slow <= 2; slow++) {
        static char rows[1 << 17];
        size_t used = 0;
        for (double batch = 1; batch <= 256; batch *= 2)
            for (double context = 128; context <= 65536; context *= 2)
                for (double width = 64; width <= 256; width *= 2) {
                    rc_sample s = {.kind = RC_SAMPLE_GQA_DECODE, .shape = {batch, context, 16, 4, width, 2, 0}};
                    rc_work work = rc_sample_work(&s, RC_NO_TILES);
                    double m = work.bytes / 0.8 / 7.75e12, c = work.flops / 0.6 / 2.25e15;
                    double seconds = (9e-6 + sqrt(m * m + c * c)) * (width > 128 ? slow : 1);
                    used +=
                        (size_t)snprintf(rows + used, sizeof rows - used,
                                         "b300_sxm,sglang,generation,bfloat16,bfloat16,%.0f,1,%.0f,16,4,%.0f,0,%.9g\n",
                                         batch, context - 1, width, 1e3 * seconds);
                }
        rc_calibrate_result r = calibrated(header, rows);
        const rc_calibrated_family *decode = family_of(&r, "attention-decode");
        ck_assert_double_lt(decode->p90_error, slow == 2 ? 0.1 : 0.01);
        ck_assert_double_lt(decode->floor_median, slow == 2 ? 0.2 : 0.01); /* some of the nearest have another width */
        ck_assert_double_ge(decode->floor_p90, decode->floor_median);
        ck_assert_msg((strstr(decode->curves, "width") != NULL) == (slow == 2), "curves: %s", decode->curves);
        rc_calibrate_result_free(&r);
    }
}
END_TEST

/* Two kernels of one family: the one with more rows goes into the stack, or the one that was asked for. */
START_TEST(kernels_of_a_family_are_told_apart) {
    static const char header[] = "system,framework,gemm_dtype,kernel_source,m,n,k,latency\n";
    char path[64], rows[1 << 14], target[] = "/tmp/rackcast-fitted-XXXXXX.json";
    size_t used = 0;
    close(mkstemps(target, 5));
    for (double m = 1; m <= 4096; m *= 2)
        for (double n = 1024; n <= 65536; n *= 2) {
            double bytes = 2 * (n * 7168 + m * 7168 + m * n), flops = 2 * m * n * 7168;
            for (int slow = 0; slow < 2; slow++) {
                double t = 5e-6 + 4e-10 * 7168 + (bytes / 7.75e12 / 0.9 + flops / 2.25e15 / 0.8) * (slow ? 3 : 1);
                if (!slow || n < 65536) /* the slow one has fewer rows */
                    used += (size_t)snprintf(rows + used, sizeof rows - used,
                                             "b300_sxm,SGLang,bfloat16,%s,%.0f,%.0f,7168,%.9g\n",
                                             slow ? "slow" : "fast", m, n, 1e3 * t);
            }
        }
    write_table(path, header, rows);
    for (int asked = 0; asked < 2; asked++) {
        rc_problems *problems = rc_problems_new();
        const char *table = path;
        rc_calibrate_question question = {.tables = &table,
                                          .tables_count = 1,
                                          .stack = "sglang-b300",
                                          .out_file = target,
                                          .kernel = asked ? "slow" : NULL};
        rc_calibrate_result r;
        ck_assert_int_eq(rc_calibrate(&question, &r, problems), RC_OK);
        ck_assert_uint_eq(r.families_count, 2);
        for (size_t i = 0; i < 2; i++) {
            ck_assert_int_eq(r.families[i].in_stack, strcmp(r.families[i].code, asked ? "slow" : "fast") == 0);
            ck_assert_double_lt(r.families[i].p90_error, 0.02);
        }
        char *written = text_of_file(target);
        cJSON *stack = cJSON_Parse(written);
        const cJSON *kernel = rc_json_get(rc_json_get(stack, "kernels"), "gemm-bf16");
        close_to(rc_json_get(kernel, "memory_efficiency")->valuedouble, asked ? 0.3 : 0.9, 0.05);
        cJSON_Delete(stack);
        free(written);
        rc_calibrate_result_free(&r);
        rc_problems_free(problems);
    }
    unlink(path);
    unlink(target);
}
END_TEST

/* All-reduces made from 4 us and half the link for one shot, 12 us and 80 % for two; NCCL's all-to-all, whatever engine it was
 * measured beside, from a protocol that starts soon and one that fills the link. */
START_TEST(messages_give_back_their_numbers) {
    static const char header[] = "system,framework,op_name,kernel_source,num_gpus,message_size,latency\n";
    static char rows[1 << 15];
    char path[64], target[] = "/tmp/rackcast-fitted-XXXXXX.json";
    size_t used = 0;
    close(mkstemps(target, 5));
    for (double n = 2; n <= 8; n *= 2)
        for (double elements = 128; elements <= 1 << 27; elements *= 2) {
            double bytes = 2 * elements, one = 4e-6 + 2e-6 + (n - 1) * bytes / (0.5 * 900e9),
                   two = 12e-6 + 4e-6 + 2 * (n - 1) / n * bytes / (0.8 * 900e9),
                   soon = 8e-6 + 2e-6 + (n - 1) / n * bytes / (0.03 * 900e9),
                   full = 14e-6 + 2e-6 + (n - 1) / n * bytes / (0.55 * 900e9);
            used += (size_t)snprintf(rows + used, sizeof rows - used,
                                     "b300_sxm,SGLang,all_reduce,custom_graph,%.0f,%.0f,%.9g\n", n, elements,
                                     1e3 * fmin(one, two));
            used += (size_t)snprintf(rows + used, sizeof rows - used,
                                     "b300_sxm,SGLang,all_reduce,custom_eager,%.0f,%.0f,9\n", n, elements);
            used += (size_t)snprintf(rows + used, sizeof rows - used, "b300_sxm,TRTLLM,alltoall,NCCL,%.0f,%.0f,%.9g\n",
                                     n, elements, 1e3 * fmin(soon, full));
        }
    write_table(path, header, rows);
    rc_problems *problems = rc_problems_new();
    rc_calibrate_result r = calibrate_file(path, target, problems);
    ck_assert_uint_eq(rc_problems_count(problems), 0);
    ck_assert_double_lt(family_of(&r, "all-reduce")->p90_error, 0.01);
    ck_assert_double_lt(family_of(&r, "all-to-all")->p90_error, 0.01);
    ck_assert_double_eq(r.ignored, r.rows / 2); /* eager ones */
    char *written = text_of_file(target);
    cJSON *stack = cJSON_Parse(written);
    const cJSON *list = rc_json_get(stack, "collectives");
    static const char *const operations[] = {"all-to-all", "all-to-all", "all-reduce", "all-reduce"};
    const double known[] = {0.03, 0.55, 0.5, 0.8};
    for (int i = 0; i < 4; i++) {
        const cJSON *entry = cJSON_GetArrayItem(list, i);
        ck_assert_str_eq(rc_json_get(entry, "operation")->valuestring, operations[i]);
        ck_assert_str_eq(rc_json_get(entry, "provenance")->valuestring, "fitted");
        close_to(rc_json_get(entry, "efficiency")->valuedouble, known[i], 0.02);
    }
    int inner = 0;
    for (const cJSON *entry = list->child; entry; entry = entry->next)
        inner += strcmp(rc_json_get(entry, "operation")->valuestring, "all-reduce") == 0 &&
                 strcmp(rc_json_get(entry, "algorithm")->valuestring, "ring") != 0 &&
                 strcmp(rc_json_get(entry, "level")->valuestring, "inner") == 0;
    ck_assert_int_eq(inner, 2); /* they took the place of the stack's own */
    cJSON_Delete(stack);
    free(written);
    unlink(path);
    unlink(target);
    rc_calibrate_result_free(&r);
    rc_problems_free(problems);
}
END_TEST

/* Tokens sent to experts and back, inside a node and over two: made from known numbers, found again for each way, algorithm
 * and level; rows with another number of SMs are left out. */
START_TEST(exchanges_with_experts_give_back_their_numbers) {
    static const char header[] =
        "system,framework,op_name,kernel_source,node_num,hidden_size,num_token,num_topk,num_experts,"
        "combine_avg_t_us,dispatch_avg_t_us,dispatch_sms,dispatch_transmit_us,dispatch_notify_us,"
        "combine_sms,combine_transmit_us,combine_notify_us\n";
    static char rows[1 << 16];
    char path[64], target[] = "/tmp/rackcast-fitted-XXXXXX.json";
    size_t used = 0;
    close(mkstemps(target, 5));
    for (double nodes = 1; nodes <= 2; nodes++)
        for (double hidden = 2048; hidden <= 8192; hidden *= 2)
            for (double k = 2; k <= 8; k *= 2)
                for (double tokens = 1; tokens <= 4096; tokens *= 4) {
                    double experts = 32 * k, each = nodes > 1 ? k / 2 : k * 7 / 8,
                           ranks = nodes > 1 ? 1 - pow(0.5, k) : 7 * (1 - pow(7. / 8, k)),
                           link = nodes > 1 ? 50e9 : 900e9, latency = nodes > 1 ? 3e-6 : 1e-6, values = tokens * hidden;
                    double soon = 6e-6 + latency + values * each * (1 + 1. / 32) / (0.6 * link) + 3e-9 * tokens +
                                  20e-9 * experts,
                           back = 9e-6 + latency + values * each * 2 / (0.4 * link),
                           normal = 30e-6 + latency + values * ranks * (1 + 1. / 32) / (0.7 * link) + 8e-9 * tokens;
                    used += (size_t)snprintf(rows + used, sizeof rows - used,
                                             "b300_sxm,sglang,ll,deepep,%.0f,%.0f,%.0f,%.0f,%.0f,%.9g,%.9g,,,,,,\n",
                                             nodes, hidden, tokens, k, experts, 1e6 * back, 1e6 * soon);
                    for (int sms = 20; sms <= 24; sms += 4)
                        used += (size_t)snprintf(
                            rows + used, sizeof rows - used,
                            "b300_sxm,sglang,normal,deepep,%.0f,%.0f,%.0f,%.0f,%.0f,,,%d,%.9g,5,%d,%.9g,5\n", nodes,
                            hidden, tokens, k, experts, sms, 1e6 * normal - 5, sms, 2e6 * normal - 5);
                }
    write_table(path, header, rows);
    rc_problems *problems = rc_problems_new();
    rc_calibrate_result r = calibrate_file(path, target, problems);
    ck_assert_uint_eq(rc_problems_count(problems), 0);
    ck_assert_uint_eq(r.families_count, 8);
    for (size_t i = 0; i < r.families_count; i++) {
        ck_assert_msg(r.families[i].p90_error < 0.01, "%s: %g", r.families[i].code, r.families[i].p90_error);
        ck_assert(r.families[i].in_stack);
    }
    ck_assert_double_eq(r.ignored, r.rows / 4);
    char *written = text_of_file(target);
    cJSON *stack = cJSON_Parse(written);
    int found = 0;
    for (const cJSON *entry = rc_json_get(stack, "collectives")->child; entry; entry = entry->next) {
        if (strcmp(rc_json_get(entry, "operation")->valuestring, "dispatch") != 0)
            continue;
        bool each = strcmp(rc_json_get(entry, "algorithm")->valuestring, "copy-per-expert") == 0;
        ck_assert_str_eq(rc_json_get(entry, "provenance")->valuestring, "fitted");
        close_to(rc_json_get(entry, "efficiency")->valuedouble, each ? 0.6 : 0.7, 0.01);
        double latency_s = 0;
        ck_assert(rc_quantity_parse(rc_json_get(entry, "latency")->valuestring, RC_SECONDS, &latency_s));
        close_to(latency_s, each ? 6e-6 : 30e-6, 0.03);
        found++;
    }
    ck_assert_int_eq(found, 4); /* they took the place of the stack's own */
    cJSON_Delete(stack);
    free(written);
    unlink(path);
    unlink(target);
    rc_calibrate_result_free(&r);
    rc_problems_free(problems);
}
END_TEST

START_TEST(a_stack_is_the_same_twice_and_says_what_was_fitted) {
    char path[] = "/tmp/rackcast-fitted-XXXXXX.json";
    char *written[2];
    close(mkstemps(path, 5));
    for (int i = 0; i < 2; i++) {
        rc_problems *problems = rc_problems_new();
        rc_calibrate_result r = calibrate_file("made-up-kernels", path, problems);
        ck_assert_uint_eq(rc_problems_count(problems), 0);
        written[i] = text_of_file(path);
        rc_calibrate_result_free(&r);
        rc_problems_free(problems);
    }
    ck_assert(strcmp(written[0], written[1]) == 0);
    cJSON *stack = cJSON_Parse(written[0]);
    const cJSON *kernel = rc_json_get(rc_json_get(stack, "kernels"), "gemm-bf16");
    ck_assert_str_eq(rc_json_get(kernel, "provenance")->valuestring, "fitted");
    ck_assert_double_eq(rc_json_get(kernel, "samples")->valuedouble, 90);
    ck_assert_double_lt(rc_json_get(kernel, "median_error")->valuedouble, 0.03);
    ck_assert_str_eq(rc_json_get(kernel, "shapes")->valuestring, "1 to 16384 tokens or sequences");
    kernel = rc_json_get(rc_json_get(stack, "kernels"), "mla-decode");
    ck_assert_str_ne(rc_json_get(kernel, "provenance")->valuestring, "measured"); /* no rows: as it was */
    cJSON_Delete(stack);
    free(written[0]);
    free(written[1]);
    unlink(path);
}
END_TEST

START_TEST(rows_of_one_shape_are_both_kept) {
    char rows[2048] = "";
    for (int m = 1; m <= 16; m++)
        snprintf(rows + strlen(rows), sizeof rows - strlen(rows), "b300_sxm,SGLang,1,bfloat16,%d,7168,7168,%g\n", m,
                 0.02 + 0.0001 * m);
    strcat(rows, "b300_sxm,SGLang,1,bfloat16,4,7168,7168,0.025\n"  /* another time */
                 "b300_sxm,SGLang,1,bfloat16,5,7168,7168,0.0205\n" /* the same row again */
                 "b200_sxm,SGLang,1,bfloat16,5,7168,7168,0.03\nb300_sxm,vLLM,1,bfloat16,5,7168,7168,0.03\n");
    rc_calibrate_result r = calibrated(gemm_header, rows);
    ck_assert_double_eq(r.rows, 18);
    ck_assert_double_eq(r.duplicates, 1);
    ck_assert_double_eq(r.ignored, 2);
    rc_calibrate_result_free(&r);
}
END_TEST

START_TEST(too_few_rows_are_said) {
    char path[64];
    write_table(path, gemm_header,
                "b300_sxm,SGLang,1,bfloat16,1,7168,7168,0.02\nb300_sxm,SGLang,1,bfloat16,2,7168,7168,0.021\n");
    rc_problems *problems = rc_problems_new();
    rc_calibrate_result r = calibrate_file(path, NULL, problems);
    ck_assert_uint_eq(rc_problems_count(problems), 0);
    ck_assert_uint_eq(r.families_count, 0);
    ck_assert_uint_eq(rc_notes_count(problems), 2);
    ck_assert_ptr_nonnull(strstr(rc_notes_at(problems, 0), "gemm-bf16: 2 rows"));
    ck_assert_ptr_nonnull(strstr(rc_notes_at(problems, 1), "keeps its numbers"));
    unlink(path);
    rc_calibrate_result_free(&r);
    rc_problems_free(problems);
}
END_TEST

START_TEST(tables_that_cannot_be_right_are_refused) {
    static const struct {
        const char *header, *rows, *words;
    } bad[] = {
        {"system,framework,gemm_dtype,m,n,k\n", "b300_sxm,SGLang,bfloat16,1,7168,7168\n", "latency"},
        {"framework,gemm_dtype,m,n,k,latency\n", "SGLang,bfloat16,1,7168,7168,0.02\n", "system"},
        {"system,framework,m,n,k,latency\n", "b300_sxm,SGLang,1,7168,7168,0.02\n", "gemm_dtype"},
        {gemm_header, "b300_sxm,SGLang,1,bfloat16,1,7168,7168,-0.02\n", "not positive"},
        {gemm_header, "b300_sxm,SGLang,1,bfloat16,1,7168,7168,0\n", "not positive"},
        {gemm_header, "b300_sxm,SGLang,1,bfloat16,1,7168,7168,soon\n", "a number"},
        {gemm_header, "b300_sxm,SGLang,1,bfloat16,1,7168,,0.02\n", "an empty cell"},
        {gemm_header, "b300_sxm,SGLang,1,bfloat16,16384,65536,7168,0.0021\n", "another unit"},
        {gemm_header, "h200_sxm,SGLang,1,bfloat16,1,7168,7168,0.02\n", "nothing was measured"},
        {gemm_header, "", "nothing was measured"},
    };
    char path[64], target[] = "/tmp/rackcast-kept-XXXXXX.json";
    close(mkstemps(target, 5));
    FILE *out = fopen(target, "w");
    fputs("kept", out);
    fclose(out);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        rc_problems *problems = rc_problems_new();
        write_table(path, bad[i].header, bad[i].rows);
        rc_calibrate_result r = calibrate_file(path, target, problems);
        char *kept = text_of_file(target);
        ck_assert_uint_ge(rc_problems_count(problems), 1);
        const rc_problem *said = rc_problems_at(problems, 0);
        ck_assert_msg(strstr(said->message, bad[i].words) || strstr(said->expected, bad[i].words) ||
                          strstr(said->found, bad[i].words),
                      "case %zu says %s; %s instead of %s", i, said->message, said->found, said->expected);
        ck_assert_str_eq(kept, "kept");
        free(kept);
        unlink(path);
        rc_calibrate_result_free(&r);
        rc_problems_free(problems);
    }
    unlink(target);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("calibrate");
    add_tests(suite, "calibrate",
              (const TTest *const[]){
                  made_up_kernels_give_back_their_numbers, tiles_of_columns_are_found,
                  batched_gemms_give_back_their_numbers, packed_heads_are_found, variants_of_a_shape_become_curves,
                  sparse_attention_gives_back_its_numbers, kernels_of_a_family_are_told_apart,
                  messages_give_back_their_numbers, exchanges_with_experts_give_back_their_numbers,
                  a_stack_is_the_same_twice_and_says_what_was_fitted, rows_of_one_shape_are_both_kept,
                  too_few_rows_are_said, tables_that_cannot_be_right_are_refused, NULL});
    return run_suite(suite);
}
