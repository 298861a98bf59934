/* SPDX-License-Identifier: GPL-3.0-or-later
 * kv_memory.h - the blocks of a copy of the model: free ones, taken ones, and those kept for prompts to come, which are
 * freed when they are wanted.
 */
#ifndef RC_KV_MEMORY_H
#define RC_KV_MEMORY_H
#include <stdint.h>

typedef struct rc_kv_memory {
    uint64_t total, free;
    uint64_t evictable;                           /* of the others: kept for prompts to come */
    void (*evict)(void *keeper, uint64_t blocks); /* frees so many of them; NULL: nothing is kept */
    void *keeper;
    uint32_t stepping; /* micro-batches with a step under way */
} rc_kv_memory;

uint64_t rc_kv_available(const rc_kv_memory *memory);           /* blocks that can be had */
void rc_kv_memory_clear(rc_kv_memory *memory, uint64_t blocks); /* makes so many free; they must be available */
void rc_kv_memory_take(rc_kv_memory *memory, uint64_t blocks);  /* they must be available */
void rc_kv_memory_give(rc_kv_memory *memory, uint64_t blocks);
#endif
