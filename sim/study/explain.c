/* SPDX-License-Identifier: GPL-3.0-or-later
 * One decode step and one prompt, part by part, beside their ceilings. */
#include "ceiling.h"
#include "memory.h"
#include "step.h"
#include "text.h"
#include <math.h>

static const char *bound_of(const rc_part *part) {
    const struct {
        const char *name;
        double seconds;
    } kinds[] = {{"hbm", part->hbm_s},
                 {"compute", part->compute_s},
                 {"launch", part->launch_s},
                 {"link", part->link_s},
                 {"link.host", part->host_link_s},
                 {"host", part->host_s},
                 {"host memory", part->host_memory_s}};
    size_t largest = 0;
    for (size_t i = 1; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].seconds > kinds[largest].seconds)
            largest = i;
    return kinds[largest].name;
}

static rc_part part_of(int family, const rc_cost_line *line, const rc_step_plan *plan) {
    rc_part part = {.family = rc_family_names[family],
                    .bytes = line->bytes,
                    .flops = line->flops,
                    .hbm_s = line->seconds[RC_HBM],
                    .compute_s = line->seconds[RC_COMPUTE],
                    .launch_s = line->seconds[RC_LAUNCH],
                    .host_s = line->seconds[RC_HOST],
                    .host_memory_s = line->seconds[RC_HOST_MEMORY],
                    .host_link_s = line->seconds[RC_LINK_HOST],
                    .host_link_bytes = line->host_link_bytes,
                    .link_s = line->seconds[RC_LINK_0] + line->seconds[RC_LINK_1],
                    .launches = line->launches,
                    .seconds = rc_line_seconds(line),
                    .provenance = rc_provenance_names[plan->provenance[family]]};
    part.bound = bound_of(&part);
    return part;
}

/* The parts that take time, in the order of the families; returns the seconds of the step. */
static double list_parts(const rc_step_cost *cost, const rc_step_plan *plan, rc_part *parts, size_t *count) {
    double seconds = 0;
    for (int family = 0; family < RC_FAMILY_COUNT; family++)
        if (rc_line_seconds(&cost->lines[family]) > 0) {
            parts[*count] = part_of(family, &cost->lines[family], plan);
            seconds += parts[(*count)++].seconds;
        }
    return seconds;
}

/* A prompt alone on an idle rack, in chunks as large as the engine's token budget.  Through S stages they follow each other:
 * all of them in one stage, and the longest once more in each other; the parts are scaled to that. */
static double price_prompt(const rc_scenario *s, const rc_step_plan *plan, double prompt, rc_step_cost *whole) {
    double seconds = 0, longest = 0, stages = s->parallel.pp;
    for (double past = 0, chunk; past < prompt; past += chunk) {
        chunk = fmin(prompt - past, s->engine.max_batched_tokens);
        rc_load load = rc_load_prefill(chunk, past, past + chunk >= prompt, plan->reaches, plan->reaches_count);
        rc_step_cost cost;
        double by_where[RC_WHERE_COUNT];
        rc_step_price(plan, &load, &cost);
        double chunk_s = rc_step_seconds(&cost, by_where);
        longest = fmax(longest, chunk_s);
        seconds += chunk_s;
        rc_step_cost_add(whole, &cost);
    }
    double passing = (seconds + (stages - 1) * longest) / stages;
    for (int family = 0; family < RC_FAMILY_COUNT; family++)
        for (int where = 0; where < RC_WHERE_COUNT; where++)
            whole->lines[family].seconds[where] *= passing / seconds;
    return passing;
}

/* The load's own: as many sequences as clients (or as may run), in the middle of their answers. */
static void fill_question(const rc_scenario *s, rc_explain_result *r) {
    const rc_workload *w = &s->workload;
    bool lengths = s->has_workload && w->arrival.kind != RC_ARRIVAL_TRACE;
    if (!(r->batch > 0))
        r->batch = s->has_workload && w->arrival.kind == RC_ARRIVAL_CLOSED
                       ? fmin(ceil(w->arrival.clients / (s->parallel.replicas * s->parallel.pp)),
                              ceil(s->engine.max_running / s->parallel.pp))
                       : 1;
    if (!(r->context > 0))
        r->context = lengths ? rc_workload_prompt_mean(w) + rc_length_mean(&w->output) / 2 : 8192;
    if (!(r->prompt > 0))
        r->prompt = lengths ? rc_workload_prompt_mean(w) : r->context;
}

/* What cannot exist is refused; what does not fit into the cache is said. */
static bool check_question(const rc_scenario *s, rc_explain_result *r, rc_problems *problems) {
    const struct {
        const char *option;
        double tokens;
    } lengths[] = {{"--context", r->context}, {"--prompt", r->prompt}};
    for (size_t i = 0; i < 2; i++)
        if (lengths[i].tokens > s->model.max_context) {
            char found[40], expected[80], most[40];
            rc_count_text(found, sizeof found, lengths[i].tokens);
            snprintf(expected, sizeof expected, "at most %s, the model's context",
                     rc_count_text(most, sizeof most, s->model.max_context));
            rc_problem_add(problems, RC_BAD_VALUE, "", lengths[i].option, 0, found, expected, "too many tokens");
        }
    rc_memory memory = rc_memory_of(s, &s->parallel);
    double held = floor(memory.room_bytes / rc_request_bytes(s, &memory, r->context)) * s->parallel.dp;
    if (r->batch > held)
        rc_reason_add(r->assumptions, &r->assumptions_count,
                      "the cache holds %.0f sequences of this length: the step is hypothetical", held);
    return rc_problems_count(problems) == 0;
}

static void fill_ceiling(const rc_scenario *s, rc_explain_result *r) {
    rc_ceiling ceiling = rc_ceiling_decode(s, r->batch, r->context);
    r->ceiling_s = ceiling.seconds * s->parallel.pp; /* one stage after another */
    r->ceiling_tokens_per_s = r->batch * r->step_tokens / ceiling.seconds;
    r->replication_s = ceiling.replication_s;
    r->cache_s = ceiling.cache_s;
    r->weight_bytes = ceiling.weight_bytes;
    r->weight_bytes_uniform = ceiling.weight_bytes_uniform;
    r->distinct_experts = ceiling.distinct;
    r->distinct_experts_uniform = ceiling.distinct_uniform;
    r->prefill_ceiling_s = rc_ceiling_prefill_s(s, r->prompt);
}

/* What the busiest rank gets of the first kind of experts. */
static void fill_busiest(const rc_scenario *s, const rc_step_plan *plan, rc_explain_result *r) {
    if (plan->experts_count == 0)
        return;
    const rc_rank_load *load = &plan->experts[0].load;
    r->expert_ranks = s->parallel.ep;
    r->busiest_pairs = rc_rank_load_pairs(load, r->batch);
    r->busiest_experts = rc_rank_load_distinct(load, r->batch);
    r->busiest_prompt_pairs = rc_rank_load_pairs(load, r->prompt);
}

rc_status rc_explain(const rc_scenario *s, double batch, double context, double prompt, rc_explain_result *r,
                     rc_problems *problems) {
    *r = (rc_explain_result){.batch = batch, .context = context, .prompt = prompt};
    snprintf(r->title.text, RC_TEXT_LENGTH, "%s", s->title);
    r->stages = s->parallel.pp;
    r->drafts = s->speculation.tokens;
    r->step_tokens = rc_speculation_length(&s->speculation);
    rc_status fit = rc_memory_fit(s, &r->fit);
    fill_question(s, r);
    if (rc_pools_count(s) > 1)
        rc_reason_add(r->assumptions, &r->assumptions_count, "the first of %zu pools is explained", rc_pools_count(s));
    for (size_t i = 0; i < s->assumptions_count; i++)
        rc_reason_add(r->assumptions, &r->assumptions_count, "%s", s->assumptions[i]);
    if (!s->has_workload)
        rc_reason_add(r->assumptions, &r->assumptions_count, "expert popularity: uniform (no load was given)");
    r->fits = fit == RC_OK;
    if (!r->fits) {
        rc_memory_smallest(s, &r->fit);
        return fit;
    }
    if (!check_question(s, r, problems))
        return rc_problems_status(problems);
    rc_arena *arena = rc_arena_new();
    rc_step_plan *plan = rc_step_plan_new(s, arena, problems);
    if (plan) {
        rc_load load = rc_load_decode(r->batch, r->context, plan->reaches, plan->reaches_count);
        rc_step_cost step, prefill = {0};
        rc_step_price(plan, &load, &step);
        r->step_s = list_parts(&step, plan, r->parts, &r->parts_count);
        r->frontend_s = s->hardware.stack.frontend.request_s + s->hardware.stack.frontend.token_s * r->prompt;
        r->prefill_s = price_prompt(s, plan, r->prompt, &prefill);
        list_parts(&prefill, plan, r->prefill_parts, &r->prefill_parts_count);
        fill_ceiling(s, r);
        fill_busiest(s, plan, r);
    }
    rc_arena_free(arena);
    return rc_problems_status(problems);
}
