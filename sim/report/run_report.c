/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "answer_json.h"
#include "table.h"
#include "text.h"
#include <math.h>

static bool has_part(const rc_run_result *r, int part) {
    static const int rare[] = {RC_TIME_LINK_INNER, RC_TIME_LINK_OUTER, RC_TIME_LINK_HOST, RC_TIME_HOST_MEMORY};
    bool always = true;
    for (size_t i = 0; i < sizeof rare / sizeof *rare; i++)
        always = always && part != rare[i];
    return always || r->breakdown[part] > 0;
}

/* ---------- JSON */

static void throughput_json(cJSON *object, const rc_run_result *r, double divisor) {
    rc_json_add_number(object, "output_tokens_per_s", r->output_tokens_per_s / divisor);
    rc_json_add_number(object, "input_tokens_per_s", r->input_tokens_per_s / divisor);
    rc_json_add_number(object, "total_tokens_per_s", r->total_tokens_per_s / divisor);
}

static void identity_json(cJSON *a, const rc_run_result *r) {
    rc_json_add_text(a, "title", r->title.text);
    rc_json_add_text(a, "model", r->model.text);
    rc_json_add_text(a, "weights", r->weights_format.text);
    rc_json_add_text(a, "hardware", r->hardware.text);
    rc_json_add_text(a, "stack", r->stack.text);
    rc_json_add_text(a, "policy", r->policy.text);
    rc_json_add_text(a, "load", r->load.text);
    rc_json_add_number(a, "gpus", r->gpus);
    rc_json_add_number(a, "replicas", r->replicas);
}

static void cost_json(cJSON *a, const rc_run_result *r) {
    cJSON *cost = rc_json_add_object(a, "cost");
    rc_json_add_text(cost, "price_book", r->price_book.text);
    rc_json_add_number(cost, "usd_per_gpu_hour", r->usd_per_gpu_hour);
    rc_json_add_number(cost, "usd_per_hour", r->usd_per_hour);
    rc_json_add_number(cost, "usd_per_million_output", r->usd_per_million_output);
    rc_json_add_number(cost, "usd_per_million_input", r->usd_per_million_input);
    rc_json_add_number(cost, "usd_per_million_total", r->usd_per_million_total);
    rc_json_add_number(cost, "output_tokens_per_s_per_usd_hour", r->output_tokens_per_s_per_usd_hour);
}

static void interval_json(cJSON *a, const rc_run_result *r) {
    cJSON *interval = rc_json_add_object(a, "interval");
    rc_add_range(interval, "output_tokens_per_s", &r->interval_output_tokens_per_s);
    rc_add_range(interval, "ttft_s", &r->interval_ttft_s);
    rc_add_range(interval, "tpot_s", &r->interval_tpot_s);
    rc_add_range(interval, "e2e_s", &r->interval_e2e_s);
    rc_json_add_text(a, "interval_provenance", r->interval_provenance);
    rc_json_add_bool(a, "interval_model_seen", r->interval_seen);
}

static void objectives_json(cJSON *a, const rc_run_result *r) {
    cJSON *list = rc_json_add_array(a, "objectives");
    for (size_t i = 0; i < r->objectives_count; i++) {
        cJSON *entry = cJSON_CreateObject();
        rc_json_add_text(entry, "objective", r->objectives[i].text.text);
        rc_json_add_number(entry, "observed", r->objectives[i].observed);
        rc_json_add_number(entry, "limit", r->objectives[i].limit);
        rc_json_add_number(entry, "pass_rate", r->objectives[i].pass_rate);
        rc_json_add_bool(entry, "met", r->objectives[i].met);
        cJSON_AddItemToArray(list, entry);
    }
}

static double share_of(double part, double whole) {
    return whole > 0 ? part / whole : 0;
}

static void timeline_json(cJSON *a, const rc_timeline *t) {
    cJSON *timeline = rc_json_add_object(a, "timeline");
    rc_json_add_number(timeline, "bucket_s", t->bucket_s);
    cJSON_AddItemToObject(timeline, "waiting", cJSON_CreateDoubleArray(t->waiting, (int)t->count));
    cJSON_AddItemToObject(timeline, "running", cJSON_CreateDoubleArray(t->running, (int)t->count));
    cJSON_AddItemToObject(timeline, "kv_used", cJSON_CreateDoubleArray(t->kv_used, (int)t->count));
}

static void pools_json(cJSON *a, const rc_run_result *r) {
    cJSON *list = r->pools_count ? rc_json_add_array(a, "pools") : NULL;
    for (size_t i = 0; i < r->pools_count; i++) {
        const rc_pool_result *p = &r->pools[i];
        cJSON *entry = cJSON_CreateObject();
        rc_json_add_text(entry, "hardware", p->hardware.text);
        rc_json_add_text(entry, "stack", p->stack.text);
        rc_json_add_number(entry, "gpus", p->gpus);
        rc_json_add_number(entry, "replicas", p->replicas);
        rc_json_add_number(entry, "usd_per_hour", p->usd_per_hour);
        rc_json_add_number(entry, "completed", p->completed);
        rc_json_add_number(entry, "output_tokens", p->output_tokens);
        rc_json_add_number(entry, "input_tokens", p->input_tokens);
        cJSON_AddItemToArray(list, entry);
    }
}

static cJSON *run_json(const rc_run_result *r, bool timing) {
    cJSON *a = cJSON_CreateObject();
    identity_json(a, r);
    rc_json_add_bool(a, "fits", r->fits);
    cJSON *requests = rc_json_add_object(a, "requests");
    rc_json_add_number(requests, "completed", r->completed);
    rc_json_add_number(requests, "queued", r->queued);
    rc_json_add_number(requests, "running", r->running);
    rc_json_add_number(requests, "lost", r->lost);
    rc_json_add_number(requests, "preemptions", r->preemptions);
    rc_json_add_number(a, "duration_s", r->duration_s);
    cJSON *throughput = rc_json_add_object(a, "throughput");
    throughput_json(throughput, r, 1);
    throughput_json(rc_json_add_object(throughput, "per_gpu"), r, r->gpus);
    rc_add_percentiles(a, "ttft_s", &r->ttft_s);
    rc_add_percentiles(a, "tpot_s", &r->tpot_s);
    rc_add_percentiles(a, "itl_s", &r->itl_s);
    rc_add_percentiles(a, "e2e_s", &r->e2e_s);
    rc_add_percentiles(a, "queue_s", &r->queue_s);
    cJSON *parts = rc_json_add_object(a, "ttft_parts_s");
    rc_json_add_number(parts, "queue", r->ttft_queue_s);
    rc_json_add_number(parts, "prefill", r->ttft_prefill_s);
    rc_json_add_number(parts, "transfer", r->ttft_transfer_s);
    rc_json_add_number(parts, "first_step", r->ttft_first_step_s);
    rc_json_add_number(a, "interactivity_tokens_per_s", r->interactivity_tokens_per_s);
    rc_json_add_number(a, "concurrency_mean", r->concurrency_mean);
    rc_json_add_number(a, "decode_batch_mean", r->decode_batch_mean);
    cost_json(a, r);
    pools_json(a, r);
    cJSON *breakdown = rc_json_add_object(a, "breakdown");
    for (int part = 0; part < RC_TIME_COUNT; part++)
        if (has_part(r, part))
            rc_json_add_number(breakdown, rc_breakdown_name(r, part), r->breakdown[part]);
    cJSON *ceiling = rc_json_add_object(a, "ceiling");
    rc_json_add_number(ceiling, "output_tokens_per_s", r->ceiling_output_tokens_per_s);
    rc_json_add_number(ceiling, "tpot_s", r->ceiling_tpot_s);
    interval_json(a, r);
    rc_json_add_number(a, "goodput_per_s", r->goodput_per_s);
    objectives_json(a, r);
    cJSON *prefixes = rc_json_add_object(a, "prefix_cache");
    rc_json_add_number(prefixes, "hit_rate", share_of(r->found_tokens, r->prompt_tokens));
    if (r->keeps_prefixes) {
        rc_json_add_number(prefixes, "loaded_rate", share_of(r->loaded_tokens, r->prompt_tokens));
        rc_json_add_number(prefixes, "prompt_tokens", r->prompt_tokens);
        rc_json_add_number(prefixes, "found_tokens", r->found_tokens);
        rc_json_add_number(prefixes, "loaded_tokens", r->loaded_tokens);
    }
    if (r->drafts > 0) {
        cJSON *speculation = rc_json_add_object(a, "speculation");
        rc_json_add_number(speculation, "drafts", r->drafts);
        rc_json_add_number(speculation, "step_tokens", r->step_tokens);
        rc_json_add_text(speculation, "text", r->speculation.text);
    }
    rc_json_add_bool(a, "stationary", r->stationary);
    rc_json_add_number(a, "queue_growth_per_s", r->queue_growth_per_s);
    rc_json_add_number(a, "events", r->events);
    rc_json_add_number(a, "steps", r->steps);
    timeline_json(a, &r->timeline);
    rc_add_texts(a, "assumptions", r->assumptions, r->assumptions_count);
    rc_add_texts(a, "warnings", r->fit.warnings, r->fit.warnings_count);
    rc_json_add_number(a, "seed", (double)r->seed);
    rc_json_add_text(a, "version", RACKCAST_VERSION);
    rc_json_add_text(a, "fingerprint", r->fingerprint);
    if (timing)
        rc_json_add_number(a, "wall_s", r->wall_s);
    return a;
}

/* ---------- for a screen */

static void latency_row(rc_text_table *t, const char *name, const rc_percentiles *p) {
    const double values[] = {p->mean, p->p50, p->p90, p->p95, p->p99};
    char text[40];
    rc_text_table_row(t);
    rc_text_table_cell(t, 0, "%s", name);
    for (size_t i = 0; i < 5; i++)
        rc_text_table_cell(t, i + 1, "%s", rc_quantity_text(text, sizeof text, values[i], RC_SECONDS));
}

static void print_latency(FILE *out, const rc_run_result *r, rc_format format) {
    rc_text_table *t = rc_text_table_new(6);
    const char *const header[] = {"latency of completed requests", "mean", "p50", "p90", "p95", "p99"};
    for (size_t i = 0; i < 6; i++)
        rc_text_table_cell(t, i, "%s", header[i]);
    latency_row(t, "TTFT (time to first token)", &r->ttft_s);
    latency_row(t, "  of which queue", &r->queue_s);
    latency_row(t, "TPOT (time per output token)", &r->tpot_s);
    latency_row(t, "ITL (between two tokens)", &r->itl_s);
    latency_row(t, "E2E (whole answer)", &r->e2e_s);
    rc_text_table_print(t, out, format);
}

static void print_throughput(FILE *out, const rc_run_result *r, rc_format format) {
    rc_text_table *t = rc_text_table_new(5);
    const char *const header[] = {"tokens/s", "rack", "a GPU", "$ a million", "tokens/s per $/h"};
    const struct {
        const char *name;
        double rate, usd;
    } rows[] = {{"output", r->output_tokens_per_s, r->usd_per_million_output},
                {"input", r->input_tokens_per_s, r->usd_per_million_input},
                {"total", r->total_tokens_per_s, r->usd_per_million_total}};
    char a[40], b[40], c[40], d[40];
    for (size_t i = 0; i < 5; i++)
        rc_text_table_cell(t, i, "%s", header[i]);
    for (size_t i = 0; i < 3; i++) {
        rc_text_table_row(t);
        rc_text_table_cell(t, 0, "%s", rows[i].name);
        rc_text_table_cell(t, 1, "%s", rc_number_text(a, sizeof a, rows[i].rate));
        rc_text_table_cell(t, 2, "%s", rc_number_text(b, sizeof b, rows[i].rate / r->gpus));
        rc_text_table_cell(t, 3, "%s", rc_number_text(c, sizeof c, rows[i].usd));
        rc_text_table_cell(t, 4, "%s", rc_number_text(d, sizeof d, rows[i].rate / r->usd_per_hour));
    }
    rc_text_table_print(t, out, format);
}

static void print_bound(FILE *out, const rc_run_result *r) {
    int order[RC_TIME_COUNT];
    for (int i = 0; i < RC_TIME_COUNT; i++)
        order[i] = i;
    for (int i = 1; i < RC_TIME_COUNT; i++)
        for (int j = i; j > 0 && r->breakdown[order[j]] > r->breakdown[order[j - 1]]; j--) {
            int swap = order[j];
            order[j] = order[j - 1];
            order[j - 1] = swap;
        }
    fprintf(out, "bound by ");
    for (int i = 0; i < RC_TIME_COUNT && r->breakdown[order[i]] >= 0.005; i++)
        fprintf(out, "%s%s %.0f %%", i ? ", " : "", rc_breakdown_name(r, order[i]), 100 * r->breakdown[order[i]]);
    fputc('\n', out);
}

static void print_pools(FILE *out, const rc_run_result *r) {
    char a[40];
    for (size_t i = 0; i < r->pools_count; i++) {
        const rc_pool_result *p = &r->pools[i];
        fprintf(out, "pool %zu: %s; %s; %s requests answered, %.0f %% of the output\n", i + 1, p->hardware.text,
                p->stack.text, rc_count_text(a, sizeof a, p->completed), 100 * p->output_tokens / r->output_tokens);
    }
}

static void print_prefixes(FILE *out, const rc_run_result *r) {
    char a[40];
    fprintf(out, "prefix cache: %.1f %% of %s prompt tokens were found",
            100 * share_of(r->found_tokens, r->prompt_tokens), rc_count_text(a, sizeof a, r->prompt_tokens));
    if (r->loaded_tokens > 0)
        fprintf(out, ", %.1f %% loaded from below the card", 100 * share_of(r->loaded_tokens, r->prompt_tokens));
    fprintf(out, "\n");
}

static void print_ttft_parts(FILE *out, const rc_run_result *r) {
    char a[40], b[40], c[40], d[40];
    fprintf(out, "mean TTFT: queue %s, prefill %s, transfer %s, first step %s\n",
            rc_quantity_text(a, sizeof a, r->ttft_queue_s, RC_SECONDS),
            rc_quantity_text(b, sizeof b, r->ttft_prefill_s, RC_SECONDS),
            rc_quantity_text(c, sizeof c, r->ttft_transfer_s, RC_SECONDS),
            rc_quantity_text(d, sizeof d, r->ttft_first_step_s, RC_SECONDS));
}

static void print_head(FILE *out, const rc_run_result *r) {
    char a[40], b[40];
    if (r->pools_count)
        fprintf(out, "%s\n%s; %s\n", r->title.text, r->policy.text, r->load.text);
    else
        fprintf(out, "%s\n%s; %s; %s; %s\n", r->title.text, r->hardware.text, r->stack.text, r->policy.text,
                r->load.text);
    print_pools(out, r);
    fprintf(out, "fits: weights %.1f GB of %.1f GB usable a GPU, room for %s tokens a replica\n",
            r->fit.weights_bytes_per_gpu / 1e9, r->fit.memory_usable_bytes / 1e9,
            rc_count_text(a, sizeof a, r->fit.kv_capacity_tokens));
    fprintf(out, "%s requests completed in %s", rc_count_text(a, sizeof a, r->completed),
            rc_quantity_text(b, sizeof b, r->duration_s, RC_SECONDS));
    if (r->queued + r->running > 0)
        fprintf(out, ", %.0f queued and %.0f running at the end", r->queued, r->running);
    if (r->lost > 0)
        fprintf(out, ", %.0f lost (can never be held)", r->lost);
    if (r->preemptions > 0)
        fprintf(out, ", %.0f preemptions", r->preemptions);
    fprintf(out, "; %.1f running on average\n", r->concurrency_mean);
    if (r->keeps_prefixes)
        print_prefixes(out, r);
    if (r->hands_over)
        print_ttft_parts(out, r);
    if (r->drafts > 0)
        fprintf(out, "speculation: %s; a step brings %.3g tokens a sequence\n", r->speculation.text, r->step_tokens);
    if (!r->stationary)
        fprintf(out, "OVERLOAD: the queue grows by %.3g requests a second; latencies depend on how long this lasts\n",
                r->queue_growth_per_s);
}

static void print_trust(FILE *out, const rc_run_result *r) {
    char a[40], b[40], c[40], d[40];
    fprintf(out, "how sure: %s to %s output tokens/s, TPOT %s to %s (%.0f %% up and down, %s)\n",
            rc_number_text(a, sizeof a, r->interval_output_tokens_per_s.low),
            rc_number_text(b, sizeof b, r->interval_output_tokens_per_s.high),
            rc_quantity_text(c, sizeof c, r->interval_tpot_s.low, RC_SECONDS),
            rc_quantity_text(d, sizeof d, r->interval_tpot_s.high, RC_SECONDS), 100 * r->interval_share,
            r->interval_provenance);
    fprintf(out, "          TTFT %s to %s (%.0f %%)%s\n",
            rc_quantity_text(a, sizeof a, r->interval_ttft_s.low, RC_SECONDS),
            rc_quantity_text(b, sizeof b, r->interval_ttft_s.high, RC_SECONDS), 100 * r->interval_ttft_share,
            r->interval_seen ? "" : "; wider, as no published figure of this model under this stack was used");
    fprintf(out, "ceiling:  %s output tokens/s, TPOT %s at %.1f sequences a step: each weight once, sheet bandwidth\n",
            rc_number_text(a, sizeof a, r->ceiling_output_tokens_per_s),
            rc_quantity_text(b, sizeof b, r->ceiling_tpot_s, RC_SECONDS), r->decode_batch_mean);
}

static void print_objectives(FILE *out, const rc_run_result *r) {
    char a[40];
    for (size_t i = 0; i < r->objectives_count; i++)
        fprintf(out, "objective %s: %s (%s; %.1f %% of requests within)\n", r->objectives[i].text.text,
                r->objectives[i].met ? "met" : "MISSED",
                rc_quantity_text(a, sizeof a, r->objectives[i].observed, RC_SECONDS), 100 * r->objectives[i].pass_rate);
    if (r->objectives_count)
        fprintf(out, "goodput %.4g requests/s meet every objective\n", r->goodput_per_s);
}

static void print_money(FILE *out, const rc_run_result *r) {
    if (isnan(r->usd_per_hour))
        fprintf(out, "no price: add price.book or price.usd_per_gpu_hour\n");
    else
        fprintf(out, "price: $%.2f per GPU-hour, $%.2f/h the rack (%s)\n", r->usd_per_gpu_hour, r->usd_per_hour,
                r->price_book.text);
}

/* One row a run, for spreadsheets. */
static void print_csv(FILE *out, const rc_run_result *r) {
    fprintf(out, "title,hardware,stack,completed,duration_s,output_tokens_per_s,input_tokens_per_s,total_tokens_per_s,"
                 "ttft_mean_s,ttft_p50_s,ttft_p90_s,ttft_p95_s,ttft_p99_s,tpot_mean_s,tpot_p50_s,tpot_p90_s,tpot_p95_s,"
                 "tpot_p99_s,e2e_p50_s,e2e_p99_s,usd_per_hour,usd_per_million_output,stationary,fingerprint\n");
    const double values[] = {r->completed,
                             r->duration_s,
                             r->output_tokens_per_s,
                             r->input_tokens_per_s,
                             r->total_tokens_per_s,
                             r->ttft_s.mean,
                             r->ttft_s.p50,
                             r->ttft_s.p90,
                             r->ttft_s.p95,
                             r->ttft_s.p99,
                             r->tpot_s.mean,
                             r->tpot_s.p50,
                             r->tpot_s.p90,
                             r->tpot_s.p95,
                             r->tpot_s.p99,
                             r->e2e_s.p50,
                             r->e2e_s.p99,
                             r->usd_per_hour,
                             r->usd_per_million_output};
    const char *const texts[] = {r->title.text, r->hardware.text, r->stack.text};
    for (size_t i = 0; i < 3; i++) {
        fputs(i ? "," : "", out);
        rc_print_csv_cell(out, texts[i]);
    }
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        rc_print_csv_number(out, values[i]);
    fprintf(out, ",%s,%s\n", r->stationary ? "true" : "false", r->fingerprint);
}

rc_status rc_print_run(FILE *out, const rc_run_result *r, rc_format format, bool timing) {
    if (!r->fits || format == RC_LOG)
        return rc_print_fit(out, &r->fit, format);
    if (format == RC_JSON) {
        rc_json_print(out, run_json(r, timing));
        return RC_OK;
    }
    if (format == RC_CSV) {
        print_csv(out, r);
        return RC_OK;
    }
    print_head(out, r);
    fputc('\n', out);
    print_throughput(out, r, format);
    print_money(out, r);
    fputc('\n', out);
    print_latency(out, r, format);
    fputc('\n', out);
    print_bound(out, r);
    print_trust(out, r);
    print_objectives(out, r);
    for (size_t i = 0; i < r->fit.warnings_count; i++)
        fprintf(out, "warning: %s\n", r->fit.warnings[i].text);
    rc_print_texts(out, "assumed", r->assumptions, r->assumptions_count);
    if (timing)
        fprintf(out, "\nsimulated in %.3f ms, %.0f events, %.0f steps\n", r->wall_s * 1e3, r->events, r->steps);
    return RC_OK;
}
