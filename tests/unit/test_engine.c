/* SPDX-License-Identifier: GPL-3.0-or-later
 * The event queue: order, cancelling, handles, time. */
#include "asking.h"
#include "event_queue.h"
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

int main(void) {
    Suite *suite = suite_create("engine");
    add_tests(suite, "event queue",
              (const TTest *const[]){time_is_whole_picoseconds, events_come_by_time_then_priority_then_order,
                                     a_handle_names_one_event_for_ever, it_agrees_with_a_plain_list,
                                     the_loop_allocates_nothing, NULL});
    return run_suite(suite);
}
