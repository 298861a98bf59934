/* SPDX-License-Identifier: GPL-3.0-or-later
 * index_map.h - from a key of two numbers to an index: open addressing, linear probing.
 */
#ifndef RC_INDEX_MAP_H
#define RC_INDEX_MAP_H
#include <stddef.h>
#include <stdint.h>

#define RC_INDEX_NONE UINT32_MAX /* no index */

typedef struct rc_index_slot {
    uint64_t key;
    uint32_t part, index; /* index RC_INDEX_NONE: empty */
} rc_index_slot;

typedef struct rc_index_map {
    rc_index_slot *slots;
    size_t count, capacity; /* capacity: a power of two, or 0 */
} rc_index_map;

void rc_index_map_free(rc_index_map *map);
uint32_t rc_index_map_find(const rc_index_map *map, uint64_t key, uint32_t part);      /* RC_INDEX_NONE: not there */
void rc_index_map_add(rc_index_map *map, uint64_t key, uint32_t part, uint32_t index); /* must not be there */
void rc_index_map_remove(rc_index_map *map, uint64_t key, uint32_t part);              /* must be there */
#endif
