/* SPDX-License-Identifier: GPL-3.0-or-later
 * What a step of a plan takes under a load. */
#include "step.h"
#include "host_weights.h"
#include <math.h>

/* Drafts are tokens of a step too, each with logits of its own. */
static rc_load with_drafts(const rc_step_plan *plan, const rc_load *load) {
    rc_load whole = *load;
    whole.tokens += load->decode_sequences * (plan->queries - 1);
    whole.logits += load->decode_sequences * (plan->queries - 1);
    return whole;
}

/* The share of a replica's load that one DP rank works on. */
static rc_load rank_load(const rc_step_plan *plan, const rc_load *load) {
    rc_load share = *load;
    double dp = plan->dp;
    if (dp <= 1)
        return with_drafts(plan, &share);
    double prompts =
        fmax(fmin(dp, load->prefill_sequences), 1); /* ranks that work on prompts: one prompt is not split */
    share.decode_sequences = ceil(load->decode_sequences / dp);
    share.prefill_tokens = ceil(load->prefill_tokens / prompts);
    share.prefill_sequences = ceil(load->prefill_sequences / prompts);
    share.prefill_past = load->prefill_past / prompts;
    share.tokens = share.decode_sequences + share.prefill_tokens;
    share.logits = fmin(load->logits, share.decode_sequences + share.prefill_sequences);
    for (int r = 0; r < RC_REACHES_MAX; r++) {
        share.decode_context[r] = load->decode_context[r] / dp;
        share.prefill_pairs[r] = load->prefill_pairs[r] / prompts;
    }
    return with_drafts(plan, &share);
}

double rc_step_rank_tokens(const rc_step_plan *plan, const rc_load *load) {
    return rank_load(plan, load).tokens;
}

static double gemm_tokens(const rc_step_plan *plan, rc_gemm_tokens kind, const rc_load *load) {
    switch (kind) {
    case RC_GEMM_LOGITS: return load->logits;
    case RC_GEMM_DECODE: return load->decode_sequences * plan->queries;
    case RC_GEMM_CACHED: return load->prefill_tokens + load->prefill_past;
    default: return load->tokens;
    }
}

/* Seconds that two streams of a card can spend at once: the host and its link serve one after another. */
static double on_card_s(const rc_cost_line *line) {
    return rc_line_seconds(line) - line->seconds[RC_LINK_HOST] - line->seconds[RC_HOST] - line->seconds[RC_HOST_MEMORY];
}

/* Shared experts run beside the routed ones.  What disappears is a share of the shorter, never more than would beat the
 * data sheet's bound of both together. */
static void overlap_shared(const rc_step_plan *plan, rc_step_cost *cost) {
    static const rc_where may_hide[] = {RC_HBM, RC_COMPUTE, RC_LAUNCH};
    rc_cost_line *shared = &cost->lines[RC_FAMILY_SHARED], *routed = &cost->lines[RC_FAMILY_EXPERTS];
    double s = on_card_s(shared), r = on_card_s(routed);
    double bound = fmax((shared->bytes + routed->bytes) / plan->sheet_bytes_per_s,
                        (shared->flops + routed->flops) / plan->sheet_flops_per_s);
    double saved = fmin(plan->shared_overlap * fmin(s, r), fmax(s + r - bound, 0));
    for (size_t i = 0; s > 0 && i < sizeof may_hide / sizeof *may_hide; i++)
        shared->seconds[may_hide[i]] *= 1 - saved / s;
}

static void hide_launches(const rc_step_plan *plan, rc_step_cost *cost) {
    for (int family = 0; family < RC_FAMILY_COUNT; family++)
        cost->lines[family].seconds[RC_LAUNCH] *= 1 - plan->launch_hidden;
}

/* `tokens` of all ranks, `held` by one. */
static void add_exchanges(const rc_step_plan *plan, double tokens, double held, rc_step_cost *cost) {
    for (int i = 0; i < plan->experts_count && plan->senders > 0; i++) {
        if (plan->experts[i].fused)
            continue;
        rc_exchange exchange = plan->exchanges[i];
        exchange.tokens = held / plan->senders;
        exchange.domains = plan->expert_group.outer;
        exchange.busiest = rc_rank_load_pairs(&plan->experts[i].load, tokens);
        rc_expert_exchange_add(&plan->expert_group, &exchange, plan->experts[i].count,
                               &cost->lines[RC_FAMILY_ALL_TO_ALL]);
    }
}

/* The draft's passes of a step, as one line. */
static void add_drafts(const rc_step_plan *plan, const rc_load *load, rc_step_cost *cost) {
    rc_load decodes = {
        .tokens = load->decode_sequences, .logits = load->decode_sequences, .decode_sequences = load->decode_sequences};
    rc_step_cost draft = {0};
    if (decodes.tokens > 0)
        rc_step_fixed(plan->draft, &decodes, &draft);
    rc_line_add_cost(&cost->lines[RC_FAMILY_DRAFT], &draft, plan->draft_passes);
    if (plan->draft_reads_prompts && load->prefill_tokens > 0) {
        rc_load prompts = *load;
        prompts.decode_sequences = prompts.logits = 0;
        prompts.tokens = load->prefill_tokens;
        rc_step_fixed(plan->draft, &prompts, &draft);
        rc_line_add_cost(&cost->lines[RC_FAMILY_DRAFT], &draft, 1);
    }
    if (plan->draft_taps.rows > 0) {
        rc_step_cost taps = {0};
        rc_gemm_add(&plan->draft_taps, rank_load(plan, load).tokens, &taps);
        rc_line_add_cost(&cost->lines[RC_FAMILY_DRAFT], &taps, 1);
    }
}

static void price_fixed(const rc_step_plan *plan, const rc_load *of, rc_step_cost *cost) {
    rc_load load = rank_load(plan, of), all = with_drafts(plan, of);
    const rc_load *whole = &all;
    double unlike = whole->tokens - whole->decode_sequences * (plan->queries - plan->unlike);
    *cost = (rc_step_cost){0};
    for (int i = 0; i < plan->gemms_count; i++)
        rc_gemm_add(&plan->gemms[i], gemm_tokens(plan, plan->gemms[i].tokens, &load), cost);
    for (int i = 0; i < plan->experts_count; i++)
        if (whole->tokens > 0)
            rc_experts_add(&plan->experts[i], whole->tokens,
                           rc_popularity_distinct(&plan->experts[i].popularity, unlike), cost);
    for (int i = 0; i < plan->linears_count; i++)
        rc_linear_attention_add(&plan->linears[i], &load, cost);
    for (int i = 0; i < plan->elementwise_count; i++)
        rc_elementwise_add(&plan->elementwise[i], load.tokens, load.logits, cost);
    for (int i = 0; i < plan->attentions_count; i++)
        rc_attention_add_prefill(&plan->attentions[i], &load, cost);
    rc_all_reduce_add(&plan->tensor_group, load.tokens * plan->message_bytes, plan->all_reduces,
                      &cost->lines[RC_FAMILY_ALL_REDUCE]);
    rc_all_reduce_add(&plan->tensor_group, load.tokens * 2 * sizeof(float), plan->norm_reduces,
                      &cost->lines[RC_FAMILY_ALL_REDUCE]);
    add_exchanges(plan, whole->tokens, load.tokens, cost);
    rc_all_to_all_add(&plan->context_group, load.decode_sequences * plan->queries * plan->context_bytes,
                      plan->context_exchanges, &cost->lines[RC_FAMILY_ALL_TO_ALL]);
    rc_hand_off_add(&plan->stage_group, load.tokens * plan->message_bytes, plan->hand_offs,
                    &cost->lines[RC_FAMILY_HAND_OFF]);
    if (plan->rebalance_s > 0)
        rc_message_add(&cost->lines[RC_FAMILY_REBALANCE], plan->rebalance_level, plan->rebalance_s,
                       plan->rebalance_bytes, 1);
    rc_host_copies_add(plan, load.tokens, cost);
    if (load.prefill_tokens == 0) {
        overlap_shared(plan, cost);
        hide_launches(plan, cost);
    }
    if (plan->draft)
        add_drafts(plan, of, cost);
    cost->lines[RC_FAMILY_HOST].seconds[RC_HOST] += plan->host_s;
}

static rc_load half_of(const rc_load *load) {
    rc_load half = *load;
    half.tokens /= 2;
    half.logits /= 2;
    half.decode_sequences /= 2;
    half.prefill_tokens /= 2;
    half.prefill_sequences /= 2;
    half.prefill_past /= 2;
    for (int r = 0; r < RC_REACHES_MAX; r++) {
        half.decode_context[r] /= 2;
        half.prefill_pairs[r] /= 2;
    }
    return half;
}

/* Two halves, the messages of each behind the work of the other. */
static void price_two_batches(const rc_step_plan *plan, const rc_load *load, rc_step_cost *cost) {
    double by_where[RC_WHERE_COUNT];
    rc_load half = half_of(load);
    rc_step_cost one;
    price_fixed(plan, &half, &one);
    *cost = one;
    rc_step_cost_add(cost, &one);
    rc_cost_line *messages = &cost->lines[RC_FAMILY_ALL_TO_ALL], *host = &cost->lines[RC_FAMILY_HOST];
    host->seconds[RC_HOST] -= plan->host_s; /* once a step */
    double sent = rc_line_seconds(messages), work = rc_step_seconds(cost, by_where) - sent - rc_line_seconds(host);
    double hidden = plan->batch_overlap * fmin(sent, work);
    for (int where = 0; where < RC_WHERE_COUNT && sent > 0; where++)
        messages->seconds[where] *= 1 - hidden / sent;
}

void rc_step_fixed(const rc_step_plan *plan, const rc_load *load, rc_step_cost *cost) {
    double by_where[RC_WHERE_COUNT];
    rc_step_cost halves;
    price_fixed(plan, load, cost);
    if (!plan->two_batches)
        return;
    price_two_batches(plan, load, &halves);
    if (rc_step_seconds(&halves, by_where) < rc_step_seconds(cost, by_where))
        *cost = halves;
}

void rc_step_growing(const rc_step_plan *plan, double sequences, const double *context, bool captured,
                     double by_where[RC_WHERE_COUNT]) {
    rc_cost_line line = {0};
    double shares[RC_REACHES_MAX];
    for (int r = 0; r < plan->reaches_count; r++)
        shares[r] = context[r] / plan->dp;
    for (int i = 0; i < plan->attentions_count; i++)
        rc_attention_add_decode(&plan->attentions[i], ceil(sequences / plan->dp), shares, &line, &line);
    if (captured)
        line.seconds[RC_LAUNCH] *= 1 - plan->launch_hidden;
    for (int where = 0; where < RC_WHERE_COUNT; where++)
        by_where[where] += line.seconds[where];
    if (!plan->draft)
        return;
    double draft[RC_WHERE_COUNT] = {0};
    rc_step_growing(plan->draft, sequences, context, captured, draft);
    for (int where = 0; where < RC_WHERE_COUNT; where++)
        by_where[where] += plan->draft_passes * draft[where];
}

double rc_step_next_bend(const rc_step_plan *plan, double sequences, const double *context, const double *growth) {
    double shares[RC_REACHES_MAX], growing[RC_REACHES_MAX], steps = INFINITY;
    for (int r = 0; r < plan->reaches_count; r++) {
        shares[r] = context[r] / plan->dp;
        growing[r] = growth[r] / plan->dp;
    }
    for (int i = 0; i < plan->attentions_count; i++)
        steps = fmin(steps, rc_attention_next_bend(&plan->attentions[i], ceil(sequences / plan->dp), shares, growing));
    return plan->draft ? fmin(steps, rc_step_next_bend(plan->draft, sequences, context, growth)) : steps;
}

/* The host starts the operations of a step with prompts one by one, ahead of the GPU; what it is late by is waited for. */
static void wait_for_host(const rc_step_plan *plan, rc_step_cost *cost) {
    double by_where[RC_WHERE_COUNT];
    double late = plan->host_operations * plan->eager_launch_s - rc_step_seconds(cost, by_where);
    if (late > 0)
        cost->lines[RC_FAMILY_HOST].seconds[RC_HOST] += late;
}

static void add_draft_attention(const rc_step_plan *plan, const rc_load *load, rc_step_cost *cost) {
    double by_where[RC_WHERE_COUNT] = {0};
    rc_cost_line *line = &cost->lines[RC_FAMILY_DRAFT];
    rc_step_growing(plan->draft, load->decode_sequences, load->decode_context, load->prefill_tokens == 0, by_where);
    for (int where = 0; where < RC_WHERE_COUNT; where++)
        line->seconds[where] += plan->draft_passes * by_where[where];
}

void rc_step_price(const rc_step_plan *plan, const rc_load *whole, rc_step_cost *cost) {
    rc_load load = rank_load(plan, whole);
    rc_step_fixed(plan, whole, cost);
    rc_step_cost growing = {0};
    for (int i = 0; i < plan->attentions_count; i++)
        rc_attention_add_decode(&plan->attentions[i], load.decode_sequences, load.decode_context,
                                &growing.lines[plan->attentions[i].family], &growing.lines[RC_FAMILY_INDEXER]);
    if (load.prefill_tokens == 0)
        hide_launches(plan, &growing);
    rc_step_cost_add(cost, &growing);
    if (plan->draft)
        add_draft_attention(plan, whole, cost);
    if (load.prefill_tokens > 0 && load.tokens > plan->graph_tokens)
        wait_for_host(plan, cost);
}
