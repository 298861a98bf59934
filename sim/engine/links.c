/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "links.h"
#include "arena.h"
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct rc_flow {
    double left, rate;   /* bytes, bytes a second */
    rc_time since, ends; /* up to when `left` is counted; when none is left */
    uint32_t route[RC_ROUTE_MAX], owner;
    uint8_t route_count;
    bool near, fixed; /* while rates are solved: they may change; it is known */
} rc_flow;

typedef struct rc_link {
    double bytes_per_s, carried;
    double free;    /* while rates are solved: what no fixed flow takes */
    size_t sharers; /* while rates are solved: flows that are not fixed */
    bool near;      /* while rates are solved: a flow over it may change */
} rc_link;

struct rc_links {
    rc_link *links;
    rc_flow *flows; /* in the order in which they came */
    size_t flows_count, flows_capacity;
};

rc_links *rc_links_new(const double *bytes_per_s, size_t count) {
    rc_links *l = rc_allocate(sizeof *l);
    l->links = rc_allocate(count * sizeof *l->links);
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

static void carry(rc_links *l, rc_flow *flow, double bytes) {
    flow->left -= bytes;
    for (size_t i = 0; i < flow->route_count; i++)
        l->links[flow->route[i]].carried += bytes;
}

/* ---------- rates */

static bool touches(const rc_links *l, const rc_flow *flow) {
    for (size_t i = 0; i < flow->route_count; i++)
        if (l->links[flow->route[i]].near)
            return true;
    return false;
}

static void set_near(rc_links *l, const uint32_t *route, size_t count, bool near) {
    for (size_t i = 0; i < count; i++)
        l->links[route[i]].near = near;
}

/* Finds the flows whose rates a change on a route may change: those on it, those that share a link with them, and so on. */
static void find_near(rc_links *l, const uint32_t *route, size_t count) {
    set_near(l, route, count, true);
    for (bool grew = true; grew;) {
        grew = false;
        for (size_t f = 0; f < l->flows_count; f++) {
            rc_flow *flow = &l->flows[f];
            if (flow->near || !touches(l, flow))
                continue;
            set_near(l, flow->route, flow->route_count, true);
            flow->near = grew = true;
        }
    }
}

static void forget_near(rc_links *l, const uint32_t *route, size_t count) {
    set_near(l, route, count, false);
    for (size_t f = 0; f < l->flows_count; f++)
        if (l->flows[f].near) {
            set_near(l, l->flows[f].route, l->flows[f].route_count, false);
            l->flows[f].near = false;
        }
}

/* Brings the near flows up to date and frees their links for a new solution. */
static void prepare(rc_links *l, rc_time now) {
    for (size_t f = 0; f < l->flows_count; f++) {
        rc_flow *flow = &l->flows[f];
        if (!flow->near)
            continue;
        carry(l, flow, fmin(flow->rate * rc_seconds_of(now - flow->since), flow->left));
        flow->since = now;
        flow->fixed = false;
        for (size_t i = 0; i < flow->route_count; i++) {
            l->links[flow->route[i]].free = l->links[flow->route[i]].bytes_per_s;
            l->links[flow->route[i]].sharers = 0;
        }
    }
    for (size_t f = 0; f < l->flows_count; f++)
        for (size_t i = 0; l->flows[f].near && i < l->flows[f].route_count; i++)
            l->links[l->flows[f].route[i]].sharers++;
}

static double offer(const rc_link *link) {
    return link->free / (double)link->sharers;
}

/* The link that offers its flows least; NULL where all flows are fixed. */
static const rc_link *tightest(const rc_links *l) {
    const rc_link *least = NULL;
    for (size_t f = 0; f < l->flows_count; f++) {
        const rc_flow *flow = &l->flows[f];
        for (size_t i = 0; flow->near && !flow->fixed && i < flow->route_count; i++) {
            const rc_link *link = &l->links[flow->route[i]];
            if (!least || offer(link) < offer(least))
                least = link;
        }
    }
    return least;
}

static void fix(rc_links *l, rc_flow *flow, double rate, rc_time now) {
    double ps = ceil(flow->left / rate * RC_PS_PER_S);
    flow->rate = rate;
    flow->fixed = true;
    flow->ends = now + (rc_time)fmin(ps, RC_HORIZON_S * RC_PS_PER_S);
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

/* Rates anew after a flow came to a route or left it. */
static void solve(rc_links *l, rc_time now, const uint32_t *route, size_t count) {
    find_near(l, route, count);
    prepare(l, now);
    for (const rc_link *least; (least = tightest(l));) {
        double rate = offer(least);
        for (size_t f = 0; f < l->flows_count; f++)
            if (l->flows[f].near && !l->flows[f].fixed && crosses(l, &l->flows[f], least))
                fix(l, &l->flows[f], rate, now);
    }
    forget_near(l, route, count);
}

/* ---------- flows */

void rc_links_start(rc_links *l, rc_time now, double bytes, const uint32_t *route, size_t route_count, uint32_t owner) {
    assert(bytes > 0 && route_count > 0 && route_count <= RC_ROUTE_MAX);
    l->flows = rc_grow(l->flows, l->flows_count, &l->flows_capacity, sizeof *l->flows);
    rc_flow *flow = &l->flows[l->flows_count++];
    *flow = (rc_flow){.left = bytes, .since = now, .owner = owner, .route_count = (uint8_t)route_count};
    memcpy(flow->route, route, route_count * sizeof *route);
    solve(l, now, route, route_count);
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
    rc_flow done = l->flows[f];
    carry(l, &done, done.left);
    memmove(&l->flows[f], &l->flows[f + 1], (l->flows_count - f - 1) * sizeof done);
    l->flows_count--;
    solve(l, now, done.route, done.route_count);
    *owner = done.owner;
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
