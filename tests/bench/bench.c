/* SPDX-License-Identifier: GPL-3.0-or-later
 * What things cost, as ratios within one run, since machines are noisy: the event queue against a bare heap, runs by
 * event and by token.  Prints; asserts nothing. */
#include "event_queue.h"
#include "random.h"
#include "scenario.h"
#include "problems.h"
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---------- hold model: pop, push */

__extension__ typedef unsigned __int128 bare_key;

static void bare_down(bare_key *heap, size_t count, size_t at, bare_key key) {
    for (size_t first; (first = 4 * at + 1) < count;) {
        size_t best = first, end = first + 4 < count ? first + 4 : count;
        for (size_t child = first + 1; child < end; child++)
            if (heap[child] < heap[best])
                best = child;
        if (heap[best] >= key)
            break;
        heap[at] = heap[best];
        at = best;
    }
    heap[at] = key;
}

static double hold_bare(size_t pending, size_t holds, rc_random *random) {
    bare_key *heap = malloc(pending * sizeof *heap);
    if (!heap)
        return 0;
    for (size_t i = 0; i < pending; i++)
        heap[i] = (bare_key)i << 64 | i; /* sorted: a heap */
    double began = now_s();
    for (size_t i = 0; i < holds; i++)
        bare_down(heap, pending, 0, heap[0] + ((bare_key)(gsl_rng_uniform(random) * 2e6) << 64));
    double seconds = now_s() - began;
    free(heap);
    return seconds / (double)holds;
}

static double hold_queue(size_t pending, size_t holds, rc_random *random) {
    rc_event_queue *q = rc_event_queue_new();
    for (size_t i = 0; i < pending; i++)
        rc_event_queue_schedule(q, i, 0, (rc_event){0, (uint32_t)i});
    double began = now_s();
    for (size_t i = 0; i < holds; i++) {
        rc_event event;
        rc_event_queue_pop(q, &event);
        rc_event_queue_schedule(q, rc_event_queue_now(q) + (rc_time)(gsl_rng_uniform(random) * 2e6), 0, event);
    }
    double seconds = now_s() - began;
    rc_event_queue_free(q);
    return seconds / (double)holds;
}

static void bench_queue(void) {
    printf("%-34s %12s %12s %8s\n", "event queue, a pop and a push", "bare heap", "queue", "ratio");
    for (size_t pending = 100; pending <= 1000000; pending *= 10) {
        rc_random *random = rc_random_new(1, "bench");
        double bare = hold_bare(pending, 1000000, random), queue = hold_queue(pending, 1000000, random);
        printf("%10zu pending %30.1f ns %9.1f ns %8.2f\n", pending, bare * 1e9, queue * 1e9, queue / bare);
        rc_random_free(random);
    }
}

/* ---------- runs */

static void bench_run(const char *name, const char *scenario, const char *const *settings, size_t count,
                      bool stepwise) {
    rc_problems *problems = rc_problems_new();
    rc_question question = {scenario, settings, count};
    double began = now_s();
    rc_scenario *s = rc_open(&question, problems);
    double opened = now_s() - began;
    rc_run_result r = {0};
    rc_run_options options = {stepwise};
    rc_status status = s ? rc_run(s, &options, &r, problems) : RC_INTERNAL;
    double ran = now_s() - began - opened;
    if (status == RC_OK || status == RC_OBJECTIVE_MISSED)
        printf("%-34s %8.1f ms %8.1f ms %9.0f %10.0f %10.0f %11.0f %8.2f us %8.1f ns\n", name, opened * 1e3, ran * 1e3,
               r.completed, r.events, r.steps, r.output_tokens, ran / r.events * 1e6, ran / r.output_tokens * 1e9);
    else
        printf("%-34s %s\n", name,
               rc_problems_count(problems) ? rc_problems_at(problems, 0)->message : rc_status_name(status));
    rc_run_result_free(&r);
    rc_close(s);
    rc_problems_free(problems);
}

#define BENCH(name, scenario, stepwise, ...)                                                                           \
    bench_run(name, scenario, (const char *const[]){__VA_ARGS__},                                                      \
              sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), stepwise)

int main(int count, char **arguments) {
    char azure[600], trace[700];
    snprintf(azure, sizeof azure, "%s/traces/AzureLLMInferenceTrace_conv.csv", count > 1 ? arguments[1] : "../shared");
    snprintf(trace, sizeof trace, "workload={\"arrival\":{\"kind\":\"trace\",\"file\":\"%s\"}}", azure);
    bench_queue();
    printf("\n%-34s %11s %11s %9s %10s %10s %11s %11s %11s\n", "runs", "open", "run", "requests", "events", "steps",
           "tokens out", "an event", "a token");
    BENCH("K3 8k/1k, 64 clients", "k3-8xb300-8k1k", false, "workload.arrival.clients=64", "workload.requests=1000");
    BENCH("  the same, step by step", "k3-8xb300-8k1k", true, "workload.arrival.clients=64", "workload.requests=1000");
    BENCH("  answers 8 times as long", "k3-8xb300-8k1k", false, "workload.arrival.clients=64", "workload.requests=1000",
          "workload.output_tokens=8192");
    BENCH("Llama 8B, 50,000 requests", "llama70b-4xh100", false, "model=llama-3.1-8b", "hardware=1xh100-sxm",
          "parallel=null", "workload.arrival.rate=10", "workload.requests=50000", "workload.input_tokens=1024",
          "workload.output_tokens=256");
    if (access(azure, R_OK) == 0) {
        BENCH("Azure trace, Llama 70B, 8 x H100", "llama70b-4xh100", false, "hardware=8xh100-sxm", "parallel.tp=8",
              trace);
        BENCH("  the same, step by step", "llama70b-4xh100", true, "hardware=8xh100-sxm", "parallel.tp=8", trace);
    } else
        printf("skipped: %s is not here\n", azure);
    return 0;
}
