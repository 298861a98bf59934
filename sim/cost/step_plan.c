/* SPDX-License-Identifier: GPL-3.0-or-later
 * What a step consists of: made once, from the scenario. */
#include "step.h"
#include "host_weights.h"
#include "weights.h"
#include <assert.h>
#include <math.h>
#include <string.h>

typedef struct planner {
    rc_step_plan *plan;
    const rc_scenario *scenario;
    rc_problems *problems;
    rc_arena *arena;
    double weights_tp; /* ranks that split a weight: those of tensor parallelism, or 1 for what each holds whole */
    bool is_draft;     /* embedding and output head are the target's */
    bool good;
} planner;

static void complain(planner *p, const char *found, const char *expected, const char *message) {
    rc_problem_add(p->problems, RC_DOES_NOT_FIT, "", "hardware", 0, found, expected, "%s", message);
    p->good = false;
}

static void need(planner *p, bool found, const char *kernel) {
    if (!found)
        complain(p, kernel, "a stack that has this kernel (or a wider one)",
                 "the stack lacks a kernel this model needs");
}

/* ---------- dense matrix work */

static rc_family family_of(rc_component component) {
    switch (component) {
    case RC_COMPONENT_INDEXER: return RC_FAMILY_INDEXER;
    case RC_COMPONENT_SHARED_EXPERTS: return RC_FAMILY_SHARED;
    case RC_COMPONENT_LATENT: return RC_FAMILY_LATENT;
    case RC_COMPONENT_ROUTER: return RC_FAMILY_ROUTER;
    case RC_COMPONENT_DENSE_FFN: return RC_FAMILY_DENSE;
    case RC_COMPONENT_LM_HEAD:
    case RC_COMPONENT_EMBEDDING: return RC_FAMILY_HEAD;
    default: return RC_FAMILY_PROJECTIONS;
    }
}

/* Rows and columns of a weight on one rank. */
static void on_rank(const planner *p, const rc_weight *w, double *rows, double *columns) {
    double tp = p->weights_tp, pieces = ceil(w->units / tp) / w->units;
    bool whole = w->split == RC_SPLIT_NONE && rc_stack_replicates(&p->scenario->hardware.stack, w->name);
    *rows = w->split == RC_SPLIT_ROWS ? w->rows * pieces : w->split == RC_SPLIT_NONE && !whole ? w->rows / tp : w->rows;
    *columns = w->split == RC_SPLIT_COLUMNS ? w->columns * pieces : w->columns;
}

static void add_bmm(planner *p, rc_family family, rc_gemm_tokens tokens, double count, double heads, double rows,
                    double columns, rc_format_id format) {
    assert(p->plan->gemms_count < RC_GEMMS_MAX);
    rc_gemm *gemm = &p->plan->gemms[p->plan->gemms_count++];
    *gemm = (rc_gemm){.family = family, .tokens = tokens, .count = count};
    need(p,
         rc_gemm_init(gemm, &p->scenario->hardware.stack, &p->scenario->hardware.accelerator, format, heads, rows,
                      columns),
         "gemm-bf16");
}

static void add_gemm(planner *p, rc_family family, rc_gemm_tokens tokens, double count, double rows, double columns,
                     rc_format_id format) {
    add_bmm(p, family, tokens, count, 0, rows, columns, format);
}

/* Latent keys and values: multiplied out for prefill, absorbed into two batched GEMMs for decode. */
static void add_latent_expansion(planner *p, const rc_weight *w, double count) {
    const rc_mixer *m = &p->scenario->model.mixers[w->kind];
    double heads = ceil(m->heads / p->scenario->parallel.tp);
    add_bmm(p, RC_FAMILY_MLA, RC_GEMM_DECODE, count, heads, m->kv_rank, m->nope_dim, w->format);
    add_bmm(p, RC_FAMILY_MLA, RC_GEMM_DECODE, count, heads, m->value_dim, m->kv_rank, w->format);
    add_gemm(p, RC_FAMILY_MLA, RC_GEMM_CACHED, count, heads * (m->nope_dim + m->value_dim), m->kv_rank, w->format);
}

static bool same_owner(const rc_weight *a, const rc_weight *b) {
    return a->owner == b->owner && a->kind == b->kind && a->format == b->format && a->columns == b->columns;
}

/* The rows of all matrices fused with the first of them; 0 where `index` is not the first. */
static double fused_rows(const planner *p, const rc_weights *weights, size_t index) {
    const rc_weight *first = &weights->list[index];
    double sum = 0;
    for (size_t i = 0; i < weights->count; i++) {
        const rc_weight *w = &weights->list[i];
        if (!w->fused || !same_owner(first, w))
            continue;
        if (i < index)
            return 0;
        double rows, columns;
        on_rank(p, w, &rows, &columns);
        sum += rows;
    }
    return sum;
}

static void plan_gemms(planner *p, const rc_weights *weights) {
    for (size_t i = 0; i < weights->count; i++) {
        const rc_weight *w = &weights->list[i];
        double count = rc_weight_layers(&p->scenario->model, w), rows, columns;
        on_rank(p, w, &rows, &columns);
        bool latent = strcmp(w->name, "kv_b") == 0;
        bool head = w->component == RC_COMPONENT_LM_HEAD || w->component == RC_COMPONENT_EMBEDDING;
        if (!w->gemm || w->split == RC_SPLIT_EXPERTS || count == 0)
            continue;
        if (head && p->is_draft) /* split over the ranks as it is for the target */
            rows = ceil(w->rows / p->scenario->parallel.tp);
        if (w->fused)
            rows = fused_rows(p, weights, i);
        if (latent)
            add_latent_expansion(p, w, count);
        else if (rows > 0)
            add_gemm(p, family_of(w->component), head ? RC_GEMM_LOGITS : RC_GEMM_ALL, count, rows, columns, w->format);
    }
}

/* ---------- other kernels */

static void add_elementwise(planner *p, const char *kernel, rc_family family, double count, double bytes_per_token) {
    assert(p->plan->elementwise_count < RC_ELEMENTWISE_MAX);
    rc_elementwise *e = &p->plan->elementwise[p->plan->elementwise_count++];
    *e = (rc_elementwise){
        .family = family, .count = count, .bytes_per_token = bytes_per_token, .logits = family == RC_FAMILY_SAMPLING};
    need(p, rc_rate_first(p->scenario, kernel, "elementwise", &e->rate), kernel);
}

static int reach_of(rc_step_plan *plan, double reach) {
    for (int i = 0; i < plan->reaches_count; i++)
        if (plan->reaches[i] == reach)
            return i;
    assert(plan->reaches_count < RC_REACHES_MAX);
    plan->reaches[plan->reaches_count] = reach;
    return plan->reaches_count++;
}

static void plan_mixer(planner *p, size_t index) {
    enum { STREAM_BYTES = 4 }; /* BF16 in and out */
    const rc_model *model = &p->scenario->model;
    const rc_mixer *m = &model->mixers[index];
    double count = rc_model_mixer_layers(model, index, 0, model->layers_total), tp = p->scenario->parallel.tp;
    if (rc_mixer_is_recurrent(m)) {
        rc_linear_attention *linear = &p->plan->linears[p->plan->linears_count++];
        need(p, rc_linear_attention_init(linear, m, p->scenario), "kda-decode, kda-prefill");
        linear->count = count;
        /* the gated norm reads output and gate, writes one */
        add_elementwise(p, "elementwise", linear->family, count, 2 * STREAM_BYTES * ceil(m->heads / tp) * m->value_dim);
        return;
    }
    rc_attention *attention = &p->plan->attentions[p->plan->attentions_count++];
    need(p, rc_attention_init(attention, m, p->scenario),
         m->kind == RC_MLA ? "mla-decode, mla-prefill" : "attention-decode, attention-prefill");
    attention->reach = reach_of(p->plan, rc_mixer_reach(m));
    attention->count = count;
    if (m->kind == RC_MLA) /* norms of the two latents; concatenation and writing of the cache */
        add_elementwise(p, "elementwise", RC_FAMILY_MLA, 2 * count,
                        STREAM_BYTES * (m->q_rank + m->kv_rank + m->rope_dim) / 2);
    else if (m->qk_norm == RC_QK_NORM_LAYER) /* squares of all heads, scaling, rotation and writing of the cache */
        add_elementwise(p, "elementwise", RC_FAMILY_ATTENTION, 3 * count,
                        STREAM_BYTES * (ceil(m->heads / tp) + ceil(m->kv_heads / tp)) * m->head_dim);
    else /* norms of heads are fused with rotation and writing of the cache */
        add_elementwise(p, "elementwise", RC_FAMILY_ATTENTION, count,
                        STREAM_BYTES * (ceil(m->heads / tp) + 2 * ceil(m->kv_heads / tp)) * m->head_dim);
}

static void plan_ffn(planner *p, size_t index, rc_format_id experts_format) {
    enum { ACTIVATION_STREAM = 6 }; /* BF16: gate and up in, one out */
    const rc_model *model = &p->scenario->model;
    const rc_ffn *f = &model->ffns[index];
    double count = rc_model_ffn_layers(model, index, 0, model->layers_total), tp = p->scenario->parallel.tp;
    if (f->kind == RC_DENSE) {
        add_elementwise(p, "elementwise", RC_FAMILY_DENSE, count, ACTIVATION_STREAM * f->inner / tp);
        return;
    }
    rc_experts *experts = &p->plan->experts[p->plan->experts_count++];
    bool found = rc_experts_init(experts, f, model->hidden, experts_format, p->scenario, p->arena);
    need(p, found, experts->fused ? "a fused kernel for these experts (engine.fused_experts)" : "experts-bf16");
    experts->count = count;
    p->plan->exchanges[p->plan->experts_count - 1] = (rc_exchange){.width = experts->width,
                                                                   .top_k = f->top_k,
                                                                   .experts = f->experts,
                                                                   .ranks = rc_expert_ranks(&p->scenario->parallel),
                                                                   .splits = rc_expert_tp(&p->scenario->parallel)};
    add_elementwise(p, "routing", RC_FAMILY_ROUTER, count, f->experts * 4); /* F32 scores */
    if (f->shared_inner > 0)
        add_elementwise(p, "elementwise", RC_FAMILY_SHARED, count, ACTIVATION_STREAM * f->shared_inner / tp);
}

/* Norms and residuals between the blocks. */
static void plan_residual(planner *p) {
    const rc_model *model = &p->scenario->model;
    double vector = 2 * model->hidden, layers = model->layers_total; /* a BF16 vector of a token */
    if (model->attention_residual) {
        /* Two mixes a layer read on average 5 earlier outputs and write one; a norm behind each reads one and writes
         * one and its quantised copy. */
        add_elementwise(p, "elementwise", RC_FAMILY_ELEMENTWISE, 2 * layers, 6 * vector);
        add_elementwise(p, "elementwise", RC_FAMILY_ELEMENTWISE, 2 * layers, 3 * vector);
    } else
        add_elementwise(p, "elementwise", RC_FAMILY_ELEMENTWISE, 2 * layers, 4 * vector); /* add and norm, fused */
    add_elementwise(p, "elementwise", RC_FAMILY_ELEMENTWISE, 2, 2 * vector);              /* embedding, final norm */
    add_elementwise(p, "sampling", RC_FAMILY_SAMPLING, 1, 4 * model->vocab);
}

/* Queries go to the ranks that hold a part of the cache, partial outputs come back: two messages a layer. */
static void plan_context_exchanges(rc_step_plan *plan, const rc_scenario *s) {
    const rc_parallel *parallel = &s->parallel;
    double bytes = 0;
    for (size_t i = 0; i < s->model.mixers_count && parallel->dcp > 1; i++) {
        const rc_mixer *m = &s->model.mixers[i];
        if (rc_mixer_is_recurrent(m))
            continue;
        double layers = rc_model_mixer_layers(&s->model, i, 0, s->model.layers_total);
        double values = m->kind == RC_MLA ? 2 * m->kv_rank + m->rope_dim : 2 * m->head_dim;
        plan->context_exchanges += 2 * layers;
        bytes += layers * ceil(m->heads / parallel->tp) * parallel->dcp * values * 2; /* BF16, both ways together */
    }
    plan->context_bytes = plan->context_exchanges > 0 ? bytes / plan->context_exchanges : 0;
}

/* Stages of all copies follow each other inside a domain, where the fabric has no outer level. */
static bool stages_are_joined(const rc_scenario *s) {
    const rc_fabric *fabric = &s->hardware.fabric;
    double reach = fabric->levels[0].reach;
    for (double copy = 0; copy < s->parallel.replicas && fabric->levels_count == 1; copy++)
        for (double at = 0; at + 1 < s->parallel.pp; at++)
            if (floor(rc_stage_gpu(&s->parallel, copy, at) / reach) !=
                floor(rc_stage_gpu(&s->parallel, copy, at + 1) / reach))
                return false;
    return true;
}

/* Every so many steps all experts of a rank move, in all layers; the stop is spread over the steps between. */
static void plan_rebalancing(planner *p) {
    const rc_parallel *parallel = &p->scenario->parallel;
    rc_step_plan *plan = p->plan;
    double bytes = 0;
    for (int i = 0; i < plan->experts_count; i++) {
        const rc_experts *e = &plan->experts[i];
        bytes += e->count * e->held * 3 * e->width * e->inner * e->weight_bytes;
    }
    if (parallel->rebalance_steps <= 0)
        return;
    plan->rebalance_s =
        rc_exchange_weights_s(&plan->expert_group, bytes, &plan->rebalance_level) / parallel->rebalance_steps;
    plan->rebalance_bytes = bytes / parallel->rebalance_steps;
}

static void plan_messages(planner *p) {
    const rc_scenario *s = p->scenario;
    const rc_parallel *parallel = &s->parallel;
    rc_step_plan *plan = p->plan;
    double ranks = rc_expert_ranks(parallel), moe = 0;
    for (size_t i = 0; i < s->model.ffns_count; i++)
        if (s->model.ffns[i].kind == RC_MOE)
            moe += rc_model_ffn_layers(&s->model, i, 0, s->model.layers_total);
    bool joined =
        stages_are_joined(s) && rc_group_init(&plan->tensor_group, &s->hardware, parallel->tp) &&
        rc_group_init(&plan->context_group, &s->hardware, parallel->dcp) &&
        rc_group_init(&plan->expert_group, &s->hardware, ranks) &&
        rc_group_init(&plan->stage_group, &s->hardware,
                      rc_replica_gpus(parallel) * (parallel->placement == RC_STAGES_APART ? parallel->replicas : 1));
    if (!joined)
        complain(p, s->hardware.fabric.name, "a fabric with an outer level, as roce-400 or nvl72",
                 "the fabric does not join the GPUs of a replica");
    if (joined && s->engine.fused_experts && plan->expert_group.outer > 1)
        complain(p, "experts over several domains", "all ranks that share the experts inside one domain of the fabric",
                 "a fused kernel of experts reaches no further than its links (engine.fused_experts)");
    plan->message_bytes = s->model.hidden * 2;
    plan_context_exchanges(plan, s);
    plan->all_reduces =
        parallel->tp > 1 ? s->model.layers_total + (s->model.layers_total - (parallel->dp > 1 ? moe : 0)) : 0;
    for (size_t i = 0; i < s->model.mixers_count; i++)
        if (parallel->tp > 1 && s->model.mixers[i].qk_norm == RC_QK_NORM_LAYER)
            plan->norm_reduces += rc_model_mixer_layers(&s->model, i, 0, s->model.layers_total);
    plan->senders = parallel->dp > 1 ? parallel->tp : 0;
    plan_rebalancing(p);
    plan->hand_offs = parallel->pp - 1;
}

/* ---------- what the host starts */

/* Operations of a layer in a step with prompts, where nothing is captured: GEMMs, attention, and the small ones around
 * them (norms, splits, copies, rotation, quantisation, permutation of tokens).  Counted by reading what engines do. */
static double operations_of_mixer(const rc_mixer *m) {
    return m->kind == RC_MLA || rc_mixer_is_recurrent(m) ? 20 : m->qk_norm == RC_QK_NORM_LAYER ? 10 : 5;
}

static double operations_of_ffn(const rc_ffn *f) {
    return f->kind == RC_DENSE ? 4 : f->shared_inner > 0 ? 12 : 8;
}

static void count_operations(planner *p) {
    enum { NORMS = 2, QUANTISATIONS = 6 };
    const rc_model *model = &p->scenario->model;
    const rc_number_format *attention = rc_number_format_of((rc_format_id)model->quantization.attention);
    double layers = model->layers_total, messages = p->scenario->parallel.tp > 1 ? 2 : 0;
    for (size_t i = 0; i < model->mixers_count; i++)
        p->plan->host_operations += rc_model_mixer_layers(model, i, 0, layers) * operations_of_mixer(&model->mixers[i]);
    for (size_t i = 0; i < model->ffns_count; i++)
        p->plan->host_operations += rc_model_ffn_layers(model, i, 0, layers) * operations_of_ffn(&model->ffns[i]);
    p->plan->host_operations += layers * ((model->attention_residual ? 2 : 1) * NORMS + messages);
    if (attention->group_rows > 1) /* scales of blocks are found before each GEMM, not in the norm before */
        p->plan->host_operations += layers * QUANTISATIONS;
}

/* ---------- whole */

static rc_provenance worse(rc_provenance a, rc_provenance b) {
    return a > b ? a : b;
}

/* Only the levels that a group spans count. */
static void note_messages(rc_provenance *of, rc_family family, const rc_group *group, rc_operation operation) {
    for (size_t i = 0; i < group->algorithms_count; i++) {
        const rc_collective *c = &group->algorithms[i];
        if (c->operation == (int)operation && (c->level == 0 || group->outer > 1))
            of[family] = worse(of[family], (rc_provenance)c->provenance);
    }
}

static void note_attention(rc_provenance *of, const rc_attention *a) {
    of[a->family] = worse(worse(of[a->family], a->decode.provenance), a->prefill.provenance);
    if (a->has_sparse)
        of[a->family] = worse(of[a->family], a->sparse.provenance);
    if (a->indexed)
        of[RC_FAMILY_INDEXER] = worse(worse(of[RC_FAMILY_INDEXER], a->indexer.provenance), a->top_k.provenance);
}

static void note_provenance(rc_step_plan *plan) {
    rc_provenance *of = plan->provenance;
    for (int i = 0; i < plan->gemms_count; i++)
        of[plan->gemms[i].family] = worse(of[plan->gemms[i].family], plan->gemms[i].rate.provenance);
    for (int i = 0; i < plan->experts_count; i++)
        of[RC_FAMILY_EXPERTS] = worse(of[RC_FAMILY_EXPERTS], plan->experts[i].rate.provenance);
    for (int i = 0; i < plan->attentions_count; i++)
        note_attention(of, &plan->attentions[i]);
    for (int i = 0; i < plan->linears_count; i++)
        of[plan->linears[i].family] = worse(of[plan->linears[i].family], plan->linears[i].decode.provenance);
    for (int i = 0; i < plan->elementwise_count; i++)
        of[plan->elementwise[i].family] = worse(of[plan->elementwise[i].family], plan->elementwise[i].rate.provenance);
    note_messages(of, RC_FAMILY_ALL_REDUCE, &plan->tensor_group, RC_ALL_REDUCE);
    if (plan->senders > 0 && rc_exchange_is_known(&plan->expert_group)) {
        note_messages(of, RC_FAMILY_ALL_TO_ALL, &plan->expert_group, RC_DISPATCH);
        note_messages(of, RC_FAMILY_ALL_TO_ALL, &plan->expert_group, RC_COMBINE);
    } else
        note_messages(of, RC_FAMILY_ALL_TO_ALL, &plan->expert_group, RC_ALL_TO_ALL);
    note_messages(of, RC_FAMILY_HAND_OFF, &plan->stage_group, RC_POINT_TO_POINT);
}

static rc_step_plan *plan_model(const rc_scenario *s, double weights_tp, bool is_draft, rc_arena *arena,
                                rc_problems *problems) {
    rc_step_plan *plan = rc_arena_take(arena, sizeof *plan);
    planner p = {plan, s, problems, arena, weights_tp, is_draft, true};
    rc_weights *weights = rc_arena_take(arena, sizeof *weights);
    rc_weights_list(&s->model, s->weights_format, weights);
    assert(s->model.mixers_count <= RC_MIXERS_MAX && s->model.ffns_count <= RC_FFNS_MAX);
    rc_format_id experts =
        s->weights_format != RC_FORMAT_COUNT ? s->weights_format : (rc_format_id)s->model.quantization.routed_experts;
    const rc_stack_step *step = &s->hardware.stack.step;
    plan->queries = plan->unlike = 1;
    plan->dp = s->parallel.dp;
    plan->host_s = step->host_s;
    plan->launch_hidden = step->launch_hidden;
    plan->eager_launch_s = step->eager_launch_s;
    plan->graph_tokens = s->engine.graph_tokens;
    plan->shared_overlap = step->shared_overlap;
    plan->two_batches = s->engine.two_batch_overlap;
    plan->batch_overlap = step->batch_overlap;
    plan->sheet_bytes_per_s = s->hardware.accelerator.memory_bytes_per_s;
    plan->sheet_flops_per_s = rc_peak_flops(&s->hardware.accelerator, RC_PEAK_FP4);
    reach_of(plan, INFINITY);
    plan_gemms(&p, weights);
    for (size_t i = 0; i < s->model.mixers_count; i++)
        plan_mixer(&p, i);
    for (size_t i = 0; i < s->model.ffns_count; i++)
        plan_ffn(&p, i, experts);
    plan_residual(&p);
    plan_messages(&p);
    count_operations(&p);
    rc_host_weights_apply(plan, s);
    note_provenance(plan);
    plan->provenance[RC_FAMILY_HOST] = (rc_provenance)step->provenance;
    plan->provenance[RC_FAMILY_HOST_COPIES] = RC_ASSUMED;
    plan->provenance[RC_FAMILY_REBALANCE] = RC_ASSUMED;
    return p.good ? plan : NULL;
}

/* ---------- speculation */

/* The scenario as the draft sees it: its own layers, nothing in stages, nothing on the host. */
static rc_scenario draft_scenario(const rc_scenario *s) {
    rc_scenario draft = *s;
    draft.model = s->speculation.draft.model;
    draft.weights_format = RC_FORMAT_COUNT;
    draft.offload = (rc_offload){0};
    draft.parallel.pp = draft.parallel.dcp = 1;
    draft.parallel.rebalance_steps = 0;
    draft.engine.fused_experts = false;
    return draft;
}

static void set_queries(rc_step_plan *plan, double queries) {
    plan->queries = plan->unlike = queries;
    for (int i = 0; i < plan->attentions_count; i++)
        plan->attentions[i].queries = queries;
    for (int i = 0; i < plan->linears_count; i++)
        plan->linears[i].queries = queries;
}

static bool plan_draft(rc_step_plan *plan, const rc_scenario *s, rc_arena *arena, rc_problems *problems) {
    const rc_draft *d = &s->speculation.draft;
    rc_scenario *own = rc_arena_take(arena, sizeof *own);
    double width = s->model.hidden, tp = d->replicated ? 1 : s->parallel.tp;
    *own = draft_scenario(s);
    set_queries(plan, s->speculation.tokens + 1);
    plan->unlike = rc_unlike_tokens(&s->workload.routing, s->speculation.tokens);
    plan->draft = plan_model(own, tp, true, arena, problems);
    if (!plan->draft)
        return false;
    plan->draft->host_s = plan->draft->hand_offs = 0;
    if (d->replicated)
        plan->draft->all_reduces = plan->draft->norm_reduces = 0;
    set_queries(plan->draft, d->block ? s->speculation.tokens : 1);
    plan->draft_passes = d->block ? 1 : s->speculation.tokens;
    plan->draft_reads_prompts = !d->block;
    plan->draft_taps = (rc_gemm){.family = RC_FAMILY_DRAFT, .count = d->taps > 0};
    plan->provenance[RC_FAMILY_DRAFT] = RC_ASSUMED;
    return d->taps == 0 || rc_gemm_init(&plan->draft_taps, &s->hardware.stack, &s->hardware.accelerator, RC_BF16, 0,
                                        ceil(width / tp), d->taps * width);
}

rc_step_plan *rc_step_plan_new(const rc_scenario *s, rc_arena *arena, rc_problems *problems) {
    rc_step_plan *plan = plan_model(s, s->parallel.tp, false, arena, problems);
    bool drafts = plan && s->speculation.tokens > 0;
    return plan && (!drafts || plan_draft(plan, s, arena, problems)) ? plan : NULL;
}
