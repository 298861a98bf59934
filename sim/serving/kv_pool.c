/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kv_pool.h"
#include <assert.h>

void rc_kv_pool_init(rc_kv_pool *pool, rc_kv_memory *memory, uint32_t block_tokens, uint64_t state_blocks,
                     rc_arena *arena) {
    *pool = (rc_kv_pool){.memory = memory,
                         .block_tokens = block_tokens,
                         .state_blocks = state_blocks,
                         .residues = rc_arena_take(arena, block_tokens * sizeof(uint64_t))};
}

uint64_t rc_kv_blocks(const rc_kv_pool *pool, uint64_t tokens) {
    return (tokens + pool->block_tokens - 1) / pool->block_tokens + pool->state_blocks;
}

bool rc_kv_take(rc_kv_pool *pool, uint64_t tokens) {
    uint64_t blocks = rc_kv_blocks(pool, tokens);
    if (blocks > rc_kv_available(pool->memory))
        return false;
    rc_kv_memory_take(pool->memory, blocks);
    return true;
}

void rc_kv_give(rc_kv_pool *pool, uint64_t tokens) {
    rc_kv_memory_give(pool->memory, rc_kv_blocks(pool, tokens));
}

static uint64_t *residue(const rc_kv_pool *pool, uint64_t cached, uint64_t step) {
    uint64_t size = pool->block_tokens;
    return &pool->residues[(cached % size + size - step % size) % size];
}

void rc_kv_decode_begins(rc_kv_pool *pool, uint64_t cached, uint64_t step) {
    ++*residue(pool, cached, step);
    pool->decoding++;
}

void rc_kv_decode_ends(rc_kv_pool *pool, uint64_t cached, uint64_t step) {
    uint64_t *count = residue(pool, cached, step);
    assert(*count > 0);
    --*count;
    pool->decoding--;
}

/* Sequences whose last block is full when step `step` writes. */
static uint64_t needed(const rc_kv_pool *pool, uint64_t step) {
    return *residue(pool, 0, step);
}

uint64_t rc_kv_steps(const rc_kv_pool *pool, uint64_t step, uint64_t wanted) {
    if (pool->decoding == 0)
        return wanted;
    uint64_t there = rc_kv_available(pool->memory), cycles = there / pool->decoding, left = there % pool->decoding;
    if (cycles > wanted / pool->block_tokens)
        return wanted; /* enough for every sequence to fill a block more than it will */
    uint64_t steps = cycles * pool->block_tokens;
    for (uint64_t need; steps < wanted && (need = needed(pool, step + steps)) <= left; steps++)
        left -= need;
    return steps < wanted ? steps : wanted;
}

void rc_kv_advance(rc_kv_pool *pool, uint64_t step, uint64_t steps) {
    uint64_t cycles = steps / pool->block_tokens, taken = cycles * pool->decoding;
    for (uint64_t i = cycles * pool->block_tokens; i < steps; i++)
        taken += needed(pool, step + i);
    rc_kv_memory_take(pool->memory, taken);
}
