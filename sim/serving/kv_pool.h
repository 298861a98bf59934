/* SPDX-License-Identifier: GPL-3.0-or-later
 * kv_pool.h - the paged memory for caches of one replica; the micro-batches of a model in stages share one.
 *
 * Memory is counted in blocks of `block_tokens` tokens.  A request holds the blocks of its tokens and, for recurrent
 * state, a fixed number more.  Sequences that decode take a block whenever their last one is full.  How many do so in
 * each step is known ahead: a sequence with c cached tokens at step s needs one where (c - s) mod block_tokens matches
 * the step, and that residue never changes, so a histogram of residues tells how long the free blocks will last.
 */
#ifndef RC_KV_POOL_H
#define RC_KV_POOL_H
#include "arena.h"
#include "kv_memory.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct rc_kv_pool {
    rc_kv_memory *memory; /* not its own */
    uint32_t block_tokens;
    uint64_t state_blocks; /* of a request */
    uint64_t *residues;    /* decoding sequences by (cached - step) mod block_tokens */
    uint64_t decoding;
} rc_kv_pool;

void rc_kv_pool_init(rc_kv_pool *pool, rc_kv_memory *memory, uint32_t block_tokens, uint64_t state_blocks,
                     rc_arena *arena);
uint64_t rc_kv_blocks(const rc_kv_pool *pool, uint64_t tokens); /* blocks of a request with so many cached tokens */
bool rc_kv_take(rc_kv_pool *pool, uint64_t tokens);             /* false, and nothing taken, where they are not free */
void rc_kv_give(rc_kv_pool *pool, uint64_t tokens);
/* A sequence with `cached` tokens begins or ends decoding before step `step`. */
void rc_kv_decode_begins(rc_kv_pool *pool, uint64_t cached, uint64_t step);
void rc_kv_decode_ends(rc_kv_pool *pool, uint64_t cached, uint64_t step);
/* How many steps from `step` on the blocks that can be had last, at most `wanted`. */
uint64_t rc_kv_steps(const rc_kv_pool *pool, uint64_t step, uint64_t wanted);
/* Takes the blocks of `steps` decode steps from `step` on; they must last. */
void rc_kv_advance(rc_kv_pool *pool, uint64_t step, uint64_t steps);
#endif
