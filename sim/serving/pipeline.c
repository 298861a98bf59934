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
    double copies;     /* of the bytes on the route: ranks that share it */
    uint32_t route[2]; /* out of the one, into the other */
} rc_hop;

/* A stage of a copy: a ring of the micro-batches that wait for it. */
typedef struct rc_stage {
    bool busy;
    size_t first, count;
} rc_stage;

typedef struct rc_passage {
    double work_s, tokens, link_s[2];
    size_t stage; /* where it is, or where it is going */
    rc_time sent; /* when its hand-off began */
} rc_passage;

struct rc_pipelines {
    rc_pipeline_events events;
    size_t stages, copies;
    double *shares;         /* of a step's work, by rc_stage */
    double bytes_per_token; /* of a hand-off */
    rc_hop *hops;           /* of copy c from stage s: c * stages + s */
    rc_stage *all;          /* the same */
    uint32_t *rings;        /* of stage i: i * stages and on */
    rc_passage *passages;   /* by micro-batch */
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

static rc_hop wire(wiring *w, double from, double to) {
    const rc_scenario *s = w->scenario;
    rc_hop hop = {.level = domain_of(w, from) != domain_of(w, to), .copies = 1};
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
        double copy = (double)(i / p->stages), at = (double)(i % p->stages);
        if (at + 1 < s->parallel.pp)
            p->hops[i] = wire(&w, rc_stage_gpu(&s->parallel, copy, at), rc_stage_gpu(&s->parallel, copy, at + 1));
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
    p->all = rc_allocate(all * sizeof *p->all);
    p->rings = rc_allocate(all * p->stages * sizeof *p->rings);
    p->passages = rc_allocate(all * sizeof *p->passages);
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
    free(p->all);
    free(p->rings);
    free(p->passages);
    free(p);
}

/* ---------- stages */

static void schedule(rc_pipelines *p, double seconds, uint32_t kind, uint32_t micro_batch) {
    rc_time now = rc_event_queue_now(p->events.queue);
    double left = RC_HORIZON_S - rc_seconds_of(now);
    p->beyond_clock = p->beyond_clock || seconds > left;
    rc_event_queue_schedule(p->events.queue, now + rc_time_of(fmax(fmin(seconds, left), 0)), p->events.priority,
                            (rc_event){kind, p->events.first + micro_batch});
}

static size_t place_of(const rc_pipelines *p, uint32_t micro_batch) {
    return micro_batch / p->stages * p->stages + p->passages[micro_batch].stage;
}

static void begin_next(rc_pipelines *p, size_t place) {
    rc_stage *at = &p->all[place];
    if (at->busy || at->count == 0)
        return;
    uint32_t micro_batch = p->rings[place * p->stages + at->first];
    at->first = (at->first + 1) % p->stages;
    at->count--;
    at->busy = true;
    const rc_passage *passage = &p->passages[micro_batch];
    schedule(p, passage->work_s * p->shares[passage->stage], p->events.stage_done, micro_batch);
}

/* It comes to the stage it is going to. */
static void arrive(rc_pipelines *p, uint32_t micro_batch) {
    size_t place = place_of(p, micro_batch);
    rc_stage *at = &p->all[place];
    rc_passage *passage = &p->passages[micro_batch];
    if (passage->stage > 0)
        passage->link_s[p->hops[place - 1].level] += rc_seconds_of(rc_event_queue_now(p->events.queue) - passage->sent);
    p->rings[place * p->stages + (at->first + at->count++) % p->stages] = micro_batch;
    begin_next(p, place);
}

void rc_pipelines_handed_off(rc_pipelines *p, uint32_t micro_batch) {
    arrive(p, micro_batch - p->events.first);
}

void rc_pipelines_enter(rc_pipelines *p, uint32_t micro_batch, double work_s, double tokens) {
    p->passages[micro_batch - p->events.first] = (rc_passage){.work_s = work_s, .tokens = tokens};
    arrive(p, micro_batch - p->events.first);
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

void rc_pipelines_flows_done(rc_pipelines *p) {
    uint32_t micro_batch;
    p->flows_done = 0;
    while (rc_links_take(p->links, rc_event_queue_now(p->events.queue), &micro_batch))
        schedule(p, p->hops[place_of(p, micro_batch) - 1].latency_s, p->events.handed_off, micro_batch);
    schedule_flows(p);
}

bool rc_pipelines_stage_done(rc_pipelines *p, uint32_t number) {
    uint32_t micro_batch = number - p->events.first;
    rc_passage *passage = &p->passages[micro_batch];
    size_t place = place_of(p, micro_batch);
    p->all[place].busy = false;
    begin_next(p, place);
    if (++passage->stage == p->stages)
        return true;
    rc_time now = rc_event_queue_now(p->events.queue);
    const rc_hop *hop = &p->hops[place];
    passage->sent = now;
    rc_links_start(p->links, now, hop->copies * passage->tokens * p->bytes_per_token, hop->route, 2, micro_batch);
    schedule_flows(p);
    return false;
}

const double *rc_pipelines_link_s(const rc_pipelines *p, uint32_t micro_batch) {
    return p->passages[micro_batch - p->events.first].link_s;
}

bool rc_pipelines_beyond_clock(const rc_pipelines *p) {
    return p->beyond_clock;
}
