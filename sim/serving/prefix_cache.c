/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "prefix_cache.h"
#include "arena.h"
#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

typedef struct link {
    uint32_t newer, older;
    uint64_t touched; /* 0: in no list */
} link;

struct rc_cache_node {
    uint64_t id; /* of its piece */
    uint32_t offset, tokens;
    uint64_t end; /* tokens of the prefix that ends with it */
    uint32_t parent, children, locks;
    struct {
        uint32_t blocks; /* the first ones that lie there */
        bool state;
        link links[RC_KEPT];
    } tiers[RC_TIERS];
};

static uint64_t smaller(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static uint64_t start_of(const rc_cache_node *n) {
    return n->end - n->tokens;
}

/* Blocks from its start to a position of the prefix. */
static uint32_t blocks_to(const rc_prefix_cache *c, const rc_cache_node *n, uint64_t position) {
    uint64_t to = smaller(position, n->end);
    return (uint32_t)(to / c->block_tokens - start_of(n) / c->block_tokens);
}

/* ---------- lists */

static void list_remove(rc_prefix_cache *c, rc_tier tier, rc_kept kept, uint32_t node) {
    rc_cache_list *list = &c->lists[tier][kept];
    link *l = &c->nodes[node].tiers[tier].links[kept];
    if (l->touched == 0)
        return;
    if (l->newer == RC_INDEX_NONE)
        list->newest = l->older;
    else
        c->nodes[l->newer].tiers[tier].links[kept].older = l->older;
    if (l->older == RC_INDEX_NONE)
        list->oldest = l->newer;
    else
        c->nodes[l->older].tiers[tier].links[kept].newer = l->newer;
    l->touched = 0;
}

static void list_touch(rc_prefix_cache *c, rc_tier tier, rc_kept kept, uint32_t node) {
    rc_cache_list *list = &c->lists[tier][kept];
    list_remove(c, tier, kept, node);
    c->nodes[node].tiers[tier].links[kept] = (link){RC_INDEX_NONE, list->newest, ++c->clock};
    if (list->newest == RC_INDEX_NONE)
        list->oldest = node;
    else
        c->nodes[list->newest].tiers[tier].links[kept].newer = node;
    list->newest = node;
}

/* ---------- nodes */

static uint32_t add_node(rc_prefix_cache *c, uint64_t id, uint32_t offset, uint32_t tokens, uint64_t end,
                         uint32_t parent) {
    uint32_t index = c->spare;
    if (index == RC_INDEX_NONE) {
        c->nodes = rc_grow(c->nodes, c->nodes_count, &c->nodes_capacity, sizeof *c->nodes);
        index = (uint32_t)c->nodes_count++;
    } else
        c->spare = c->nodes[index].parent;
    c->nodes[index] = (rc_cache_node){.id = id, .offset = offset, .tokens = tokens, .end = end, .parent = parent};
    if (parent != RC_INDEX_NONE)
        c->nodes[parent].children++;
    rc_index_map_add(&c->map, id, offset, index);
    return index;
}

static bool holds_something(const rc_cache_node *n) {
    for (int tier = 0; tier < RC_TIERS; tier++)
        if (n->tiers[tier].blocks > 0 || n->tiers[tier].state)
            return true;
    return n->children > 0 || n->locks > 0;
}

/* Removes a node that holds nothing any more, and those above it that were there for its sake. */
static void drop_empty(rc_prefix_cache *c, uint32_t node) {
    while (node != RC_INDEX_NONE && !holds_something(&c->nodes[node])) {
        rc_cache_node *n = &c->nodes[node];
        uint32_t parent = n->parent;
        rc_index_map_remove(&c->map, n->id, n->offset);
        if (parent != RC_INDEX_NONE)
            c->nodes[parent].children--;
        n->parent = c->spare;
        c->spare = node;
        node = parent;
    }
}

/* ---------- what lies in a tier */

static void add_blocks(rc_prefix_cache *c, rc_tier tier, uint32_t node, uint32_t blocks) {
    rc_cache_node *n = &c->nodes[node];
    n->tiers[tier].blocks += blocks;
    c->used[tier] += blocks;
    if (tier != RC_TIER_DEVICE)
        return;
    rc_kv_memory_take(c->memory, blocks);
    if (n->locks == 0)
        c->memory->evictable += blocks;
}

static void remove_blocks(rc_prefix_cache *c, rc_tier tier, uint32_t node, uint32_t blocks) {
    rc_cache_node *n = &c->nodes[node];
    n->tiers[tier].blocks -= blocks;
    c->used[tier] -= blocks;
    if (n->tiers[tier].blocks == 0)
        list_remove(c, tier, RC_KEPT_BLOCKS, node);
    if (tier != RC_TIER_DEVICE)
        return;
    assert(n->locks == 0);
    c->memory->evictable -= blocks;
    rc_kv_memory_give(c->memory, blocks);
}

static void add_state(rc_prefix_cache *c, rc_tier tier, uint32_t node) {
    if (tier == RC_TIER_DEVICE) {
        rc_kv_memory_take(c->memory, c->state_blocks);
        c->memory->evictable += c->state_blocks;
    }
    c->nodes[node].tiers[tier].state = true;
    c->used[tier] += c->state_blocks;
    list_touch(c, tier, RC_KEPT_STATE, node);
}

static void remove_state(rc_prefix_cache *c, rc_tier tier, uint32_t node) {
    c->nodes[node].tiers[tier].state = false;
    c->used[tier] -= c->state_blocks;
    list_remove(c, tier, RC_KEPT_STATE, node);
    if (tier != RC_TIER_DEVICE)
        return;
    c->memory->evictable -= c->state_blocks;
    rc_kv_memory_give(c->memory, c->state_blocks);
}

/* ---------- eviction */

static bool has_blocks_somewhere(const rc_prefix_cache *c, const rc_cache_node *n) {
    bool whole = false;
    for (int tier = 0; tier < RC_TIERS; tier++)
        whole = whole || n->tiers[tier].blocks == blocks_to(c, n, n->end);
    return whole;
}

/* A state whose keys and values are nowhere whole is of no use. */
static void drop_lone_states(rc_prefix_cache *c, uint32_t node) {
    if (has_blocks_somewhere(c, &c->nodes[node]))
        return;
    for (int tier = 0; tier < RC_TIERS; tier++)
        if (c->nodes[node].tiers[tier].state)
            remove_state(c, tier, node);
}

static void evict_one(rc_prefix_cache *c, rc_tier tier, uint64_t wanted);

/* Makes room in a tier below the device; false where it is too small. */
static bool make_room(rc_prefix_cache *c, rc_tier tier, uint64_t blocks) {
    if (blocks > c->capacity[tier])
        return false;
    while (c->used[tier] + blocks > c->capacity[tier])
        evict_one(c, tier, blocks);
    return true;
}

/* The next tier that there is; RC_TIERS: none. */
static rc_tier below(const rc_prefix_cache *c, rc_tier tier) {
    for (int next = tier + 1; next < RC_TIERS; next++)
        if (c->capacity[next] > 0)
            return next;
    return RC_TIERS;
}

/* What leaves a tier goes to the next. */
static void spill_blocks(rc_prefix_cache *c, rc_tier tier, uint32_t node) {
    uint32_t blocks = blocks_to(c, &c->nodes[node], c->nodes[node].end);
    rc_tier next = below(c, tier);
    if (next == RC_TIERS || c->nodes[node].tiers[next].blocks > 0 || c->nodes[node].tiers[tier].blocks < blocks ||
        !make_room(c, next, blocks))
        return;
    add_blocks(c, next, node, blocks);
    list_touch(c, next, RC_KEPT_BLOCKS, node);
}

static void spill_state(rc_prefix_cache *c, rc_tier tier, uint32_t node) {
    rc_tier next = below(c, tier);
    if (next < RC_TIERS && !c->nodes[node].tiers[next].state && make_room(c, next, c->state_blocks))
        add_state(c, next, node);
}

/* On the device only the last blocks of a run go, as many as are wanted. */
static void evict_blocks(rc_prefix_cache *c, rc_tier tier, uint32_t node, uint64_t wanted) {
    spill_blocks(c, tier, node);
    uint32_t blocks = c->nodes[node].tiers[tier].blocks;
    if (tier == RC_TIER_DEVICE && wanted < blocks)
        blocks = (uint32_t)wanted;
    remove_blocks(c, tier, node, blocks);
    drop_lone_states(c, node);
}

static void evict_one(rc_prefix_cache *c, rc_tier tier, uint64_t wanted) {
    uint32_t run = c->lists[tier][RC_KEPT_BLOCKS].oldest, state = c->lists[tier][RC_KEPT_STATE].oldest;
    assert(run != RC_INDEX_NONE || state != RC_INDEX_NONE);
    bool is_state =
        run == RC_INDEX_NONE || (state != RC_INDEX_NONE && c->nodes[state].tiers[tier].links[RC_KEPT_STATE].touched <
                                                               c->nodes[run].tiers[tier].links[RC_KEPT_BLOCKS].touched);
    uint32_t node = is_state ? state : run;
    if (is_state) {
        spill_state(c, tier, node);
        remove_state(c, tier, node);
    } else
        evict_blocks(c, tier, node, wanted);
    drop_empty(c, node);
}

static void evict(void *keeper, uint64_t blocks) {
    rc_prefix_cache *c = keeper;
    uint64_t wanted = c->memory->free + blocks;
    assert(blocks <= c->memory->evictable);
    while (c->memory->free < wanted)
        evict_one(c, RC_TIER_DEVICE, wanted - c->memory->free);
}

/* ---------- locks */

static void lock(rc_prefix_cache *c, uint32_t node) {
    for (; node != RC_INDEX_NONE; node = c->nodes[node].parent) {
        rc_cache_node *n = &c->nodes[node];
        if (n->locks++ > 0)
            continue;
        c->memory->evictable -= n->tiers[RC_TIER_DEVICE].blocks;
        list_remove(c, RC_TIER_DEVICE, RC_KEPT_BLOCKS, node);
    }
}

void rc_prefix_unlock(rc_prefix_cache *c, uint32_t node) {
    uint32_t deepest = node;
    for (; node != RC_INDEX_NONE; node = c->nodes[node].parent) {
        rc_cache_node *n = &c->nodes[node];
        assert(n->locks > 0);
        if (--n->locks > 0)
            continue;
        c->memory->evictable += n->tiers[RC_TIER_DEVICE].blocks;
        if (n->tiers[RC_TIER_DEVICE].blocks > 0)
            list_touch(c, RC_TIER_DEVICE, RC_KEPT_BLOCKS, node);
    }
    drop_empty(c, deepest);
}

/* ---------- looking up */

/* Where `blocks` of a run lie beyond those on the device; RC_TIERS: nowhere. */
static rc_tier tier_of_blocks(const rc_cache_node *n, uint32_t blocks) {
    for (int tier = 0; tier < RC_TIERS; tier++)
        if (n->tiers[tier].blocks >= blocks)
            return tier;
    return RC_TIERS;
}

static rc_tier tier_of_state(const rc_cache_node *n) {
    for (int tier = 0; tier < RC_TIERS; tier++)
        if (n->tiers[tier].state)
            return tier;
    return RC_TIERS;
}

static uint64_t loads_of(const rc_prefix_hit *hit) {
    uint64_t blocks = 0;
    for (int tier = RC_TIER_HOST; tier < RC_TIERS; tier++)
        blocks += hit->load_blocks[tier];
    return blocks;
}

static void keep_hit(rc_prefix_match *match, const rc_prefix_hit *hit) {
    if (hit->tokens == 0)
        return;
    match->all = *hit;
    if (loads_of(hit) == 0)
        match->near = *hit;
}

/* Adds the use of `node` up to a position of the prefix; false where it does not reach so far. */
static bool follow(const rc_prefix_cache *c, uint32_t node, uint64_t to, rc_prefix_hit *path, rc_prefix_match *match) {
    const rc_cache_node *n = &c->nodes[node];
    uint32_t blocks = blocks_to(c, n, to), here = n->tiers[RC_TIER_DEVICE].blocks;
    rc_tier tier = tier_of_blocks(n, blocks);
    bool reaches = tier < RC_TIERS;
    here = here < blocks ? here : blocks;
    path->node = node;
    path->device_blocks += here;
    path->idle_blocks += n->locks == 0 ? n->tiers[RC_TIER_DEVICE].blocks : 0;
    if (reaches)
        path->load_blocks[tier] += tier == RC_TIER_DEVICE ? 0 : blocks - here;
    path->tokens = (uint32_t)(start_of(n) / c->block_tokens + (reaches ? blocks : here)) * c->block_tokens;
    if (c->state_blocks == 0) {
        keep_hit(match, path);
        return reaches;
    }
    rc_tier state = tier_of_state(n);
    if (reaches && to == n->end && state < RC_TIERS) {
        rc_prefix_hit hit = *path;
        hit.load_blocks[state] += state == RC_TIER_DEVICE ? 0 : c->state_blocks;
        keep_hit(match, &hit);
        match->branch = 0;
    } else if (reaches && to == n->end)
        match->branch = (uint32_t)to;
    return reaches;
}

rc_prefix_match rc_prefix_find(const rc_prefix_cache *c, const rc_content *content, uint64_t limit) {
    rc_prefix_match match = {.near.node = RC_INDEX_NONE, .all.node = RC_INDEX_NONE};
    rc_prefix_hit path = {.node = RC_INDEX_NONE};
    uint64_t position = 0;
    for (size_t p = 0; p < content->count; p++) {
        const rc_piece *piece = &content->pieces[p];
        for (uint32_t offset = 0; offset < piece->tokens;) {
            uint32_t node = rc_index_map_find(&c->map, piece->id, offset);
            if (node == RC_INDEX_NONE || position >= limit)
                return match;
            uint64_t use = smaller(smaller(c->nodes[node].tokens, piece->tokens - offset), limit - position);
            if (!follow(c, node, position + use, &path, &match))
                return match;
            offset += (uint32_t)use;
            position += use;
        }
    }
    return match;
}

double rc_prefix_load_s(const rc_prefix_cache *c, const rc_prefix_hit *hit) {
    double seconds = 0;
    for (int tier = RC_TIER_HOST; tier < RC_TIERS; tier++)
        seconds += (double)hit->load_blocks[tier] * c->block_s[tier];
    return seconds;
}

/* ---------- taking and putting */

void rc_prefix_take(rc_prefix_cache *c, const rc_prefix_hit *hit) {
    uint64_t to = hit->tokens;
    lock(c, hit->node);
    for (int tier = 0; tier < RC_TIERS && hit->node != RC_INDEX_NONE; tier++)
        if (c->nodes[hit->node].tiers[tier].state)
            list_touch(c, tier, RC_KEPT_STATE, hit->node);
    for (uint32_t node = hit->node; node != RC_INDEX_NONE; node = c->nodes[node].parent) {
        uint32_t blocks = blocks_to(c, &c->nodes[node], to), here = c->nodes[node].tiers[RC_TIER_DEVICE].blocks;
        for (int tier = RC_TIER_HOST; tier < RC_TIERS; tier++)
            if (c->nodes[node].tiers[tier].blocks > 0)
                list_touch(c, tier, RC_KEPT_BLOCKS, node);
        if (blocks > here)
            add_blocks(c, RC_TIER_DEVICE, node, blocks - here);
        to = start_of(&c->nodes[node]);
    }
}

static void save_state(rc_prefix_cache *c, uint32_t node) {
    if (c->nodes[node].tiers[RC_TIER_DEVICE].state) {
        list_touch(c, RC_TIER_DEVICE, RC_KEPT_STATE, node);
        return;
    }
    if (c->state_blocks <= rc_kv_available(c->memory))
        add_state(c, RC_TIER_DEVICE, node);
}

/* The node of a piece that begins at `offset`; where there is none, a new one of at most `left` tokens, cut where a state
 * is to be saved in between. */
static uint32_t find_or_add(rc_prefix_cache *c, const rc_prefix_run *run, uint64_t id, uint32_t offset, uint64_t left,
                            uint64_t position, uint32_t parent) {
    uint32_t node = rc_index_map_find(&c->map, id, offset);
    uint64_t tokens = left;
    if (node != RC_INDEX_NONE)
        return node;
    if (c->state_blocks > 0 && c->state_interval > 0)
        tokens = smaller(tokens, c->state_interval - position % c->state_interval);
    if (c->state_blocks > 0 && run->branch > position)
        tokens = smaller(tokens, run->branch - position);
    return add_node(c, id, offset, (uint32_t)tokens, position + tokens, parent);
}

void rc_prefix_save_states(rc_prefix_cache *c, const rc_prefix_run *run, uint32_t node) {
    for (; c->state_blocks > 0 && node != RC_INDEX_NONE && c->nodes[node].end > run->from;
         node = c->nodes[node].parent) {
        uint64_t end = c->nodes[node].end;
        bool between = c->state_interval > 0 && end % c->state_interval == 0;
        if (end == run->to || end == run->branch || (between && end < run->to))
            save_state(c, node);
    }
}

uint32_t rc_prefix_put(rc_prefix_cache *c, const rc_content *content, const rc_prefix_run *run, uint32_t held) {
    uint32_t node = RC_INDEX_NONE;
    uint64_t position = 0;
    for (size_t p = 0; p < content->count && position < run->to; p++) {
        const rc_piece *piece = &content->pieces[p];
        for (uint64_t offset = 0, use; offset < piece->tokens && position < run->to; offset += use, position += use) {
            uint64_t left = smaller(piece->tokens - offset, run->to - position);
            node = find_or_add(c, run, piece->id, (uint32_t)offset, left, position, node);
            use = smaller(c->nodes[node].tokens, left);
            uint32_t wanted = blocks_to(c, &c->nodes[node], position + use),
                     here = c->nodes[node].tiers[RC_TIER_DEVICE].blocks;
            if (wanted > here)
                add_blocks(c, RC_TIER_DEVICE, node, wanted - here);
        }
    }
    lock(c, node);
    rc_prefix_unlock(c, held);
    return node;
}

/* ---------- whole */

void rc_prefix_cache_init(rc_prefix_cache *c, rc_kv_memory *memory, uint32_t block_tokens, uint64_t state_blocks) {
    *c = (rc_prefix_cache){
        .memory = memory, .block_tokens = block_tokens, .state_blocks = state_blocks, .spare = RC_INDEX_NONE};
    for (int tier = 0; tier < RC_TIERS; tier++)
        for (int kept = 0; kept < RC_KEPT; kept++)
            c->lists[tier][kept] = (rc_cache_list){RC_INDEX_NONE, RC_INDEX_NONE};
    memory->keeper = c;
    memory->evict = evict;
}

void rc_prefix_cache_free(rc_prefix_cache *c) {
    free(c->nodes);
    rc_index_map_free(&c->map);
}
