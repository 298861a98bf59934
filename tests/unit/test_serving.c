/* SPDX-License-Identifier: GPL-3.0-or-later
 * The cache's pages, traces, loads, and what a run must conserve. */
#include "arrivals.h"
#include "asking.h"
#include "kv_pool.h"
#include "metrics.h"
#include "pipeline.h"
#include "timeline.h"
#include "trace.h"
#include <unistd.h>

/* Many sequences, page by page, against counting each one. */
START_TEST(pages_are_counted_ahead) {
    enum { SEQUENCES = 37, PAGE = 16 };
    rc_arena *arena = rc_arena_new();
    rc_random *random = rc_random_new(3, "pages");
    rc_kv_memory memory = {4000, 4000, 0};
    rc_kv_pool pool;
    rc_kv_pool_init(&pool, &memory, PAGE, 2, arena);
    uint64_t cached[SEQUENCES], step = 5;
    for (size_t i = 0; i < SEQUENCES; i++) {
        cached[i] = rc_random_between(random, 1, 300);
        ck_assert(rc_kv_take(&pool, cached[i]));
        rc_kv_decode_begins(&pool, cached[i], step);
    }
    for (int round = 0; round < 40; round++) {
        uint64_t wanted = rc_random_between(random, 1, 50), lasting = rc_kv_steps(&pool, step, wanted);
        rc_kv_advance(&pool, step, lasting);
        step += lasting;
        uint64_t used = 0, needed = 0;
        for (size_t i = 0; i < SEQUENCES; i++) {
            cached[i] += lasting;
            used += rc_kv_blocks(&pool, cached[i]);
            needed += cached[i] % PAGE == 0;
        }
        ck_assert_uint_eq(memory.total - memory.free, used);
        if (lasting < wanted)
            ck_assert_uint_gt(needed, memory.free); /* it stopped because the next step does not fit */
    }
    for (size_t i = 0; i < SEQUENCES; i++) {
        rc_kv_decode_ends(&pool, cached[i], step);
        rc_kv_give(&pool, cached[i]);
    }
    ck_assert_uint_eq(memory.free, memory.total);
    rc_random_free(random);
    rc_arena_free(arena);
}
END_TEST

static bool read_text(const char *text, const char *unit, rc_trace *trace, long *line) {
    char path[] = "/tmp/rackcast-trace-XXXXXX";
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, text, strlen(text)), (ssize_t)strlen(text));
    close(file);
    rc_problems *problems = rc_problems_new();
    bool good = rc_trace_read(path, unit, trace, problems);
    *line = rc_problems_count(problems) ? rc_problems_at(problems, 0)->line : 0;
    ck_assert(good == (rc_problems_count(problems) == 0));
    rc_problems_free(problems);
    unlink(path);
    return good;
}

START_TEST(one_clock_in_many_notations) {
    static const char *const same[] = {
        "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.0010000,3,4\n2023-11-16 18:15:46.0020000,3,4\n"
        "2023-11-16 18:15:46.0090000,3,4\n2023-11-16 18:15:46.011,3,4\n",
        "\"TIMESTAMP\",\"ContextTokens\",\"GeneratedTokens\"\r\n\"2023-11-16T18:15:46.001Z\",3,4\r\n2023-11-16T18:15:"
        "46.002Z,3,4\r\n"
        "2023-11-16T18:15:46.009Z,3,4\r\n2023-11-16T18:15:46.011+00:00,3,4\r\n",
        "arrival_ms,input_tokens,output_tokens\n1,3,4\n2,3,4\n9,3,4\n11,3,4\n",
        "output_tokens,arrival_s,prefill_tokens\n4,1700000000.001,3\n4,1700000000.002,3\n4,1700000000.009,3\n4,"
        "1700000000.0110,3\n",
        "arrival_us;input_tokens;output_tokens\n1000;3;4\n2000;3;4\n9000;3;4\n11000;3;4",
        "{\"timestamp\": 1, \"input_length\": 3, \"output_length\": 4, \"hash_ids\": [0]}\n"
        "{\"timestamp\": 2, \"input_length\": 3, \"output_length\": 4, \"hash_ids\": [1]}\n\n"
        "{\"output_length\": 4, \"timestamp\": 9, \"input_length\": 3, \"more\": {\"a\": 1}}\r\n"
        "{\"timestamp\": 11, \"input_length\": 3, \"output_length\": 4}", /* Mooncake: ms */
        "{\"input_toks\": 3, \"output_toks\": 4, \"arrival_time_ns\": 46926808}\n"
        "{\"input_toks\": 3, \"output_toks\": 4, \"arrival_time_ns\": 47926808}\n"
        "{\"input_toks\": 3, \"output_toks\": 4, \"arrival_time_ns\": 54926808}\n"
        "{\"input_toks\": 3, \"output_toks\": 4, \"arrival_time_ns\": 56926808}\n",
        "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5.001,ChatGPT,3,4,7,API log\n"
        "5.002,GPT-4,3,4,7,API log\n5.009,ChatGPT,3,4,7,API log\n5.011,ChatGPT,3,4,7,API log\n", /* BurstGPT: s */
        "request_id,request_type,application_id,arrival_timestamp,batch_size,prompt_size,token_size\n"
        "0,2,0,0.001,1,3,4\n1,2,0,0.002,1,3,4\n2,2,0,0.009,1,3,4\n3,2,0,0.011,1,3,4\n", /* Splitwise: s */
    };
    static const int64_t wanted[] = {0, 1000000, 8000000, 10000000};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        rc_trace trace;
        long line;
        ck_assert_msg(read_text(same[i], NULL, &trace, &line), "notation %zu, line %ld", i, line);
        ck_assert_uint_eq(trace.count, 4);
        for (size_t row = 0; row < 4; row++) {
            ck_assert_int_eq(trace.rows[row].arrival_ns, wanted[row]);
            ck_assert_uint_eq(trace.rows[row].input_tokens, 3);
            ck_assert_uint_eq(trace.rows[row].output_tokens, 4);
        }
        rc_trace_free(&trace);
    }
}
END_TEST

START_TEST(bad_rows_are_named_by_line) {
    static const struct {
        const char *rows;
        long line;
    } bad[] = {{"0.5,3,4\n1.5,,4\n", 3},
               {"0.5,3,4\n1.5,abc,4\n", 3},
               {"0.5,3,4\n1.5,-3,4\n", 3},
               {"0.5,3,4\n1.5,1e19,4\n", 3},
               {"0.5,3,4\n\n0.25,3,4\n", 4},
               {"0.5,3,4\nx,3,4\n", 3},
               {"0.5,3,4\n-1,3,4\n", 3},
               {"0.5,3,4\n1.5,3,99999999999\n", 3},
               {"0.5,3,4\n2023-11-16 18:15:46,3,4\n", 3},
               {"", 1},
               {"0.5,0,4\n", 1},
               {"0,3,4\n60000,3,4\n120000,3,4\n", 1},
               {"0.5,3,4\n1.5,3.7,4\n", 3}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[256];
        rc_trace trace;
        long line;
        snprintf(text, sizeof text, "arrival_s,input_tokens,output_tokens\n%s", bad[i].rows);
        ck_assert_msg(!read_text(text, NULL, &trace, &line), "rows %zu were read", i);
        ck_assert_msg(line == bad[i].line, "rows %zu: line %ld, expected %ld", i, line, bad[i].line);
    }
    static const struct {
        const char *text;
        long line;
    } objects[] = {
        {"{\"arrival_s\":1,\"input_tokens\":3,\"output_tokens\":4}\n{\"arrival_s\":2,\"input_tokens\":3}\n", 2},
        {"{\"arrival_s\":1,\"input_tokens\":3,\"output_tokens\":4}\n\n[2,3,4]\n", 3},
        {"{\"arrival_s\":1,\"input_tokens\":3,\"output_tokens\":4}\n{\"arrival_s\":2,", 2},
        {"{\"arrival_s\":1,\"input_tokens\":\"x\",\"output_tokens\":4}\n", 1},
        {"{\"input_tokens\":3,\"output_tokens\":4}\n", 1}};
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) {
        rc_trace refused;
        long at;
        ck_assert_msg(!read_text(objects[i].text, NULL, &refused, &at), "objects %zu were read", i);
        ck_assert_msg(at == objects[i].line, "objects %zu: line %ld, expected %ld", i, at, objects[i].line);
    }
    rc_trace trace;
    long line;
    ck_assert(!read_text("timestamp,input_tokens,output_tokens\n1,3,4\n2,3,4\n", NULL, &trace, &line)); /* no unit */
    ck_assert(read_text("timestamp,input_tokens,output_tokens\n1,3,4\n2,3,4\n", "ms", &trace, &line));
    rc_trace_free(&trace);
    ck_assert(read_text("arrival_s,input_tokens,output_tokens\n0,3,4\n1,0,4\n2,3,0\n3,5,6\n", NULL, &trace, &line));
    ck_assert_uint_eq(trace.count, 2);
    ck_assert_uint_eq(trace.skipped_zero, 2);
    rc_trace_free(&trace);
}
END_TEST

START_TEST(loads_have_the_rate_they_ask_for) {
    static const char *const arrivals[] = {"workload.arrival={\"kind\":\"poisson\",\"rate\":3.5}",
                                           "workload.arrival={\"kind\":\"gamma\",\"rate\":3.5,\"cv\":2.5}",
                                           "workload.arrival={\"kind\":\"constant\",\"rate\":3.5}"};
    static const double cvs[] = {1, 2.5, 0};
    rc_problems *problems = rc_problems_new();
    for (size_t i = 0; i < 3; i++) {
        rc_scenario *s = ask("llama70b-4xh100", SETTINGS(arrivals[i], "workload.requests=200000"));
        rc_arrivals a;
        rc_asked asked;
        double previous = 0, sum = 0, squares = 0, count = 0, tokens = 0;
        ck_assert(rc_arrivals_open(&a, &s->workload, false, 17, problems));
        while (rc_arrivals_next(&a, &asked)) {
            double gap = asked.time_s - previous;
            previous = asked.time_s;
            sum += gap;
            squares += gap * gap;
            tokens += asked.turn.input_tokens;
            count++;
        }
        double mean = sum / count, cv = sqrt(fmax(squares / count - mean * mean, 0)) / mean;
        ck_assert_double_eq(count, 200000);
        close_to(mean, 1 / 3.5, 0.02);
        ck_assert_double_eq_tol(cv, cvs[i], 0.05 * cvs[i] + 1e-6);
        close_to(tokens / count, 1024, 0.02);
        rc_arrivals_close(&a);
        rc_close(s);
    }
    rc_problems_free(problems);
}
END_TEST

enum { TICKS = 40, OF_A_TICK = 50, TICKED = TICKS * OF_A_TICK };

/* Many rows at each whole second; the n-th has n input tokens. */
static void write_ticks(const char *path) {
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "arrival_s,input_tokens,output_tokens\n");
    for (int row = 0; row < TICKED; row++)
        fprintf(file, "%d,%d,3\n", row / OF_A_TICK, row + 1);
    fclose(file);
}

/* When each row of the ticking trace came, by its place in the file; NaN where it did not.  Returns how many did, and
 * sees to it that they came in order. */
static size_t play_ticks(const char *arrival, const char *requests, uint64_t seed, double *came_s) {
    char path[] = "/tmp/rackcast-ticks-XXXXXX", setting[300];
    close(mkstemp(path));
    write_ticks(path);
    snprintf(setting, sizeof setting, "workload={\"arrival\":{\"kind\":\"trace\",\"file\":\"%s\"%s}}", path, arrival);
    rc_scenario *s = ask("llama70b-4xh100", SETTINGS(setting, requests));
    rc_problems *problems = rc_problems_new();
    rc_arrivals a;
    rc_asked asked;
    size_t count = 0;
    double before = 0;
    ck_assert(rc_arrivals_open(&a, &s->workload, false, seed, problems));
    for (size_t row = 0; row < TICKED; row++)
        came_s[row] = NAN;
    for (; rc_arrivals_next(&a, &asked); count++) {
        ck_assert_double_ge(asked.time_s, before);
        ck_assert(isnan(came_s[asked.turn.input_tokens - 1]));
        before = came_s[asked.turn.input_tokens - 1] = asked.time_s;
    }
    rc_arrivals_close(&a);
    rc_close(s);
    rc_problems_free(problems);
    unlink(path);
    return count;
}

START_TEST(jitter_spreads_the_rows_of_a_tick) {
    static double plain[TICKED], spread[TICKED], again[TICKED], other[TICKED], far[TICKED];
    const char *all = "workload.requests=null";
    ck_assert_uint_eq(play_ticks("", all, 6, plain), TICKED);
    ck_assert_uint_eq(play_ticks(",\"jitter\":\"1s\"", all, 6, spread), TICKED);
    ck_assert_uint_eq(play_ticks(",\"jitter\":\"1s\"", all, 6, again), TICKED);
    ck_assert_uint_eq(play_ticks(",\"jitter\":\"1s\"", all, 7, other), TICKED);
    ck_assert_uint_eq(play_ticks(",\"jitter\":\"2.5s\"", all, 6, far), TICKED);
    ck_assert_mem_eq(spread, again, sizeof spread);
    ck_assert_mem_ne(spread, other, sizeof spread);
    double sum = 0, squares = 0;
    for (size_t row = 0; row < TICKED; row++) {
        double tick = (double)(row / OF_A_TICK), moved = spread[row] - tick;
        ck_assert_double_eq(plain[row], tick);
        ck_assert(moved >= 0 && moved < 1);
        ck_assert_double_eq_tol(far[row] - tick, 2.5 * moved, 1e-8);
        sum += moved;
        squares += moved * moved;
    }
    double mean = sum / TICKED, error = 4 / sqrt(TICKED); /* a uniform draw: mean 1/2, mean square 1/3 */
    ck_assert_double_eq_tol(mean, 0.5, error * sqrt(1. / 12));
    ck_assert_double_eq_tol(squares / TICKED, 1. / 3, error * sqrt(4. / 45));
}
END_TEST

/* A window, a scale and a number of requests cut the jittered trace as they would cut one whose clock is that fine. */
START_TEST(a_jittered_trace_is_cut_like_any_other) {
    static double whole[TICKED], cut[TICKED], first[TICKED];
    const char *all = "workload.requests=null", *window = ",\"jitter\":\"3s\",\"window\":[7.5,21],\"scale\":4";
    play_ticks(",\"jitter\":\"3s\"", all, 6, whole);
    size_t count = play_ticks(window, all, 6, cut), inside = 0;
    for (size_t row = 0; row < TICKED; row++) {
        bool in = whole[row] >= 7.5 && whole[row] < 21;
        ck_assert_int_eq(in, !isnan(cut[row]));
        ck_assert(!in || fabs(cut[row] - (whole[row] - 7.5) / 4) < 1e-9);
        inside += in;
    }
    ck_assert_uint_eq(count, inside);
    ck_assert_uint_eq(play_ticks(window, "workload.requests=123", 6, first), 123);
    double last = 0;
    for (size_t row = 0; row < TICKED; row++)
        last = fmax(last, first[row]); /* of a row that did not come it is no number, which fmax passes over */
    for (size_t row = 0; row < TICKED; row++)
        ck_assert(isnan(cut[row]) || !isnan(first[row]) == (cut[row] <= last));
}
END_TEST

START_TEST(the_timeline_keeps_its_integral) {
    rc_recorder r;
    rc_timeline t;
    rc_recorder_init(&r);
    double now = 0, area = 0;
    for (int i = 0; i < 5000; i++) {
        double value = i % 7, width = 0.01 * (1 + i % 13);
        rc_recorder_advance(&r, now, 0.5, value, 1, 0.5);
        now += width;
        area += value * width;
    }
    rc_recorder_advance(&r, now, 0.5, 0, 0, 0);
    rc_recorder_finish(&r, &t);
    double sum = 0;
    for (size_t i = 0; i < t.count; i++)
        sum += t.waiting[i] * fmin(t.bucket_s, now - (double)i * t.bucket_s);
    close_to(sum, area, 1e-9);
    close_to(r.waiting_s, area, 1e-9);
    close_to(t.kv_used[3], 0.5, 1e-9);
}
END_TEST

static rc_run_result run_of(const char *scenario, const char *const *settings, bool stepwise) {
    rc_run_result result;
    rc_scenario *s = ask(scenario, settings);
    rc_problems *problems = rc_problems_new();
    rc_run_options options = {stepwise};
    rc_status status = rc_run(s, &options, &result, problems);
    ck_assert_msg(status == RC_OK || status == RC_OBJECTIVE_MISSED, "%s", rc_status_name(status));
    rc_problems_free(problems);
    rc_close(s);
    return result;
}

/* Little's law, tokens, shares: on every kind of run. */
START_TEST(what_goes_in_comes_out) {
    const char *const *const variations[] = {
        SETTINGS("engine.policy=decode-first"),
        SETTINGS("engine.policy=prefill-first"),
        SETTINGS("engine.policy=decode-first", "engine.memory_fraction=0.4745", "engine.max_context=17000",
                 "workload.arrival.rate=6"),
        SETTINGS("workload.arrival={\"kind\":\"closed\",\"clients\":9,\"think_time\":\"2s\"}", "workload.requests=300"),
        SETTINGS("workload.arrival={\"kind\":\"gamma\",\"rate\":3,\"cv\":3}", "workload.requests=500"),
    };
    for (size_t v = 0; v < sizeof variations / sizeof *variations; v++) {
        rc_run_result r = run_of("llama70b-4xh100", variations[v], false);
        double output = 0, input = 0, in_system = 0, breakdown = 0;
        ck_assert_double_eq(r.completed + r.lost, (double)r.requests_count);
        for (size_t i = 0; i < r.requests_count; i++) {
            const rc_request_record *q = &r.requests[i];
            if (q->replica == UINT32_MAX)
                continue;
            output += q->output_tokens;
            input += q->input_tokens;
            in_system += q->finish_s - q->arrival_s;
            ck_assert_double_ge(q->admitted_s, q->arrival_s - 1e-9);
            ck_assert_double_gt(q->first_token_s, q->admitted_s);
            ck_assert_double_ge(q->finish_s, q->first_token_s);
        }
        ck_assert_double_eq(r.output_tokens, output);
        ck_assert_double_eq(r.input_tokens, input);
        double mean = 0; /* requests waiting and running, from the timeline */
        for (size_t i = 0; i < r.timeline.count; i++)
            mean += (r.timeline.waiting[i] + r.timeline.running[i]) *
                    fmin(r.timeline.bucket_s, r.duration_s - (double)i * r.timeline.bucket_s) / r.duration_s;
        close_to(mean, in_system / r.duration_s, 1e-6);
        for (int part = 0; part < RC_TIME_COUNT; part++)
            breakdown += r.breakdown[part];
        close_to(breakdown, 1, 1e-9);
        rc_run_result_free(&r);
    }
}
END_TEST

START_TEST(a_small_cache_preempts_and_loses_nothing) {
    rc_run_result r = run_of("llama70b-4xh100",
                             SETTINGS("engine.memory_fraction=0.4745", "engine.max_context=17000",
                                      "workload.arrival.rate=8", "workload.requests=400", "workload.output_tokens=900"),
                             false);
    ck_assert_double_gt(r.preemptions, 10);
    ck_assert_double_eq(r.completed, 400);
    rc_run_result_free(&r);
}
END_TEST

START_TEST(overload_is_called_overload) {
    rc_run_result calm = run_of("llama70b-4xh100", SETTINGS("workload.arrival.rate=2"), false);
    ck_assert(calm.stationary);
    ck_assert_double_eq(calm.queue_growth_per_s, 0);
    rc_run_result flood =
        run_of("llama70b-4xh100",
               SETTINGS("workload.arrival.rate=200", "workload.requests=5000", "engine.max_running=16"), false);
    ck_assert(!flood.stationary);
    ck_assert_double_gt(flood.queue_growth_per_s, 50);
    rc_run_result_free(&calm);
    rc_run_result_free(&flood);
}
END_TEST

START_TEST(a_cut_run_counts_what_is_left) {
    rc_run_result r =
        run_of("llama70b-4xh100",
               SETTINGS("workload.duration=\"60s\"", "workload.arrival.rate=20", "engine.max_running=32"), false);
    ck_assert_double_gt(r.running, 0);
    ck_assert_double_gt(r.queued, 0);
    ck_assert_double_eq(r.completed + r.queued + r.running + r.lost, (double)r.requests_count);
    close_to(r.duration_s, 60, 0.01);
    rc_run_result_free(&r);
}
END_TEST

/* A request that comes at random waits half an interval longer, on average, for the engine to look. */
START_TEST(an_engine_that_looks_seldom_is_late) {
#define LOAD                                                                                                           \
    "workload.arrival={\"kind\":\"closed\",\"clients\":8,\"think_time\":\"3s\"}", "workload.requests=2000",            \
        "workload.input_tokens=200", "workload.output_tokens=300"
    rc_run_result always = run_of("llama70b-4xh100", SETTINGS(LOAD), false);
    rc_run_result seldom = run_of("llama70b-4xh100", SETTINGS(LOAD, "engine.receive_interval=40"), false);
    double late = seldom.ttft_s.mean - always.ttft_s.mean, half = 20 * always.itl_s.mean;
    ck_assert_double_gt(late, 0.6 * half); /* less than half an interval: at times nothing decodes */
    ck_assert_double_lt(late, 1.1 * half);
    close_to(seldom.output_tokens, always.output_tokens, 1e-12);
    rc_run_result_free(&always);
    rc_run_result_free(&seldom);
#undef LOAD
}
END_TEST

/* Prompts that are read whole share a step only where both fit. */
START_TEST(whole_prompts_are_not_split) {
#define LOAD                                                                                                           \
    "workload.arrival={\"kind\":\"closed\",\"clients\":3}", "workload.requests=3", "workload.input_tokens=1000",       \
        "workload.output_tokens=2", "engine.policy=prefill-first", "hardware.stack.frontend.request=0s",               \
        "hardware.stack.frontend.token=0s", "engine.max_batched_tokens=1500"
    rc_run_result chunked = run_of("llama70b-4xh100", SETTINGS(LOAD), false);
    rc_run_result whole = run_of("llama70b-4xh100", SETTINGS(LOAD, "engine.whole_prompts=true"), false);
    ck_assert_double_eq(chunked.steps, 2 + 1); /* 1,500 and 1,500 tokens, then a decode */
    ck_assert_double_eq(whole.steps, 3 + 1);
    rc_run_result_free(&chunked);
    rc_run_result_free(&whole);
#undef LOAD
}
END_TEST

/* A step with a prompt waits for the host, unless it is small enough to be captured. */
START_TEST(captured_prompts_do_not_wait_for_the_host) {
#define LOAD                                                                                                           \
    "workload.arrival={\"kind\":\"closed\",\"clients\":1}", "workload.requests=3", "workload.input_tokens=200",        \
        "workload.output_tokens=2", "hardware.stack.step.eager_launch=1ms"
    rc_run_result eager = run_of("llama70b-4xh100", SETTINGS(LOAD, "engine.graph_tokens=0"), false);
    rc_run_result larger = run_of("llama70b-4xh100", SETTINGS(LOAD, "engine.graph_tokens=199"), false);
    rc_run_result captured = run_of("llama70b-4xh100", SETTINGS(LOAD, "engine.graph_tokens=200"), false);
    rc_run_result none = run_of("llama70b-4xh100",
                                SETTINGS(LOAD, "engine.graph_tokens=0", "hardware.stack.step.eager_launch=0s"), false);
    ck_assert_double_gt(eager.ttft_s.mean, 2 * captured.ttft_s.mean);
    close_to(larger.ttft_s.mean, eager.ttft_s.mean, 1e-12);
    close_to(captured.ttft_s.mean, none.ttft_s.mean, 1e-12);
    rc_run_result_free(&eager);
    rc_run_result_free(&larger);
    rc_run_result_free(&captured);
    rc_run_result_free(&none);
#undef LOAD
}
END_TEST

/* The cache an engine's log tells of counts; one that the memory could never hold is refused. */
START_TEST(the_cache_is_as_large_as_told) {
    rc_run_result told = run_of("llama70b-4xh100", SETTINGS("engine.kv_tokens=48000", "workload.requests=10"), false);
    rc_run_result own = run_of("llama70b-4xh100", SETTINGS("workload.requests=10"), false);
    close_to(told.fit.kv_capacity_tokens, 48000, 1e-12);
    ck_assert_double_gt(own.fit.kv_capacity_tokens, 48000);
    rc_scenario *beyond = ask("llama70b-4xh100", SETTINGS("engine.kv_tokens=1e9"));
    rc_problems *problems = rc_problems_new();
    rc_fit_result fit;
    ck_assert_int_eq(rc_fit(beyond, &fit, problems), RC_DOES_NOT_FIT);
    ck_assert_ptr_nonnull(strstr(fit.reasons[0].text, "engine.kv_tokens"));
    rc_problems_free(problems);
    rc_close(beyond);
    rc_run_result_free(&told);
    rc_run_result_free(&own);
}
END_TEST

START_TEST(replicas_share_a_load) {
    rc_run_result one = run_of("llama70b-4xh100", SETTINGS("workload.arrival.rate=2"), false);
    rc_run_result two =
        run_of("llama70b-4xh100",
               SETTINGS("hardware.count=8", "parallel.replicas=2", "workload.arrival.rate=4", "workload.requests=4000"),
               false);
    close_to(two.tpot_s.mean, one.tpot_s.mean, 0.05);
    close_to(two.output_tokens_per_s, 2 * one.output_tokens_per_s, 0.05);
    rc_run_result_free(&one);
    rc_run_result_free(&two);
}
END_TEST

enum { STAGE_DONE, FLOWS_DONE, HANDED_OFF };

/* Plays two micro-batches of each copy, one step each of `work_s`, begun together; when each leaves the last stage. */
static void pass_stages(const rc_scenario *s, rc_pass pass, double *left_s) {
    rc_event_queue *queue = rc_event_queue_new();
    const rc_pipeline_events events = {queue, STAGE_DONE, FLOWS_DONE, HANDED_OFF, 0};
    rc_pipelines *p = rc_pipelines_new(s, &events);
    uint32_t count = (uint32_t)(s->parallel.pp * s->parallel.replicas);
    for (uint32_t m = 0; m < count; m++)
        rc_pipelines_enter(p, m, &pass, 1);
    for (rc_event event; rc_event_queue_pop(queue, &event);) {
        uint32_t m;
        double link_s[2];
        if (event.kind == STAGE_DONE && rc_pipelines_stage_done(p, event.subject, &m, link_s))
            left_s[m] = rc_seconds_of(rc_event_queue_now(queue));
        if (event.kind == FLOWS_DONE)
            rc_pipelines_flows_done(p);
        if (event.kind == HANDED_OFF)
            rc_pipelines_handed_off(p, event.subject);
    }
    ck_assert(!rc_pipelines_beyond_clock(p));
    rc_pipelines_free(p);
    rc_event_queue_free(queue);
}

#define STAGED                                                                                                         \
    "model=llama-3.1-8b", "model.layers=[{\"mixer\":\"full\",\"ffn\":\"dense\",\"count\":4}]",                         \
        "hardware.accelerator=h100-sxm", "hardware.fabric=h100-sxm-roce-400", "hardware.fabric.levels.1.latency=1us",  \
        "hardware.stack.collectives=[{\"operation\":\"point-to-point\",\"algorithm\":\"direct\",\"level\":\"outer\","  \
        "\"latency\":\"9us\",\"hops\":1,\"efficiency\":0.8,\"provenance\":\"assumed\"}]"

/* Max-plus by hand: two stages of half a step of 4 s each, a hand-off of 10 us and 8,192 B a token at 40 GB/s. */
START_TEST(stages_are_passed_in_order) {
    rc_scenario *s = ask(NULL, SETTINGS(STAGED, "parallel={\"tp\":8,\"pp\":2}"));
    double left_s[2], hand_off = 10e-6 + 1e6 * 8192 / 40e9;
    pass_stages(s, (rc_pass){4, 1e6, 0}, left_s);
    close_to(left_s[0], 4 + hand_off, 1e-11); /* 0 to 2, handed off, 2 to 4 */
    close_to(left_s[1], 6 + hand_off, 1e-11); /* 2 to 4, handed off while the first still works, then after it */
    rc_close(s);
}
END_TEST

/* Nine chunks of 4 s through four stages of a second: (9 + 3) / 4 steps and three hand-offs.  The first of two micro-batches has
 * the train, the other one pass: it comes second and delays the rest of the train by its second in the first stage. */
START_TEST(a_train_of_chunks_fills_the_stages) {
    enum { CHUNKS = 9 };
    rc_scenario *s = ask(NULL, SETTINGS(STAGED, "parallel={\"tp\":8,\"pp\":4}"));
    double hand_off = 10e-6 + 4096 * 8192 / 40e9;
    rc_pass train[CHUNKS];
    for (int i = 0; i < CHUNKS; i++)
        train[i] = (rc_pass){4, 4096, 0};
    for (int others = 0; others < 2; others++) {
        rc_event_queue *queue = rc_event_queue_new();
        const rc_pipeline_events events = {queue, STAGE_DONE, FLOWS_DONE, HANDED_OFF, 0, 0, 0};
        rc_pipelines *p = rc_pipelines_new(s, &events);
        double left_s[2] = {0, 0};
        rc_pipelines_enter(p, 0, train, CHUNKS);
        if (others)
            rc_pipelines_enter(p, 1, train, 1);
        for (rc_event event; rc_event_queue_pop(queue, &event);) {
            uint32_t m;
            double link_s[2];
            if (event.kind == STAGE_DONE && rc_pipelines_stage_done(p, event.subject, &m, link_s))
                left_s[m] = rc_seconds_of(rc_event_queue_now(queue));
            if (event.kind == FLOWS_DONE)
                rc_pipelines_flows_done(p);
            if (event.kind == HANDED_OFF)
                rc_pipelines_handed_off(p, event.subject);
        }
        close_to(left_s[0], CHUNKS + 3 + others + 3 * hand_off, 1e-11);
        if (others)
            close_to(left_s[1], 5 + 3 * hand_off, 1e-11);
        rc_pipelines_free(p);
        rc_event_queue_free(queue);
    }
    rc_close(s);
}
END_TEST

/* A long prompt alone: two stages of TP4 read it almost as fast as one of TP8, not at half the speed. */
START_TEST(a_long_prompt_fills_stages_by_itself) {
    const char *load = "workload={\"arrival\":{\"kind\":\"closed\",\"clients\":1},\"input_tokens\":120000,"
                       "\"output_tokens\":4,\"requests\":2}";
    rc_run_result one = run_of("llama70b-4xh100", SETTINGS("hardware.count=8", "parallel.tp=8", load, "weights=fp8"),
                               false),
                  two =
                      run_of("llama70b-4xh100",
                             SETTINGS("hardware.count=8", "parallel={\"tp\":4,\"pp\":2}", load, "weights=fp8"), false);
    ck_assert_double_lt(two.ttft_s.mean, 1.2 * one.ttft_s.mean);
    ck_assert_double_gt(two.ttft_s.mean, 0.6 * one.ttft_s.mean);
    ck_assert_double_eq(two.input_tokens, 240000);
    ck_assert_double_eq(two.completed, 2);
    rc_run_result_free(&one);
    rc_run_result_free(&two);
}
END_TEST

/* Two copies side by side, their first stages on one node, their second on another.  With a NIC for each GPU they do not meet;
 * where a node has one for all, the two ranks of a stage and both copies share it: a quarter for each. */
START_TEST(copies_share_the_link_of_a_node) {
    static const char *const owner[] = {"hardware.fabric.levels.1.bandwidth_of=gpu",
                                        "hardware.fabric.levels.1.bandwidth_of=node"};
    for (int of_node = 0; of_node < 2; of_node++) {
        rc_scenario *s =
            ask(NULL, SETTINGS(STAGED, owner[of_node], "hardware.per_node=4", "hardware.fabric.levels.0.reach=4",
                               "parallel={\"tp\":2,\"pp\":2,\"replicas\":2,\"placement\":\"stages-apart\"}"));
        double left_s[4], hand_off = 10e-6 + (of_node ? 4 : 1) * 1e6 * 8192 / 40e9;
        pass_stages(s, (rc_pass){4, 1e6, 0}, left_s);
        close_to(left_s[0], 4 + hand_off, 1e-11);
        close_to(left_s[2], 4 + hand_off, 1e-11);
        rc_close(s);
        s = ask(NULL, SETTINGS(STAGED, owner[of_node], "hardware.per_node=4", "hardware.fabric.levels.0.reach=4",
                               "parallel={\"tp\":2,\"pp\":2,\"replicas\":2}")); /* a copy a node: no NIC */
        pass_stages(s, (rc_pass){4, 1e6, 0}, left_s);
        ck_assert_double_lt(left_s[0], 4 + 10e-6 + 1e6 * 8192 / 40e9);
        rc_close(s);
    }
}
END_TEST

/* Hand-offs that outlast a stage: 20.48 s each.  The first begins at 2 s and is alone for 2 s, then both share: it is done
 * 2 x 18.48 s later, and the second, of which 2 s are left, 2 s after that. */
START_TEST(long_hand_offs_share_their_link) {
    rc_scenario *s = ask(NULL, SETTINGS(STAGED, "parallel={\"tp\":8,\"pp\":2}"));
    double left_s[2];
    pass_stages(s, (rc_pass){4, 1e8, 0}, left_s);
    close_to(left_s[0], 4 + 2 * 18.48 + 10e-6 + 2, 1e-11);
    close_to(left_s[1], 4 + 2 * 18.48 + 2 + 10e-6 + 2, 1e-11);
    rc_close(s);
}
END_TEST

/* Twice the same pool is two replicas; a pool of another kind adds what it can, and each is told apart. */
START_TEST(pools_of_hardware_share_a_load) {
    const char *none = "hardware=null", *plain = "parallel=null", *load = "workload.arrival.clients=48",
               *asked = "workload.requests=480";
    rc_run_result two = run_of("k3-8xb300",
                               SETTINGS(none, plain, load, asked,
                                        "pools=[{\"hardware\":\"8xb300\",\"parallel\":{\"tp\":8}},"
                                        "{\"hardware\":\"8xb300\",\"parallel\":{\"tp\":8}}]"),
                               false),
                  one = run_of("k3-8xb300", SETTINGS(load, asked, "hardware.count=16", "parallel.replicas=2"), false),
                  mixed = run_of("k3-8xb300",
                                 SETTINGS(none, plain, load, asked,
                                          "pools=[{\"hardware\":\"8xb300\",\"parallel\":{\"tp\":8}},"
                                          "{\"hardware\":\"16xb200\",\"parallel\":{\"tp\":8,\"pp\":2}}]"),
                                 false);
    ck_assert_double_eq(two.output_tokens_per_s, one.output_tokens_per_s);
    ck_assert_double_eq(two.ttft_s.mean, one.ttft_s.mean);
    ck_assert_double_eq(two.breakdown[RC_TIME_IDLE], one.breakdown[RC_TIME_IDLE]);
    ck_assert_double_eq(two.usd_per_hour, one.usd_per_hour);
    ck_assert_double_eq(two.ceiling_output_tokens_per_s, one.ceiling_output_tokens_per_s);
    ck_assert_uint_eq(two.pools_count, 2);
    ck_assert_uint_eq(one.pools_count, 0);
    ck_assert_double_eq(two.pools[0].completed + two.pools[1].completed, 480);
    ck_assert_double_eq(two.pools[0].output_tokens + two.pools[1].output_tokens, two.output_tokens);
    ck_assert_uint_eq(mixed.gpus, 24);
    ck_assert_double_eq(mixed.completed, 480);
    ck_assert_double_eq(mixed.pools[0].completed + mixed.pools[1].completed, 480);
    ck_assert_double_gt(mixed.pools[0].completed, 100);
    ck_assert_double_gt(mixed.pools[1].completed, 100);
    uint32_t copies = 0;
    for (size_t i = 0; i < mixed.requests_count; i++)
        copies = mixed.requests[i].replica > copies ? mixed.requests[i].replica : copies;
    ck_assert_uint_eq(copies, 1); /* the micro-batches of the second pool are one copy */
    double shares = 0;
    for (int i = 0; i < RC_TIME_COUNT; i++)
        shares += mixed.breakdown[i];
    close_to(shares, 1, 1e-9);
    rc_run_result_free(&two);
    rc_run_result_free(&one);
    rc_run_result_free(&mixed);
}
END_TEST

/* Collectives of a stage and hand-offs on one link, by hand: stages of 1.5 s of work and 0.5 s of bytes, hand-offs of 3 s and L.
 * The first hand-off has 2 to 3.5 s for itself, then shares what goes out: with the second micro-batch's talk to 4.5, with its
 * hand-off to 6.5.  Stage two works to 8 + L and talks, sharing what comes in: the second hand-off, of which 0.5 - L is left,
 * is done at 9 - L, the talk at 9; the second micro-batch then has stage two for itself, to 11. */
START_TEST(collectives_and_hand_offs_share_a_link) {
    rc_scenario *s = ask(NULL, SETTINGS(STAGED, "parallel={\"tp\":8,\"pp\":2}"));
    double left_s[2];
    pass_stages(s, (rc_pass){4, 3 * 40e9 / 8192, 1}, left_s);
    close_to(left_s[0], 9, 1e-11);
    close_to(left_s[1], 11, 1e-11);
    rc_close(s);
}
END_TEST

/* Four replicas: round robin deals in turn, the others even out what is under way; queues of prompts alike, fewest requests
 * decide.  With lengths as uneven as here, dealing in turn waits longer. */
START_TEST(routers_choose_replicas) {
    static const char *const routers[] = {"router=round-robin", "router=fewest-requests", "router=shortest-queue"};
    double waited[3];
    for (int i = 0; i < 3; i++) {
        rc_run_result r =
            run_of("llama70b-4xh100",
                   SETTINGS(routers[i], "hardware.count=16", "parallel.replicas=4", "engine.max_running=16",
                            "workload.arrival.rate=10", "workload.requests=1200",
                            "workload.output_tokens={\"lognormal\":{\"mean\":256,\"sigma\":1.4,\"max\":4096}}"),
                   false);
        ck_assert_double_eq(r.completed, 1200);
        double of[4] = {0};
        for (size_t q = 0; q < r.requests_count; q++) {
            ck_assert(i > 0 || r.requests[q].replica == q % 4);
            of[r.requests[q].replica]++;
        }
        for (int replica = 0; replica < 4; replica++)
            ck_assert_double_ge(of[replica], 200);
        waited[i] = r.ttft_s.p95;
        rc_run_result_free(&r);
    }
    ck_assert_double_lt(waited[1], waited[0]);
    ck_assert_double_lt(waited[2], waited[0]);
}
END_TEST

/* A request goes to a pool that can hold it, however idle the other is; and what a run says it was can be asked again. */
START_TEST(pools_are_asked_what_they_can_hold) {
    static const char *const settings[] = {
        "model=llama-3.1-8b",
        "pools=[{\"hardware\":\"1xh100-sxm\",\"engine\":{\"max_context\":2000}},{\"hardware\":\"1xh100-sxm\"}]",
        "workload={\"arrival\":{\"kind\":\"poisson\",\"rate\":2},\"input_tokens\":{\"uniform\":[500,6000]},"
        "\"output_tokens\":100,\"requests\":200}",
        NULL};
    rc_run_result r = run_of(NULL, settings, false);
    ck_assert_double_eq(r.completed, 200);
    ck_assert_double_eq(r.lost, 0);
    for (size_t i = 0; i < r.requests_count; i++)
        ck_assert(r.requests[i].replica == 1 || r.requests[i].input_tokens <= 1900);
    char path[] = "/tmp/rackcast-again-XXXXXX.json";
    FILE *out = fdopen(mkstemps(path, 5), "w");
    fputs(r.resolved_scenario, out);
    fclose(out);
    rc_run_result again = run_of(path, NULL, false);
    ck_assert_double_eq(again.output_tokens_per_s, r.output_tokens_per_s);
    ck_assert_double_eq(again.ttft_s.mean, r.ttft_s.mean);
    unlink(path);
    rc_run_result_free(&again);
    rc_run_result_free(&r);
}
END_TEST

static rc_run_result staged(const char *layout, const char *clients, const char *requests) {
    rc_scenario *s = ask("k3-16xb200",
                         SETTINGS(layout, clients, requests, "workload.output_tokens=400", "workload.input_tokens=64"));
    rc_problems *problems = rc_problems_new();
    rc_run_result r;
    ck_assert_int_eq(rc_run(s, NULL, &r, problems), RC_OK);
    rc_problems_free(problems);
    rc_close(s);
    return r;
}

/* One request leaves one of two stages idle; two requests fill both and take hardly longer; bubbles are nobody's input. */
START_TEST(micro_batches_fill_the_stages) {
    const char *two = "parallel={\"tp\":8,\"pp\":2}";
    rc_run_result one = staged(two, "workload.arrival.clients=1", "workload.requests=4"),
                  both = staged(two, "workload.arrival.clients=2", "workload.requests=8"),
                  many = staged(two, "workload.arrival.clients=32", "workload.requests=256");
    ck_assert_double_eq_tol(one.breakdown[RC_TIME_IDLE], 0.5, 0.01);
    ck_assert_double_lt(both.breakdown[RC_TIME_IDLE], 0.05);
    close_to(both.output_tokens_per_s, 2 * one.output_tokens_per_s, 0.05);
    close_to(both.tpot_s.mean, one.tpot_s.mean, 0.05);
    ck_assert_double_eq(many.completed, 256);
    ck_assert_double_eq(many.output_tokens, 256 * 400);
    ck_assert_double_eq(many.input_tokens, 256 * 64);
    ck_assert_double_lt(many.output_tokens_per_s, many.ceiling_output_tokens_per_s);
    ck_assert_double_gt(many.tpot_s.mean, many.ceiling_tpot_s);
    double shares = 0;
    for (int i = 0; i < RC_TIME_COUNT; i++)
        shares += many.breakdown[i];
    close_to(shares, 1, 1e-9);
    for (size_t i = 0; i < many.requests_count; i++)
        ck_assert_uint_eq(many.requests[i].replica, 0); /* micro-batches are of one copy */
    rc_run_result_free(&one);
    rc_run_result_free(&both);
    rc_run_result_free(&many);
}
END_TEST

/* Micro-batches share one cache: what `fit` says fits is never lost, however little is left, and all is answered and freed. */
START_TEST(micro_batches_share_a_cache) {
    static const char *const rooms[] = {"engine.kv_tokens=16384", "engine.kv_tokens=6000", "engine.kv_tokens=2500"};
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++)
        for (int clients = 3; clients <= 24; clients *= 2) {
            char asked[64];
            snprintf(asked, sizeof asked, "workload.arrival.clients=%d", clients);
            rc_run_result r =
                run_of("llama70b-4xh100",
                       SETTINGS("hardware.count=8", "parallel={\"tp\":2,\"pp\":4}", "engine.kv_block_tokens=16",
                                "workload.arrival={\"kind\":\"closed\",\"clients\":3}", asked, rooms[i],
                                "workload.input_tokens={\"uniform\":[64,512]}",
                                "workload.output_tokens={\"uniform\":[2,1800]}", "workload.requests=96"),
                       false);
            ck_assert_double_eq(r.completed, 96);
            ck_assert_double_eq(r.lost, 0);
            double output = 0;
            for (size_t q = 0; q < r.requests_count; q++)
                output += r.requests[q].output_tokens;
            ck_assert_double_eq(r.output_tokens, output);
            ck_assert(i == 0 || clients == 3 || r.preemptions > 0);
            rc_run_result_free(&r);
        }
}
END_TEST

/* Two nodes joined by RoCE: stages beat one group of 16 at every load, and that one beats experts spread over both. */
START_TEST(two_nodes_of_k3_are_ranked) {
    static const char *const layouts[] = {"parallel={\"tp\":8,\"pp\":2}", "parallel={\"tp\":16}",
                                          "parallel={\"tp\":8,\"dp\":2,\"ep\":16}"},
                             *const clients[] = {"workload.arrival.clients=1", "workload.arrival.clients=16",
                                                 "workload.arrival.clients=64"},
                             *const requests[] = {"workload.requests=2", "workload.requests=64",
                                                  "workload.requests=256"};
    for (int load = 0; load < 3; load++) {
        double before = INFINITY;
        for (int layout = 0; layout < 3; layout++) {
            rc_run_result r = staged(layouts[layout], clients[load], requests[load]);
            ck_assert_double_lt(r.output_tokens_per_s, before);
            before = r.output_tokens_per_s;
            rc_run_result_free(&r);
        }
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("serving");
    add_tests(suite, "serving",
              (const TTest *const[]){pages_are_counted_ahead,
                                     one_clock_in_many_notations,
                                     bad_rows_are_named_by_line,
                                     loads_have_the_rate_they_ask_for,
                                     jitter_spreads_the_rows_of_a_tick,
                                     a_jittered_trace_is_cut_like_any_other,
                                     the_timeline_keeps_its_integral,
                                     what_goes_in_comes_out,
                                     a_small_cache_preempts_and_loses_nothing,
                                     overload_is_called_overload,
                                     a_cut_run_counts_what_is_left,
                                     an_engine_that_looks_seldom_is_late,
                                     whole_prompts_are_not_split,
                                     captured_prompts_do_not_wait_for_the_host,
                                     the_cache_is_as_large_as_told,
                                     replicas_share_a_load,
                                     routers_choose_replicas,
                                     pools_of_hardware_share_a_load,
                                     pools_are_asked_what_they_can_hold,
                                     micro_batches_share_a_cache,
                                     stages_are_passed_in_order,
                                     a_train_of_chunks_fills_the_stages,
                                     a_long_prompt_fills_stages_by_itself,
                                     copies_share_the_link_of_a_node,
                                     long_hand_offs_share_their_link,
                                     collectives_and_hand_offs_share_a_link,
                                     micro_batches_fill_the_stages,
                                     two_nodes_of_k3_are_ranked,
                                     NULL});
    return run_suite(suite);
}
