/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pipeline.h"
#include "arena.h"
#include "placement.h"
#include <math.h>
#include <stdlib.h>

/* From a stage to the next. */
typedef struct rc_hop {
    int level;
    double latency_s;
    double bytes_per_s; /* of the route, idle */
    double copies;      /* of the bytes on the route: ranks that share it */
    uint32_t route[2];  /* out of the one, into the other */
} rc_hop;

static const uint32_t NOBODY = UINT32_MAX; /* no passage */

/* Passages in order, chained. */
typedef struct rc_chain {
    uint32_t first, last;
} rc_chain;

/* A stage of a copy. */
typedef struct rc_stage {
    uint32_t inside;         /* the passage it works on */
    rc_chain waits, arrives; /* for it; handed off to it, on their way */
} rc_stage;

typedef enum rc_phase { WORKING, TALKING, DONE, HANDED_OFF } rc_phase; /* TALKING: collectives between domains */

/* One pass under way. */
typedef struct rc_passage {
    const rc_pass *pass;
    uint32_t micro_batch;
    uint32_t next; /* in a chain, or the next free one */
    size_t stage;  /* where it is, or where it is going */
    rc_phase phase;
    rc_time sent; /* when its hand-off began */
} rc_passage;

/* The step of a micro-batch. */
typedef struct rc_train {
    const rc_pass *passes;
    size_t count, entered, left; /* passes that entered the first stage, that left the last */
    double link_s[2];
} rc_train;

struct rc_pipelines {
    rc_pipeline_events events;
    size_t stages, copies;
    double *shares;         /* of a step's work, by stage */
    double bytes_per_token; /* of a hand-off */
    rc_hop *hops;           /* of copy c from stage s: c * stages + s */
    rc_hop *talks;          /* the same, between the domains of one stage */
    rc_stage *all;          /* the same */
    rc_train *trains;       /* by micro-batch */
    rc_passage *passages;
    size_t passages_count, passages_capacity;
    uint32_t free_passage;
    rc_links *links;
    rc_event_handle flows_done;
    bool beyond_clock;
};

/* ---------- making */

typedef struct wiring {
    const rc_scenario *scenario;
    rc_group groups[2]; /* two GPUs, inside a domain and in different ones */
    double *capacities; /* of the links: two of each rc_hop */
} wiring;

static double domain_of(const wiring *w, double gpu) {
    return floor(gpu / w->scenario->hardware.fabric.levels[0].reach);
}

/* The link of a level out of a GPU (or into it): its own, or that of its node. */
static uint32_t link_of(const wiring *w, const rc_hop *hop, double gpu, bool into) {
    const rc_hardware *h = &w->scenario->hardware;
    double gpus = h->count,
           owner = hop->level && h->fabric.levels[1].bandwidth_of != RC_OF_GPU ? floor(gpu / h->per_node) : gpu;
    return (uint32_t)(((double)hop->level * 2 + into) * gpus + owner);
}

static rc_hop wire(wiring *w, int level, double from, double to) {
    const rc_scenario *s = w->scenario;
    rc_hop hop = {.level = level, .copies = 1};
    const rc_group *group = &w->groups[hop.level];
    bool of_node = hop.level && s->hardware.fabric.levels[1].bandwidth_of != RC_OF_GPU;
    double bytes_per_s;
    rc_point_to_point(group, hop.level, &hop.latency_s, &bytes_per_s);
    if (of_node) {
        hop.copies = fmin(s->parallel.tp * s->parallel.dp, s->hardware.per_node);
        bytes_per_s *= s->hardware.per_node; /* a group's is the share of one GPU */
    }
    for (int into = 0; into < 2; into++) {
        hop.route[into] = link_of(w, &hop, into ? to : from, into);
        w->capacities[hop.route[into]] = bytes_per_s;
    }
    hop.bytes_per_s = bytes_per_s;
    return hop;
}

static void wire_all(rc_pipelines *p, const rc_scenario *s) {
    size_t links = 4 * (size_t)s->hardware.count;
    wiring w = {.scenario = s, .capacities = rc_allocate(links * sizeof *w.capacities)};
    rc_group_init(&w.groups[0], &s->hardware, 2);
    rc_group_init(&w.groups[1], &s->hardware, 2 * s->hardware.fabric.levels[0].reach);
    for (size_t i = 0; i < links; i++)
        w.capacities[i] = 1; /* a link that no hop goes over */
    for (size_t i = 0; i < p->copies * p->stages; i++) {
        double copy = (double)(i / p->stages), at = (double)(i % p->stages), gpu = rc_stage_gpu(&s->parallel, copy, at);
        if (s->hardware.fabric.levels_count > 1)
            p->talks[i] = wire(&w, 1, gpu, gpu);
        if (at + 1 < s->parallel.pp) {
            double next = rc_stage_gpu(&s->parallel, copy, at + 1);
            p->hops[i] = wire(&w, domain_of(&w, gpu) != domain_of(&w, next), gpu, next);
        }
    }
    p->links = rc_links_new(w.capacities, links);
    free(w.capacities);
}

rc_pipelines *rc_pipelines_new(const rc_scenario *s, const rc_pipeline_events *events) {
    enum { BF16_BYTES = 2 };
    if (s->parallel.pp == 1)
        return NULL;
    rc_pipelines *p = rc_allocate(sizeof *p);
    *p = (rc_pipelines){.events = *events,
                        .stages = (size_t)s->parallel.pp,
                        .copies = (size_t)s->parallel.replicas,
                        .bytes_per_token = s->model.hidden * BF16_BYTES};
    size_t all = p->stages * p->copies;
    p->shares = rc_allocate(p->stages * sizeof *p->shares);
    p->hops = rc_allocate(all * sizeof *p->hops);
    p->talks = rc_allocate(all * sizeof *p->talks);
    p->all = rc_allocate(all * sizeof *p->all);
    p->trains = rc_allocate(all * sizeof *p->trains);
    p->free_passage = NOBODY;
    for (size_t i = 0; i < all; i++)
        p->all[i] = (rc_stage){NOBODY, {NOBODY, NOBODY}, {NOBODY, NOBODY}};
    for (size_t i = 0; i < p->stages; i++) {
        double first, last;
        rc_stage_layers(&s->model, s->parallel.pp, (double)i, &first, &last);
        p->shares[i] = (last - first) / s->model.layers_total;
    }
    wire_all(p, s);
    return p;
}

void rc_pipelines_free(rc_pipelines *p) {
    if (!p)
        return;
    rc_links_free(p->links);
    free(p->shares);
    free(p->hops);
    free(p->talks);
    free(p->all);
    free(p->trains);
    free(p->passages);
    free(p);
}

/* ---------- passages */

static uint32_t new_passage(rc_pipelines *p) {
    uint32_t id = p->free_passage;
    if (id != NOBODY) {
        p->free_passage = p->passages[id].next;
        return id;
    }
    p->passages = rc_grow(p->passages, p->passages_count, &p->passages_capacity, sizeof *p->passages);
    return (uint32_t)p->passages_count++;
}

static void free_passage(rc_pipelines *p, uint32_t id) {
    p->passages[id].next = p->free_passage;
    p->free_passage = id;
}

static void append(rc_pipelines *p, rc_chain *chain, uint32_t id) {
    p->passages[id].next = NOBODY;
    if (chain->first == NOBODY)
        chain->first = id;
    else
        p->passages[chain->last].next = id;
    chain->last = id;
}

static uint32_t take_first(rc_pipelines *p, rc_chain *chain) {
    uint32_t id = chain->first;
    if (id != NOBODY)
        chain->first = p->passages[id].next;
    return id;
}

static size_t place_of(const rc_pipelines *p, uint32_t id) {
    const rc_passage *passage = &p->passages[id];
    return passage->micro_batch / p->stages * p->stages + passage->stage;
}

/* ---------- stages */

static void schedule(rc_pipelines *p, double seconds, uint32_t kind, size_t place) {
    rc_time now = rc_event_queue_now(p->events.queue);
    double left = RC_HORIZON_S - rc_seconds_of(now);
    p->beyond_clock = p->beyond_clock || seconds > left;
    rc_event_queue_schedule(p->events.queue, now + rc_time_of(fmax(fmin(seconds, left), 0)), p->events.priority,
                            (rc_event){kind, p->events.first + (uint32_t)place});
}

static void begin_next(rc_pipelines *p, size_t place) {
    rc_stage *at = &p->all[place];
    if (at->inside != NOBODY)
        return;
    at->inside = take_first(p, &at->waits);
    if (at->inside == NOBODY)
        return;
    rc_passage *passage = &p->passages[at->inside];
    passage->phase = WORKING;
    schedule(p, (passage->pass->work_s - passage->pass->outer_wire_s) * p->shares[place % p->stages],
             p->events.stage_done, place);
}

static void wait_for(rc_pipelines *p, size_t place, uint32_t id) {
    append(p, &p->all[place].waits, id);
    begin_next(p, place);
}

/* The next pass of a train comes to the first stage. */
static void enter_next(rc_pipelines *p, uint32_t micro_batch) {
    rc_train *train = &p->trains[micro_batch];
    if (train->entered == train->count)
        return;
    uint32_t id = new_passage(p);
    p->passages[id] = (rc_passage){.pass = &train->passes[train->entered++], .micro_batch = micro_batch};
    wait_for(p, place_of(p, id), id);
}

void rc_pipelines_enter(rc_pipelines *p, uint32_t number, const rc_pass *train, size_t count) {
    uint32_t micro_batch = number - p->events.first;
    p->trains[micro_batch] = (rc_train){.passes = train, .count = count};
    enter_next(p, micro_batch);
}

/* ---------- hand-offs */

static void schedule_flows(rc_pipelines *p) {
    rc_time next;
    rc_event_queue_cancel(p->events.queue, p->flows_done);
    p->flows_done = 0;
    if (rc_links_next(p->links, &next))
        p->flows_done = rc_event_queue_schedule(p->events.queue, next, p->events.priority,
                                                (rc_event){p->events.flows_done, p->events.pool});
}

/* Bytes have crossed.  Of a hand-off the latency of the message is still to come, the same for all that go there. */
void rc_pipelines_flows_done(rc_pipelines *p) {
    uint32_t id;
    p->flows_done = 0;
    while (rc_links_take(p->links, rc_event_queue_now(p->events.queue), &id)) {
        size_t place = place_of(p, id);
        if (p->passages[id].phase == TALKING) {
            p->passages[id].phase = DONE;
            schedule(p, 0, p->events.stage_done, place);
            continue;
        }
        append(p, &p->all[place].arrives, id);
        schedule(p, p->hops[place - 1].latency_s, p->events.handed_off, place);
    }
    schedule_flows(p);
}

void rc_pipelines_handed_off(rc_pipelines *p, uint32_t stage) {
    size_t place = stage - p->events.first;
    uint32_t id = take_first(p, &p->all[place].arrives);
    const rc_passage *passage = &p->passages[id];
    p->trains[passage->micro_batch].link_s[p->hops[place - 1].level] +=
        rc_seconds_of(rc_event_queue_now(p->events.queue) - passage->sent);
    wait_for(p, place, id);
}

static void hand_off(rc_pipelines *p, size_t place, uint32_t id) {
    rc_time now = rc_event_queue_now(p->events.queue);
    const rc_hop *hop = &p->hops[place];
    rc_passage *passage = &p->passages[id];
    passage->stage++;
    passage->phase = HANDED_OFF;
    passage->sent = now;
    rc_links_start(p->links, now, hop->copies * passage->pass->tokens * p->bytes_per_token, hop->route, 2, id);
    schedule_flows(p);
}

/* Its collectives between domains, on the links of the stage; false where it has none. */
static bool talk(rc_pipelines *p, size_t place, uint32_t id) {
    rc_passage *passage = &p->passages[id];
    const rc_hop *talk = &p->talks[place];
    double bytes = passage->pass->outer_wire_s * p->shares[place % p->stages] * talk->bytes_per_s;
    if (bytes <= 0)
        return false;
    passage->phase = TALKING;
    rc_links_start(p->links, rc_event_queue_now(p->events.queue), bytes, talk->route, 2, id);
    schedule_flows(p);
    return true;
}

bool rc_pipelines_stage_done(rc_pipelines *p, uint32_t stage, uint32_t *micro_batch, double link_s[2]) {
    size_t place = stage - p->events.first, at = place % p->stages;
    uint32_t id = p->all[place].inside, owner = p->passages[id].micro_batch;
    if (p->passages[id].phase == WORKING && talk(p, place, id))
        return false;
    p->all[place].inside = NOBODY;
    begin_next(p, place); /* those that waited before the next of the train */
    if (at == 0)
        enter_next(p, owner);
    if (at + 1 < p->stages) {
        hand_off(p, place, id);
        return false;
    }
    rc_train *train = &p->trains[owner];
    free_passage(p, id);
    *micro_batch = p->events.first + owner;
    link_s[0] = train->link_s[0];
    link_s[1] = train->link_s[1];
    return ++train->left == train->count;
}

bool rc_pipelines_beyond_clock(const rc_pipelines *p) {
    return p->beyond_clock;
}
