/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "index_map.h"
#include "arena.h"
#include <assert.h>
#include <stdlib.h>

/* Finaliser of splitmix64 (Steele, Lea and Flood, 2014): spreads every bit of the key over the whole word. */
static uint64_t mix(uint64_t key, uint32_t part) {
    uint64_t x = key + 0x9e3779b97f4a7c15U * ((uint64_t)part + 1);
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
    x = (x ^ x >> 27) * 0x94d049bb133111ebU;
    return x ^ x >> 31;
}

static size_t home_of(const rc_index_map *map, uint64_t key, uint32_t part) {
    return mix(key, part) & (map->capacity - 1);
}

/* Where the key is, or the empty slot where it would go. */
static size_t place_of(const rc_index_map *map, uint64_t key, uint32_t part) {
    size_t at = home_of(map, key, part);
    while (map->slots[at].index != RC_INDEX_NONE && (map->slots[at].key != key || map->slots[at].part != part))
        at = (at + 1) & (map->capacity - 1);
    return at;
}

void rc_index_map_free(rc_index_map *map) {
    free(map->slots);
    *map = (rc_index_map){0};
}

uint32_t rc_index_map_find(const rc_index_map *map, uint64_t key, uint32_t part) {
    return map->capacity ? map->slots[place_of(map, key, part)].index : RC_INDEX_NONE;
}

static void grow(rc_index_map *map) {
    enum { FIRST = 64 };
    rc_index_map old = *map;
    map->capacity = old.capacity ? 2 * old.capacity : FIRST;
    map->slots = rc_allocate(map->capacity * sizeof *map->slots);
    for (size_t i = 0; i < map->capacity; i++)
        map->slots[i].index = RC_INDEX_NONE;
    for (size_t i = 0; i < old.capacity; i++)
        if (old.slots[i].index != RC_INDEX_NONE)
            map->slots[place_of(map, old.slots[i].key, old.slots[i].part)] = old.slots[i];
    free(old.slots);
}

void rc_index_map_add(rc_index_map *map, uint64_t key, uint32_t part, uint32_t index) {
    if (2 * (map->count + 1) > map->capacity)
        grow(map);
    size_t at = place_of(map, key, part);
    assert(map->slots[at].index == RC_INDEX_NONE);
    map->slots[at] = (rc_index_slot){key, part, index};
    map->count++;
}

void rc_index_map_remove(rc_index_map *map, uint64_t key, uint32_t part) {
    size_t hole = place_of(map, key, part), mask = map->capacity - 1;
    assert(map->slots[hole].index != RC_INDEX_NONE);
    map->count--;
    for (size_t at = (hole + 1) & mask; map->slots[at].index != RC_INDEX_NONE; at = (at + 1) & mask) {
        size_t home = home_of(map, map->slots[at].key, map->slots[at].part);
        if (((at - home) & mask) >= ((at - hole) & mask)) { /* it may lie in the hole: that is not before its home */
            map->slots[hole] = map->slots[at];
            hole = at;
        }
    }
    map->slots[hole].index = RC_INDEX_NONE;
}
