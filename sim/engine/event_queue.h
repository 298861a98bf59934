/* SPDX-License-Identifier: GPL-3.0-or-later
 * event_queue.h - the clock and the events to come.
 *
 * Concept.  Simulated time is an unsigned integer of picoseconds (213 days fit).  An event is a small payload due at a
 * time.  Events come out in one total order: time, then priority (smaller first), then the order of scheduling.  So the
 * same calls give the same run, on any machine.
 *
 * An implicit 4-ary heap of 128-bit keys over a pool of slots: schedule and pop cost O(log n), cancel by handle too.
 * Nothing is allocated once the pool has grown to the largest number of pending events.
 *
 * A handle names one scheduled event for ever: once the event has fired or was cancelled, cancelling it again does
 * nothing.  Scheduling before `now` is the programmer's mistake and asserts.
 */
#ifndef RC_EVENT_QUEUE_H
#define RC_EVENT_QUEUE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t rc_time; /* picoseconds since the run began */

#define RC_PS_PER_S 1e12
/* 200 days: what a run may last, a margin below 2^64 ps. */
#define RC_HORIZON_S (200. * 86400)

rc_time rc_time_of(double seconds); /* rounds to the nearest picosecond; 0 <= seconds <= RC_HORIZON_S */
double rc_seconds_of(rc_time time);

typedef struct rc_event {
    uint32_t kind;    /* the owner's */
    uint32_t subject; /* the owner's: which replica, which request */
} rc_event;

typedef uint64_t rc_event_handle; /* 0 names no event */

typedef struct rc_event_queue rc_event_queue;

rc_event_queue *rc_event_queue_new(void);
void rc_event_queue_free(rc_event_queue *queue);
rc_time rc_event_queue_now(const rc_event_queue *queue);
size_t rc_event_queue_pending(const rc_event_queue *queue);
uint64_t rc_event_queue_handled(const rc_event_queue *queue); /* events popped so far */
/* `priority` 0 to 255; time >= now. */
rc_event_handle rc_event_queue_schedule(rc_event_queue *queue, rc_time time, uint8_t priority, rc_event event);
bool rc_event_queue_cancel(rc_event_queue *queue, rc_event_handle handle); /* false: no longer pending */
bool rc_event_queue_peek(const rc_event_queue *queue, rc_time *time);      /* false: nothing pending */
/* Takes the next event and moves the clock to its time; false: nothing pending. */
bool rc_event_queue_pop(rc_event_queue *queue, rc_event *event);
#endif
