/* SPDX-License-Identifier: GPL-3.0-or-later
 * Contents, prefix caches and sessions: against a list of all that was ever put, by hand, and in whole runs. */
#include "asking.h"
#include "index_map.h"
#include "prefix_cache.h"
#include "random.h"
#include "simulation.h"

/* ---------- maps */

START_TEST(a_map_finds_what_was_added_and_not_removed) {
    enum { KEYS = 500, ROUNDS = 20000 };
    rc_index_map map = {0};
    uint32_t there[KEYS];
    rc_random *random = rc_random_new(3, "map");
    for (size_t i = 0; i < KEYS; i++)
        there[i] = RC_INDEX_NONE;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint64_t key = rc_random_between(random, 0, KEYS - 1);
        uint32_t part = (uint32_t)key % 3;
        ck_assert_uint_eq(rc_index_map_find(&map, key / 3, part), there[key]);
        if (there[key] == RC_INDEX_NONE)
            rc_index_map_add(&map, key / 3, part, there[key] = round);
        else {
            rc_index_map_remove(&map, key / 3, part);
            there[key] = RC_INDEX_NONE;
        }
    }
    rc_index_map_free(&map);
    rc_random_free(random);
}
END_TEST

/* ---------- the tree */

enum { BLOCK = 16 };

typedef struct cached {
    rc_kv_memory memory;
    rc_prefix_cache cache;
} cached;

static void begin(cached *c, uint64_t blocks, uint64_t state_blocks) {
    *c = (cached){.memory = {.total = blocks, .free = blocks}};
    rc_prefix_cache_init(&c->cache, &c->memory, BLOCK, state_blocks);
}

static rc_content content_of(const rc_piece *pieces, size_t count) {
    rc_content content = {0};
    for (size_t i = 0; i < count; i++)
        rc_content_add(&content, pieces[i].id, pieces[i].tokens);
    return content;
}
#define CONTENT(...)                                                                                                   \
    content_of((const rc_piece[]){__VA_ARGS__}, sizeof((const rc_piece[]){__VA_ARGS__}) / sizeof(rc_piece))

/* What a request does: looks up, takes, computes the rest, leaves.  Returns the tokens it found. */
static uint32_t visit(cached *c, const rc_content *content) {
    uint64_t tokens = rc_content_tokens(content);
    rc_prefix_match match = rc_prefix_find(&c->cache, content, tokens - 1);
    rc_prefix_take(&c->cache, &match.all);
    rc_kv_memory_take(&c->memory, tokens / BLOCK - match.all.tokens / BLOCK);
    rc_kv_memory_give(&c->memory, tokens / BLOCK - match.all.tokens / BLOCK);
    rc_prefix_run run = {match.all.tokens, tokens, match.branch};
    uint32_t node = rc_prefix_put(&c->cache, content, &run, match.all.node);
    rc_prefix_save_states(&c->cache, &run, node);
    rc_prefix_unlock(&c->cache, node);
    ck_assert_uint_eq(rc_kv_available(&c->memory), c->memory.total);
    return match.all.tokens;
}

START_TEST(a_prefix_is_found_up_to_its_last_whole_block) {
    cached c;
    begin(&c, 1000, 0);
    rc_content first = CONTENT({1, 100}), longer = CONTENT({1, 100}, {2, 50}), forks = CONTENT({1, 60}, {3, 200}),
               again = CONTENT({1, 100}, {2, 70}), other = CONTENT({4, 90});
    ck_assert_uint_eq(visit(&c, &first), 0);
    ck_assert_uint_eq(visit(&c, &first), 96); /* 99 may be found: one token is left to compute */
    ck_assert_uint_eq(visit(&c, &longer), 96);
    ck_assert_uint_eq(visit(&c, &forks), 48);  /* 60 tokens alike */
    ck_assert_uint_eq(visit(&c, &again), 144); /* 150 */
    ck_assert_uint_eq(visit(&c, &other), 0);
    ck_assert_uint_eq(c.memory.free, 1000 - 150 / BLOCK - 1 - (260 / BLOCK - 60 / BLOCK) - 90 / BLOCK);
    rc_content *all[] = {&first, &longer, &forks, &again, &other};
    for (size_t i = 0; i < 5; i++)
        rc_content_free(all[i]);
    rc_prefix_cache_free(&c.cache);
}
END_TEST

START_TEST(states_end_where_prompts_end_and_where_paths_part) {
    cached c;
    begin(&c, 1000, 10);
    rc_content first = CONTENT({1, 320}, {2, 320}), second = CONTENT({1, 320}, {3, 320}),
               third = CONTENT({1, 320}, {4, 320}), grown = CONTENT({1, 320}, {2, 640});
    ck_assert_uint_eq(visit(&c, &first), 0);
    ck_assert_uint_eq(visit(&c, &second), 0);  /* keys and values of 320 tokens are there, a state is not */
    ck_assert_uint_eq(visit(&c, &third), 320); /* the second left one where it parted */
    ck_assert_uint_eq(visit(&c, &grown), 640); /* where the first ended */
    rc_content *all[] = {&first, &second, &third, &grown};
    for (size_t i = 0; i < 4; i++)
        rc_content_free(all[i]);
    rc_prefix_cache_free(&c.cache);
}
END_TEST

START_TEST(states_are_saved_at_intervals_where_asked) {
    cached c;
    begin(&c, 1000, 2);
    c.cache.state_interval = 128;
    rc_content first = CONTENT({1, 1000}), forks = CONTENT({1, 600}, {2, 100});
    visit(&c, &first);
    ck_assert_uint_eq(visit(&c, &forks), 512); /* 600 are alike, the last state before is at 512 */
    rc_content_free(&first);
    rc_content_free(&forks);
    rc_prefix_cache_free(&c.cache);
}
END_TEST

START_TEST(what_was_used_least_recently_goes_first_from_its_end) {
    cached c;
    begin(&c, 20, 0);
    rc_content a = CONTENT({1, 10 * BLOCK}), b = CONTENT({2, 10 * BLOCK}), d = CONTENT({3, 5 * BLOCK});
    visit(&c, &a);
    visit(&c, &b);
    visit(&c, &a);
    visit(&c, &d); /* five blocks of b go, its last ones */
    ck_assert_uint_eq(rc_prefix_find(&c.cache, &a, 1000).all.tokens, 10 * BLOCK);
    ck_assert_uint_eq(rc_prefix_find(&c.cache, &b, 1000).all.tokens, 5 * BLOCK);
    ck_assert_uint_eq(rc_prefix_find(&c.cache, &d, 1000).all.tokens, 5 * BLOCK);
    rc_content *all[] = {&a, &b, &d};
    for (size_t i = 0; i < 3; i++)
        rc_content_free(all[i]);
    rc_prefix_cache_free(&c.cache);
}
END_TEST

START_TEST(what_is_locked_stays) {
    cached c;
    begin(&c, 12, 0);
    rc_content a = CONTENT({1, 8 * BLOCK}), b = CONTENT({2, 4 * BLOCK}), d = CONTENT({3, 4 * BLOCK});
    visit(&c, &a);
    rc_prefix_match held = rc_prefix_find(&c.cache, &a, 1000);
    rc_prefix_take(&c.cache, &held.all);
    ck_assert_uint_eq(rc_kv_available(&c.memory), 4);
    rc_kv_memory_take(&c.memory, 4);
    rc_kv_memory_give(&c.memory, 4);
    rc_prefix_unlock(&c.cache, held.all.node);
    visit(&c, &b);
    visit(&c, &d);
    ck_assert_uint_eq(rc_prefix_find(&c.cache, &a, 1000).all.tokens, 4 * BLOCK);
    rc_content *all[] = {&a, &b, &d};
    for (size_t i = 0; i < 3; i++)
        rc_content_free(all[i]);
    rc_prefix_cache_free(&c.cache);
}
END_TEST

START_TEST(a_tier_below_keeps_what_had_to_go) {
    cached c;
    begin(&c, 10, 1);
    c.cache.capacity[RC_TIER_HOST] = 100;
    c.cache.block_s[RC_TIER_HOST] = 1e-3;
    rc_content a = CONTENT({1, 6 * BLOCK}), b = CONTENT({2, 8 * BLOCK}), more = CONTENT({1, 7 * BLOCK});
    visit(&c, &a);
    visit(&c, &b);
    rc_prefix_match match = rc_prefix_find(&c.cache, &more, 1000);
    ck_assert_uint_eq(match.near.tokens, 0);
    ck_assert_uint_eq(match.all.tokens, 6 * BLOCK);
    /* Of six blocks and a state those that are not on the card any more. */
    close_to(rc_prefix_load_s(&c.cache, &match.all), 1e-3 * (double)(7 - match.all.device_blocks), 1e-12);
    ck_assert_uint_eq(visit(&c, &more), 6 * BLOCK);
    rc_content *all[] = {&a, &b, &more};
    for (size_t i = 0; i < 3; i++)
        rc_content_free(all[i]);
    rc_prefix_cache_free(&c.cache);
}
END_TEST

/* Random conversations that fork, against all that was ever said: with room for everything a prompt finds the longest
 * beginning that it shares with anything before, in whole blocks. */
START_TEST(with_room_for_all_nothing_is_missed) {
    enum { VISITS = 400, PIECES = 6 };
    for (uint64_t seed = 1; seed <= 20; seed++) {
        cached c;
        begin(&c, 1000000, 0);
        rc_random *random = rc_random_new(seed, "visits");
        static rc_piece said[VISITS][PIECES];
        static size_t counts[VISITS];
        uint64_t ids = 1;
        for (size_t v = 0; v < VISITS; v++) {
            size_t from = v ? rc_random_between(random, 0, v - 1) : 0,
                   keep = v ? rc_random_between(random, 0, counts[from]) : 0;
            keep = keep < PIECES - 1 ? keep : PIECES - 1;
            memcpy(said[v], said[from], keep * sizeof **said);
            if (keep > 0 && rc_random_uniform(random) < 0.5) /* parts inside the last piece it keeps */
                said[v][keep - 1].tokens = (uint32_t)rc_random_between(random, 1, said[v][keep - 1].tokens);
            said[v][keep] = (rc_piece){ids++, (uint32_t)rc_random_between(random, 1, 200)};
            counts[v] = keep + 1;
            uint64_t longest = 0;
            for (size_t before = 0; before < v; before++) {
                uint64_t alike = 0;
                for (size_t p = 0; p < counts[v] && p < counts[before] && said[v][p].id == said[before][p].id; p++) {
                    uint32_t a = said[v][p].tokens, b = said[before][p].tokens;
                    alike += a < b ? a : b;
                    if (a != b)
                        break;
                }
                longest = alike > longest ? alike : longest;
            }
            rc_content content = content_of(said[v], counts[v]);
            ck_assert_uint_eq(visit(&c, &content), longest / BLOCK * BLOCK);
            rc_content_free(&content);
        }
        rc_random_free(random);
        rc_prefix_cache_free(&c.cache);
    }
}
END_TEST

/* ---------- runs */

static rc_run_result *run_of(const char *scenario, const char *const *settings) {
    static rc_run_result result;
    rc_scenario *s = ask(scenario, settings);
    rc_problems *problems = rc_problems_new();
    rc_status status = rc_run(s, NULL, &result, problems);
    ck_assert_msg(status == RC_OK || status == RC_OBJECTIVE_MISSED, "status %d", status);
    rc_problems_free(problems);
    rc_close(s);
    return &result;
}

static const char turns_of_four[] =
    "workload={\"arrival\":{\"kind\":\"closed\",\"clients\":1},\"sessions\":{\"turns\":4,\"system_tokens\":1000},"
    "\"input_tokens\":500,\"output_tokens\":100,\"requests\":8}";

/* Turn k finds the last prompt and its answer but for the last token, whose keys nobody computed; the second session finds
 * what both share. */
START_TEST(turns_find_what_was_said_before) {
    static const char *const models[] = {"llama70b-4xh100", "k3-8xb300"};
    for (size_t m = 0; m < 2; m++) {
        rc_run_result *r =
            run_of(models[m], SETTINGS(turns_of_four, "engine.prefix_cache=true", "engine.kv_block_tokens=64"));
        ck_assert_double_eq(r->completed, 8);
        for (size_t i = 0; i < 8; i++) {
            uint32_t prompt = 1500 + 600 * (i % 4), before = prompt - 500;
            ck_assert_uint_eq(r->requests[i].input_tokens, prompt);
            uint32_t found = i == 0 ? 0 : i % 4 == 0 ? (m == 0 ? 1000 / 64 * 64 : 0) : (before - 1) / 64 * 64;
            ck_assert_uint_eq(r->requests[i].found_tokens, found);
        }
        rc_run_result_free(r);
    }
}
END_TEST

START_TEST(a_summary_replaces_what_was_said) {
    rc_run_result *r = run_of(
        "llama70b-4xh100",
        SETTINGS("workload={\"arrival\":{\"kind\":\"closed\",\"clients\":1},\"sessions\":{\"turns\":6,\"system_"
                 "tokens\":1000,"
                 "\"compact_at\":3000,\"compact_to\":200},\"input_tokens\":500,\"output_tokens\":100,\"requests\":6}",
                 "engine.prefix_cache=true"));
    static const uint32_t prompts[] = {1500, 2100, 2700, 1700, 2300, 2900};
    for (size_t i = 0; i < 6; i++)
        ck_assert_uint_eq(r->requests[i].input_tokens, prompts[i]);
    ck_assert_uint_eq(r->requests[3].found_tokens / 64, 1000 / 64);
    rc_run_result_free(r);
}
END_TEST

/* More room never means fewer hits, nor does a tier below; what it saves is time to the first token. */
START_TEST(more_room_never_finds_less) {
    static const char load[] =
        "workload={\"arrival\":{\"kind\":\"closed\",\"clients\":12},\"sessions\":{\"turns\":6,\"system_tokens\":2000,"
        "\"context_tokens\":20000,\"pause\":\"3s\"},\"input_tokens\":{\"uniform\":[500,1500]},"
        "\"output_tokens\":{\"uniform\":[50,150]},\"requests\":300}";
    static const char *const rooms[] = {"engine.kv_tokens=150000", "engine.kv_tokens=300000",
                                        "engine.kv_tokens=600000"};
    double found[3], ttft[3], with_host[3];
    for (size_t i = 0; i < 3; i++) {
        rc_run_result *r = run_of("llama70b-4xh100", SETTINGS(load, rooms[i], "engine.prefix_cache=true"));
        found[i] = r->found_tokens;
        ttft[i] = r->ttft_s.mean;
        rc_run_result_free(r);
        r = run_of("llama70b-4xh100", SETTINGS(load, rooms[i], "engine.prefix_cache=true", "engine.host_cache=500GB"));
        ck_assert(r->found_tokens >= found[i]);
        with_host[i] = r->ttft_s.mean;
        rc_run_result_free(r);
    }
    ck_assert(found[0] < found[1] && found[1] < found[2]);
    ck_assert(ttft[0] > ttft[1] && ttft[1] > ttft[2]);
    for (size_t i = 0; i < 3; i++)
        ck_assert_msg(with_host[i] <= ttft[i] * 1.001, "%g s with a host tier, %g without", with_host[i], ttft[i]);
}
END_TEST

/* Four replicas, sessions that come back: who stays finds again, and who is sent about does not. */
START_TEST(routers_find_sessions_again) {
    static const char load[] =
        "workload={\"arrival\":{\"kind\":\"closed\",\"clients\":30},\"sessions\":{\"turns\":8,\"context_tokens\":8000,"
        "\"pause\":\"2s\"},\"input_tokens\":{\"uniform\":[200,800]},\"output_tokens\":{\"uniform\":[50,150]},\"requests\":600}";
    static const char *const routers[] = {"router=session-sticky", "router=prefix-aware", "router=fewest-requests",
                                          "router=round-robin"};
    double found[4];
    for (size_t i = 0; i < 4; i++) {
        rc_run_result *r = run_of("llama70b-4xh100", SETTINGS(load, routers[i], "hardware.count=16", "parallel.replicas=4",
                                                              "engine.prefix_cache=true"));
        found[i] = r->found_tokens / r->prompt_tokens;
        ck_assert_double_eq(r->completed, 600);
        rc_run_result_free(r);
    }
    ck_assert_double_gt(found[0], 0.8);
    close_to(found[1], found[0], 0.03);
    ck_assert_double_lt(found[2], found[0]);
    ck_assert_double_lt(found[3], found[0]);
}
END_TEST

int main(void) {
    const TTest *const tree[] = {a_map_finds_what_was_added_and_not_removed,
                                        a_prefix_is_found_up_to_its_last_whole_block,
                                        states_end_where_prompts_end_and_where_paths_part,
                                        states_are_saved_at_intervals_where_asked,
                                        what_was_used_least_recently_goes_first_from_its_end,
                                        what_is_locked_stays,
                                        a_tier_below_keeps_what_had_to_go,
                                        with_room_for_all_nothing_is_missed,
                                        NULL};
    const TTest *const runs[] = {turns_find_what_was_said_before, a_summary_replaces_what_was_said,
                                        more_room_never_finds_less, routers_find_sessions_again, NULL};
    Suite *suite = suite_create("caches");
    add_tests(suite, "tree", tree);
    add_tests(suite, "runs", runs);
    return run_suite(suite);
}
