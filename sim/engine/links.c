/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "links.h"
#include "arena.h"
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct rc_flow {
    double left, rate; /* bytes, bytes a second */
    rc_time ends;
    uint32_t route[RC_ROUTE_MAX], owner;
    uint8_t route_count;
    bool fixed; /* while rates are solved */
} rc_flow;

typedef struct rc_link {
    double bytes_per_s, carried;
    double free;    /* while rates are solved: what no fixed flow takes */
    size_t sharers; /* while rates are solved: flows that are not fixed */
} rc_link;

struct rc_links {
    rc_link *links;
    size_t links_count;
    rc_flow *flows; /* in the order in which they came */
    size_t flows_count, flows_capacity;
    rc_time now; /* up to when `left` and `carried` are counted */
};

rc_links *rc_links_new(const double *bytes_per_s, size_t count) {
    rc_links *l = rc_allocate(sizeof *l);
    *l = (rc_links){.links = rc_allocate(count * sizeof *l->links), .links_count = count};
    for (size_t i = 0; i < count; i++) {
        assert(bytes_per_s[i] > 0);
        l->links[i].bytes_per_s = bytes_per_s[i];
    }
    return l;
}

void rc_links_free(rc_links *l) {
    if (l) {
        free(l->links);
        free(l->flows);
        free(l);
    }
}

/* What was carried since the last look. */
static void advance(rc_links *l, rc_time now) {
    assert(now >= l->now);
    double seconds = rc_seconds_of(now - l->now);
    for (size_t f = 0; f < l->flows_count && seconds > 0; f++) {
        rc_flow *flow = &l->flows[f];
        double bytes = fmin(flow->rate * seconds, flow->left);
        flow->left -= bytes;
        for (size_t i = 0; i < flow->route_count; i++)
            l->links[flow->route[i]].carried += bytes;
    }
    l->now = now;
}

/* The link that offers its flows least; NULL where all flows are fixed. */
static rc_link *tightest(rc_links *l) {
    rc_link *least = NULL;
    for (size_t i = 0; i < l->links_count; i++) {
        rc_link *link = &l->links[i];
        if (link->sharers && (!least || link->free / (double)link->sharers < least->free / (double)least->sharers))
            least = link;
    }
    return least;
}

static void fix(rc_links *l, rc_flow *flow, double rate) {
    flow->rate = rate;
    flow->fixed = true;
    for (size_t i = 0; i < flow->route_count; i++) {
        rc_link *link = &l->links[flow->route[i]];
        link->free = fmax(link->free - rate, 0);
        link->sharers--;
    }
}

static bool crosses(const rc_links *l, const rc_flow *flow, const rc_link *link) {
    for (size_t i = 0; i < flow->route_count; i++)
        if (&l->links[flow->route[i]] == link)
            return true;
    return false;
}

static void solve(rc_links *l) {
    for (size_t i = 0; i < l->links_count; i++) {
        l->links[i].free = l->links[i].bytes_per_s;
        l->links[i].sharers = 0;
    }
    for (size_t f = 0; f < l->flows_count; f++) {
        l->flows[f].fixed = false;
        for (size_t i = 0; i < l->flows[f].route_count; i++)
            l->links[l->flows[f].route[i]].sharers++;
    }
    for (rc_link *least; (least = tightest(l));) {
        double rate = least->free / (double)least->sharers;
        for (size_t f = 0; f < l->flows_count; f++)
            if (!l->flows[f].fixed && crosses(l, &l->flows[f], least))
                fix(l, &l->flows[f], rate);
    }
    for (size_t f = 0; f < l->flows_count; f++) {
        double ps = ceil(l->flows[f].left / l->flows[f].rate * RC_PS_PER_S);
        l->flows[f].ends = l->now + (rc_time)fmin(ps, RC_HORIZON_S * RC_PS_PER_S);
    }
}

void rc_links_start(rc_links *l, rc_time now, double bytes, const uint32_t *route, size_t route_count, uint32_t owner) {
    assert(bytes > 0 && route_count > 0 && route_count <= RC_ROUTE_MAX);
    advance(l, now);
    l->flows = rc_grow(l->flows, l->flows_count, &l->flows_capacity, sizeof *l->flows);
    rc_flow *flow = &l->flows[l->flows_count++];
    *flow = (rc_flow){.left = bytes, .owner = owner, .route_count = (uint8_t)route_count};
    memcpy(flow->route, route, route_count * sizeof *route);
    solve(l);
}

bool rc_links_next(const rc_links *l, rc_time *time) {
    for (size_t f = 0; f < l->flows_count; f++)
        if (f == 0 || l->flows[f].ends < *time)
            *time = l->flows[f].ends;
    return l->flows_count > 0;
}

bool rc_links_take(rc_links *l, rc_time now, uint32_t *owner) {
    size_t f = 0;
    while (f < l->flows_count && l->flows[f].ends > now)
        f++;
    if (f == l->flows_count)
        return false;
    advance(l, now);
    rc_flow *done = &l->flows[f];
    *owner = done->owner;
    for (size_t i = 0; i < done->route_count; i++) /* what rounding to a picosecond left over */
        l->links[done->route[i]].carried += done->left;
    memmove(done, done + 1, (l->flows_count - f - 1) * sizeof *done);
    l->flows_count--;
    solve(l);
    return true;
}

size_t rc_links_under_way(const rc_links *l) {
    return l->flows_count;
}

double rc_links_rate(const rc_links *l, uint32_t owner) {
    for (size_t f = 0; f < l->flows_count; f++)
        if (l->flows[f].owner == owner)
            return l->flows[f].rate;
    return 0;
}

double rc_links_carried(const rc_links *l, uint32_t link) {
    return l->links[link].carried;
}
