/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replica.h"
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIXED_MAX = 65536 };

static rc_request *request_of(const rc_replica *r, uint32_t index) {
    return &(*r->requests)[index];
}

rc_block rc_block_of(double tokens, double kv_bytes, double state_bytes) {
    const double longest = 1048576; /* tokens of a request */
    if (kv_bytes <= 0)
        return (rc_block){state_bytes, longest, 0};
    return (rc_block){tokens * kv_bytes, tokens, ceil(state_bytes / (tokens * kv_bytes))};
}

void rc_replica_init(rc_replica *r, uint32_t index, const rc_scenario *s, const rc_step_plan *plan,
                     const rc_policy *policy, rc_kv_memory *memory, rc_block block, rc_metrics *metrics,
                     rc_request **requests, rc_frontend *frontend, bool stepwise, rc_arena *arena) {
    *r = (rc_replica){.index = index,
                      .role = s->role,
                      .scenario = s,
                      .plan = plan,
                      .policy = policy,
                      .metrics = metrics,
                      .requests = requests,
                      .intake = {.interval = (uint64_t)s->engine.receive_interval,
                                 .wait = (uint64_t)s->engine.batch_wait_steps,
                                 .wait_tokens = s->engine.batch_wait_share * s->engine.max_batched_tokens},
                      .frontend = frontend,
                      .stepwise = stepwise || s->parallel.pp > 1,
                      .in_stages = s->parallel.pp > 1,
                      .max_running = ceil(s->engine.max_running / s->parallel.pp),
                      .max_batched_tokens = s->engine.max_batched_tokens,
                      .step_tokens = rc_speculation_length(&s->speculation),
                      .step_variance = rc_speculation_variance(&s->speculation)};
    rc_kv_pool_init(&r->pool, memory, (uint32_t)block.tokens, (uint64_t)block.state_blocks, arena);
    r->available_before = rc_kv_available(r->pool.memory);
    r->fixed_count = (size_t)fmin(fmin(r->max_running, (double)r->pool.memory->total) + 1, FIXED_MAX);
    r->fixed = rc_allocate(r->fixed_count * sizeof *r->fixed);
    if (s->speculation.tokens > 0)
        r->acceptance = rc_random_new(s->seed + index, "accepted drafts");
}

void rc_replica_free(rc_replica *r) {
    free(r->waiting);
    free(r->prefilling);
    free(r->decoding);
    free(r->joined);
    free(r->finished);
    free(r->arrived);
    free(r->handed);
    free(r->fixed);
    free(r->train);
    rc_random_free(r->acceptance);
}

bool rc_replica_can_hold(const rc_replica *r, const rc_request *request) {
    uint64_t tokens = (uint64_t)request->input_tokens + (r->role == RC_POOL_PREFILL ? 0 : request->output_tokens);
    double allowed = fmin(r->scenario->engine.max_context, r->scenario->model.max_context);
    uint64_t rank_total =
        r->pool.memory->total / (uint64_t)r->scenario->parallel.dp; /* a request lies on one DP rank */
    return rc_kv_blocks(&r->pool, tokens) <= rank_total && (double)tokens <= allowed;
}

double rc_replica_load(const rc_replica *r) {
    return (double)(r->arriving + r->waiting_count + r->prefilling_count + r->decoding_count + r->expected);
}

/* ---------- queue */

static void grow_queue(rc_replica *r) {
    if (r->waiting_count < r->waiting_capacity)
        return;
    size_t capacity = r->waiting_capacity ? 2 * r->waiting_capacity : 64;
    uint32_t *ring = rc_allocate(capacity * sizeof *ring);
    for (size_t i = 0; i < r->waiting_count; i++)
        ring[i] = r->waiting[(r->waiting_first + i) & (r->waiting_capacity - 1)];
    free(r->waiting);
    r->waiting = ring;
    r->waiting_first = 0;
    r->waiting_capacity = capacity;
}

/* A stretch of decode steps is under way. */
static bool is_decoding(const rc_replica *r) {
    return r->busy && r->decodes && r->chunks_tokens == 0;
}

void rc_replica_enqueue(rc_replica *r, uint32_t request, rc_time now) {
    grow_queue(r);
    r->waiting[(r->waiting_first + r->waiting_count++) & (r->waiting_capacity - 1)] = request;
    r->waiting_tokens += rc_request_prompt(request_of(r, request));
    uint64_t step = r->step;
    if (is_decoding(r))
        step += (uint64_t)rc_stretch_find(&r->stretch, r->stretch_steps, rc_seconds_of(now - r->began));
    rc_intake_add(&r->intake, step, r->waiting_tokens);
}

static void enqueue_in_front(rc_replica *r, uint32_t request) {
    grow_queue(r);
    r->waiting_first = (r->waiting_first + r->waiting_capacity - 1) & (r->waiting_capacity - 1);
    r->waiting[r->waiting_first] = request;
    r->waiting_count++;
    r->waiting_tokens += rc_request_prompt(request_of(r, request));
}

static uint32_t first_waiting(const rc_replica *r) {
    return r->waiting[r->waiting_first & (r->waiting_capacity - 1)];
}

/* What of its prompt is in the cache.  One token is left to compute: the answer's first comes of it. */
static rc_prefix_match look_up(const rc_replica *r, const rc_request *request) {
    if (!r->cache || !request->session)
        return (rc_prefix_match){.near.node = RC_INDEX_NONE, .all.node = RC_INDEX_NONE};
    return rc_prefix_find(r->cache, &request->session->content, rc_request_prompt(request) - 1);
}

double rc_replica_finds(const rc_replica *r, const rc_request *request) {
    return look_up(r, request).all.tokens;
}

/* One block that can be had is left for each running request, so that admitting never preempts at once. */
static bool has_room(const rc_replica *r, const rc_request *request, const rc_prefix_hit *hit) {
    uint64_t found = hit->tokens / r->pool.block_tokens, loads = found - hit->device_blocks;
    uint64_t own = rc_kv_blocks(&r->pool, rc_request_prompt(request) - hit->tokens);
    return own + loads + r->decoding_count + hit->idle_blocks <= rc_kv_available(r->pool.memory);
}

static bool may_run_more(const rc_replica *r) {
    return r->waiting_count > 0 && (double)(r->prefilling_count + r->decoding_count + r->reserved) < r->max_running;
}

/* There is room for the first waiting request. */
static bool admissible(const rc_replica *r) {
    if (!may_run_more(r))
        return false;
    const rc_request *first = request_of(r, first_waiting(r));
    rc_prefix_match match = look_up(r, first);
    return has_room(r, first, &match.near);
}

/* Computing so many tokens after `past` others, in steps of their own. */
static double compute_s(rc_replica *r, double past, double tokens) {
    double by_where[RC_WHERE_COUNT], chunk = fmin(tokens, r->max_batched_tokens);
    rc_load load = {.tokens = chunk,
                    .prefill_tokens = chunk,
                    .prefill_sequences = 1,
                    .prefill_past = past,
                    .prefill_longest = past + chunk};
    for (int reach = 0; reach < r->plan->reaches_count; reach++)
        load.prefill_pairs[reach] = rc_chunk_pairs(past, chunk, r->plan->reaches[reach]);
    rc_step_price(r->plan, &load, &r->cost);
    return rc_step_seconds(&r->cost, by_where) * tokens / chunk;
}

/* Loads what lies in tiers below where that is faster than computing it, and has room. */
static rc_prefix_hit choose_hit(rc_replica *r, const rc_request *request, const rc_prefix_match *match) {
    const rc_prefix_hit *near = &match->near, *all = &match->all;
    if (all->tokens <= near->tokens || !has_room(r, request, all))
        return *near;
    double load_s = rc_prefix_load_s(r->cache, all);
    return load_s < compute_s(r, near->tokens, (double)all->tokens - near->tokens) ? *all : *near;
}

/* The request would have to be split, though prompts are read whole. */
static bool must_be_split(const rc_replica *r, double tokens, double budget) {
    double most = r->max_batched_tokens - (double)r->decoding_count;
    return r->scenario->engine.whole_prompts && tokens > budget && (tokens <= most || r->chunks_tokens > 0);
}

/* Blocks for its prompt: those of a hit, and its own for the rest. */
static void take_room(rc_replica *r, rc_request *request, const rc_prefix_hit *hit) {
    request->shared = request->prefilled = hit->tokens;
    request->node = hit->node;
    if (r->cache) {
        rc_prefix_take(r->cache, hit);
        r->loading_s += rc_prefix_load_s(r->cache, hit);
    }
    rc_kv_take(&r->pool, rc_request_prompt(request) - hit->tokens);
}

static void count_found(rc_replica *r, rc_request *request, const rc_prefix_match *match) {
    request->found = request->prefilled;
    request->loaded = request->found > match->near.tokens ? request->found - match->near.tokens : 0;
    r->metrics->prompt_tokens += request->input_tokens;
    r->metrics->found_tokens += request->found;
    r->metrics->loaded_tokens += request->loaded;
}

bool rc_replica_admit(rc_replica *r, double budget) {
    bool looks = r->decoding_count == 0 || r->step >= r->intake.opens;
    if (!looks || !may_run_more(r))
        return false;
    uint32_t index = first_waiting(r);
    rc_request *request = request_of(r, index);
    rc_prefix_match match = look_up(r, request);
    if (!has_room(r, request, &match.near))
        return false;
    rc_prefix_hit hit = choose_hit(r, request, &match);
    if (must_be_split(r, rc_request_prompt(request) - hit.tokens, budget))
        return false;
    r->waiting_first = (r->waiting_first + 1) & (r->waiting_capacity - 1);
    r->waiting_count--;
    r->waiting_tokens -= rc_request_prompt(request);
    take_room(r, request, &hit);
    request->branch = match.branch;
    request->admission = r->admissions++;
    if (request->admitted == RC_NEVER) {
        request->admitted = r->began;
        count_found(r, request, &match);
    }
    r->prefilling = rc_grow(r->prefilling, r->prefilling_count, &r->prefilling_capacity, sizeof *r->prefilling);
    r->prefilling[r->prefilling_count++] = index;
    return true;
}

static double give_chunk(rc_replica *r, uint32_t index, double budget) {
    rc_request *request = request_of(r, index);
    double left = rc_request_prompt(request) - request->prefilled;
    request->chunk = (uint32_t)fmax(fmin(left, budget), 0);
    r->chunks_tokens += request->chunk;
    return budget - request->chunk;
}

double rc_replica_chunk_admitted(rc_replica *r, double budget) {
    for (size_t i = 0; i < r->prefilling_count; i++)
        budget = give_chunk(r, r->prefilling[i], budget);
    return budget;
}

double rc_replica_chunk_last(rc_replica *r, double budget) {
    return give_chunk(r, r->prefilling[r->prefilling_count - 1], budget);
}

/* ---------- what a request holds */

static uint64_t smaller(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* Its blocks are given back; what it has computed of its content stays in the cache for others. */
static void release(rc_replica *r, rc_request *request, uint64_t holds, uint64_t computed) {
    rc_kv_give(&r->pool, holds - request->shared);
    if (r->cache && request->session) {
        rc_prefix_run run = {request->shared, computed, request->branch};
        uint32_t node = rc_prefix_put(r->cache, &request->session->content, &run, request->node);
        rc_prefix_save_states(r->cache, &run, node);
        rc_prefix_unlock(r->cache, node);
    }
    request->shared = 0;
    request->node = RC_INDEX_NONE;
}

/* Its prompt is computed: from now on others can use it too. */
static void share_prompt(rc_replica *r, rc_request *request, uint64_t prompt) {
    if (!r->cache || !request->session)
        return;
    rc_prefix_run run = {request->shared, prompt, request->branch};
    rc_kv_give(&r->pool, prompt - request->shared);
    request->node = rc_prefix_put(r->cache, &request->session->content, &run, request->node);
    request->shared = (uint32_t)(prompt - prompt % r->pool.block_tokens);
    rc_kv_take(&r->pool, prompt - request->shared);
    rc_prefix_save_states(r->cache, &run, request->node);
    request->branch = 0;
}

/* ---------- decoding requests */

static bool before(const rc_decoder *a, const rc_decoder *b) {
    return a->finish_step < b->finish_step || (a->finish_step == b->finish_step && a->request < b->request);
}

static void sift_up(rc_decoder *heap, size_t at) {
    for (size_t parent; at > 0 && before(&heap[at], &heap[parent = (at - 1) / 2]); at = parent) {
        rc_decoder swap = heap[at];
        heap[at] = heap[parent];
        heap[parent] = swap;
    }
}

static void sift_down(rc_decoder *heap, size_t count, size_t at) {
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && before(&heap[child + 1], &heap[child]))
            child++;
        if (!before(&heap[child], &heap[at]))
            return;
        rc_decoder swap = heap[at];
        heap[at] = heap[child];
        heap[child] = swap;
    }
}

/* Tokens that a sequence gets in the first `steps` steps: with drafts all of a replica are taken to go on alike, at the mean. */
static uint64_t tokens_of(const rc_replica *r, uint64_t steps) {
    return r->acceptance ? (uint64_t)floor((double)steps * r->step_tokens) : steps;
}

/* Steps from now on in which a sequence gets at most so many tokens. */
static uint64_t steps_within(const rc_replica *r, uint64_t tokens) {
    if (!r->acceptance)
        return tokens;
    uint64_t now = tokens_of(r, r->step);
    double last = ceil((double)(now + tokens + 1) / r->step_tokens);
    uint64_t steps = last > (double)r->step ? (uint64_t)last - r->step : 0;
    while (steps > 0 && tokens_of(r, r->step + steps) - now > tokens)
        steps--;
    return steps;
}

/* Steps that so many tokens take.  Each brings an independent number with mean a and variance v: by the central limit theorem of
 * renewals about n / a, with variance n v / a^3 (Cox, Renewal Theory, 1962), within what the drafts allow. */
static uint64_t steps_for(rc_replica *r, double tokens) {
    if (!r->acceptance || tokens <= 0)
        return (uint64_t)tokens;
    double a = r->step_tokens, most = r->scenario->speculation.tokens + 1;
    if (r->step_variance == 0)
        return (uint64_t)ceil(tokens / a);
    double mean = tokens / a + r->step_variance / (2 * a * a), sigma = sqrt(tokens * r->step_variance / a) / a;
    double steps = round(mean + rc_random_normal(r->acceptance, sigma));
    return (uint64_t)fmax(fmin(steps, tokens), ceil(tokens / most));
}

/* Cached tokens of a decoding request: all but the newest, whose keys the next step writes. */
static uint64_t cached_of(const rc_replica *r, const rc_request *request) {
    return request->input_tokens + request->produced - 1 + (tokens_of(r, r->step) - request->begin_tokens);
}

/* What it looks at in its next step; between whole steps of drafts a fraction of a token counts. */
static double seen_of(const rc_replica *r, const rc_request *request) {
    return request->input_tokens + request->produced + (double)(r->step - request->begin_step) * r->step_tokens;
}

static void begin_decoding(rc_replica *r, uint32_t index) {
    rc_request *request = request_of(r, index);
    request->begin_step = r->step;
    request->begin_tokens = tokens_of(r, r->step);
    r->decoding = rc_grow(r->decoding, r->decoding_count, &r->decoding_capacity, sizeof *r->decoding);
    r->decoding[r->decoding_count++] =
        (rc_decoder){r->step + steps_for(r, (double)request->output_tokens - request->produced), index};
    sift_up(r->decoding, r->decoding_count - 1);
    r->joined = rc_grow(r->joined, r->joined_count, &r->joined_capacity, sizeof *r->joined);
    r->joined[r->joined_count++] = index;
    r->context += seen_of(r, request);
    rc_kv_decode_begins(&r->pool, cached_of(r, request), request->begin_tokens);
}

/* Takes a request out of the decoding ones; its cache is freed. */
static uint32_t end_decoding(rc_replica *r, size_t at) {
    uint32_t index = r->decoding[at].request;
    rc_request *request = request_of(r, index);
    uint64_t cached = cached_of(r, request), now = tokens_of(r, r->step);
    r->decoding[at] = r->decoding[--r->decoding_count];
    if (at < r->decoding_count) {
        sift_down(r->decoding, r->decoding_count, at);
        sift_up(r->decoding, at);
    }
    r->context = r->decoding_count ? r->context - seen_of(r, request) : 0;
    rc_kv_decode_ends(&r->pool, cached, now);
    uint64_t written = smaller(cached, (uint64_t)request->input_tokens + request->output_tokens - 1);
    release(r, request, cached, written);
    uint64_t produced = request->produced + (now - request->begin_tokens);
    request->produced = (uint32_t)smaller(produced, request->output_tokens - 1);
    r->metrics->output_tokens -= (double)(produced - request->produced);
    request->begin_step = r->step;
    request->begin_tokens = now;
    return index;
}

static void leave_joined(rc_replica *r, uint32_t index) {
    for (size_t i = 0; i < r->joined_count; i++)
        if (r->joined[i] == index)
            r->joined[i--] = r->joined[--r->joined_count];
}

/* Takes a request out of the ones whose prompt is under way. */
static uint32_t end_prefilling(rc_replica *r, size_t at) {
    uint32_t index = r->prefilling[at];
    release(r, request_of(r, index), rc_request_prompt(request_of(r, index)), request_of(r, index)->prefilled);
    r->prefilling_count--;
    memmove(r->prefilling + at, r->prefilling + at + 1, (r->prefilling_count - at) * sizeof *r->prefilling);
    return index;
}

/* The cache is full: the request admitted last gives up its place and will compute its prompt again. */
static void preempt_last(rc_replica *r) {
    uint64_t latest = 0;
    size_t last = 0;
    for (size_t i = 0; i < r->decoding_count; i++)
        if (request_of(r, r->decoding[i].request)->admission >= latest) {
            latest = request_of(r, r->decoding[i].request)->admission;
            last = i;
        }
    /* Prompts are admitted in order, so the last of them is the latest. */
    bool prompt = r->prefilling_count && request_of(r, r->prefilling[r->prefilling_count - 1])->admission > latest;
    uint32_t index = prompt ? end_prefilling(r, r->prefilling_count - 1) : end_decoding(r, last);
    rc_request *request = request_of(r, index);
    bool decoded = !prompt;
    for (size_t i = 0; i < r->joined_count && decoded; i++)
        decoded = r->joined[i] != index;
    if (decoded)
        request->last_token = r->last_decode;
    leave_joined(r, index);
    request->preemptions++;
    r->metrics->preemptions++;
    enqueue_in_front(r, index);
}

/* ---------- decode stretch */

/* Sums of contexts cut off at the plan's reaches, how they grow, and in how many steps the next context reaches one. */
static uint64_t fill_contexts(const rc_replica *r, double context[], double growth[]) {
    uint64_t kink = UINT64_MAX;
    context[0] = r->context;
    growth[0] = (double)r->decoding_count * r->step_tokens;
    for (int reach = 1; reach < r->plan->reaches_count; reach++) {
        uint64_t limit = (uint64_t)r->plan->reaches[reach];
        context[reach] = growth[reach] = 0;
        for (size_t i = 0; i < r->decoding_count; i++) {
            double seen = seen_of(r, request_of(r, r->decoding[i].request)), left = (double)limit - seen;
            context[reach] += fmin(seen, (double)limit);
            growth[reach] += left > 0 ? r->step_tokens : 0;
            if (left > 0)
                kink = smaller(kink, (uint64_t)fmax(floor(left / r->step_tokens), 1));
        }
    }
    return kink;
}

static const rc_fixed_cost *fixed_cost(rc_replica *r) {
    size_t batch = r->decoding_count, place = batch < r->fixed_count ? batch : 0; /* 0: not remembered */
    rc_fixed_cost *fixed = &r->fixed[place];
    if (!fixed->known || place == 0) {
        rc_load load = {.tokens = (double)batch, .logits = (double)batch, .decode_sequences = (double)batch};
        rc_step_fixed(r->plan, &load, &r->cost);
        fixed->seconds = rc_step_seconds(&r->cost, fixed->where_s);
        fixed->outer_wire_s = rc_step_outer_wire_s(&r->cost);
        fixed->known = true;
    }
    return fixed;
}

/* When `seconds` of work that began with the stretch are over. */
static rc_time set_end(rc_replica *r, double seconds) {
    double left = RC_HORIZON_S - rc_seconds_of(r->began);
    r->beyond_clock = !(seconds <= left);
    if (r->in_stages)
        return r->ends = RC_NEVER;
    double exact = fmin(seconds, fmax(left, 0)) * RC_PS_PER_S + r->carry_ps, whole = floor(exact);
    r->next_carry_ps = exact - whole;
    return r->ends = r->began + (rc_time)whole;
}

static void add_pass(rc_replica *r, double work_s, double rank_tokens, double outer_wire_s) {
    r->train = rc_grow(r->train, r->train_count, &r->train_capacity, sizeof *r->train);
    r->train[r->train_count++] = (rc_pass){work_s, rank_tokens, outer_wire_s};
}

/* Steps, at most `wanted`, for which the blocks that can be had last. */
static uint64_t steps_with_room(const rc_replica *r, uint64_t wanted) {
    uint64_t now = tokens_of(r, r->step), tokens = tokens_of(r, r->step + wanted) - now;
    uint64_t lasts = rc_kv_steps(&r->pool, now, tokens);
    return lasts >= tokens ? wanted : smaller(steps_within(r, lasts), wanted);
}

/* A run of decode steps in which nothing can change. */
static void begin_stretch(rc_replica *r, rc_time horizon) {
    rc_stretch *s = &r->stretch;
    const rc_fixed_cost *fixed = fixed_cost(r);
    *s = (rc_stretch){.plan = r->plan, .sequences = (double)r->decoding_count, .fixed_s = fixed->seconds};
    memcpy(s->fixed, fixed->where_s, sizeof s->fixed);
    uint64_t kink = fill_contexts(r, s->context, s->growth);
    uint64_t steps = smaller(r->decoding[0].finish_step - r->step, kink);
    if (r->waiting_count > 0 && r->intake.opens > r->step)
        steps = smaller(steps, r->intake.opens - r->step);
    steps = r->in_stages ? 1 : steps_with_room(r, r->stepwise ? 1 : steps);
    assert(steps > 0);
    r->stretch_steps = (double)steps;
    if (horizon != RC_NEVER) { /* up to the last step that ends in time; then the one that does not */
        double left = rc_seconds_of(horizon - r->began);
        r->stretch_steps = rc_stretch_find(s, r->stretch_steps, left);
        if (r->stretch_steps > 1 && rc_stretch_sum_s(s, r->stretch_steps, NULL) > left)
            r->stretch_steps--;
    }
    double seconds = rc_stretch_sum_s(s, r->stretch_steps, NULL);
    if (r->in_stages)
        add_pass(r, seconds, ceil(s->sequences / r->plan->dp), fixed->outer_wire_s);
    set_end(r, seconds);
}

/* Ends the stretch with the step that `now` falls in, at the earliest after `until` steps; true where that is sooner. */
static bool cut_stretch(rc_replica *r, rc_time now, double until) {
    double before = r->stretch_steps;
    double steps = fmin(fmax(rc_stretch_find(&r->stretch, before, rc_seconds_of(now - r->began)), until), before);
    while (set_end(r, rc_stretch_sum_s(&r->stretch, steps, NULL)) < now && steps < before)
        steps++; /* the sum was rounded to a picosecond before the arrival */
    r->stretch_steps = steps;
    return steps < before;
}

bool rc_replica_shorten(rc_replica *r, rc_time now) {
    if (!is_decoding(r) || r->stretch_steps <= 1 || !admissible(r))
        return false;
    return cut_stretch(r, now, r->intake.opens > r->step ? (double)(r->intake.opens - r->step) : 1);
}

/* ---------- caches from another replica */

bool rc_replica_pause(rc_replica *r, rc_time now) {
    return is_decoding(r) && !r->in_stages && r->stretch_steps > 1 && cut_stretch(r, now, 1);
}

bool rc_replica_reserve(rc_replica *r, uint32_t index) {
    if (r->busy && !r->in_stages) /* blocks of the steps under way are not taken yet */
        return false;
    uint64_t tokens =
        request_of(r, index)->input_tokens - 1; /* its first step writes the last one of the prompt anew */
    double running = (double)(r->prefilling_count + r->decoding_count + r->reserved);
    if (running >= r->max_running ||
        rc_kv_blocks(&r->pool, tokens) + r->decoding_count > rc_kv_available(r->pool.memory))
        return false;
    rc_kv_take(&r->pool, tokens);
    r->reserved++;
    return true;
}

bool rc_replica_arrive(rc_replica *r, uint32_t index, rc_time now) {
    r->arrived = rc_grow(r->arrived, r->arrived_count, &r->arrived_capacity, sizeof *r->arrived);
    r->arrived[r->arrived_count++] = index;
    request_of(r, index)->arrived = now;
    return rc_replica_pause(r, now);
}

static void join_arrived(rc_replica *r) {
    for (size_t i = 0; i < r->arrived_count; i++) {
        request_of(r, r->arrived[i])->admission = r->admissions++;
        begin_decoding(r, r->arrived[i]);
    }
    r->reserved -= r->arrived_count;
    r->expected -= r->arrived_count;
    r->arrived_count = 0;
}

/* The prompt is computed for another replica: its caches stay until they have gone. */
static void hand_over(rc_replica *r, uint32_t index) {
    r->handed = rc_grow(r->handed, r->handed_count, &r->handed_capacity, sizeof *r->handed);
    r->handed[r->handed_count++] = index;
    r->holding++;
}

void rc_replica_let_go(rc_replica *r, uint32_t index) {
    uint64_t prompt = rc_request_prompt(request_of(r, index));
    release(r, request_of(r, index), prompt, prompt);
    r->holding--;
}

/* Between the beginning and the end of a single step: its work, and in a pipeline what it waited for stages. */
static double passing_s(const rc_replica *r, double work_s) {
    return r->in_stages ? rc_seconds_of(r->ends - r->began) : work_s;
}

/* Inter-token times of a stretch: the first step ends the pause since each request's last token, the others follow on. */
static void count_gaps(rc_replica *r, double first_step_s, double last_step_s) {
    rc_histogram *itl = &r->metrics->itl;
    rc_time first_end = r->began + rc_time_of(first_step_s);
    double sequences = r->stretch.sequences, old = sequences - (double)r->joined_count;
    for (size_t i = 0; i < r->joined_count; i++) {
        rc_request *request = request_of(r, r->joined[i]);
        if (request->first_token == RC_NEVER) /* its prompt was computed elsewhere */
            request->first_token = first_end;
        else
            rc_histogram_add(itl, rc_seconds_of(first_end - request->last_token), 1);
    }
    if (old > 0)
        rc_histogram_add(itl, rc_seconds_of(first_end - r->last_decode), old);
    if (r->stretch_steps > 1)
        rc_histogram_add_ramp(itl, rc_stretch_step_s(&r->stretch, 1), last_step_s, (r->stretch_steps - 1) * sequences);
    r->joined_count = 0;
    r->last_decode = r->ends;
}

static void finish(rc_replica *r, uint32_t index) {
    rc_request *request = request_of(r, index);
    request->finish = r->ends;
    r->metrics->completed++;
    r->finished = rc_grow(r->finished, r->finished_count, &r->finished_capacity, sizeof *r->finished);
    r->finished[r->finished_count++] = index;
}

/* For what the decoding requests write in so many steps. */
static void take_blocks(rc_replica *r, uint64_t steps) {
    uint64_t now = tokens_of(r, r->step);
    rc_kv_advance(&r->pool, now, tokens_of(r, r->step + steps) - now);
}

/* Moves the decoding requests `steps` on; those with their last token leave. */
static void advance_decoding(rc_replica *r, uint64_t steps) {
    double sequences = (double)r->decoding_count,
           tokens = (double)(tokens_of(r, r->step + steps) - tokens_of(r, r->step));
    if (!r->in_stages) /* there they were taken when the step began */
        take_blocks(r, steps);
    r->available_before = rc_kv_available(r->pool.memory);
    r->step += steps;
    r->context += sequences * (double)steps * r->step_tokens;
    r->metrics->output_tokens += sequences * tokens;
    r->metrics->decode_steps += (double)steps;
    r->metrics->decode_sequences += sequences * (double)steps;
    while (r->decoding_count && r->decoding[0].finish_step <= r->step) {
        uint32_t index = end_decoding(r, 0);
        rc_request *request = request_of(r, index);
        r->metrics->output_tokens += request->output_tokens - request->produced;
        request->produced = request->output_tokens;
        finish(r, index);
    }
}

static void end_stretch(rc_replica *r) {
    double by_where[RC_WHERE_COUNT], steps = r->stretch_steps;
    r->metrics->busy_s += rc_stretch_sum_s(&r->stretch, steps, by_where);
    for (int where = 0; where < RC_WHERE_COUNT; where++)
        r->metrics->where_s[where] += by_where[where];
    r->metrics->steps += steps;
    count_gaps(r, passing_s(r, rc_stretch_step_s(&r->stretch, 0)), rc_stretch_step_s(&r->stretch, steps - 1));
    advance_decoding(r, (uint64_t)steps);
}

/* ---------- step with prompts */

static rc_load load_of(const rc_replica *r) {
    rc_load load = {0};
    double growth[RC_REACHES_MAX];
    if (r->decodes) {
        load.decode_sequences = (double)r->decoding_count;
        fill_contexts(r, load.decode_context, growth);
    }
    for (size_t i = 0; i < r->prefilling_count; i++) {
        const rc_request *request = request_of(r, r->prefilling[i]);
        if (!request->chunk)
            continue;
        load.prefill_tokens += request->chunk;
        load.prefill_sequences++;
        load.prefill_past += request->prefilled;
        load.prefill_longest = fmax(load.prefill_longest, (double)request->prefilled + request->chunk);
        load.logits += request->prefilled + request->chunk == rc_request_prompt(request);
        for (int reach = 0; reach < r->plan->reaches_count; reach++)
            load.prefill_pairs[reach] += rc_chunk_pairs(request->prefilled, request->chunk, r->plan->reaches[reach]);
    }
    load.logits += load.decode_sequences;
    load.tokens = load.prefill_tokens + load.decode_sequences;
    return load;
}

/* The only prompt of a step without decodes, cut by the step's tokens; NULL where it is something else. */
static rc_request *cut_prompt(const rc_replica *r) {
    rc_request *cut = NULL;
    for (size_t i = 0; i < r->prefilling_count; i++) {
        rc_request *request = request_of(r, r->prefilling[i]);
        if (request->chunk == 0)
            continue;
        if (cut || r->decodes)
            return NULL;
        cut = request;
    }
    return cut && cut->prefilled + cut->chunk < rc_request_prompt(cut) ? cut : NULL;
}

/* Prices the chunks that follow the first one, through the stages one after another; the request gets them all at once. */
static void add_chunks(rc_replica *r, rc_request *request) {
    uint32_t before = request->prefilled, first = request->chunk, prompt = rc_request_prompt(request);
    double by_where[RC_WHERE_COUNT];
    rc_step_cost all = r->cost;
    for (request->prefilled += first; request->prefilled < prompt; request->prefilled += request->chunk) {
        request->chunk = (uint32_t)fmin(prompt - request->prefilled, first);
        rc_load load = load_of(r);
        rc_step_price(r->plan, &load, &r->cost);
        rc_step_cost_add(&all, &r->cost);
        add_pass(r, rc_step_seconds(&r->cost, by_where), rc_step_rank_tokens(r->plan, &load),
                 rc_step_outer_wire_s(&r->cost));
    }
    r->cost = all;
    request->prefilled = before;
    request->chunk = prompt - before;
}

/* Prefixes come layer by layer while layers are computed: what they need beyond the step's work is waited for. */
static void wait_for_prefixes(rc_replica *r) {
    double by_where[RC_WHERE_COUNT], late = r->loading_s - rc_step_seconds(&r->cost, by_where);
    if (late > 0)
        r->cost.lines[RC_FAMILY_HOST_COPIES].seconds[RC_LINK_HOST] += late;
}

static void begin_step(rc_replica *r) {
    double by_where[RC_WHERE_COUNT];
    rc_load load = load_of(r);
    rc_request *cut = r->in_stages ? cut_prompt(r) : NULL;
    rc_step_price(r->plan, &load, &r->cost);
    wait_for_prefixes(r);
    r->stretch_steps = 1;
    r->stretch.sequences = load.decode_sequences;
    if (r->in_stages)
        add_pass(r, rc_step_seconds(&r->cost, by_where), rc_step_rank_tokens(r->plan, &load),
                 rc_step_outer_wire_s(&r->cost));
    if (cut)
        add_chunks(r, cut);
    set_end(r, rc_step_seconds(&r->cost, by_where));
}

/* A prompt is computed: its next token is there. */
static void end_prefill(rc_replica *r, uint32_t index) {
    rc_request *request = request_of(r, index);
    uint64_t prompt = rc_request_prompt(request);
    share_prompt(r, request, prompt);
    if (r->role == RC_POOL_PREFILL) {
        hand_over(r, index);
        return;
    }
    if (request->produced > 0) /* computed again after a preemption */
        rc_histogram_add(&r->metrics->itl, rc_seconds_of(r->ends - request->last_token), 1);
    request->produced++;
    request->last_token = r->ends;
    r->metrics->output_tokens++;
    if (request->first_token == RC_NEVER)
        request->first_token = r->ends;
    if (request->produced == request->output_tokens) {
        release(r, request, prompt, prompt);
        finish(r, index);
    } else
        begin_decoding(r, index);
}

static void end_chunks(rc_replica *r) {
    size_t left = 0;
    for (size_t i = 0; i < r->prefilling_count; i++) {
        uint32_t index = r->prefilling[i];
        rc_request *request = request_of(r, index);
        request->prefilled += request->chunk;
        uint32_t reached = request->prefilled < request->input_tokens ? request->prefilled : request->input_tokens;
        if (reached > request->counted) { /* what a preemption made it compute again is no new input */
            r->metrics->input_tokens += reached - request->counted;
            request->counted = reached;
        }
        request->chunk = 0;
        if (request->prefilled == rc_request_prompt(request))
            end_prefill(r, index);
        else
            r->prefilling[left++] = index;
    }
    r->prefilling_count = left;
}

static void end_step(rc_replica *r) {
    double by_where[RC_WHERE_COUNT];
    double seconds = rc_step_seconds(&r->cost, by_where);
    r->metrics->busy_s += seconds;
    r->metrics->steps++;
    for (int where = 0; where < RC_WHERE_COUNT; where++)
        r->metrics->where_s[where] += by_where[where];
    if (r->decodes) {
        count_gaps(r, passing_s(r, seconds), seconds);
        advance_decoding(r, 1);
    }
    end_chunks(r);
}

/* ---------- stretches */

bool rc_replica_begin(rc_replica *r, rc_time now, rc_time horizon) {
    r->carry_ps = r->ends == now ? r->next_carry_ps : 0;
    r->began = now;
    r->chunks_tokens = r->loading_s = 0;
    r->train_count = 0;
    join_arrived(r);
    /* Running requests come before new ones: a step in which they could not all write a token preempts first. */
    while (r->decoding_count + r->prefilling_count > 1 && steps_with_room(r, 1) == 0)
        preempt_last(r);
    if (steps_with_room(r, 1) == 0) { /* other micro-batches hold the rest: wait for them, or else give way */
        if (r->pool.memory->stepping > 0)
            return r->busy = false;
        preempt_last(r);
    }
    r->decodes = r->policy->plan(r);
    r->busy = r->decodes || r->chunks_tokens > 0;
    r->pool.memory->stepping += r->busy;
    if (r->in_stages && r->decodes)
        take_blocks(r, 1);
    if (r->busy && r->chunks_tokens > 0)
        begin_step(r);
    else if (r->busy)
        begin_stretch(r, horizon);
    return r->busy;
}

void rc_replica_left_stages(rc_replica *r, rc_time now, const double link_s[2]) {
    r->ends = now;
    r->metrics->busy_s += link_s[0] + link_s[1];
    r->metrics->where_s[RC_LINK_0] += link_s[0];
    r->metrics->where_s[RC_LINK_1] += link_s[1];
}

void rc_replica_end(rc_replica *r) {
    r->finished_count = r->handed_count = 0;
    if (r->chunks_tokens > 0)
        end_step(r);
    else
        end_stretch(r);
    if (r->chunks_tokens > 0 || r->decoding_count == 0)
        rc_intake_look(&r->intake, r->step);
    r->busy = false;
    r->pool.memory->stepping--;
}
