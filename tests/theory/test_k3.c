/* SPDX-License-Identifier: GPL-3.0-or-later
 * The numbers of Kimi K3 that everything else stands on: census, caches, bytes of a step, what fits where, ceilings, and
 * the published figures of 8 x B300. */
#include "asking.h"
#include "ceiling.h"
#include "memory.h"
#include "money.h"

static double component(const rc_fit_result *fit, const char *name) {
    for (size_t i = 0; i < fit->components_count; i++)
        if (strcmp(fit->components[i].name, name) == 0)
            return fit->components[i].parameters;
    return NAN;
}

START_TEST(the_census_is_exact) {
    rc_fit_result fit = fit_of(SETTINGS("model=kimi-k3", "hardware=8xb300", "parallel.tp=8", "engine.kv_dtype=bf16"));
    static const struct {
        const char *name;
        double parameters;
    } rows[] = {{"routed_experts", 2722740830208},  {"kda_attention", 18462995712}, {"mla_attention", 1344847872},
                {"output_gates", 8191475712},       {"o_proj", 8191475712},         {"shared_experts", 12155092992},
                {"latent_projections", 4726980608}, {"router", 590872576},          {"router_bias", 82432},
                {"routed_expert_norm", 329728},     {"dense_ffn", 726663168},       {"norms", 4021248},
                {"embedding", 1174405120},          {"lm_head", 1174405120},        {"vision", 447358976}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_double_eq(component(&fit, rows[i].name), rows[i].parameters);
    ck_assert_double_eq(fit.parameters_total, 2779931837184);
    ck_assert_double_eq(fit.parameters_active, 104189614848);
    ck_assert_double_eq(fit.checkpoint_bytes, 1560860324864);
    ck_assert_double_eq(fit.scale_bytes, 85085650944);
    ck_assert_double_eq(fit.kv_bytes_per_token_per_gpu, 27648);
    ck_assert_double_eq(fit.state_bytes_per_request_total, 449372160);
}
END_TEST

START_TEST(caches_shrink_as_they_should) {
    static const struct {
        const char *rack, *tp, *dcp;
        double kv, state;
    } layouts[] = {{"hardware=8xb300", "parallel.tp=8", "parallel.dcp=1", 13824, 56171520},
                   {"hardware=16xb200", "parallel.tp=16", "parallel.dcp=1", 13824, 28085760},
                   {"hardware=8xb300", "parallel.tp=8", "parallel.dcp=8", 1728, 56171520}};
    for (size_t i = 0; i < 3; i++) {
        rc_fit_result fit =
            fit_of(SETTINGS("model=kimi-k3", layouts[i].rack, layouts[i].tp, layouts[i].dcp, "engine.kv_dtype=fp8"));
        ck_assert_double_eq(fit.kv_bytes_per_token_per_gpu, layouts[i].kv);
        ck_assert_double_eq(fit.state_bytes_per_request_per_gpu, layouts[i].state);
    }
}
END_TEST

START_TEST(a_decode_step_reads_these_bytes) {
    static const double known[][2] = {{1, 136.99e9},  {8, 305.3e9},    {16, 473.4e9},  {32, 745.0e9},
                                      {64, 1101.1e9}, {128, 1413.5e9}, {256, 1543.3e9}};
    rc_scenario *s = ask(NULL, SETTINGS("model=kimi-k3", "hardware=8xb300", "parallel.tp=8"));
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        close_to(rc_ceiling_decode(s, known[i][0], 0).weight_bytes_uniform, known[i][1], 1.5e-4);
    rc_close(s);
}
END_TEST

START_TEST(it_fits_where_operators_run_it) {
    static const struct {
        const char *rack, *tp;
        bool fits;
        uint32_t smallest;
    } racks[] = {{"hardware=8xb200", "parallel.tp=8", false, 16},    {"hardware=8xgb200", "parallel.tp=8", false, 16},
                 {"hardware=8xmi300x", "parallel.tp=8", false, 16},  {"hardware=8xb300", "parallel.tp=8", true, 8},
                 {"hardware=8xmi355x", "parallel.tp=8", true, 8},    {"hardware=8xgb300", "parallel.tp=8", true, 8},
                 {"hardware=16xb200", "parallel.tp=16", true, 16},   {"hardware=4xb300", "parallel.tp=4", false, 8},
                 {"hardware=8xh100-sxm", "parallel.tp=8", false, 32}};
    for (size_t i = 0; i < sizeof racks / sizeof *racks; i++) {
        rc_fit_result fit = fit_of(SETTINGS("model=kimi-k3", racks[i].rack, racks[i].tp, "engine.kv_dtype=fp8"));
        ck_assert_msg(fit.fits == racks[i].fits, "%s", racks[i].rack);
        ck_assert_msg(fit.smallest_count == racks[i].smallest, "%s: %u", racks[i].rack, fit.smallest_count);
        ck_assert(fit.fits || fit.reasons_count > 0);
    }
}
END_TEST

START_TEST(weights_of_a_rank_are_known) {
    rc_fit_result fit = fit_of(SETTINGS("model=kimi-k3", "hardware=8xb300", "parallel.tp=8"));
    close_to(fit.weights_bytes_per_gpu, 205.06e9, 1e-4);
    close_to(fit.weights_bytes_per_gpu_even, 194.99e9, 1e-4);
    close_to(fit.replicated_bytes_per_gpu, 11.50e9, 1e-3);
    fit = fit_of(SETTINGS("model=kimi-k3", "hardware=8xb300", "parallel.tp=8", "hardware.stack.replicated=[]"));
    close_to(fit.weights_bytes_per_gpu, 194.99e9, 1e-4);
    fit = fit_of(SETTINGS("model=kimi-k3", "hardware=8xb300", "parallel.tp=8", "engine.vision=true"));
    close_to(fit.weights_bytes_per_gpu, 205.06e9 + 0.895e9, 1e-4);
    fit = fit_of(SETTINGS("model=kimi-k3", "hardware=16xb200", "parallel.tp=16"));
    close_to(fit.weights_bytes_per_gpu, 108.3e9, 1e-3);
    close_to(fit.weights_bytes_per_gpu_even, 97.5e9, 1e-3);
    fit = fit_of(SETTINGS("model=kimi-k3", "hardware=16xgb300", "parallel.tp=1", "parallel.dp=16", "parallel.ep=16"));
    close_to(fit.weights_bytes_per_gpu, 203.9e9, 1e-3);
}
END_TEST

static bool has_reason(const rc_fit_result *fit, const char *words) {
    for (size_t i = 0; i < fit->reasons_count; i++)
        if (strstr(fit->reasons[i].text, words))
            return true;
    return false;
}

START_TEST(tp6_fails_for_three_reasons) {
    rc_fit_result fit = fit_of(SETTINGS("model=kimi-k3", "hardware=6xmi325x", "parallel.tp=6"));
    ck_assert(!fit.fits);
    ck_assert(has_reason(&fit, "vocabulary 163,840 does not divide by TP6"));
    ck_assert(has_reason(&fit, "routed experts 896 does not divide by EP6"));
    ck_assert(has_reason(&fit, "260 GB"));
    close_to(fit.weights_bytes_per_gpu_even, 260e9, 1e-3);
}
END_TEST

START_TEST(number_formats_decide_what_fits) {
    static const struct {
        const char *weights;
        double bytes;
    } sizes[] = {{"weights=bf16", 5.56e12},
                 {"weights=fp8", 2.78e12},
                 {"weights=int4", 1.43e12},
                 {"weights=checkpoint", 1.56e12}};
    for (size_t i = 0; i < 4; i++)
        close_to(
            fit_of(SETTINGS("model=kimi-k3", "hardware=8xb300", "parallel.tp=8", sizes[i].weights)).checkpoint_bytes,
            sizes[i].bytes, 4e-3);
    /* 16 cards or 8, of 192 or 288 GB */
    static const struct {
        const char *rack, *tp, *weights;
        bool fits;
    } cells[] = {{"hardware=8xgb200", "parallel.tp=8", "weights=bf16", false},
                 {"hardware=8xgb300", "parallel.tp=8", "weights=bf16", false},
                 {"hardware=16xgb200", "parallel.tp=16", "weights=bf16", false},
                 {"hardware=16xgb300", "parallel.tp=16", "weights=bf16", false},
                 {"hardware=8xgb300", "parallel.tp=8", "weights=fp8", false},
                 {"hardware=16xgb200", "parallel.tp=16", "weights=fp8", false},
                 {"hardware=16xgb300", "parallel.tp=16", "weights=fp8", true},
                 {"hardware=8xgb200", "parallel.tp=8", "weights=int4", false},
                 {"hardware=8xgb300", "parallel.tp=8", "weights=int4", true},
                 {"hardware=16xgb200", "parallel.tp=16", "weights=int4", true},
                 {"hardware=8xgb300", "parallel.tp=8", "weights=checkpoint", true},
                 {"hardware=16xgb200", "parallel.tp=16", "weights=checkpoint", true}};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        rc_fit_result fit = fit_of(SETTINGS("model=kimi-k3", cells[i].rack, cells[i].tp, cells[i].weights));
        ck_assert_msg(fit.fits == cells[i].fits, "%s %s", cells[i].rack, cells[i].weights);
        ck_assert(fit.fits || fit.reasons_count > 0);
    }
    rc_fit_result rack = fit_of(SETTINGS("model=kimi-k3", "hardware=72xgb300", "weights=bf16"));
    ck_assert(rack.fits);
    ck_assert_double_gt(rack.room_bytes_per_gpu, 100e9);
    ck_assert(fit_of(SETTINGS("model=kimi-k3", "hardware=72xgb200", "weights=bf16")).fits);
}
END_TEST

START_TEST(seventy_billion_at_int4_do_not_fit_32_gb) {
    rc_fit_result fit = fit_of(SETTINGS("model=llama-3.1-70b", "hardware=1xrtx-5090", "weights=int4"));
    ck_assert(!fit.fits);
    close_to(fit.checkpoint_bytes - fit.scale_bytes, 35.28e9, 1e-3);
}
END_TEST

START_TEST(the_latent_cache_lies_on_every_rank) {
    /* 42.23 GiB of room hold 3,249,215 tokens in a published log: 3.10 requests of a million tokens. */
    rc_scenario *s = ask(NULL, SETTINGS("model=kimi-k3", "hardware=8xb300", "parallel.tp=8", "engine.kv_dtype=fp8"));
    rc_memory memory = rc_memory_of(s, &s->parallel);
    double room = 42.23 * 1073741824, context = 1048576;
    close_to(room / (context * memory.kv_bytes_per_token + 2.45 * memory.state_bytes_per_request), 3.10, 0.01);
    rc_close(s);
}
END_TEST

static rc_run_result run_8k1k(const char *clients, const char *requests) {
    rc_run_result result;
    rc_scenario *s = ask("k3-8xb300-8k1k", SETTINGS(clients, requests));
    rc_problems *problems = rc_problems_new();
    ck_assert_int_eq(rc_run(s, NULL, &result, problems), RC_OK);
    rc_problems_free(problems);
    rc_close(s);
    return result;
}

START_TEST(published_figures_of_8_b300) {
    rc_run_result one = run_8k1k("workload.arrival.clients=1", "workload.requests=10");
    ck_assert_double_ge(one.ceiling_output_tokens_per_s, 452.5);
    ck_assert_double_le(one.ceiling_output_tokens_per_s, 467);
    close_to(one.tpot_s.mean, 8.51e-3, 0.25);
    close_to(one.ttft_s.mean, 0.378, 0.20);
    rc_run_result sixteen = run_8k1k("workload.arrival.clients=16", "workload.requests=160");
    close_to(sixteen.tpot_s.mean, 19.47e-3, 0.25);
    close_to(sixteen.ttft_s.mean, 3.54, 0.20);
    rc_run_result_free(&one);
    rc_run_result_free(&sixteen);
}
END_TEST

START_TEST(the_three_rack_arithmetic) {
    ck_assert_double_eq(round(rc_tokens_per_s_per_usd_hour(20, 952)), 48);
    ck_assert_double_eq(round(rc_tokens_per_s_per_usd_hour(68, 498)), 7);
    ck_assert_double_eq(round(rc_tokens_per_s_per_usd_hour(48, 1568)), 33);
    close_to(rc_usd_per_million(2.21, 1613.8), 0.380, 2e-3);
    close_to(rc_break_even_usd_per_hour(4093, 1.95, 934), 8.55, 1e-3);
    rc_scenario *s = ask("k3-16xb200", NULL);
    ck_assert_double_eq(s->usd_per_gpu_hour * s->hardware.count, 68);
    rc_close(s);
}
END_TEST

/* 40 GB read a token on 256 GB/s: a dense model of that size, on a machine of that bandwidth. */
START_TEST(a_small_machine_has_a_low_ceiling) {
    rc_scenario *s = ask(NULL, SETTINGS("model=llama-3.1-8b", "hardware=1xryzen-ai-max-395", "weights=bf16"));
    rc_ceiling c = rc_ceiling_decode(s, 1, 0);
    close_to(1 / c.seconds * c.weight_bytes, 256e9, 1e-9);
    close_to(rc_ceiling_tokens_per_s(40e9, s->hardware.accelerator.memory_bytes_per_s, 1), 6.4, 1e-9);
    rc_close(s);
}
END_TEST

/* 70B in INT4 on a card of 32 GB, 24 of 80 layers in host memory.  Their weights, but for the norms, cross the link in every
 * step; their kernels run meanwhile, so the step waits for the rest.  The same layers computed by the host read the same
 * bytes from its memory, and only tokens cross. */
START_TEST(a_third_of_seventy_billion_comes_over_the_link) {
    enum { CARDS = 0, HOST = 1 };
    double link_bytes[2], seconds[2];
    for (int by = CARDS; by <= HOST; by++) {
        rc_scenario *s =
            ask("llama70b-int4-rtx-5090", SETTINGS(by == HOST ? "offload.computed_by=host" : "offload.layers=0.295"));
        rc_explain_result r;
        rc_problems *problems = rc_problems_new();
        ck_assert_int_eq(rc_explain(s, 1, 1152, 1024, &r, problems), RC_OK);
        double link_s = 0, kernels_s = 0, memory_s = 0;
        link_bytes[by] = 0;
        for (size_t i = 0; i < r.parts_count; i++) {
            link_bytes[by] += r.parts[i].host_link_bytes;
            link_s += r.parts[i].host_link_s;
            memory_s += r.parts[i].host_memory_s;
            bool weights = r.parts[i].host_link_bytes > 0 && by == CARDS;
            kernels_s += weights ? 0.3 * (r.parts[i].hbm_s + r.parts[i].compute_s) : 0; /* of layers that went */
        }
        seconds[by] = r.step_s;
        double layers = 24 * (8192. * (8192 + 2 * 1024 + 8192 + 3 * 28672) * 4.125 / 8 + 2 * 8192 * 2);
        close_to(r.fit.host_bytes_per_gpu, layers, 1e-3);
        if (by == CARDS) {
            close_to(link_bytes[by], layers, 1e-3);
            close_to(link_s, link_bytes[by] / (0.85 * 64e9) - kernels_s, 1e-4);
            ck_assert_double_eq(memory_s, 0);
        } else {
            ck_assert_double_eq(link_bytes[by], 2 * 8192 * 2);
            close_to(link_s, 2 * 10e-6 + link_bytes[by] / (0.85 * 64e9), 1e-9);
            close_to(memory_s, layers / (0.8 * 90e9), 0.03);
        }
        rc_problems_free(problems);
        rc_close(s);
    }
    ck_assert_double_lt(seconds[HOST], seconds[CARDS]); /* 72 GB/s of its memory, 54 over the link */
}
END_TEST

/* Layers that the host computes have their caches there: 76 of 80 layers keep 311,296 B a token beside 33.6 GB of weights in 128
 * GB, and that is what counts, not the card. */
START_TEST(a_host_keeps_the_caches_of_its_layers) {
    rc_scenario *s = ask("llama70b-int4-rtx-5090", SETTINGS("offload.layers=0.95", "offload.computed_by=host"));
    rc_fit_result fit;
    ck_assert_int_eq(rc_memory_fit(s, &fit), RC_OK);
    ck_assert_double_eq(fit.kv_bytes_per_token_total, 327680);
    close_to(fit.kv_bytes_per_token_per_gpu, 4 * 4096, 1e-12);
    close_to(fit.kv_capacity_tokens, (128e9 - fit.host_bytes_per_gpu) / (76 * 4096.), 1e-4);
    rc_close(s);
    s = ask("k3-two-xeons", SETTINGS("engine.kv_tokens=1000000000"));
    ck_assert_int_eq(rc_memory_fit(s, &fit), RC_DOES_NOT_FIT);
    rc_close(s);
}
END_TEST

/* All of K3 in the memory of two Xeons with 12 channels of DDR4-2666, most of it in 8 bits: 25.8 GB of experts and about 60
 * GB of the rest make 2.97 tokens/s at most (llama.cpp, pull 26185, where about 3 were measured). */
START_TEST(two_old_xeons_have_a_bound_of_three_tokens) {
    rc_scenario *s = ask("k3-two-xeons", NULL);
    rc_ceiling c = rc_ceiling_decode(s, 1, 256);
    close_to(c.weight_bytes, 86e9, 0.02);
    close_to(1 / c.seconds, 2.97, 0.02);
    close_to(c.seconds, c.weight_bytes / 256e9, 1e-9);
    rc_fit_result fit;
    ck_assert_int_eq(rc_memory_fit(s, &fit), RC_OK);
    ck_assert_double_eq(fit.weights_bytes_per_gpu, 0);
    rc_close(s);
    s = ask("k3-two-xeons", SETTINGS("hardware.host.memory=1TB"));
    ck_assert_int_eq(rc_memory_fit(s, &fit), RC_DOES_NOT_FIT);
    ck_assert_ptr_nonnull(strstr(fit.reasons[0].text, "host"));
    rc_close(s);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("Kimi K3");
    add_tests(suite, "K3",
              (const TTest *const[]){
                  the_census_is_exact, caches_shrink_as_they_should, a_decode_step_reads_these_bytes,
                  it_fits_where_operators_run_it, weights_of_a_rank_are_known, tp6_fails_for_three_reasons,
                  number_formats_decide_what_fits, seventy_billion_at_int4_do_not_fit_32_gb,
                  the_latent_cache_lies_on_every_rank, published_figures_of_8_b300, the_three_rack_arithmetic,
                  a_small_machine_has_a_low_ceiling, a_third_of_seventy_billion_comes_over_the_link,
                  two_old_xeons_have_a_bound_of_three_tokens, a_host_keeps_the_caches_of_its_layers, NULL});
    return run_suite(suite);
}
