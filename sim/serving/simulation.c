/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulation.h"
#include "arrivals.h"
#include "event_queue.h"
#include "handover.h"
#include "host_weights.h"
#include "memory.h"
#include "pipeline.h"
#include "replica.h"
#include "router.h"
#include "text.h"
#include <assert.h>
#include <math.h>
#include <stdlib.h>

typedef enum event_kind {
    EVENT_ARRIVAL,
    EVENT_READY,
    EVENT_STRETCH_END,
    EVENT_STAGE_DONE,
    EVENT_FLOWS_DONE,
    EVENT_HANDED_OFF,
    EVENT_TRANSFERS_DONE,
    EVENT_CACHES_ARRIVED,
    EVENT_RUN_END
} event_kind;
enum { PRIORITY_ARRIVAL, PRIORITY_READY, PRIORITY_STRETCH_END, PRIORITY_RUN_END };

/* Replicas of one kind of hardware. */
typedef struct pool {
    const rc_scenario *scenario;
    rc_step_plan *plan;
    rc_pipelines *pipelines; /* NULL: one stage */
    size_t first, count;     /* replicas */
} pool;

typedef struct simulation {
    const rc_scenario *scenario;
    pool *pools;
    size_t pools_count;
    rc_problems *problems;
    rc_arena *arena;
    rc_event_queue *events;
    rc_arrivals arrivals;
    rc_request *requests;
    size_t requests_count, requests_capacity;
    rc_replica *replicas;
    rc_fleet readers,
        writers;           /* the same, as a router sees them: where prompts are computed, where answers are written */
    rc_handover *handover; /* NULL: at the same place */
    const rc_router *router;
    rc_event_handle *stretch_ends; /* of each replica */
    uint32_t *copies;              /* that each replica belongs to */
    size_t replicas_count;
    rc_metrics *metrics;
    rc_time horizon; /* RC_NEVER: until the last answer */
    bool closed, failed;
} simulation;

/* ---------- requests */

static uint32_t add_request(simulation *sim, const rc_asked *asked, rc_time arrival) {
    sim->requests = rc_grow(sim->requests, sim->requests_count, &sim->requests_capacity, sizeof *sim->requests);
    sim->requests[sim->requests_count] = (rc_request){.number = (uint32_t)sim->requests_count,
                                                      .input_tokens = asked->turn.input_tokens,
                                                      .output_tokens = asked->turn.output_tokens,
                                                      .arrival = arrival,
                                                      .node = RC_INDEX_NONE,
                                                      .writer = UINT32_MAX,
                                                      .prompt_done = RC_NEVER,
                                                      .arrived = RC_NEVER,
                                                      .session = asked->session,
                                                      .admitted = RC_NEVER,
                                                      .first_token = RC_NEVER,
                                                      .last_token = RC_NEVER,
                                                      .finish = RC_NEVER};
    return (uint32_t)sim->requests_count++;
}

/* Adds a request that comes `seconds` after `from` and schedules it; ends the run where the clock does not reach so far. */
static void schedule_arrival(simulation *sim, const rc_asked *asked, rc_time from, double seconds) {
    double at = rc_seconds_of(from) + seconds;
    if (at > RC_HORIZON_S) {
        char found[48];
        snprintf(found, sizeof found, "an arrival after %.0f days", at / 86400);
        rc_problem_add(sim->problems, RC_BAD_VALUE, "", "workload", 0, found, "a load of at most 200 days",
                       "the run is longer than the clock");
        sim->failed = true;
        return;
    }
    uint32_t request = add_request(sim, asked, from + rc_time_of(seconds));
    rc_event_queue_schedule(sim->events, sim->requests[request].arrival, PRIORITY_ARRIVAL,
                            (rc_event){EVENT_ARRIVAL, request});
}

/* Open loads: the next arrival is scheduled when the one before comes, so that few events pend. */
static void schedule_next(simulation *sim) {
    rc_asked asked;
    if (rc_arrivals_next(&sim->arrivals, &asked))
        schedule_arrival(sim, &asked, 0, asked.time_s);
}

/* A client of a closed load thinks and asks again. */
static void ask_again(simulation *sim, double pause_s) {
    rc_asked asked;
    if (rc_arrivals_next(&sim->arrivals, &asked))
        schedule_arrival(sim, &asked, rc_event_queue_now(sim->events), pause_s);
}

/* A request was answered: its session asks the next one, or its client begins another. */
static void go_on(simulation *sim, uint32_t index) {
    rc_asked asked;
    rc_session *session = sim->requests[index].session;
    sim->requests[index].session = NULL;
    if (rc_arrivals_go_on(&sim->arrivals, session, &asked))
        schedule_arrival(sim, &asked, rc_event_queue_now(sim->events), asked.time_s);
    else if (sim->closed)
        ask_again(sim, rc_arrivals_think_s(&sim->arrivals));
}

static void start_load(simulation *sim) {
    if (!sim->closed) {
        schedule_next(sim);
        return;
    }
    for (double client = 0; client < sim->scenario->workload.arrival.clients; client++) {
        rc_asked asked;
        if (rc_arrivals_next(&sim->arrivals, &asked))
            schedule_arrival(sim, &asked, 0, 0);
    }
}

/* ---------- replicas */

static void refuse_work_beyond_clock(simulation *sim) {
    rc_problem_add(sim->problems, RC_BAD_VALUE, "", "workload", 0, "work that ends after more than 200 days",
                   "a load of at most 200 days", "the run is longer than the clock");
    sim->failed = true;
}

static void schedule_end(simulation *sim, rc_replica *replica) {
    if (replica->beyond_clock) {
        refuse_work_beyond_clock(sim);
        return;
    }
    if (replica->in_stages) {
        rc_pipelines_enter(sim->pools[replica->hardware_pool].pipelines, replica->index, replica->train,
                           replica->train_count);
        return;
    }
    sim->stretch_ends[replica->index] = rc_event_queue_schedule(sim->events, replica->ends, PRIORITY_STRETCH_END,
                                                                (rc_event){EVENT_STRETCH_END, replica->index});
}

static void begin(simulation *sim, rc_replica *replica) {
    rc_time now = rc_event_queue_now(sim->events);
    if (!rc_replica_begin(replica, now, sim->horizon))
        return;
    if (sim->handover)
        rc_handover_step_begins(sim->handover, replica, now);
    schedule_end(sim, replica);
}

/* Requests whose prompts are computed and whose answers have not begun: of those with room set aside, the ones that are not at
 * their first replica any more. */
static double between_replicas(const simulation *sim) {
    double between = 0;
    for (size_t i = 0; i < sim->replicas_count && sim->handover; i++) {
        const rc_replica *r = &sim->replicas[i];
        between += r->role == RC_POOL_PREFILL ? -(double)(r->waiting_count + r->prefilling_count) : (double)r->reserved;
    }
    return between;
}

static void record(simulation *sim) {
    double waiting = 0, running = 0, used = 0, before = 0, total = 0;
    for (size_t i = 0; i < sim->replicas_count; i++) {
        const rc_replica *r = &sim->replicas[i];
        waiting += (double)(r->arriving + r->waiting_count);
        running += (double)(r->prefilling_count + r->decoding_count);
        used += (double)(r->pool.memory->total - rc_kv_available(r->pool.memory));
        before += (double)(r->pool.memory->total - r->available_before);
        total += (double)r->pool.memory->total;
    }
    waiting += rc_handover_waiting(sim->handover);
    running += between_replicas(sim);
    rc_recorder_advance(&sim->metrics->recorder, rc_seconds_of(rc_event_queue_now(sim->events)), before / total,
                        waiting, running, used / total);
    for (size_t i = 0; i < sim->replicas_count; i++)
        sim->replicas[i].available_before = rc_kv_available(sim->replicas[i].pool.memory);
}

/* ---------- events */

/* The request can never be held.  A client of a closed load asks its next one a second later, as people's programs back
 * off; at once it would ask for ever at the same moment. */
static void lose(simulation *sim, uint32_t index) {
    const double back_off_s = 1;
    sim->requests[index].replica = UINT32_MAX;
    if (sim->metrics->lost++ == 0) {
        const rc_request *r = &sim->requests[index];
        char tokens[32];
        rc_note_add(sim->problems, "request %u of %s tokens can never be held and is counted as lost", index,
                    rc_count_text(tokens, sizeof tokens, (double)r->input_tokens + r->output_tokens));
    }
    rc_arrivals_give_up(&sim->arrivals, sim->requests[index].session);
    sim->requests[index].session = NULL;
    if (sim->closed)
        ask_again(sim, back_off_s + rc_arrivals_think_s(&sim->arrivals));
}

/* The end of a stretch comes sooner. */
static void move_end(simulation *sim, rc_replica *replica) {
    rc_event_queue_cancel(sim->events, sim->stretch_ends[replica->index]);
    schedule_end(sim, replica);
}

/* Where it is computed.  An idle replica begins when all arrivals of this moment are there. */
static void queue_prompt(simulation *sim, uint32_t index) {
    rc_replica *replica = &sim->replicas[sim->requests[index].replica];
    rc_replica_enqueue(replica, index, rc_event_queue_now(sim->events));
    if (replica->busy && rc_replica_shorten(replica, rc_event_queue_now(sim->events)))
        move_end(sim, replica);
}

/* The request has passed the front end of its replica. */
static void on_ready(simulation *sim, uint32_t index) {
    rc_request *request = &sim->requests[index];
    sim->replicas[request->replica].arriving--;
    if (request->writer == UINT32_MAX) {
        queue_prompt(sim, index);
        return;
    }
    rc_replica *writer = &sim->replicas[request->writer];
    if (rc_handover_expect(sim->handover, index) && rc_replica_pause(writer, rc_event_queue_now(sim->events)))
        move_end(sim, writer);
}

/* Requests that got room where their answers will be written. */
static void queue_expected(simulation *sim) {
    uint32_t index;
    while (sim->handover && rc_handover_next(sim->handover, &index))
        queue_prompt(sim, index);
}

static void on_caches_arrived(simulation *sim, uint32_t index) {
    rc_replica *writer = &sim->replicas[sim->requests[index].writer];
    if (rc_replica_arrive(writer, index, rc_event_queue_now(sim->events)))
        move_end(sim, writer);
}

static void on_arrival(simulation *sim, uint32_t index) {
    if (!sim->closed)
        schedule_next(sim);
    rc_replica *replica = sim->router->choose(&sim->readers, &sim->requests[index]),
               *writer = sim->handover ? sim->router->choose(&sim->writers, &sim->requests[index]) : replica;
    if (!replica || !writer) {
        lose(sim, index);
        return;
    }
    sim->requests[index].replica = replica->index;
    if (sim->requests[index].session)
        sim->requests[index].session->replica = replica->index;
    if (sim->handover)
        sim->requests[index].writer = writer->index;
    rc_time now = rc_event_queue_now(sim->events),
            ready = rc_frontend_pass(replica->frontend, &sim->requests[index], now);
    replica->arriving++;
    if (ready > now)
        rc_event_queue_schedule(sim->events, ready, PRIORITY_READY, (rc_event){EVENT_READY, index});
    else
        on_ready(sim, index);
}

static void on_stretch_end(simulation *sim, rc_replica *replica) {
    rc_replica_end(replica);
    for (size_t i = 0; i < replica->handed_count; i++)
        rc_handover_prompt_done(sim->handover, replica->handed[i], rc_event_queue_now(sim->events));
    for (size_t i = 0; i < replica->finished_count; i++)
        go_on(sim, replica->finished[i]);
}

/* Stages are numbered as replicas are. */
static rc_pipelines *pipelines_of(const simulation *sim, uint32_t stage) {
    return sim->pools[sim->replicas[stage].hardware_pool].pipelines;
}

static void on_stage_done(simulation *sim, uint32_t stage) {
    uint32_t micro_batch;
    double link_s[2];
    if (!rc_pipelines_stage_done(pipelines_of(sim, stage), stage, &micro_batch, link_s))
        return;
    rc_replica *replica = &sim->replicas[micro_batch];
    rc_replica_left_stages(replica, rc_event_queue_now(sim->events), link_s);
    on_stretch_end(sim, replica);
}

static void handle(simulation *sim, rc_event event) {
    switch ((event_kind)event.kind) {
    case EVENT_ARRIVAL: on_arrival(sim, event.subject); break;
    case EVENT_READY: on_ready(sim, event.subject); break;
    case EVENT_STRETCH_END: on_stretch_end(sim, &sim->replicas[event.subject]); break;
    case EVENT_STAGE_DONE: on_stage_done(sim, event.subject); break;
    case EVENT_FLOWS_DONE: rc_pipelines_flows_done(sim->pools[event.subject].pipelines); break;
    case EVENT_HANDED_OFF: rc_pipelines_handed_off(pipelines_of(sim, event.subject), event.subject); break;
    case EVENT_TRANSFERS_DONE: rc_handover_flows_done(sim->handover, rc_event_queue_now(sim->events)); break;
    case EVENT_CACHES_ARRIVED: on_caches_arrived(sim, event.subject); break;
    case EVENT_RUN_END: break;
    }
    queue_expected(sim);
    for (size_t i = 0; i < sim->pools_count; i++)
        if (sim->pools[i].pipelines && rc_pipelines_beyond_clock(sim->pools[i].pipelines))
            refuse_work_beyond_clock(sim);
}

/* Idle replicas begin once no more arrivals are due at this very time. */
static void begin_idle(simulation *sim) {
    rc_time next;
    rc_time now = rc_event_queue_now(sim->events);
    if (rc_event_queue_peek(sim->events, &next) && next == now)
        return;
    for (size_t i = 0; i < sim->replicas_count; i++)
        if (!sim->replicas[i].busy && rc_replica_load(&sim->replicas[i]) > (double)sim->replicas[i].arriving)
            begin(sim, &sim->replicas[i]);
}

/* Nothing but the run's end is still to come: the last answer was given before. */
static bool is_over(const simulation *sim) {
    return sim->horizon != RC_NEVER && rc_event_queue_pending(sim->events) == 1 &&
           rc_event_queue_handled(sim->events) > 0;
}

static void play(simulation *sim) {
    rc_event event;
    start_load(sim);
    while (!sim->failed && !is_over(sim) && rc_event_queue_pop(sim->events, &event)) {
        if (event.kind == EVENT_RUN_END)
            break;
        handle(sim, event);
        begin_idle(sim);
        record(sim);
    }
    record(sim);
}

/* ---------- whole */

/* One for each copy of the model. */
static rc_frontend *make_frontends(simulation *sim, const rc_scenario *s) {
    const rc_stack_frontend *of = &s->hardware.stack.frontend;
    size_t copies = (size_t)s->parallel.replicas;
    rc_frontend *frontends = rc_arena_take(sim->arena, copies * sizeof *frontends);
    for (size_t i = 0; i < copies; i++)
        frontends[i] = (rc_frontend){.request_s = of->request_s, .token_s = of->token_s};
    return frontends;
}

/* Plans every pool and counts its replicas; false and problems where a stack lacks a kernel. */
static bool plan_pools(simulation *sim) {
    bool good = true;
    sim->pools_count = rc_pools_count(sim->scenario);
    sim->pools = rc_arena_take(sim->arena, sim->pools_count * sizeof *sim->pools);
    for (size_t i = 0; i < sim->pools_count; i++) {
        const rc_scenario *s = rc_pool(sim->scenario, i);
        pool *p = &sim->pools[i];
        *p = (pool){.scenario = s,
                    .plan = rc_step_plan_new(s, sim->arena, sim->problems),
                    .first = sim->replicas_count,
                    .count = (size_t)(s->parallel.replicas * s->parallel.pp)};
        sim->replicas_count += p->count;
        if (p->plan && s->parallel.pp > 1)
            p->plan->hand_offs = 0; /* they are events */
        good = p->plan && rc_policy_find(s->engine.policy) && good;
    }
    return good;
}

static bool keeps_prefixes(const rc_scenario *s) {
    bool any = false;
    for (size_t i = 0; i < rc_pools_count(s); i++)
        any = any || rc_pool(s, i)->engine.prefix_cache;
    return any;
}

/* One for each copy of the model; NULL where nothing is kept. */
static rc_prefix_cache *make_caches(simulation *sim, const rc_scenario *s, rc_kv_memory *memories, rc_block block,
                                    double state_bytes) {
    if (!s->engine.prefix_cache || s->role == RC_POOL_DECODE) /* prefixes are of use where prompts are computed */
        return NULL;
    size_t copies = (size_t)s->parallel.replicas;
    rc_prefix_cache *caches = rc_arena_take(sim->arena, copies * sizeof *caches);
    for (size_t i = 0; i < copies; i++) {
        rc_prefix_cache *c = &caches[i];
        rc_prefix_cache_init(c, &memories[i], (uint32_t)block.tokens, (uint64_t)ceil(state_bytes / block.bytes));
        c->state_interval = (uint64_t)s->engine.state_interval;
        c->capacity[RC_TIER_HOST] = (uint64_t)(s->engine.host_cache_bytes * s->parallel.dp / block.bytes);
        c->capacity[RC_TIER_REMOTE] = (uint64_t)(s->engine.remote_cache_bytes * s->parallel.dp / block.bytes);
        c->block_s[RC_TIER_HOST] = block.bytes * rc_host_link_s_per_byte(s);
        if (s->engine.remote_cache_bytes > 0)
            c->block_s[RC_TIER_REMOTE] = block.bytes / s->engine.remote_bytes_per_s;
    }
    return caches;
}

static void make_replicas_of(simulation *sim, uint32_t index, uint32_t first_copy, bool stepwise) {
    pool *p = &sim->pools[index];
    const rc_scenario *s = p->scenario;
    rc_memory memory = rc_memory_of(s, &s->parallel);
    size_t stages = (size_t)s->parallel.pp, copies = (size_t)s->parallel.replicas;
    rc_block block = rc_block_of(s->engine.kv_block_tokens, memory.kv_bytes_per_token,
                                 rc_state_slots(s) * memory.state_bytes_per_request);
    rc_kv_memory *memories = rc_arena_take(sim->arena, copies * sizeof *memories);
    for (size_t i = 0; i < copies; i++)
        memories[i].free = memories[i].total = (uint64_t)floor(memory.room_bytes * s->parallel.dp / block.bytes);
    rc_prefix_cache *caches = make_caches(sim, s, memories, block, memory.state_bytes_per_request);
    rc_frontend *frontends = make_frontends(sim, s);
    p->pipelines =
        rc_pipelines_new(s, &(rc_pipeline_events){sim->events, EVENT_STAGE_DONE, EVENT_FLOWS_DONE, EVENT_HANDED_OFF,
                                                  PRIORITY_STRETCH_END, index, (uint32_t)p->first});
    for (size_t i = 0; i < p->count; i++) {
        rc_replica *replica = &sim->replicas[p->first + i];
        rc_replica_init(replica, (uint32_t)(p->first + i), s, p->plan, rc_policy_find(s->engine.policy),
                        &memories[i / stages], block, sim->metrics, &sim->requests, &frontends[i / stages], stepwise,
                        sim->arena);
        replica->hardware_pool = index;
        replica->cache = caches ? &caches[i / stages] : NULL;
        replica->copy = sim->copies[p->first + i] = first_copy + (uint32_t)(i / stages);
    }
}

/* All replicas but those of a role. */
static rc_fleet fleet_of(const simulation *sim, int without) {
    rc_fleet fleet = {.replicas = rc_arena_take(sim->arena, sim->replicas_count * sizeof *fleet.replicas)};
    for (size_t i = 0; i < sim->replicas_count; i++)
        if (sim->replicas[i].role != without)
            fleet.replicas[fleet.count++] = &sim->replicas[i];
    return fleet;
}

static void make_replicas(simulation *sim, bool stepwise) {
    uint32_t copy = 0;
    sim->replicas = rc_arena_take(sim->arena, sim->replicas_count * sizeof *sim->replicas);
    sim->stretch_ends = rc_arena_take(sim->arena, sim->replicas_count * sizeof *sim->stretch_ends);
    sim->copies = rc_arena_take(sim->arena, sim->replicas_count * sizeof *sim->copies);
    for (size_t i = 0; i < sim->pools_count; i++) {
        make_replicas_of(sim, (uint32_t)i, copy, stepwise);
        copy += (uint32_t)sim->pools[i].scenario->parallel.replicas;
    }
    sim->readers = fleet_of(sim, RC_POOL_DECODE);
    sim->writers = fleet_of(sim, RC_POOL_PREFILL);
    sim->handover = rc_handover_new(
        sim->scenario, &(rc_handover_events){sim->events, EVENT_TRANSFERS_DONE, EVENT_CACHES_ARRIVED, PRIORITY_READY},
        sim->replicas, sim->replicas_count, &sim->requests);
}

/* Requests are kept in order of arrival for the reports; a closed load adds them as clients ask, thinking mixes them. */
static int compare_arrivals(const void *a, const void *b) {
    const rc_request *first = a, *second = b;
    int order = (first->arrival > second->arrival) - (first->arrival < second->arrival);
    return order ? order : (first->number > second->number) - (first->number < second->number);
}

/* Requests whose arrival the run's end cut off were never asked. */
static size_t drop_unasked(simulation *sim, rc_time end) {
    bool in_order = !sim->closed && !sim->scenario->workload.has_sessions;
    if (!in_order && sim->requests_count)
        qsort(sim->requests, sim->requests_count, sizeof *sim->requests, compare_arrivals);
    size_t count = sim->requests_count;
    while (count > 0 && sim->requests[count - 1].arrival > end)
        count--;
    return count;
}

static bool is_empty(const rc_replica *r) {
    return r->arriving + r->waiting_count + r->prefilling_count + r->decoding_count + r->expected + r->holding == 0;
}

/* Blocks that were taken were given back: those of a copy once all its micro-batches are empty. */
static void check_conservation(const simulation *sim) {
    for (size_t i = 0, last; i < sim->replicas_count; i = last) {
        const rc_kv_memory *memory = sim->replicas[i].pool.memory;
        bool empty = true;
        for (last = i; last < sim->replicas_count && sim->replicas[last].pool.memory == memory; last++) {
            empty = empty && is_empty(&sim->replicas[last]);
            assert(!is_empty(&sim->replicas[last]) || sim->replicas[last].context == 0);
        }
        assert(!empty || rc_kv_available(memory) == memory->total);
        (void)empty;
    }
}

/* What each pool did of it. */
static void fill_pools(const simulation *sim, size_t count, rc_run_result *r) {
    r->pools_count = sim->scenario->pools_count;
    for (size_t i = 0; i < count && r->pools_count > 0; i++) {
        const rc_request *request = &sim->requests[i];
        if (request->replica == UINT32_MAX || request->finish == RC_NEVER)
            continue;
        rc_pool_result *p = &r->pools[sim->replicas[request->replica].hardware_pool];
        p->completed++;
        p->input_tokens += request->input_tokens;
        if (request->writer != UINT32_MAX) {
            p = &r->pools[sim->replicas[request->writer].hardware_pool];
            p->completed++;
        }
        p->output_tokens += request->output_tokens;
    }
}

static bool check_duration(const rc_scenario *s, rc_problems *problems) {
    if (!isfinite(s->workload.duration_s) || s->workload.duration_s <= RC_HORIZON_S)
        return true;
    char found[48];
    snprintf(found, sizeof found, "%.0f days", s->workload.duration_s / 86400);
    rc_problem_add(problems, RC_BAD_VALUE, "", "workload.duration", 0, found, "at most 200 days",
                   "the run is longer than the clock");
    return false;
}

rc_status rc_simulate(const rc_scenario *s, bool stepwise, rc_run_result *result, rc_problems *problems) {
    simulation sim = {.scenario = s,
                      .problems = problems,
                      .arena = rc_arena_new(),
                      .events = rc_event_queue_new(),
                      .closed = s->workload.arrival.kind == RC_ARRIVAL_CLOSED,
                      .metrics = rc_allocate(sizeof(rc_metrics)),
                      .router = rc_router_find(s->router),
                      .horizon = RC_NEVER};
    bool good = sim.router && plan_pools(&sim) && check_duration(s, problems) &&
                rc_arrivals_open(&sim.arrivals, &s->workload, keeps_prefixes(s), s->seed, problems);
    if (good) {
        rc_recorder_init(&sim.metrics->recorder);
        make_replicas(&sim, stepwise);
        if (isfinite(s->workload.duration_s)) {
            sim.horizon = rc_time_of(s->workload.duration_s);
            rc_event_queue_schedule(sim.events, sim.horizon, PRIORITY_RUN_END, (rc_event){EVENT_RUN_END, 0});
        }
        play(&sim);
        check_conservation(&sim);
        rc_time end = rc_event_queue_now(sim.events);
        size_t count = drop_unasked(&sim, end);
        if (count > 0 && sim.metrics->lost == (double)count) {
            rc_problem_add(problems, RC_DOES_NOT_FIT, "", "workload", 0, "every request is longer than can be held",
                           "lengths within the cache and the model's context (see `rackcast fit`)",
                           "no request can be played");
            sim.failed = true;
        }
        rc_metrics_finish(sim.metrics, s, sim.requests, count, sim.copies, rc_seconds_of(end), result);
        fill_pools(&sim, count, result);
        for (size_t i = 0; i < sim.replicas_count; i++) {
            const rc_replica *replica = &sim.replicas[i];
            result->queued += (double)(replica->arriving + replica->waiting_count);
            result->running += (double)(replica->prefilling_count + replica->decoding_count);
        }
        result->queued += rc_handover_waiting(sim.handover);
        result->running += between_replicas(&sim);
        result->events = (double)rc_event_queue_handled(sim.events);
    }
    for (size_t i = 0; i < sim.requests_count; i++)
        rc_arrivals_give_up(&sim.arrivals, sim.requests[i].session);
    rc_arrivals_close(&sim.arrivals);
    rc_handover_free(sim.handover);
    for (size_t i = 0; sim.replicas && i < sim.replicas_count; i++) {
        if (sim.replicas[i].cache)
            rc_prefix_cache_free(sim.replicas[i].cache);
        rc_replica_free(&sim.replicas[i]);
    }
    for (size_t i = 0; i < sim.pools_count; i++)
        rc_pipelines_free(sim.pools[i].pipelines);
    free(sim.requests);
    free(sim.metrics);
    rc_event_queue_free(sim.events);
    rc_arena_free(sim.arena);
    return good && !sim.failed ? RC_OK : rc_problems_status(problems);
}
