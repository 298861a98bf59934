/* SPDX-License-Identifier: GPL-3.0-or-later
 * prefix_cache.h - what earlier requests left behind: keys, values and recurrent states of their prompts and answers,
 * kept until the room is needed, so that a prompt that begins alike need not compute them again.
 *
 * A tree of nodes.  A node is a run of tokens of a piece of content (content.h) and holds the whole blocks that end in
 * it; a path from the root is a prefix.  Its blocks, the first of them onwards, lie on the device, in host memory or in
 * a remote store, or in several.  Recurrent state cannot be cut: a hit of a hybrid model ends where a state was saved.
 * States are saved where a prompt ends, where an answer ends, where a prompt leaves a known path that has none there,
 * and every so many tokens where that is asked for.
 *
 * Room on the device is the replica's own (kv_memory.h).  Requests lock the path they use; the rest can be evicted, the
 * least recently used first, from the leaves: a path is touched from its end to its root, so that what was used least
 * recently is always a leaf.  What is evicted goes a tier down, if there is one with room for it.
 */
#ifndef RC_PREFIX_CACHE_H
#define RC_PREFIX_CACHE_H
#include "content.h"
#include "index_map.h"
#include "kv_memory.h"

typedef enum rc_tier { RC_TIER_DEVICE, RC_TIER_HOST, RC_TIER_REMOTE, RC_TIERS } rc_tier;
typedef enum rc_kept { RC_KEPT_BLOCKS, RC_KEPT_STATE, RC_KEPT } rc_kept;

typedef struct rc_cache_node rc_cache_node; /* a node of the tree: the cache's own */

typedef struct rc_cache_list {
    uint32_t newest, oldest;
} rc_cache_list;

typedef struct rc_prefix_cache {
    rc_kv_memory *memory;
    uint32_t block_tokens;
    uint64_t state_blocks;                  /* of a saved state; 0: the model has none */
    uint64_t state_interval;                /* tokens; 0: no states in between */
    uint64_t capacity[RC_TIERS];            /* blocks; of the device: see memory */
    uint64_t used[RC_TIERS];                /* blocks; of the device: locked ones too */
    double block_s[RC_TIERS];               /* to load a block to the device */
    rc_cache_list lists[RC_TIERS][RC_KEPT]; /* what can be evicted */
    rc_cache_node *nodes;
    size_t nodes_count, nodes_capacity;
    uint32_t spare; /* first of a list of unused nodes */
    rc_index_map map;
    uint64_t clock;
} rc_prefix_cache;

/* What of a prompt is there. */
typedef struct rc_prefix_hit {
    uint32_t tokens;                /* that need not be computed; whole blocks */
    uint32_t node;                  /* the deepest; RC_INDEX_NONE: no hit */
    uint64_t device_blocks;         /* that lie on the device already */
    uint64_t idle_blocks;           /* that could be evicted until it is taken */
    uint64_t load_blocks[RC_TIERS]; /* to be loaded from tiers below, the state among them */
} rc_prefix_hit;

typedef struct rc_prefix_match {
    rc_prefix_hit near, all; /* without and with loading */
    uint32_t branch;         /* tokens to where keys and values are known and a state is not; 0: nowhere */
} rc_prefix_match;

/* What a request has computed of its content. */
typedef struct rc_prefix_run {
    uint64_t from, to; /* tokens; before `from` it was found */
    uint64_t branch;   /* a state is saved there too; 0: nowhere */
} rc_prefix_run;

void rc_prefix_cache_init(rc_prefix_cache *cache, rc_kv_memory *memory, uint32_t block_tokens, uint64_t state_blocks);
void rc_prefix_cache_free(rc_prefix_cache *cache);
/* Looks up the first `limit` tokens; changes nothing. */
rc_prefix_match rc_prefix_find(const rc_prefix_cache *cache, const rc_content *content, uint64_t limit);
double rc_prefix_load_s(const rc_prefix_cache *cache, const rc_prefix_hit *hit); /* seconds to load what is not there */
/* Locks the path of a hit and brings to the device what is not there; the room must be there. */
void rc_prefix_take(rc_prefix_cache *cache, const rc_prefix_hit *hit);
/* Puts the first tokens of a content on the device as far as they are not there, in blocks that are free; locks them in
 * place of what `held` names (may be RC_INDEX_NONE) and returns their deepest node. */
uint32_t rc_prefix_put(rc_prefix_cache *cache, const rc_content *content, const rc_prefix_run *run, uint32_t held);
/* Saves the states that a run has passed on its way to `node`, where there is room. */
void rc_prefix_save_states(rc_prefix_cache *cache, const rc_prefix_run *run, uint32_t node);
void rc_prefix_unlock(rc_prefix_cache *cache, uint32_t node); /* RC_INDEX_NONE is fine */
#endif
