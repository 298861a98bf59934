/* SPDX-License-Identifier: GPL-3.0-or-later
 * What traces say of contents, traces written and read again, and loads written down as traces. */
#include "asking.h"
#include "load_trace.h"
#include "random.h"
#include "trace.h"
#include <unistd.h>

/* ---------- reading and writing */

static bool read_text(const char *text, rc_trace *trace) {
    char path[] = "/tmp/rackcast-trace-XXXXXX";
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, text, strlen(text)), (ssize_t)strlen(text));
    close(file);
    rc_problems *problems = rc_problems_new();
    bool good = rc_trace_read(path, NULL, trace, problems);
    ck_assert(good == (rc_problems_count(problems) == 0));
    rc_problems_free(problems);
    unlink(path);
    return good;
}

static rc_trace trace_of(const char *text) {
    rc_trace trace;
    ck_assert(read_text(text, &trace));
    return trace;
}

static char *text_of(const rc_trace *trace) {
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    rc_trace_write(out, trace);
    fclose(out);
    return text;
}

/* Of a row, its answer included. */
static rc_content content_of(const rc_trace *trace, size_t row) {
    const rc_trace_row *r = &trace->rows[row];
    rc_content content = {0};
    for (size_t i = 0; i < r->pieces; i++)
        rc_content_add(&content, trace->pieces[r->first_piece + i].id, trace->pieces[r->first_piece + i].tokens);
    if (r->pieces > 0)
        rc_content_resize(&content, (uint64_t)r->input_tokens + r->output_tokens);
    return content;
}

/* Tokens with which a row's prompt begins like an earlier row's prompt and answer. */
static uint64_t alike(const rc_trace *trace, size_t row, size_t earlier) {
    rc_content a = content_of(trace, row), b = content_of(trace, earlier);
    uint64_t both = rc_content_alike(&a, &b);
    rc_content_free(&a);
    rc_content_free(&b);
    return both < trace->rows[row].input_tokens ? both : trace->rows[row].input_tokens;
}

/* Written and read again, every row begins like the same rows as before, and the second file is the first. */
static void check_writes(const rc_trace *trace) {
    char *text = text_of(trace);
    rc_trace again = trace_of(text);
    ck_assert_uint_eq(again.count, trace->count);
    for (size_t i = 0; i < trace->count; i++) {
        ck_assert_int_eq(again.rows[i].arrival_ns, trace->rows[i].arrival_ns);
        ck_assert_uint_eq(again.rows[i].input_tokens, trace->rows[i].input_tokens);
        ck_assert_uint_eq(again.rows[i].output_tokens, trace->rows[i].output_tokens);
        ck_assert_uint_eq(again.rows[i].session, trace->rows[i].session);
        for (size_t e = 0; e < i; e++)
            ck_assert_uint_eq(alike(&again, i, e), alike(trace, i, e));
    }
    ck_assert_double_eq(again.repeated_tokens, trace->repeated_tokens);
    char *twice = text_of(&again);
    ck_assert_str_eq(twice, text);
    free(twice);
    free(text);
    rc_trace_free(&again);
}

/* ---------- contents */

START_TEST(blocks_fork_where_their_ids_part) {
    rc_trace t = trace_of("arrival_s,input_tokens,output_tokens,hash_ids\n"
                          "0,1500,10,\"[7, 8, 9]\"\n"
                          "1,1400,10,\"[7,8,4]\"\n"
                          "2,2000,10,\"[7,8,9,5]\"\n"
                          "3,600,10,\n"
                          "4,512,10,[3]\n");
    ck_assert_uint_eq(alike(&t, 1, 0), 1024);
    ck_assert_uint_eq(alike(&t, 2, 0), 1500); /* the third block of the first row is not full */
    ck_assert_uint_eq(alike(&t, 2, 1), 1024);
    for (size_t e = 0; e < 3; e++) {
        ck_assert_uint_eq(alike(&t, 3, e), 0); /* not told */
        ck_assert_uint_eq(alike(&t, 4, e), 0);
    }
    ck_assert_uint_eq(t.rows[3].pieces, 0);
    ck_assert_double_eq(t.blocks, 11);
    ck_assert_double_eq(t.repeated_blocks, 5);
    check_writes(&t);
    rc_trace_free(&t);
}
END_TEST

START_TEST(turns_repeat_what_their_session_said) {
    rc_trace t = trace_of("arrival_s,session,input_tokens,cached_tokens,output_tokens\n"
                          "0,a,100,,50\n"    /* nothing was said before */
                          "1,b,100,0,50\n"   /* another session */
                          "2,a,200,,30\n"    /* not said how much: all of it */
                          "3,a,90,,10\n"     /* shorter than what was said: nothing of it */
                          "4,a,120,100,10\n" /* all of it */
                          "5,b,300,120,10\n" /* parts inside the answer */
                          "6,b,300,60,10\n"  /* parts inside the first prompt */
                          "7,b,400,399,10\n" /* more than was said: what was */
                          "8,,400,70,10\n"   /* nobody's: nothing */
                          "9,a,140,130.0,10\n");
    static const uint32_t repeats[] = {0, 0, 150, 0, 100, 120, 60, 310, 0, 130};
    for (size_t i = 0; i < t.count; i++)
        ck_assert_msg(t.rows[i].repeats == repeats[i], "row %zu repeats %u tokens", i, t.rows[i].repeats);
    ck_assert_uint_eq(t.sessions, 2);
    ck_assert_uint_eq(t.rows[8].session, RC_INDEX_NONE);
    ck_assert_uint_eq(alike(&t, 2, 0), 150);
    ck_assert_uint_eq(alike(&t, 2, 1), 0);
    ck_assert_uint_eq(alike(&t, 3, 2), 0);
    ck_assert_uint_eq(alike(&t, 5, 1), 120);
    ck_assert_uint_eq(alike(&t, 6, 5), 60);
    ck_assert_uint_eq(alike(&t, 6, 1), 60); /* and so like what both forked from */
    check_writes(&t);
    rc_trace_free(&t);
}
END_TEST

START_TEST(rows_that_are_not_played_say_nothing) {
    rc_trace t =
        trace_of("arrival_s,session,input_tokens,output_tokens\n0,a,100,50\n1,a,0,50\n2,a,170,0\n3,a,180,50\n");
    ck_assert_uint_eq(t.count, 2);
    ck_assert_uint_eq(t.rows[1].repeats, 150);
    check_writes(&t);
    rc_trace_free(&t);
}
END_TEST

START_TEST(cells_that_make_no_sense_are_refused) {
    static const char *const bad[] = {
        "arrival_s,session,input_tokens,cached_tokens,output_tokens\n0,a,10,11,5\n",
        "arrival_s,session,input_tokens,cached_tokens,output_tokens\n0,a,10,-1,5\n",
        "arrival_s,session,input_tokens,cached_tokens,output_tokens\n0,a,10,x,5\n",
        "arrival_s,session,input_tokens,cached_tokens,output_tokens\n0,a,10,1.5,5\n",
        "arrival_s,session,input_tokens,cached_tokens,output_tokens\n0,a,10,1e19,5\n",
        "arrival_s,input_tokens,output_tokens,hash_ids\n0,513,5,[1]\n",
        "arrival_s,input_tokens,output_tokens,hash_ids\n0,512,5,\"[1,2]\"\n",
        "arrival_s,input_tokens,output_tokens,hash_ids\n0,512,5,[]\n",
        "arrival_s,input_tokens,output_tokens,hash_ids\n0,512,5,1\n",
        "arrival_s,input_tokens,output_tokens,hash_ids\n0,512,5,[1\n",
        "arrival_s,input_tokens,output_tokens,hash_ids\n0,512,5,[a]\n",
        "arrival_s,input_tokens,output_tokens,hash_ids\n0,512,5,[-1]\n",
        "arrival_s,input_tokens,output_tokens,hash_ids\n0,512,5,[99999999999999999999]\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        rc_trace trace;
        ck_assert_msg(!read_text(bad[i], &trace), "trace %zu was read", i);
    }
}
END_TEST

/* Sessions that fork and shrink at random. */
START_TEST(any_trace_is_the_same_when_read_again) {
    enum { ROWS = 60, SESSIONS = 5 };
    for (uint64_t seed = 1; seed <= 20; seed++) {
        rc_random *random = rc_random_new(seed, "rows");
        char text[ROWS * 64] = "arrival_s,session,input_tokens,cached_tokens,output_tokens\n";
        for (size_t i = 0; i < ROWS; i++) {
            uint64_t input = rc_random_between(random, 1, 2000), session = rc_random_between(random, 0, SESSIONS);
            char name[8] = "", cached[16] = "";
            if (session > 0)
                snprintf(name, sizeof name, "s%u", (unsigned)session);
            if (rc_random_uniform(random) < 0.7)
                snprintf(cached, sizeof cached, "%u", (unsigned)rc_random_between(random, 0, input));
            size_t used = strlen(text);
            snprintf(text + used, sizeof text - used, "%zu.5,%s,%u,%s,%u\n", i, name, (unsigned)input, cached,
                     (unsigned)rc_random_between(random, 1, 500));
        }
        rc_trace t = trace_of(text);
        check_writes(&t);
        rc_trace_free(&t);
        rc_random_free(random);
    }
}
END_TEST

/* ---------- loads */

static rc_trace load_of(const char *scenario, const char *const *settings) {
    rc_scenario *s = ask(scenario, settings);
    rc_problems *problems = rc_problems_new();
    rc_trace trace;
    ck_assert(rc_load_trace(&s->workload, s->seed, &trace, problems));
    ck_assert_uint_eq(rc_problems_count(problems), 0);
    rc_problems_free(problems);
    rc_close(s);
    return trace;
}

START_TEST(clients_ask_again_when_a_nominal_answer_ends) {
    rc_trace t = load_of("k3-8xb300-8k1k", SETTINGS("workload.arrival.clients=3", "workload.requests=7"));
    ck_assert_uint_eq(t.count, 7);
    ck_assert_uint_eq(t.sessions, 0);
    double answer_s = 8192. / RC_NOMINAL_PROMPT_TOKENS_PER_S + 1024. / RC_NOMINAL_OUTPUT_TOKENS_PER_S;
    for (size_t i = 0; i < 7; i++)
        ck_assert_double_eq_tol((double)t.rows[i].arrival_ns / 1e9, (double)(i / 3) * answer_s, 1e-8);
    check_writes(&t);
    rc_trace_free(&t);
}
END_TEST

/* One client: turn after turn, each with all that was said, until a summary replaces it. */
START_TEST(turns_of_a_load_are_told_as_they_are) {
    rc_trace t = load_of("llama70b-4xh100",
                         SETTINGS("workload={\"arrival\":{\"kind\":\"closed\",\"clients\":1},\"sessions\":{\"turns\":5,"
                                  "\"system_tokens\":1000,\"compact_at\":2500,\"compact_to\":200},"
                                  "\"input_tokens\":500,\"output_tokens\":100,\"requests\":10}"));
    static const uint32_t inputs[] = {1500, 2100, 1700, 2300, 1700}, repeats[] = {0, 1600, 1000, 1800, 1000};
    double time_s = 0;
    for (size_t i = 0; i < 10; i++) {
        const rc_trace_row *row = &t.rows[i];
        ck_assert_uint_eq(row->session, i / 5);
        ck_assert_uint_eq(row->input_tokens, inputs[i % 5]);
        ck_assert_uint_eq(row->repeats, repeats[i % 5]);
        ck_assert_double_eq_tol((double)row->arrival_ns / 1e9, time_s, 1e-8);
        time_s += (double)(row->input_tokens - row->repeats) / RC_NOMINAL_PROMPT_TOKENS_PER_S +
                  (double)row->output_tokens / RC_NOMINAL_OUTPUT_TOKENS_PER_S;
    }
    rc_trace_free(&t);
}
END_TEST

/* Open sessions with pauses: in order of time, and what is told is what a reader finds. */
START_TEST(an_open_load_is_in_order_and_reads_as_it_was_written) {
    static const char *const mixes[] = {"workload=k3-chat", "workload=k3-agentic"};
    for (size_t m = 0; m < 2; m++) {
        rc_trace t = load_of("k3-8xb300", SETTINGS(mixes[m]));
        ck_assert_uint_eq(t.count, 1000);
        ck_assert_int_eq(t.rows[0].arrival_ns, 0);
        char *text = text_of(&t);
        rc_trace again = trace_of(text);
        ck_assert_uint_eq(again.sessions, t.sessions);
        for (size_t i = 0; i < t.count; i++) {
            ck_assert(i == 0 || t.rows[i].arrival_ns >= t.rows[i - 1].arrival_ns);
            ck_assert_uint_eq(again.rows[i].session, t.rows[i].session);
            ck_assert_uint_eq(again.rows[i].repeats, t.rows[i].repeats);
        }
        ck_assert_double_eq(again.repeated_tokens, t.repeated_tokens);
        free(text);
        rc_trace_free(&again);
        rc_trace_free(&t);
    }
}
END_TEST

START_TEST(a_duration_cuts_a_load_off) {
    rc_trace t = load_of("llama70b-4xh100", SETTINGS("workload.duration=20s"));
    ck_assert_uint_gt(t.count, 20);
    ck_assert_int_le(t.span_ns, INT64_C(20000000000));
    rc_trace_free(&t);
}
END_TEST

int main(void) {
    const TTest *const contents[] = {blocks_fork_where_their_ids_part,      turns_repeat_what_their_session_said,
                                     rows_that_are_not_played_say_nothing,  cells_that_make_no_sense_are_refused,
                                     any_trace_is_the_same_when_read_again, NULL};
    const TTest *const loads[] = {clients_ask_again_when_a_nominal_answer_ends, turns_of_a_load_are_told_as_they_are,
                                  an_open_load_is_in_order_and_reads_as_it_was_written, a_duration_cuts_a_load_off,
                                  NULL};
    Suite *suite = suite_create("traces");
    add_tests(suite, "contents", contents);
    add_tests(suite, "loads", loads);
    return run_suite(suite);
}
