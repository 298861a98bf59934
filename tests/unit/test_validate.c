/* SPDX-License-Identifier: GPL-3.0-or-later
 * Validation: rows to scenarios, errors, groups, floors; what cannot be played is counted. */
#include "asking.h"
#include "measured.h"
#include "recipe.h"
#include <unistd.h>

static const char header[] =
    "model,precision,gpu,n_gpus,engine,parallelism,spec_decode,isl,osl,concurrency,metric,value,unit,notes,use\n";

static rc_validate_result validate_text(const char *rows, rc_problems *problems) {
    char path[] = "/tmp/rackcast-validate-XXXXXX.csv";
    ck_assert_int_ge(mkstemps(path, 4), 0);
    FILE *out = fopen(path, "w");
    ck_assert_ptr_nonnull(out);
    fprintf(out, "%s%s", header, rows);
    fclose(out);
    rc_validate_result result;
    rc_validate(path, NULL, &result, problems);
    unlink(path);
    return result;
}

static const rc_validated_group *group_of(const rc_validate_result *r, const char *group, const char *metric) {
    for (size_t i = 0; i < r->groups_count; i++)
        if (strcmp(r->groups[i].group, group) == 0 && strcmp(r->groups[i].metric, metric) == 0)
            return &r->groups[i];
    ck_abort_msg("no group %s %s", group, metric);
    return NULL;
}

START_TEST(rows_become_scenarios) {
    rc_arena *arena = rc_arena_new();
    static const struct {
        rc_measured row;
        const char *setting; /* one that must be there */
    } known[] = {
        {{.model = "Qwen/Qwen3-30B-A3B-Instruct-2507",
          .precision = "bf16",
          .hardware = "H100-SXM",
          .gpus = "8",
          .engine = "vllm 0.19",
          .parallelism = "TP4 EP4",
          .speculation = "none",
          .input = "100",
          .output = "10",
          .concurrency = "4",
          .notes = "",
          .metric = "ttft",
          .unit = "ms"},
         "model=qwen3-30b-a3b"},
        {{.model = "openai/gpt-oss-120b",
          .precision = "fp4",
          .hardware = "B200",
          .gpus = "4",
          .engine = "trtllm",
          .parallelism = "DP-attn4 EP4",
          .speculation = "",
          .input = "1000",
          .output = "10",
          .concurrency = "4",
          .notes = "lengths in [0.8x,1x]",
          .metric = "ttft",
          .unit = "ms"},
         "parallel={\"tp\":1,\"pp\":1,\"ep\":4,\"dp\":4,\"dcp\":1}"},
        {{.model = "Kimi-K3",
          .precision = "MXFP4",
          .hardware = "B300",
          .gpus = "8",
          .engine = "SGLang 0.5.18@x",
          .parallelism = "TP8+DCP8",
          .speculation = "none",
          .input = "8192",
          .output = "1024",
          .concurrency = "64",
          .notes = "",
          .metric = "ttft",
          .unit = "ms"},
         "parallel={\"tp\":8,\"pp\":1,\"ep\":1,\"dp\":1,\"dcp\":8}"},
        {{.model = "m/DeepSeek-R1",
          .precision = "fp8",
          .hardware = "h200",
          .gpus = "8",
          .engine = "sglang 0.5",
          .parallelism = "TP4 (moe tp2 ep2)",
          .speculation = "none",
          .input = "1",
          .output = "1",
          .concurrency = "1",
          .notes = "",
          .metric = "ttft",
          .unit = "ms"},
         "hardware=8xh200-sxm"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        rc_playable p = rc_measured_question(&known[i].row, arena);
        bool found = false;
        ck_assert_str_eq(p.skipped, "");
        for (size_t s = 0; s < p.settings_count; s++)
            found = found || strcmp(p.settings[s], known[i].setting) == 0;
        ck_assert_msg(found, "row %zu lacks %s", i, known[i].setting);
    }
    rc_arena_free(arena);
}
END_TEST

START_TEST(recipes_add_what_the_table_does_not_tell) {
    static const char text[] =
        "of,date,engine,model,precision,hardware,gpus,input,output,clients,settings,source\n"
        "bench,2026-01,vllm,r1,fp8,b200,,1024,,,engine.max_batched_tokens=$(clients+input+64); seed=7,x\n"
        ",,vllm 0.2,,,,,,,,seed=8,x\n"
        ",2025,,,,,,,,,seed=8,x\n"
        ",,,,,,8-,,,16-,seed=9; drafts,x\n"
        ",,,,,,,,,-15,seed=10,x\n";
    char path[] = "/tmp/rackcast-recipes-XXXXXX.csv";
    ck_assert_int_ge(mkstemps(path, 4), 0);
    FILE *out = fopen(path, "w");
    fputs(text, out);
    fclose(out);
    rc_problems *problems = rc_problems_new();
    rc_arena *arena = rc_arena_new();
    size_t count;
    rc_recipe *recipes = rc_recipes_read(path, &count, arena, problems);
    ck_assert_ptr_nonnull(recipes);
    ck_assert_uint_eq(count, 5);
    const rc_measured row = {.date = "2026-01-14",
                             .model = "a/DeepSeek-R1",
                             .precision = "FP8",
                             .hardware = "B200-SXM",
                             .gpus = "8",
                             .engine = "vllm 0.19",
                             .input = "1024",
                             .output = "1024",
                             .concurrency = "32",
                             .notes = "of the bench"};
    rc_playable p = {.settings_count = 0};
    ck_assert(rc_recipes_apply(recipes, count, &row, &p, arena));
    ck_assert_uint_eq(p.settings_count, 3);
    ck_assert_str_eq(p.settings[0], "engine.max_batched_tokens=1120");
    ck_assert_str_eq(p.settings[1], "seed=7");
    ck_assert_str_eq(p.settings[2], "seed=9");
    ck_assert(p.drafts);
    rc_measured few = row;
    few.concurrency = "8";
    few.notes = "";
    p = (rc_playable){.settings_count = 0};
    ck_assert(rc_recipes_apply(recipes, count, &few, &p, arena));
    ck_assert_uint_eq(p.settings_count, 1);
    ck_assert_str_eq(p.settings[0], "seed=10");
    ck_assert(!p.drafts);
    unlink(path);
    rc_arena_free(arena);
    rc_problems_free(problems);
}
END_TEST

/* Every shipped recipe says where it is from, and its settings are settings of a scenario. */
START_TEST(shipped_recipes_can_be_played) {
    rc_problems *problems = rc_problems_new();
    rc_arena *arena = rc_arena_new();
    size_t count;
    rc_recipe *recipes = rc_recipes_read("tests/validation/recipes.csv", &count, arena, problems);
    ck_assert_ptr_nonnull(recipes);
    ck_assert_uint_gt(count, 40);
    const rc_measured row = {.date = "",
                             .model = "",
                             .precision = "",
                             .hardware = "",
                             .engine = "",
                             .notes = "",
                             .gpus = "8",
                             .input = "1024",
                             .output = "1024",
                             .concurrency = "4"};
    for (size_t i = 0; i < count; i++) {
        rc_recipe always = {{"", "", "", "", "", "", "", "", "", "", recipes[i].cells[10], ""}};
        rc_playable p = {.settings = {"model=deepseek-r1", "hardware=8xb200", "parallel.tp=8",
                                      strstr(recipes[i].cells[5], "h200") ? "hardware.accelerator=h200-sxm" : "seed=1",
                                      strstr(recipes[i].cells[5], "b300") ? "hardware.accelerator=b300" : "seed=1",
                                      strstr(recipes[i].cells[5], "mi355x") ? "hardware.accelerator=mi355x" : "seed=1"},
                         .settings_count = 6};
        rc_recipes_apply(&always, 1, &row, &p, arena);
        ck_assert(p.drafts || p.settings_count > 6);
        ck_assert_msg(recipes[i].cells[11][0], "recipe %zu has no source", i);
        p.settings[p.settings_count] = NULL;
        rc_close(ask(NULL, p.settings));
    }
    rc_arena_free(arena);
    rc_problems_free(problems);
}
END_TEST

START_TEST(what_cannot_be_played_is_counted_with_its_reason) {
    rc_problems *problems = rc_problems_new();
    rc_validate_result r = validate_text("gpt-9,fp8,B200,8,vllm,TP8,none,100,10,1,ttft,5,ms,,test\n"
                                         "Kimi-K3,x,B900,8,vllm,TP8,none,100,10,1,ttft,5,ms,,test\n"
                                         "Kimi-K3,x,B300,8,atom,TP8,none,100,10,1,ttft,5,ms,,test\n"
                                         "Kimi-K3,x,B300,8,sglang,TP8,DSpark,100,10,1,ttft,5,ms,,test\n"
                                         "Kimi-K3,x,B300,8,sglang,TP8,none,agentic,10,1,ttft,5,ms,,test\n"
                                         "Kimi-K3,x,B300,8,sglang,TP8,none,100,10,peak,ttft,5,ms,,test\n"
                                         "Kimi-K3,x,B300,8,sglang,disagg 1x(tp8),none,100,10,1,ttft,5,ms,,test\n"
                                         "Kimi-K3,x,B200,8,sglang,TP8,none,100,10,1,ttft,5,ms,,test\n"
                                         "Kimi-K3,x,B300,8,sglang,TP8,none,100,10,1,happiness,5,ms,,test\n",
                                         problems);
    ck_assert_uint_eq(r.rows_count, 9);
    for (size_t i = 0; i < 9; i++) {
        ck_assert_msg(r.rows[i].skipped[0], "row %zu was played", i);
        ck_assert(isnan(r.rows[i].predicted));
    }
    ck_assert_ptr_nonnull(strstr(r.rows[7].skipped, "does not fit"));
    ck_assert_double_eq(group_of(&r, "test", "ttft")->skipped, 8);
    rc_validate_result_free(&r);
    rc_problems_free(problems);
}
END_TEST

START_TEST(errors_groups_and_floors) {
    rc_problems *problems = rc_problems_new();
    rc_validate_result r = validate_text("Kimi-K3,MXFP4,B300,8,sglang,TP8,none,1024,64,1,tpot,8,ms,,test\n"
                                         "Kimi-K3,MXFP4,B300,8,sglang,TP8,none,1024,64,1,tpot,10,ms,,test\n"
                                         "Kimi-K3,MXFP4,B300,8,sglang,TP8,none,1024,64,8,tpot,20,ms,,test\n"
                                         "Kimi-K3,MXFP4,B300,8,sglang,TP8,none,1024,64,8,tpot,2000,us,,other\n",
                                         problems);
    const rc_validated_group *g = group_of(&r, "test", "tpot");
    ck_assert_double_eq(r.runs, 2);
    ck_assert_double_eq(g->n, 3);
    close_to(r.rows[0].measured, 8e-3, 1e-12);
    close_to(r.rows[3].measured, 2e-3, 1e-12);
    close_to(r.rows[0].error, r.rows[0].predicted / 8e-3 - 1, 1e-12);
    ck_assert_double_eq(r.rows[0].predicted, r.rows[1].predicted);
    /* the best single prediction for 8 and 10 is 9: off by 12.5 and 10 % */
    ck_assert_double_eq(g->floor_rows, 2);
    close_to(g->floor, 0.1125, 1e-9);
    ck_assert(!r.rows[3].inside);
    rc_validate_result_free(&r);
    rc_problems_free(problems);
}
END_TEST

START_TEST(a_bad_table_is_refused_by_line) {
    static const struct {
        const char *rows;
        long line;
    } bad[] = {{"Kimi-K3,x,B300,8,sglang,TP8,none,1,1,1,tpot,,ms,,test\n", 2},
               {"Kimi-K3,x,B300,8,sglang,TP8,none,1,1,1,tpot,5,ms,,test\nKimi-K3,x,B300,8,sglang,TP8,none,1,1,1,tpot,-"
                "5,ms,,test\n",
                3},
               {"Kimi-K3,x,B300,8,sglang,TP8,none,1,1,1,tpot,fast,ms,,test\n", 2}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        rc_problems *problems = rc_problems_new();
        rc_validate_result r = validate_text(bad[i].rows, problems);
        ck_assert_uint_eq(rc_problems_count(problems), 1);
        ck_assert_int_eq(rc_problems_at(problems, 0)->line, bad[i].line);
        rc_validate_result_free(&r);
        rc_problems_free(problems);
    }
    rc_problems *problems = rc_problems_new();
    rc_validate_result r;
    rc_validate("tests/golden/runs.csv", NULL, &r, problems); /* another kind of table */
    ck_assert_uint_gt(rc_problems_count(problems), 3);
    rc_validate_result_free(&r);
    rc_problems_free(problems);
}
END_TEST

START_TEST(the_published_figures_of_k3_are_played) {
    rc_problems *problems = rc_problems_new();
    rc_validate_result r;
    ck_assert_int_eq(rc_validate("tests/validation/k3-published.csv", NULL, &r, problems), RC_OK);
    double played = 0, b300 = 0, off = 0;
    for (size_t i = 0; i < r.rows_count; i++) {
        played += !r.rows[i].skipped[0];
        if (!r.rows[i].skipped[0] && strstr(r.rows[i].case_name, "8xb300") &&
            strstr(r.rows[i].case_name, "8192/1024")) {
            b300++;
            off += fabs(r.rows[i].error);
        }
    }
    ck_assert_double_ge(played, 30);
    ck_assert_double_ge(b300, 18);
    ck_assert_double_lt(off / b300, 0.10);
    rc_validate_result_free(&r);
    rc_problems_free(problems);
}
END_TEST

/* GEMMs timed at twice what the shipped stack says, in another engine's rows too, and a row that no stack has a place for. */
START_TEST(measured_kernels_are_held_against_stacks) {
    rc_problems *problems = rc_problems_new();
    rc_validate_result first, second;
    ck_assert_int_eq(rc_validate("made-up-kernels", NULL, &first, problems), RC_OK);
    ck_assert(first.kernels);
    ck_assert_uint_gt(first.rows_count, 50);
    ck_assert_uint_eq(first.groups_count, 2);
    ck_assert_str_eq(first.groups[1].group, "sglang-b300: gemm-bf16 (held out)");
    char path[] = "/tmp/rackcast-kernels-XXXXXX.csv";
    ck_assert_int_ge(mkstemps(path, 4), 0);
    FILE *out = fopen(path, "w");
    fprintf(out, "system,framework,gemm_dtype,m,n,k,latency\nabacus,SGLang,bfloat16,8,8,8,1\n"
                 "b300_sxm,SGLang,unheard-of,8,8,8,1\n");
    FILE *in = fopen("tests/validation/made-up-kernels.csv", "r");
    char names[256];
    ck_assert_ptr_nonnull(fgets(names, sizeof names, in));
    double m, n, k;
    for (size_t i = 0; fscanf(in, "b300_sxm,SGLang,made-up,bfloat16,%lf,%lf,%lf,%*f\n", &m, &n, &k) == 3; i++)
        fprintf(out, "b300_sxm,sglang,bfloat16,%.0f,%.0f,%.0f,%.17g\n", m, n, k, 2e3 * first.rows[i].predicted);
    fclose(in);
    fclose(out);
    ck_assert_int_eq(rc_validate(path, NULL, &second, problems), RC_OK);
    ck_assert_uint_eq(second.rows_count, first.rows_count);
    ck_assert_double_eq(second.ignored, 2);
    for (size_t i = 0; i < second.rows_count; i++)
        close_to(second.rows[i].error, -0.5, 1e-9);
    for (size_t g = 0; g < second.groups_count; g++) {
        close_to(second.groups[g].median_abs_error, 0.5, 1e-9);
        close_to(second.groups[g].bias, -0.5, 1e-9);
        ck_assert(isnan(second.groups[g].floor));
    }
    rc_validate_result_free(&first);
    rc_validate_result_free(&second);
    out = fopen(path, "w");
    fprintf(out, "system,framework,gemm_dtype,m,n,k,latency\nabacus,SGLang,bfloat16,8,8,8,1\n");
    fclose(out);
    ck_assert_int_eq(rc_validate(path, NULL, &second, problems), RC_BAD_TRACE); /* nobody can tell */
    rc_validate_result_free(&second);
    unlink(path);
    rc_problems_free(problems);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("validate");
    add_tests(suite, "validate",
              (const TTest *const[]){rows_become_scenarios, recipes_add_what_the_table_does_not_tell,
                                     shipped_recipes_can_be_played, what_cannot_be_played_is_counted_with_its_reason,
                                     errors_groups_and_floors, a_bad_table_is_refused_by_line,
                                     the_published_figures_of_k3_are_played, measured_kernels_are_held_against_stacks,
                                     NULL});
    return run_suite(suite);
}
