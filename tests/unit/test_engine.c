/* SPDX-License-Identifier: GPL-3.0-or-later
 * The event queue: order, cancelling, handles, time.  Links: who gets what, when it is done, that no byte is lost. */
#include "asking.h"
#include "event_queue.h"
#include "links.h"
#include "random.h"
#include <malloc.h>

START_TEST(time_is_whole_picoseconds) {
    ck_assert_uint_eq(rc_time_of(2.385e-3), 2385000000);
    ck_assert_uint_eq(rc_time_of(0), 0);
    ck_assert_double_eq(rc_seconds_of(2385000000), 2.385e-3);
    ck_assert_uint_gt(rc_time_of(RC_HORIZON_S), rc_time_of(RC_HORIZON_S / 2)); /* does not wrap */
    close_to(rc_seconds_of(rc_time_of(RC_HORIZON_S)), RC_HORIZON_S, 1e-12);
}
END_TEST

START_TEST(events_come_by_time_then_priority_then_order) {
    rc_event_queue *q = rc_event_queue_new();
    rc_event_queue_schedule(q, 20, 1, (rc_event){5, 0});
    rc_event_queue_schedule(q, 10, 3, (rc_event){2, 0});
    rc_event_queue_schedule(q, 10, 3, (rc_event){3, 0});
    rc_event_queue_schedule(q, 10, 2, (rc_event){1, 0});
    rc_event_queue_schedule(q, 20, 0, (rc_event){4, 0});
    for (uint32_t wanted = 1; wanted <= 5; wanted++) {
        rc_event event;
        ck_assert(rc_event_queue_pop(q, &event));
        ck_assert_uint_eq(event.kind, wanted);
        ck_assert_uint_eq(rc_event_queue_now(q), wanted < 4 ? 10 : 20);
    }
    rc_event event;
    ck_assert(!rc_event_queue_pop(q, &event));
    ck_assert_uint_eq(rc_event_queue_handled(q), 5);
    rc_event_queue_free(q);
}
END_TEST

START_TEST(a_handle_names_one_event_for_ever) {
    rc_event_queue *q = rc_event_queue_new();
    rc_event event;
    rc_event_handle first = rc_event_queue_schedule(q, 5, 0, (rc_event){1, 0});
    ck_assert(rc_event_queue_cancel(q, first));
    ck_assert(!rc_event_queue_cancel(q, first));
    rc_event_handle second = rc_event_queue_schedule(q, 5, 0, (rc_event){2, 0}); /* takes the same slot */
    ck_assert(!rc_event_queue_cancel(q, first));
    ck_assert(rc_event_queue_pop(q, &event));
    ck_assert_uint_eq(event.kind, 2);
    ck_assert(!rc_event_queue_cancel(q, second));
    ck_assert(!rc_event_queue_cancel(q, 0));
    rc_event_queue_free(q);
}
END_TEST

enum { MANY = 4000 };

/* Against the simplest right answer: look through all that pend. */
START_TEST(it_agrees_with_a_plain_list) {
    static struct {
        rc_time time;
        uint8_t priority;
        bool pending;
        rc_event_handle handle;
    } list[MANY];
    rc_random *random = rc_random_new(11, "queue test");
    rc_event_queue *q = rc_event_queue_new();
    size_t made = 0, pending = 0;
    while (made < MANY || pending) {
        bool schedule = made < MANY && (pending == 0 || rc_random_uniform(random) < 0.52);
        if (schedule) {
            list[made].time = rc_event_queue_now(q) + rc_random_between(random, 0, 50);
            list[made].priority = (uint8_t)rc_random_between(random, 0, 2);
            list[made].pending = true;
            list[made].handle =
                rc_event_queue_schedule(q, list[made].time, list[made].priority, (rc_event){0, (uint32_t)made});
            made++;
            pending++;
        } else if (rc_random_uniform(random) < 0.2) {
            size_t victim = rc_random_between(random, 0, made - 1);
            ck_assert(rc_event_queue_cancel(q, list[victim].handle) == list[victim].pending);
            pending -= list[victim].pending;
            list[victim].pending = false;
        } else if (pending) {
            size_t best = MANY;
            for (size_t i = 0; i < made; i++)
                if (list[i].pending && (best == MANY || list[i].time < list[best].time ||
                                        (list[i].time == list[best].time && list[i].priority < list[best].priority)))
                    best = i;
            rc_event event;
            ck_assert(rc_event_queue_pop(q, &event));
            ck_assert_uint_eq(event.subject, best);
            list[event.subject].pending = false;
            pending--;
        }
        ck_assert_uint_eq(rc_event_queue_pending(q), pending);
    }
    rc_event_queue_free(q);
    rc_random_free(random);
}
END_TEST

/* Once the pool has grown to the most that ever pend, popping and scheduling take no memory. */
START_TEST(the_loop_allocates_nothing) {
    rc_random *random = rc_random_new(2, "hold");
    rc_event_queue *q = rc_event_queue_new();
    for (uint32_t i = 0; i < 1000; i++)
        rc_event_queue_schedule(q, i, 0, (rc_event){0, i});
    size_t before = mallinfo2().uordblks;
    for (int i = 0; i < 100000; i++) {
        rc_event event;
        rc_event_queue_pop(q, &event);
        rc_event_handle handle =
            rc_event_queue_schedule(q, rc_event_queue_now(q) + rc_random_between(random, 1, 5000), 0, event);
        if (i % 5 == 0) {
            rc_event_queue_cancel(q, handle);
            rc_event_queue_schedule(q, rc_event_queue_now(q) + 7, 1, event);
        }
    }
    ck_assert_uint_eq(mallinfo2().uordblks, before);
    ck_assert_uint_eq(rc_event_queue_pending(q), 1000);
    rc_event_queue_free(q);
    rc_random_free(random);
}
END_TEST

/* ---------- links */

static void start(rc_links *l, double at_s, double bytes, uint32_t owner, uint32_t first, uint32_t second) {
    const uint32_t route[] = {first, second};
    rc_links_start(l, rc_time_of(at_s), bytes, route, first == second ? 1 : 2, owner);
}

/* The next flow that is done is this one, at this time. */
static void done(rc_links *l, uint32_t owner, double at_s) {
    rc_time next;
    uint32_t who;
    ck_assert(rc_links_next(l, &next));
    close_to(rc_seconds_of(next), at_s, 1e-11);
    ck_assert(!rc_links_take(l, next - 1, &who));
    ck_assert(rc_links_take(l, next, &who));
    ck_assert_uint_eq(who, owner);
}

/* By hand.  A of 10 GB over 1 and 2, B of 7 GB over 1, C of 3 GB over 2, capacities 10 and 6 GB/s: A and C get 3, B gets 7.
 * C is done after 1 s and B too; A then has 7 GB left and 6 GB/s. */
START_TEST(links_are_shared_max_min_fair) {
    const double capacity[] = {10e9, 6e9};
    rc_links *l = rc_links_new(capacity, 2);
    start(l, 0, 10e9, 1, 0, 1);
    close_to(rc_links_rate(l, 1), 6e9, 1e-12);
    start(l, 0, 7e9, 2, 0, 0);
    start(l, 0, 3e9, 3, 1, 1);
    close_to(rc_links_rate(l, 1), 3e9, 1e-12);
    close_to(rc_links_rate(l, 2), 7e9, 1e-12);
    close_to(rc_links_rate(l, 3), 3e9, 1e-12);
    done(l, 2, 1);
    done(l, 3, 1);
    close_to(rc_links_rate(l, 1), 6e9, 1e-12);
    done(l, 1, 1 + 7. / 6);
    close_to(rc_links_carried(l, 0), 17e9, 1e-12);
    close_to(rc_links_carried(l, 1), 13e9, 1e-12);
    rc_time next;
    ck_assert(!rc_links_next(l, &next));
    ck_assert_double_eq(rc_links_rate(l, 1), 0);
    rc_links_free(l);
}
END_TEST

/* Two flows of 8 GB on 4 GB/s, the second a second later: 4 + 2 t = 8 after 2 s more, then the second has 4 GB left. */
START_TEST(a_flow_that_comes_slows_the_one_under_way) {
    const double capacity[] = {4e9};
    rc_links *l = rc_links_new(capacity, 1);
    start(l, 0, 8e9, 1, 0, 0);
    start(l, 1, 8e9, 2, 0, 0);
    ck_assert_uint_eq(rc_links_under_way(l), 2);
    done(l, 1, 3);
    done(l, 2, 4);
    rc_links_free(l);
}
END_TEST

/* Every flow has a link that is full and on which no other gets more: that is what max-min fair means. */
static void check_fair(const rc_links *l, const double *capacity, size_t links, uint32_t routes[][2], uint32_t flows) {
    double used[8] = {0}, most[8] = {0};
    for (uint32_t f = 0; f < flows; f++)
        for (int i = 0; i < 2; i++) {
            uint32_t link = routes[f][i];
            if (i == 1 && routes[f][1] == routes[f][0])
                continue;
            used[link] += rc_links_rate(l, f);
            most[link] = fmax(most[link], rc_links_rate(l, f));
        }
    for (size_t i = 0; i < links; i++)
        ck_assert_double_le(used[i], capacity[i] * (1 + 1e-12));
    for (uint32_t f = 0; f < flows; f++) {
        double rate = rc_links_rate(l, f);
        bool bottleneck = rate == 0; /* done */
        for (int i = 0; i < 2; i++)
            bottleneck = bottleneck || (used[routes[f][i]] >= capacity[routes[f][i]] * (1 - 1e-9) &&
                                        rate >= most[routes[f][i]] * (1 - 1e-9));
        ck_assert(bottleneck);
    }
}

START_TEST(random_flows_are_fair_and_lose_no_byte) {
    enum { LINKS = 5, FLOWS = 40 };
    for (uint64_t seed = 1; seed <= 50; seed++) {
        gsl_rng *random = rc_random_new(seed, "links");
        double capacity[LINKS], sent[LINKS] = {0}, at = 0;
        uint32_t routes[FLOWS][2];
        for (int i = 0; i < LINKS; i++)
            capacity[i] = 1e9 * (0.385 + 9 * gsl_rng_uniform(random));
        rc_links *l = rc_links_new(capacity, LINKS);
        rc_time now = 0, next;
        uint32_t owner, left = 0;
        for (uint32_t f = 0; f < FLOWS; f++) {
            double bytes = 1 + 1e9 * gsl_rng_uniform(random);
            routes[f][0] = (uint32_t)gsl_rng_uniform_int(random, LINKS);
            routes[f][1] = (uint32_t)gsl_rng_uniform_int(random, LINKS);
            at += 0.1 * gsl_rng_uniform(random);
            for (now = rc_time_of(at); rc_links_next(l, &next) && next <= now; left--)
                ck_assert(rc_links_take(l, next, &owner));
            start(l, at, bytes, f, routes[f][0], routes[f][1]);
            left++;
            sent[routes[f][0]] += bytes;
            sent[routes[f][1]] += routes[f][1] == routes[f][0] ? 0 : bytes;
            check_fair(l, capacity, LINKS, routes, f + 1);
        }
        for (; rc_links_next(l, &next); left--) {
            ck_assert(rc_links_take(l, next, &owner));
            check_fair(l, capacity, LINKS, routes, FLOWS);
        }
        ck_assert_uint_eq(left, 0);
        for (uint32_t i = 0; i < LINKS; i++)
            close_to(rc_links_carried(l, i), sent[i], 1e-12);
        rc_links_free(l);
        rc_random_free(random);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("engine");
    add_tests(suite, "event queue",
              (const TTest *const[]){time_is_whole_picoseconds, events_come_by_time_then_priority_then_order,
                                     a_handle_names_one_event_for_ever, it_agrees_with_a_plain_list,
                                     the_loop_allocates_nothing, NULL});
    add_tests(suite, "links",
              (const TTest *const[]){links_are_shared_max_min_fair, a_flow_that_comes_slows_the_one_under_way,
                                     random_flows_are_fair_and_lose_no_byte, NULL});
    return run_suite(suite);
}
