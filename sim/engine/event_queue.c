/* SPDX-License-Identifier: GPL-3.0-or-later
 * The key of an event is one 128-bit integer: 64 bits of time, 8 of priority, 56 of sequence.  Comparing keys is the
 * whole order.  Each heap entry carries its slot; each slot knows its place in the heap (for cancel) and a generation
 * (so that an old handle names nothing). */
#include "event_queue.h"
#include "arena.h"
#include <assert.h>
#include <stdlib.h>

__extension__ typedef unsigned __int128 event_key;

enum { ARITY = 4, PRIORITY_BITS = 8, SEQUENCE_BITS = 56 };

typedef struct entry {
    event_key key;
    uint32_t slot;
} entry;

typedef struct slot {
    rc_event event;
    uint32_t place;      /* in the heap; of a free slot: the next free one */
    uint32_t generation; /* odd while pending */
} slot;

struct rc_event_queue {
    entry *heap;
    size_t pending, heap_capacity;
    slot *slots;
    size_t slots_count, slots_capacity;
    uint32_t free_slot; /* NO_SLOT: none */
    rc_time now;
    uint64_t sequence, handled;
};

static const uint32_t NO_SLOT = UINT32_MAX;

rc_time rc_time_of(double seconds) {
    assert(seconds >= 0 && seconds <= RC_HORIZON_S);
    return (rc_time)(seconds * RC_PS_PER_S + 0.5);
}

double rc_seconds_of(rc_time time) {
    return (double)time / RC_PS_PER_S;
}

rc_event_queue *rc_event_queue_new(void) {
    rc_event_queue *queue = rc_allocate(sizeof *queue);
    queue->free_slot = NO_SLOT;
    return queue;
}

void rc_event_queue_free(rc_event_queue *queue) {
    if (!queue)
        return;
    free(queue->heap);
    free(queue->slots);
    free(queue);
}

rc_time rc_event_queue_now(const rc_event_queue *queue) {
    return queue->now;
}

size_t rc_event_queue_pending(const rc_event_queue *queue) {
    return queue->pending;
}

uint64_t rc_event_queue_handled(const rc_event_queue *queue) {
    return queue->handled;
}

static void put_entry(rc_event_queue *queue, size_t place, entry moved) {
    queue->heap[place] = moved;
    queue->slots[moved.slot].place = (uint32_t)place;
}

static void sift_up(rc_event_queue *queue, size_t place, entry moved) {
    while (place > 0) {
        size_t parent = (place - 1) / ARITY;
        if (queue->heap[parent].key <= moved.key)
            break;
        put_entry(queue, place, queue->heap[parent]);
        place = parent;
    }
    put_entry(queue, place, moved);
}

static void sift_down(rc_event_queue *queue, size_t place, entry moved) {
    for (;;) {
        size_t first = place * ARITY + 1, best = first;
        if (first >= queue->pending)
            break;
        size_t end = first + ARITY < queue->pending ? first + ARITY : queue->pending;
        for (size_t child = first + 1; child < end; child++)
            if (queue->heap[child].key < queue->heap[best].key)
                best = child;
        if (queue->heap[best].key >= moved.key)
            break;
        put_entry(queue, place, queue->heap[best]);
        place = best;
    }
    put_entry(queue, place, moved);
}

static uint32_t take_slot(rc_event_queue *queue) {
    if (queue->free_slot != NO_SLOT) {
        uint32_t taken = queue->free_slot;
        queue->free_slot = queue->slots[taken].place;
        return taken;
    }
    queue->slots = rc_grow(queue->slots, queue->slots_count, &queue->slots_capacity, sizeof *queue->slots);
    queue->slots[queue->slots_count] = (slot){.generation = 0};
    return (uint32_t)queue->slots_count++;
}

static void release_slot(rc_event_queue *queue, uint32_t released) {
    queue->slots[released].generation++;
    queue->slots[released].place = queue->free_slot;
    queue->free_slot = released;
}

rc_event_handle rc_event_queue_schedule(rc_event_queue *queue, rc_time time, uint8_t priority, rc_event event) {
    assert(time >= queue->now);
    uint32_t taken = take_slot(queue);
    slot *s = &queue->slots[taken];
    s->event = event;
    s->generation++;
    queue->heap = rc_grow(queue->heap, queue->pending, &queue->heap_capacity, sizeof *queue->heap);
    event_key key =
        (event_key)time << (PRIORITY_BITS + SEQUENCE_BITS) | (event_key)priority << SEQUENCE_BITS | queue->sequence++;
    sift_up(queue, queue->pending++, (entry){key, taken});
    return (rc_event_handle)s->generation << 32 | taken;
}

/* Takes the entry at a place out of the heap. */
static void remove_entry(rc_event_queue *queue, size_t place) {
    release_slot(queue, queue->heap[place].slot);
    entry last = queue->heap[--queue->pending];
    if (place == queue->pending)
        return;
    if (place > 0 && last.key < queue->heap[(place - 1) / ARITY].key)
        sift_up(queue, place, last);
    else
        sift_down(queue, place, last);
}

bool rc_event_queue_cancel(rc_event_queue *queue, rc_event_handle handle) {
    uint32_t named = (uint32_t)handle, generation = (uint32_t)(handle >> 32);
    if (handle == 0 || named >= queue->slots_count || queue->slots[named].generation != generation)
        return false;
    remove_entry(queue, queue->slots[named].place);
    return true;
}

bool rc_event_queue_peek(const rc_event_queue *queue, rc_time *time) {
    if (queue->pending)
        *time = (rc_time)(queue->heap[0].key >> (PRIORITY_BITS + SEQUENCE_BITS));
    return queue->pending > 0;
}

bool rc_event_queue_pop(rc_event_queue *queue, rc_event *event) {
    if (!rc_event_queue_peek(queue, &queue->now))
        return false;
    *event = queue->slots[queue->heap[0].slot].event;
    queue->handled++;
    remove_entry(queue, 0);
    return true;
}
