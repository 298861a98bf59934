/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "memory.h"
#include "placement.h"
#include "quantity.h"
#include "text.h"
#include "weights.h"
#include <math.h>
#include <string.h>

enum { COUNT_MAX = 4096 };

typedef struct stage {
    double first, last; /* layers */
    bool is_first, is_last;
} stage;

static double layers_in(const rc_model *model, const rc_weight *w, const stage *at) {
    switch (w->owner) {
    case RC_OWNER_MIXER: return rc_model_mixer_layers(model, w->kind, at->first, at->last);
    case RC_OWNER_FFN: return rc_model_ffn_layers(model, w->kind, at->first, at->last);
    case RC_OWNER_LAYER: return at->last - at->first;
    case RC_OWNER_FIRST:
        return at->is_first || (w->active > 0 && at->is_last) ? 1 : 0; /* tied heads lie at both ends */
    default: return at->is_last ? 1 : 0;
    }
}

static bool loads(const rc_scenario *s, const rc_weight *w) {
    return rc_weight_is_loaded(w) || (w->component == RC_COMPONENT_VISION && s->engine.vision);
}

/* The share of a tensor that lies on one rank of a stage. */
static double share_of(const rc_scenario *s, const rc_parallel *p, const rc_weight *w) {
    if (w->component == RC_COMPONENT_VISION || w->component == RC_COMPONENT_MTP)
        return 1;                     /* towers run data-parallel */
    if (w->split == RC_SPLIT_EXPERTS) /* with the copies of popular ones */
        return (1 + p->redundant_experts / s->model.ffns[w->kind].experts) / rc_expert_ranks(p);
    if (w->split == RC_SPLIT_NONE)
        return rc_stack_replicates(&s->hardware.stack, w->name) ? 1 : 1 / p->tp;
    return ceil(w->units / p->tp) / w->units;
}

static double on_card(const rc_scenario *s, const rc_weight *w) {
    return 1 - rc_weight_on_host(w, &s->offload);
}

/* On the card; what is held whole on every rank, and what lies on the host for it, go to *replicated and *host. */
static double stage_weights(const rc_scenario *s, const rc_parallel *p, const rc_weights *weights, const stage *at,
                            double *replicated, double *host) {
    double bytes = 0;
    *replicated = *host = 0;
    for (size_t i = 0; i < weights->count; i++) {
        const rc_weight *w = &weights->list[i];
        if (!loads(s, w))
            continue;
        double share = share_of(s, p, w), here = rc_weight_bytes(w) * layers_in(&s->model, w, at);
        *host += share * here * (1 - on_card(s, w));
        here *= on_card(s, w);
        bytes += share * here;
        if (share == 1 && rc_expert_ranks(p) > 1)
            *replicated += here;
    }
    return bytes;
}

/* The share of layers whose caches the host keeps because it computes them.  Where it computes all, its memory counts as the
 * card's does elsewhere. */
static double caches_on_host(const rc_scenario *s) {
    return s->offload.computed_by == RC_BY_HOST && !rc_offloads_all(&s->offload) ? s->offload.layers : 0;
}

/* KV of a token and state of a request on one rank of a stage, of so much of its layers. */
static void stage_caches(const rc_scenario *s, const rc_parallel *p, const stage *at, double kept, double *kv,
                         double *state) {
    *kv = *state = 0;
    for (size_t i = 0; i < s->model.mixers_count; i++) {
        const rc_mixer *m = &s->model.mixers[i];
        double layers = kept * rc_model_mixer_layers(&s->model, i, at->first, at->last);
        double heads = m->kind == RC_GQA ? ceil(m->kv_heads / p->tp) / m->kv_heads : 1;
        *kv += layers * heads / p->dcp * rc_mixer_kv_bytes(m, (rc_format_id)s->engine.kv_format);
        *state += layers / p->tp * rc_mixer_state_bytes(m);
    }
}

static double even_bytes(const rc_scenario *s, const rc_parallel *p, const rc_weights *weights) {
    double bytes = 0;
    for (size_t i = 0; i < weights->count; i++)
        if (loads(s, &weights->list[i]))
            bytes += on_card(s, &weights->list[i]) * rc_weight_bytes(&weights->list[i]) *
                     rc_weight_layers(&s->model, &weights->list[i]);
    return bytes / rc_replica_gpus(p);
}

static stage stage_of(const rc_scenario *s, const rc_parallel *p, double index) {
    stage at = {.is_first = index == 0, .is_last = index == p->pp - 1};
    rc_stage_layers(&s->model, p->pp, index, &at.first, &at.last);
    return at;
}

/* They share a host. */
static double cards_of_node(const rc_scenario *s) {
    return fmin(s->hardware.count, s->hardware.per_node);
}

/* A card's share of the host's memory, less its weights there. */
static double host_room_bytes(const rc_scenario *s, const rc_memory *memory) {
    return s->hardware.host.memory_bytes / cards_of_node(s) - memory->host_bytes;
}

/* What the draft adds to a rank: its weights, and its own cache of every token. */
static void add_draft(const rc_scenario *s, const rc_parallel *p, rc_memory *memory) {
    const rc_draft *d = &s->speculation.draft;
    rc_weights weights;
    double values = d->extra_values + d->taps * d->model.hidden * d->model.hidden, bytes = 2 * values; /* BF16 */
    if (s->speculation.tokens == 0)
        return;
    rc_weights_list(&d->model, RC_FORMAT_COUNT, &weights);
    for (size_t i = 0; i < weights.count; i++) {
        rc_component c = weights.list[i].component;
        if (c != RC_COMPONENT_EMBEDDING && c != RC_COMPONENT_LM_HEAD)
            bytes += rc_weight_bytes(&weights.list[i]) * rc_weight_layers(&d->model, &weights.list[i]);
    }
    memory->draft_bytes = d->replicated ? bytes : bytes / rc_expert_ranks(p);
    memory->weights_bytes += memory->draft_bytes;
    rc_scenario own = *s;
    own.model = d->model;
    stage all = {0, d->model.layers_total, true, true};
    double kv, state;
    stage_caches(&own, p, &all, 1, &kv, &state);
    memory->kv_bytes_per_token += kv;
}

static rc_memory memory_of(const rc_scenario *s, const rc_parallel *p, const rc_weights *weights) {
    const rc_stack_memory *stack = &s->hardware.stack.memory;
    rc_memory memory = {.even_bytes = even_bytes(s, p, weights),
                        .budget_bytes = s->hardware.accelerator.memory_usable_bytes * s->engine.memory_fraction};
    for (double i = 0; i < p->pp; i++) {
        stage at = stage_of(s, p, i);
        double replicated, host, kv, state;
        double bytes = stage_weights(s, p, weights, &at, &replicated, &host);
        stage_caches(s, p, &at, 1 - caches_on_host(s), &kv, &state);
        if (bytes > memory.weights_bytes) {
            memory.replicated_bytes = replicated;
            memory.fullest_stage = i;
        }
        memory.weights_bytes = fmax(memory.weights_bytes, bytes);
        memory.host_bytes = fmax(memory.host_bytes, host);
        memory.kv_bytes_per_token = fmax(memory.kv_bytes_per_token, kv);
        memory.state_bytes_per_request = fmax(memory.state_bytes_per_request, state);
    }
    add_draft(s, p, &memory);
    memory.room_bytes = memory.budget_bytes - memory.weights_bytes - stack->workspace_bytes - stack->graphs_bytes;
    if (rc_offloads_all(&s->offload)) /* the caches too */
        memory.room_bytes = host_room_bytes(s, &memory);
    double on_host = caches_on_host(s);
    if (on_host > 0) /* what the card holds of a request, the host holds so many times */
        memory.room_bytes = fmin(memory.room_bytes, host_room_bytes(s, &memory) * (1 - on_host) / on_host);
    if (!isnan(s->engine.kv_tokens))
        memory.room_bytes = s->engine.kv_tokens * memory.kv_bytes_per_token;
    return memory;
}

rc_memory rc_memory_of(const rc_scenario *s, const rc_parallel *p) {
    rc_weights weights;
    rc_weights_list(&s->model, s->weights_format, &weights);
    return memory_of(s, p, &weights);
}

double rc_state_slots(const rc_scenario *s) {
    const rc_stack_memory *of = &s->hardware.stack.memory;
    double slots = s->engine.prefix_cache && !isnan(of->kept_state_slots) ? of->kept_state_slots : of->state_slots;
    return s->speculation.tokens > 0 ? slots + s->speculation.tokens + 1 : slots; /* one behind each token verified */
}

double rc_request_bytes(const rc_scenario *s, const rc_memory *memory, double tokens) {
    return tokens * memory->kv_bytes_per_token + rc_state_slots(s) * memory->state_bytes_per_request;
}

double rc_longest_request(const rc_scenario *s) {
    double allowed = fmin(s->engine.max_context, s->model.max_context);
    if (!s->has_workload)
        return allowed;
    if (s->workload.arrival.kind == RC_ARRIVAL_TRACE)
        return isfinite(s->engine.max_context) ? allowed : 1; /* its rows are looked at when they come */
    return fmin(allowed, rc_workload_longest(&s->workload));
}

/* Weights and caches that the cards of a node have on their host. */
static double host_bytes(const rc_scenario *s, const rc_memory *memory) {
    double on_host = caches_on_host(s), room = fmax(memory->room_bytes, 0);
    double caches = rc_offloads_all(&s->offload) ? room : room * on_host / (1 - on_host);
    return (memory->host_bytes + caches) * cards_of_node(s);
}

static bool host_holds(const rc_scenario *s, const rc_memory *memory) {
    const double rounding = 1 + 1e-9;
    return memory->host_bytes == 0 || host_bytes(s, memory) <= s->hardware.host.memory_bytes * rounding;
}

/* A room that the scenario tells of may be more than there is. */
static bool exists(const rc_scenario *s, const rc_memory *memory) {
    return rc_offloads_all(&s->offload) ||
           memory->weights_bytes + memory->room_bytes <= s->hardware.accelerator.memory_usable_bytes;
}

static bool holds(const rc_scenario *s, const rc_memory *memory, double tokens) {
    return exists(s, memory) && host_holds(s, memory) && memory->room_bytes >= rc_request_bytes(s, memory, tokens);
}

/* ---------- smallest that fits */

static bool layout_fits(const rc_scenario *s, const rc_parallel *p, const rc_weights *weights) {
    if (!rc_placement_check(s, p, NULL, NULL))
        return false;
    rc_memory memory = memory_of(s, p, weights);
    return holds(s, &memory, rc_longest_request(s));
}

/* Layouts of a count with powers of two, tensor parallelism first. */
static bool count_fits(const rc_scenario *s, double count, const rc_weights *weights, rc_parallel *layout) {
    for (double pp = 1; pp <= count; pp *= 2)
        for (double dp = 1; dp * pp <= count; dp *= 2)
            for (double ep = 1; ep * pp <= count; ep *= 2) {
                *layout = (rc_parallel){.tp = count / pp / dp, .pp = pp, .dp = dp, .ep = ep, .dcp = 1, .replicas = 1};
                if (layout_fits(s, layout, weights))
                    return true;
            }
    return false;
}

void rc_memory_smallest(const rc_scenario *s, rc_fit_result *result) {
    rc_weights listed, *weights = &listed;
    rc_weights_list(&s->model, s->weights_format, weights);
    for (double count = s->hardware.accelerator.node; count <= COUNT_MAX; count *= 2) {
        rc_parallel layout;
        if (frexp(count, &(int){0}) != 0.5 || !count_fits(s, count, weights, &layout))
            continue;
        result->smallest_count = (uint32_t)count;
        rc_parallel_text(result->smallest_layout.text, RC_TEXT_LENGTH, &layout);
        return;
    }
}

/* ---------- census */

static void add_component(const rc_scenario *s, const rc_weight *w, const stage *fullest, rc_fit_result *result) {
    rc_weight_line *line = NULL;
    const char *name = rc_component_names[w->component], *format = rc_format_names[w->format];
    for (size_t i = 0; i < result->components_count; i++)
        if (result->components[i].name == name)
            line = &result->components[i];
    if (!line) {
        line = &result->components[result->components_count++];
        *line = (rc_weight_line){.name = name, .format = format, .loaded = loads(s, w)};
    }
    double layers = rc_weight_layers(&s->model, w);
    if (strcmp(line->format, format) != 0)
        line->format = "mixed";
    line->parameters += rc_weight_parameters(w) * layers;
    line->bytes += rc_weight_bytes(w) * layers;
    line->scale_bytes += rc_weight_scale_bytes(w) * layers;
    line->active += rc_weight_parameters(w) * layers * w->active;
    if (line->loaded)
        line->bytes_per_gpu +=
            on_card(s, w) * rc_weight_bytes(w) * layers_in(&s->model, w, fullest) * share_of(s, &s->parallel, w);
}

static void fill_census(const rc_scenario *s, const rc_weights *weights, double fullest, rc_fit_result *result) {
    stage at = stage_of(s, &s->parallel, fullest);
    for (size_t i = 0; i < weights->count; i++)
        add_component(s, &weights->list[i], &at, result);
    for (size_t i = 0; i < result->components_count; i++) {
        const rc_weight_line *line = &result->components[i];
        result->parameters_total += line->parameters;
        result->parameters_active += line->active;
        result->checkpoint_bytes += line->bytes;
        result->scale_bytes += line->scale_bytes;
    }
}

/* Second copies of popular experts on one rank. */
static double redundant_bytes(const rc_scenario *s) {
    rc_parallel without = s->parallel;
    without.redundant_experts = 0;
    return rc_memory_of(s, &s->parallel).weights_bytes - rc_memory_of(s, &without).weights_bytes;
}

static void fill_memory(const rc_scenario *s, const rc_memory *memory, rc_fit_result *r) {
    double longest = rc_longest_request(s), request = rc_request_bytes(s, memory, longest);
    double state = rc_state_slots(s) * memory->state_bytes_per_request;
    rc_parallel one = {1, 1, 1, 1, 1, 1};
    stage all = {0, s->model.layers_total, true, true};
    stage_caches(s, &one, &all, 1, &r->kv_bytes_per_token_total, &r->state_bytes_per_request_total);
    r->weights_bytes_per_gpu = memory->weights_bytes;
    r->host_bytes_per_gpu = memory->host_bytes;
    r->redundant_bytes_per_gpu = redundant_bytes(s);
    r->weights_bytes_per_gpu_even = memory->even_bytes;
    r->draft_bytes_per_gpu = memory->draft_bytes;
    r->replicated_bytes_per_gpu = memory->replicated_bytes;
    r->memory_nameplate_bytes = s->hardware.accelerator.memory_nameplate_bytes;
    r->memory_usable_bytes = s->hardware.accelerator.memory_usable_bytes;
    r->memory_fraction = s->engine.memory_fraction;
    r->workspace_bytes = s->hardware.stack.memory.workspace_bytes;
    r->graphs_bytes = s->hardware.stack.memory.graphs_bytes;
    r->kv_bytes_per_token_per_gpu = memory->kv_bytes_per_token;
    r->state_bytes_per_request_per_gpu = memory->state_bytes_per_request;
    r->state_slots_per_request = s->hardware.stack.memory.state_slots;
    r->room_bytes_per_gpu = memory->room_bytes;
    r->longest_request_tokens = longest;
    r->model_max_context = s->model.max_context;
    double room = fmax(memory->room_bytes, 0), kv = memory->kv_bytes_per_token;
    r->kv_capacity_tokens = kv > 0 ? floor(room / kv) * s->parallel.dp : INFINITY;
    r->max_requests = floor(room / request) * s->parallel.dp;
    r->max_context = kv > 0 ? fmin(floor(fmax(room - state, 0) / kv), s->model.max_context) : s->model.max_context;
}

/* ---------- the verdict */

static void explain_refusal(const rc_scenario *s, const rc_memory *memory, rc_fit_result *r) {
    char a[40], b[40], c[40];
    const char *weights, *budget;
    double request = rc_request_bytes(s, memory, r->longest_request_tokens);
    if (!host_holds(s, memory))
        rc_reason_add(r->reasons, &r->reasons_count,
                      "weights and caches in host memory, %s a node, exceed the host's %s",
                      rc_quantity_text(a, sizeof a, host_bytes(s, memory), RC_BYTES),
                      rc_quantity_text(b, sizeof b, s->hardware.host.memory_bytes, RC_BYTES));
    weights = rc_quantity_text(a, sizeof a, memory->weights_bytes, RC_BYTES);
    budget = rc_quantity_text(b, sizeof b, memory->budget_bytes, RC_BYTES);
    if (!exists(s, memory))
        rc_reason_add(r->reasons, &r->reasons_count,
                      "weights %s a GPU + %.0f tokens of cache (engine.kv_tokens) exceed %.1f GB usable", weights,
                      s->engine.kv_tokens, r->memory_usable_bytes / 1e9);
    else if (memory->room_bytes < 0)
        rc_reason_add(r->reasons, &r->reasons_count,
                      "weights %s a GPU (%.0f GB if all were sharded) + workspace and graphs %s exceed %s (%.0f %% of "
                      "%.1f GB usable)",
                      weights, r->weights_bytes_per_gpu_even / 1e9,
                      rc_quantity_text(c, sizeof c, r->workspace_bytes + r->graphs_bytes, RC_BYTES), budget,
                      100 * r->memory_fraction, r->memory_usable_bytes / 1e9);
    else if (memory->room_bytes < request) {
        char tokens[40];
        rc_reason_add(r->reasons, &r->reasons_count,
                      "one request of %s tokens needs %s a GPU, room is %s: at most %.0f tokens fit",
                      rc_count_text(tokens, sizeof tokens, r->longest_request_tokens),
                      rc_quantity_text(a, sizeof a, request, RC_BYTES),
                      rc_quantity_text(b, sizeof b, memory->room_bytes, RC_BYTES), r->max_context);
    }
}

/* One node whose weights do not fit: how many of its layers would have to lie on the host. */
static void suggest_offload(const rc_scenario *s, const rc_memory *memory, const rc_weights *weights,
                            rc_fit_result *r) {
    double missing = rc_request_bytes(s, memory, r->longest_request_tokens) - memory->room_bytes, movable = 0;
    stage all = {0, s->model.layers_total, false, false};
    for (size_t i = 0; i < weights->count; i++)
        if (loads(s, &weights->list[i]) && weights->list[i].owner != RC_OWNER_FIRST &&
            weights->list[i].owner != RC_OWNER_LAST)
            movable += share_of(s, &s->parallel, &weights->list[i]) * rc_weight_bytes(&weights->list[i]) *
                       layers_in(&s->model, &weights->list[i], &all) / s->parallel.pp;
    double layers = ceil(missing / movable * s->model.layers_total);
    if (missing > 0 && layers <= s->model.layers_total && !rc_offloads(&s->offload) &&
        s->hardware.count <= s->hardware.per_node)
        rc_reason_add(r->warnings, &r->warnings_count,
                      "with %.0f of %.0f layers in host memory it would fit, slowly (offload.layers=%.2g)", layers,
                      s->model.layers_total, ceil(100 * layers / s->model.layers_total) / 100);
}

static void warn(const rc_scenario *s, const rc_memory *memory, rc_fit_result *r) {
    const double crowded = 0.85; /* operators leave 15 to 25 % beside the weights */
    double share = memory->weights_bytes / s->hardware.accelerator.memory_usable_bytes;
    if (share > crowded)
        rc_reason_add(r->warnings, &r->warnings_count,
                      "weights take %.0f %% of the usable memory; operators leave 15 to 25 %% for the rest",
                      100 * share);
    bool fp4 = s->model.quantization.routed_experts == RC_MXFP4 || s->model.quantization.routed_experts == RC_NVFP4;
    if (fp4 && s->weights_format == RC_FORMAT_COUNT && isnan(s->hardware.accelerator.peak.fp4_flops_per_s))
        rc_reason_add(r->warnings, &r->warnings_count,
                      "%s has no FP4 hardware: 4-bit weights are widened in the kernel", s->hardware.accelerator.title);
}

rc_status rc_memory_fit(const rc_scenario *s, rc_fit_result *result) {
    *result = (rc_fit_result){.gpus = (uint32_t)(rc_replica_gpus(&s->parallel) * s->parallel.replicas)};
    snprintf(result->title.text, RC_TEXT_LENGTH, "%s", s->title);
    for (size_t i = 0; i < s->assumptions_count; i++)
        rc_reason_add(result->assumptions, &result->assumptions_count, "%s", s->assumptions[i]);
    rc_weights weights;
    rc_weights_list(&s->model, s->weights_format, &weights);
    rc_memory memory = memory_of(s, &s->parallel, &weights);
    fill_census(s, &weights, memory.fullest_stage, result);
    fill_memory(s, &memory, result);
    bool divides = rc_placement_check(s, &s->parallel, result->reasons, &result->reasons_count);
    result->fits = divides && holds(s, &memory, result->longest_request_tokens);
    explain_refusal(s, &memory, result);
    if (divides && !result->fits)
        suggest_offload(s, &memory, &weights, result);
    warn(s, &memory, result);
    return result->fits ? RC_OK : RC_DOES_NOT_FIT;
}
