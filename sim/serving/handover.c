/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "handover.h"
#include "arena.h"
#include "collective.h"
#include "links.h"
#include "memory.h"
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Requests that wait for room at a replica, in the order of coming. */
typedef struct line {
    uint32_t *requests;
    size_t first, count, capacity;
} line;

struct rc_handover {
    rc_handover_events events;
    rc_replica *replicas;
    rc_request **requests;
    line *lines; /* by replica */
    size_t replicas_count;
    size_t scan; /* replica whose line is looked at next */
    double waiting;
    double *token_bytes, *state_bytes; /* of a request at a replica that writes answers: all its ranks */
    double latency_s;
    bool whole_prompts; /* nothing goes before the prompt is computed */
    rc_links *links;    /* out of copy c: 2 c, into it: 2 c + 1 */
    rc_event_handle flows_done;
};

/* ---------- making */

/* All pools lie in one domain of the same fabric. */
static bool side_by_side(const rc_scenario *s) {
    const rc_fabric *fabric = &rc_pool(s, 0)->hardware.fabric;
    bool same = rc_pools_gpus(s) <= fabric->levels[0].reach;
    for (size_t i = 1; i < rc_pools_count(s); i++)
        same = same && strcmp(rc_pool(s, i)->hardware.fabric.name, fabric->name) == 0;
    return same;
}

/* Bytes a second of one GPU to another pool. */
static double bytes_per_s(const rc_scenario *pool, const rc_transfer *transfer, bool inside, double *latency_s) {
    const rc_hardware *h = &pool->hardware;
    rc_group group;
    double speed;
    int level = !inside && h->fabric.levels_count > 1;
    rc_group_init(&group, h, level ? 2 * h->fabric.levels[0].reach : 2);
    rc_point_to_point(&group, level, latency_s, &speed);
    return isnan(transfer->bytes_per_s) ? speed : transfer->bytes_per_s;
}

static void measure_pools(rc_handover *h, const rc_scenario *s) {
    double *capacities = rc_allocate(2 * h->replicas_count * sizeof *capacities);
    bool inside = side_by_side(s);
    for (size_t i = 0; i < h->replicas_count; i++) {
        const rc_scenario *pool = h->replicas[i].scenario;
        rc_memory memory = rc_memory_of(pool, &pool->parallel);
        double latency_s;
        capacities[2 * i] = capacities[2 * i + 1] =
            bytes_per_s(pool, &s->transfer, inside, &latency_s) * rc_replica_gpus(&pool->parallel);
        h->latency_s = fmax(h->latency_s, latency_s);
        h->token_bytes[i] = memory.kv_bytes_per_token * pool->parallel.tp * pool->parallel.pp;
        h->state_bytes[i] = memory.state_bytes_per_request * pool->parallel.tp * pool->parallel.pp;
    }
    if (!isnan(s->transfer.latency_s))
        h->latency_s = s->transfer.latency_s;
    h->links = rc_links_new(capacities, 2 * h->replicas_count);
    free(capacities);
}

rc_handover *rc_handover_new(const rc_scenario *s, const rc_handover_events *events, rc_replica *replicas, size_t count,
                             rc_request **requests) {
    bool splits = false;
    for (size_t i = 0; i < count; i++)
        splits = splits || replicas[i].role == RC_POOL_PREFILL;
    if (!splits)
        return NULL;
    rc_handover *h = rc_allocate(sizeof *h);
    *h = (rc_handover){.events = *events,
                       .replicas = replicas,
                       .requests = requests,
                       .replicas_count = count,
                       .whole_prompts = !s->transfer.overlap,
                       .lines = rc_allocate(count * sizeof *h->lines),
                       .token_bytes = rc_allocate(count * sizeof *h->token_bytes),
                       .state_bytes = rc_allocate(count * sizeof *h->state_bytes)};
    measure_pools(h, s);
    return h;
}

void rc_handover_free(rc_handover *h) {
    if (!h)
        return;
    for (size_t i = 0; i < h->replicas_count; i++)
        free(h->lines[i].requests);
    free(h->lines);
    free(h->token_bytes);
    free(h->state_bytes);
    rc_links_free(h->links);
    free(h);
}

/* ---------- room */

static rc_request *request_of(const rc_handover *h, uint32_t index) {
    return &(*h->requests)[index];
}

bool rc_handover_expect(rc_handover *h, uint32_t index) {
    line *l = &h->lines[request_of(h, index)->writer];
    bool first = l->count == 0; /* behind others it has to wait for a stretch that ends by itself */
    if (l->first > 0 && l->first + l->count == l->capacity) { /* slide back before growing */
        for (size_t i = 0; i < l->count; i++)
            l->requests[i] = l->requests[l->first + i];
        l->first = 0;
    }
    l->requests = rc_grow(l->requests, l->first + l->count, &l->capacity, sizeof *l->requests);
    l->requests[l->first + l->count++] = index;
    h->replicas[request_of(h, index)->writer].expected++;
    h->waiting++;
    h->scan = 0;
    return first;
}

bool rc_handover_next(rc_handover *h, uint32_t *index) {
    for (; h->scan < h->replicas_count; h->scan++) {
        line *l = &h->lines[h->scan];
        if (l->count == 0 || !rc_replica_reserve(&h->replicas[h->scan], l->requests[l->first]))
            continue;
        *index = l->requests[l->first++];
        l->count--;
        if (l->count == 0)
            l->first = 0;
        h->waiting--;
        return true;
    }
    h->scan = 0;
    return false;
}

double rc_handover_waiting(const rc_handover *h) {
    return h ? h->waiting : 0;
}

/* ---------- transfers */

static void schedule(rc_handover *h) {
    rc_time next;
    rc_event_queue_cancel(h->events.queue, h->flows_done);
    if (rc_links_next(h->links, &next))
        h->flows_done =
            rc_event_queue_schedule(h->events.queue, next, h->events.priority, (rc_event){h->events.flows_done, 0});
}

static void send(rc_handover *h, uint32_t index, double tokens, double states, rc_time now) {
    rc_request *request = request_of(h, index);
    double bytes = tokens * h->token_bytes[request->writer] + states * h->state_bytes[request->writer];
    if (!(bytes > 0))
        return;
    request->flows++;
    rc_links_start(h->links, now, bytes, (const uint32_t[]){2 * request->replica, 2 * request->writer + 1}, 2, index);
}

void rc_handover_step_begins(rc_handover *h, const rc_replica *r, rc_time now) {
    if (r->role != RC_POOL_PREFILL || h->whole_prompts)
        return;
    for (size_t i = 0; i < r->prefilling_count; i++) {
        const rc_request *request = request_of(h, r->prefilling[i]);
        bool first = request->prefilled == request->shared;
        bool last = request->prefilled + request->chunk == rc_request_prompt(request);
        if (request->chunk > 0) /* what was found in a cache goes with the first chunk, the state with the last */
            send(h, r->prefilling[i], request->chunk + (first ? (double)request->shared : 0), last, now);
    }
    schedule(h);
}

/* All has left: the room is free, and the request is there a latency later. */
static void finish(rc_handover *h, uint32_t index, rc_time now) {
    rc_request *request = request_of(h, index);
    rc_replica_let_go(&h->replicas[request->replica], index);
    rc_event_queue_schedule(h->events.queue, now + rc_time_of(h->latency_s), h->events.priority,
                            (rc_event){h->events.arrived, index});
}

void rc_handover_prompt_done(rc_handover *h, uint32_t index, rc_time now) {
    rc_request *request = request_of(h, index);
    request->prompt_done = now;
    if (h->whole_prompts) {
        send(h, index, rc_request_prompt(request), 1, now);
        schedule(h);
    }
    if (request->flows == 0)
        finish(h, index, now);
}

void rc_handover_flows_done(rc_handover *h, rc_time now) {
    uint32_t index;
    while (rc_links_take(h->links, now, &index)) {
        rc_request *request = request_of(h, index);
        assert(request->flows > 0);
        request->flows--;
        if (request->flows == 0 && request->prompt_done != RC_NEVER)
            finish(h, index, now);
    }
    schedule(h);
}
