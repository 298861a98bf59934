/* SPDX-License-Identifier: GPL-3.0-or-later
 * One run: does it fit, play it, add money, ceiling, interval and fingerprint. */
#include "ceiling.h"
#include "fit.h"
#include "hash.h"
#include "money.h"
#include "text.h"
#include "simulation.h"
#include "problems.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---------- before it runs */

static bool check_runnable(const rc_scenario *s, rc_problems *problems) {
    if (!s->has_workload)
        rc_problem_add(problems, RC_MISSING_KEY, "", "workload", 0, "nothing", "a load: arrival, lengths, requests",
                       "a run needs a load");
    return s->has_workload;
}

/* "8192 in, 1024 out on average" */
static void describe_lengths(const rc_workload *w, char *text, size_t size) {
    char sessions[80] = "";
    if (w->has_sessions)
        snprintf(sessions, sizeof sessions, "sessions of %.3g turns, ", rc_length_mean(&w->sessions.turns));
    snprintf(text, size, "%s%.0f in, %.0f out on average", sessions, rc_workload_prompt_mean(w),
             rc_length_mean(&w->output));
}

/* "24 h", "30.0 s". */
static const char *span_text(char *text, size_t size, double seconds) {
    const double hour_s = 3600;
    if (seconds < hour_s)
        return rc_quantity_text(text, size, seconds, RC_SECONDS);
    snprintf(text, size, "%.4g h", seconds / hour_s);
    return text;
}

/* "bursty arrivals, 2 requests/s: 12 in bursts of 30 s, 10 % of the time, and 0.889 between". */
static void describe_arrivals(const rc_workload *w, char *text, size_t size) {
    const rc_arrival *a = &w->arrival;
    const char *asked = w->has_sessions ? "sessions" : "requests";
    char length[32];
    double highest = 0, sum = 0;
    for (size_t i = 0; i < a->curve_count; i++) {
        highest = fmax(highest, a->curve[i]);
        sum += a->curve[i];
    }
    switch (a->kind) {
    case RC_ARRIVAL_MODULATED:
        snprintf(text, size, "bursty arrivals, %.4g %s/s: %.3g in bursts of %s, %.3g %% of the time, and %.3g between",
                 a->rate_per_s, asked, rc_arrival_burst_rate(a), span_text(length, sizeof length, a->burst_length_s),
                 100 * a->burst_share, rc_arrival_calm_rate(a));
        break;
    case RC_ARRIVAL_DAILY:
        snprintf(text, size, "arrivals that follow a curve of %zu slots over %s, %.4g %s/s and %.3g at the peak",
                 a->curve_count, span_text(length, sizeof length, a->period_s), a->rate_per_s, asked,
                 a->rate_per_s * (double)a->curve_count * (highest / sum));
        break;
    default:
        snprintf(text, size, "%s arrivals, %.4g %s/s",
                 a->kind == RC_ARRIVAL_POISSON ? "Poisson"
                 : a->kind == RC_ARRIVAL_GAMMA ? "gamma"
                                               : "constant",
                 a->rate_per_s, asked);
    }
}

static void describe_load(const rc_scenario *s, char *text, size_t size) {
    const rc_arrival *a = &s->workload.arrival;
    char lengths[160] = "", arrivals[160];
    if (a->kind != RC_ARRIVAL_TRACE)
        describe_lengths(&s->workload, lengths, sizeof lengths);
    switch (a->kind) {
    case RC_ARRIVAL_CLOSED: snprintf(text, size, "closed loop of %.0f clients, %s", a->clients, lengths); break;
    case RC_ARRIVAL_TRACE: {
        const char *slash = strrchr(a->file, '/');
        char first[48] = "", jitter[64] = "", most[32];
        if (s->workload.requests > 0)
            snprintf(first, sizeof first, "first %.0f requests of ", s->workload.requests);
        if (a->jitter_s > 0)
            snprintf(jitter, sizeof jitter, ", arrivals spread over %s", span_text(most, sizeof most, a->jitter_s));
        snprintf(text, size, "%strace %s, played %.3g x as fast%s", first, slash ? slash + 1 : a->file, a->scale,
                 jitter);
        break;
    }
    default:
        describe_arrivals(&s->workload, arrivals, sizeof arrivals);
        snprintf(text, size, "%s, %s", arrivals, lengths);
    }
}

static void hardware_text(const rc_scenario *s, char text[RC_TEXT_LENGTH]) {
    char layout[64];
    const rc_hardware *h = &s->hardware;
    snprintf(text, RC_TEXT_LENGTH, "%.0f x %s, %s, %s", h->count, h->accelerator.name, h->fabric.name,
             rc_parallel_text(layout, sizeof layout, &s->parallel));
}

static void stack_text(const rc_scenario *s, char text[RC_TEXT_LENGTH]) {
    const rc_stack *stack = &s->hardware.stack;
    snprintf(text, RC_TEXT_LENGTH, "%s (%s %s)", stack->name, stack->engine, stack->version);
}

/* Texts of several pools, one after another; the same one once. */
static void join(char text[RC_TEXT_LENGTH], const char *more) {
    size_t used = strlen(text);
    if (used == 0 || !strstr(text, more))
        snprintf(text + used, RC_TEXT_LENGTH - used, "%s%s", used ? " + " : "", more);
}

static void describe_pools(const rc_scenario *s, rc_run_result *r) {
    r->pools_count = s->pools_count;
    for (size_t i = 0; i < rc_pools_count(s); i++) {
        const rc_scenario *pool = rc_pool(s, i);
        rc_pool_result one = {.gpus = (uint32_t)pool->hardware.count,
                              .replicas = (uint32_t)pool->parallel.replicas,
                              .usd_per_hour = pool->usd_per_gpu_hour * pool->hardware.count};
        hardware_text(pool, one.hardware.text);
        stack_text(pool, one.stack.text);
        join(r->hardware.text, one.hardware.text);
        join(r->stack.text, one.stack.text);
        join(r->policy.text, pool->engine.policy);
        join(r->price_book.text, pool->price_book                ? pool->price_book
                                 : isnan(pool->usd_per_gpu_hour) ? "none"
                                                                 : "given");
        for (size_t a = 0; a < pool->assumptions_count; a++)
            if (s->pools_count > 1)
                rc_reason_add(r->assumptions, &r->assumptions_count, "pool %zu: %s", i + 1, pool->assumptions[a]);
            else
                rc_reason_add(r->assumptions, &r->assumptions_count, "%s", pool->assumptions[a]);
        r->gpus += one.gpus;
        r->replicas += one.replicas;
        if (s->pools_count)
            r->pools[i] = one;
    }
}

/* Levels that pools name differently are called inner and outer. */
static void name_links(const rc_scenario *s, rc_run_result *r) {
    static const char *const places[] = {"inner", "outer"};
    for (size_t level = 0; level < 2; level++) {
        const char *name = NULL;
        for (size_t i = 0; i < rc_pools_count(s); i++) {
            const rc_fabric *fabric = &rc_pool(s, i)->hardware.fabric;
            if (level < fabric->levels_count)
                name =
                    !name || strcmp(name, fabric->levels[level].name) == 0 ? fabric->levels[level].name : places[level];
        }
        snprintf(r->link_names[level].text, RC_TEXT_LENGTH, "link.%s", name ? name : "none");
    }
}

static void describe(const rc_scenario *s, rc_run_result *r) {
    snprintf(r->title.text, RC_TEXT_LENGTH, "%s", s->title);
    snprintf(r->model.text, RC_TEXT_LENGTH, "%s", s->model.name);
    describe_pools(s, r);
    snprintf(r->weights_format.text, RC_TEXT_LENGTH, "%s",
             s->weights_format == RC_FORMAT_COUNT ? "checkpoint" : rc_format_names[s->weights_format]);
    describe_load(s, r->load.text, RC_TEXT_LENGTH);
    r->drafts = s->speculation.tokens;
    r->step_tokens = rc_speculation_length(&s->speculation);
    if (r->drafts > 0)
        snprintf(r->speculation.text, RC_TEXT_LENGTH, "%.0f drafts of %s, acceptance %s", r->drafts,
                 s->speculation.draft.name ? s->speculation.draft.name : "a draft", s->speculation.acceptance);
    name_links(s, r);
    r->seed = s->seed;
}

/* ---------- after it ran */

static void add_money(const rc_scenario *s, rc_run_result *r) {
    for (size_t i = 0; i < rc_pools_count(s); i++)
        r->usd_per_hour += rc_pool(s, i)->usd_per_gpu_hour * rc_pool(s, i)->hardware.count;
    r->usd_per_gpu_hour = r->usd_per_hour / rc_pools_gpus(s);
    r->usd_per_million_output = rc_usd_per_million(r->usd_per_hour, r->output_tokens_per_s);
    r->usd_per_million_input = rc_usd_per_million(r->usd_per_hour, r->input_tokens_per_s);
    r->usd_per_million_total = rc_usd_per_million(r->usd_per_hour, r->total_tokens_per_s);
    r->output_tokens_per_s_per_usd_hour = rc_tokens_per_s_per_usd_hour(r->usd_per_hour, r->output_tokens_per_s);
}

/* Output tokens of a decode step, first tokens of prompts included; none where no step decoded.  All pools at the mean batch of
 * all. */
static void add_ceiling(const rc_scenario *s, rc_run_result *r) {
    bool decoded = r->decode_steps > 0;
    r->ceiling_tpot_s = r->ceiling_output_tokens_per_s = decoded ? 0 : NAN;
    for (size_t i = 0; decoded && i < rc_pools_count(s); i++) {
        const rc_scenario *pool = rc_pool(s, i);
        double seconds = rc_ceiling_decode(pool, fmax(r->decode_batch_mean, 1), 0).seconds,
               tpot = seconds * pool->parallel.pp / r->step_tokens; /* one stage after another */
        r->ceiling_tpot_s = i == 0 ? tpot : fmin(r->ceiling_tpot_s, tpot);
        r->ceiling_output_tokens_per_s += r->output_tokens / r->decode_steps / seconds * pool->parallel.replicas;
    }
}

static rc_range around(double value, double share) {
    return (rc_range){value / (1 + share), value * (1 + share)};
}

/* A share up and down in time is the inverse of it in throughput.  Of several pools the widest counts. */
static void add_interval(const rc_scenario *s, rc_run_result *r) {
    rc_provenance worst = RC_MEASURED;
    r->interval_seen = true;
    for (size_t i = 0; i < rc_pools_count(s); i++) {
        const rc_stack *stack = &rc_pool(s, i)->hardware.stack;
        bool seen;
        r->interval_share = fmax(r->interval_share, rc_stack_share(stack, s->model.name, false, &seen));
        r->interval_ttft_share = fmax(r->interval_ttft_share, rc_stack_share(stack, s->model.name, true, &seen));
        r->interval_seen = r->interval_seen && seen;
        worst = (rc_provenance)stack->interval.provenance > worst ? (rc_provenance)stack->interval.provenance : worst;
    }
    r->interval_provenance = rc_provenance_names[worst];
    r->interval_output_tokens_per_s = around(r->output_tokens_per_s, r->interval_share);
    r->interval_ttft_s = around(r->ttft_s.mean, r->interval_ttft_share);
    r->interval_tpot_s = around(r->tpot_s.mean, r->interval_share);
    r->interval_e2e_s = around(r->e2e_s.mean, r->interval_share);
}

static void add_fingerprint(const rc_scenario *s, rc_run_result *r) {
    uint64_t hash = rc_hash_text(rc_hash_text(RC_HASH_START, s->resolved), RACKCAST_VERSION);
    for (size_t p = 0; p < rc_pools_count(s); p++)
        for (size_t i = 0; i < rc_pool(s, p)->files_count; i++)
            hash = rc_hash_bytes(hash, &rc_pool(s, p)->files[i].hash, sizeof rc_pool(s, p)->files[i].hash);
    for (size_t i = 0; i < r->requests_count; i++) {
        const double times[] = {r->requests[i].arrival_s, r->requests[i].first_token_s, r->requests[i].finish_s};
        hash = rc_hash_bytes(hash, times, sizeof times);
    }
    hash = rc_hash_bytes(hash, r->breakdown, sizeof r->breakdown);
    snprintf(r->fingerprint, sizeof r->fingerprint, "%016llx", (unsigned long long)hash);
}

static double wall_clock_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static rc_status judge(const rc_run_result *r) {
    for (size_t i = 0; i < r->objectives_count; i++)
        if (!r->objectives[i].met)
            return RC_OBJECTIVE_MISSED;
    return RC_OK;
}

rc_status rc_run(const rc_scenario *s, const rc_run_options *options, rc_run_result *r, rc_problems *problems) {
    *r = (rc_run_result){0};
    double began = wall_clock_s();
    describe(s, r);
    if (!check_runnable(s, problems))
        return rc_problems_status(problems);
    size_t shown;
    rc_status status = rc_fit_pools(s, &r->fit, &shown);
    r->fits = status == RC_OK;
    if (!r->fits) {
        rc_memory_smallest(rc_pool(s, shown), &r->fit);
        return status;
    }
    status = rc_simulate(s, options && options->stepwise, r, problems);
    if (status != RC_OK)
        return status;
    add_money(s, r);
    add_ceiling(s, r);
    add_interval(s, r);
    add_fingerprint(s, r);
    r->resolved_scenario = strdup(s->resolved);
    r->wall_s = wall_clock_s() - began;
    return judge(r);
}

void rc_run_result_free(rc_run_result *result) {
    free(result->requests);
    free(result->resolved_scenario);
    *result = (rc_run_result){0};
}
