/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kv_memory.h"
#include <assert.h>

uint64_t rc_kv_available(const rc_kv_memory *memory) {
    return memory->free + memory->evictable;
}

void rc_kv_memory_clear(rc_kv_memory *memory, uint64_t blocks) {
    assert(blocks <= rc_kv_available(memory));
    if (blocks > memory->free)
        memory->evict(memory->keeper, blocks - memory->free);
}

void rc_kv_memory_take(rc_kv_memory *memory, uint64_t blocks) {
    rc_kv_memory_clear(memory, blocks);
    memory->free -= blocks;
}

void rc_kv_memory_give(rc_kv_memory *memory, uint64_t blocks) {
    memory->free += blocks;
    assert(memory->free <= memory->total);
}
