/* SPDX-License-Identifier: GPL-3.0-or-later
 * Shared links against SimGrid (max-min fair, model CM02 with all corrections off): the same random flows over the same random
 * routes, begun at random times, are done at the same times. */
#include "asking.h"
#include "links.h"
#include "random.h"
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/mailbox.h>
#include <unistd.h>

enum { LINKS = 6, FLOWS = 24 };

typedef struct flow {
    double starts_s, bytes, done_s, simgrid_done_s;
    uint32_t route[RC_ROUTE_MAX];
    size_t route_count;
} flow;

static double capacity[LINKS];
static flow flows[FLOWS];

/* ---------- the flows */

static void draw(void) {
    gsl_rng *random = rc_random_new(2385, "links");
    for (int i = 0; i < LINKS; i++)
        capacity[i] = 1e9 * (1 + floor(24 * gsl_rng_uniform(random)));
    for (int f = 0; f < FLOWS; f++) {
        bool taken[LINKS] = {false};
        flows[f] = (flow){.starts_s = 0.4 * gsl_rng_uniform(random),
                          .bytes = floor(1e6 + 3e8 * gsl_rng_uniform(random)),
                          .route_count = 1 + gsl_rng_uniform_int(random, 3)};
        for (size_t i = 0; i < flows[f].route_count;) {
            uint32_t link = (uint32_t)gsl_rng_uniform_int(random, LINKS);
            if (!taken[link]) {
                taken[link] = true;
                flows[f].route[i++] = link;
            }
        }
    }
    rc_random_free(random);
}

static void play_ours(void) {
    rc_links *links = rc_links_new(capacity, LINKS);
    rc_event_queue *events = rc_event_queue_new();
    enum { STARTS, ENDS };
    rc_event_handle ending = 0;
    for (uint32_t f = 0; f < FLOWS; f++)
        rc_event_queue_schedule(events, rc_time_of(flows[f].starts_s), 0, (rc_event){STARTS, f});
    for (rc_event event; rc_event_queue_pop(events, &event);) {
        rc_time now = rc_event_queue_now(events), next;
        uint32_t owner = event.subject;
        if (event.kind == STARTS)
            rc_links_start(links, now, flows[owner].bytes, flows[owner].route, flows[owner].route_count, owner);
        while (rc_links_take(links, now, &owner))
            flows[owner].done_s = rc_seconds_of(now);
        rc_event_queue_cancel(events, ending);
        if (rc_links_next(links, &next))
            ending = rc_event_queue_schedule(events, next, 1, (rc_event){ENDS, 0});
    }
    rc_event_queue_free(events);
    rc_links_free(links);
}

/* ---------- the same for SimGrid */

static void write_platform(FILE *out) {
    fprintf(out, "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                 "<platform version=\"4.1\"><zone id=\"z\" routing=\"Full\">\n");
    for (int f = 0; f < FLOWS; f++)
        fprintf(out, "<host id=\"from%d\" speed=\"1Gf\"/><host id=\"to%d\" speed=\"1Gf\"/>\n", f, f);
    for (int i = 0; i < LINKS; i++)
        fprintf(out, "<link id=\"l%d\" bandwidth=\"%.0fBps\" latency=\"0s\"/>\n", i, capacity[i]);
    for (int f = 0; f < FLOWS; f++) {
        fprintf(out, "<route src=\"from%d\" dst=\"to%d\" symmetrical=\"NO\">", f, f);
        for (size_t i = 0; i < flows[f].route_count; i++)
            fprintf(out, "<link_ctn id=\"l%u\"/>", flows[f].route[i]);
        fprintf(out, "</route>\n");
    }
    fprintf(out, "</zone></platform>\n");
}

static void send_flow(int argc, char **argv) {
    (void)argc;
    flow *f = &flows[atoi(argv[1])];
    sg_actor_sleep_for(f->starts_s);
    sg_mailbox_put(sg_mailbox_by_name(argv[1]), f, (long)f->bytes);
}

static void receive_flow(int argc, char **argv) {
    (void)argc;
    flow *f = sg_mailbox_get(sg_mailbox_by_name(argv[1]));
    f->simgrid_done_s = simgrid_get_clock();
}

static void play_simgrid(void) {
    char path[] = "/tmp/rackcast-platform-XXXXXX.xml", *words[] = {"test",
                                                                   "--log=root.thresh:critical",
                                                                   "--cfg=network/model:CM02",
                                                                   "--cfg=network/bandwidth-factor:1",
                                                                   "--cfg=network/latency-factor:1",
                                                                   "--cfg=network/weight-S:0",
                                                                   "--cfg=network/TCP-gamma:0",
                                                                   "--cfg=network/crosstraffic:0",
                                                                   "--cfg=surf/precision:1e-12",
                                                                   "--cfg=maxmin/precision:1e-9",
                                                                   "--cfg=contexts/factory:thread",
                                                                   NULL};
    int count = sizeof words / sizeof *words - 1;
    FILE *out = fdopen(mkstemps(path, 4), "w");
    write_platform(out);
    fclose(out);
    simgrid_init(&count, words);
    simgrid_load_platform(path);
    unlink(path);
    for (int f = 0; f < FLOWS; f++) {
        char name[16], host[32], *arguments[] = {"actor", name, NULL};
        snprintf(name, sizeof name, "%d", f);
        snprintf(host, sizeof host, "from%d", f);
        sg_actor_create("sender", sg_host_by_name(host), send_flow, 2, arguments);
        snprintf(host, sizeof host, "to%d", f);
        sg_actor_create("receiver", sg_host_by_name(host), receive_flow, 2, arguments);
    }
    simgrid_run();
}

START_TEST(random_flows_are_done_when_simgrid_says) {
    draw();
    play_ours();
    play_simgrid();
    double shared = 0;
    for (int f = 0; f < FLOWS; f++) {
        double least = INFINITY;
        for (size_t i = 0; i < flows[f].route_count; i++)
            least = fmin(least, capacity[flows[f].route[i]]);
        ck_assert_double_gt(flows[f].simgrid_done_s, 0);
        close_to(flows[f].done_s, flows[f].simgrid_done_s, 1e-6);
        shared += flows[f].done_s - flows[f].starts_s > 1.5 * flows[f].bytes / least;
    }
    ck_assert_double_gt(shared, FLOWS / 3.); /* most had to share */
}
END_TEST

int main(void) {
    Suite *suite = suite_create("links, SimGrid");
    add_tests(suite, "links", (const TTest *const[]){random_flows_are_done_when_simgrid_says, NULL});
    return run_suite(suite);
}
