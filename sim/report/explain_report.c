/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "answer_json.h"
#include "table.h"
#include "text.h"

static void part_json(cJSON *list, const rc_part *p) {
    cJSON *entry = cJSON_CreateObject();
    rc_json_add_text(entry, "family", p->family);
    rc_json_add_number(entry, "seconds", p->seconds);
    rc_json_add_number(entry, "bytes", p->bytes);
    rc_json_add_number(entry, "flops", p->flops);
    rc_json_add_text(entry, "bound", p->bound);
    rc_json_add_text(entry, "provenance", p->provenance);
    rc_json_add_number(entry, "hbm_s", p->hbm_s);
    rc_json_add_number(entry, "compute_s", p->compute_s);
    rc_json_add_number(entry, "launch_s", p->launch_s);
    rc_json_add_number(entry, "link_s", p->link_s);
    rc_json_add_number(entry, "host_s", p->host_s);
    if (p->host_link_bytes > 0 || p->host_memory_s > 0) {
        rc_json_add_number(entry, "host_link_s", p->host_link_s);
        rc_json_add_number(entry, "host_link_bytes", p->host_link_bytes);
        rc_json_add_number(entry, "host_memory_s", p->host_memory_s);
    }
    rc_json_add_number(entry, "launches", p->launches);
    cJSON_AddItemToArray(list, entry);
}

/* What a decode step moves to and from the host and what its processors read there; all zero where it has no part. */
typedef struct host_sums {
    double link_bytes, link_s, memory_s;
} host_sums;

static host_sums host_of(const rc_explain_result *r) {
    host_sums sums = {0};
    for (size_t i = 0; i < r->parts_count; i++) {
        sums.link_bytes += r->parts[i].host_link_bytes;
        sums.link_s += r->parts[i].host_link_s;
        sums.memory_s += r->parts[i].host_memory_s;
    }
    return sums;
}

static void host_json(cJSON *a, const rc_explain_result *r) {
    host_sums sums = host_of(r);
    if (sums.link_bytes == 0 && sums.memory_s == 0)
        return;
    cJSON *host = rc_json_add_object(a, "host");
    rc_json_add_number(host, "weights_bytes_per_gpu", r->fit.host_bytes_per_gpu);
    rc_json_add_number(host, "link_bytes_per_step", sums.link_bytes);
    rc_json_add_number(host, "link_s_per_step", sums.link_s);
    rc_json_add_number(host, "memory_s_per_step", sums.memory_s);
}

static cJSON *explain_json(const rc_explain_result *r) {
    cJSON *a = cJSON_CreateObject();
    rc_json_add_text(a, "title", r->title.text);
    rc_json_add_bool(a, "fits", r->fits);
    rc_json_add_number(a, "batch", r->batch);
    rc_json_add_number(a, "context", r->context);
    rc_json_add_number(a, "step_s", r->step_s);
    rc_json_add_number(a, "tokens_per_s", r->batch * r->step_tokens / r->step_s);
    if (r->drafts > 0) {
        rc_json_add_number(a, "drafts", r->drafts);
        rc_json_add_number(a, "step_tokens", r->step_tokens);
    }
    rc_json_add_number(a, "stages", r->stages);
    rc_json_add_number(a, "ceiling_s", r->ceiling_s);
    rc_json_add_number(a, "ceiling_tokens_per_s", r->ceiling_tokens_per_s);
    rc_json_add_number(a, "replication_s", r->replication_s);
    rc_json_add_number(a, "cache_s", r->cache_s);
    rc_json_add_number(a, "weight_bytes", r->weight_bytes);
    rc_json_add_number(a, "weight_bytes_uniform", r->weight_bytes_uniform);
    rc_json_add_number(a, "distinct_experts", r->distinct_experts);
    rc_json_add_number(a, "distinct_experts_uniform", r->distinct_experts_uniform);
    if (r->expert_ranks > 1) {
        cJSON *busiest = rc_json_add_object(a, "busiest_rank");
        rc_json_add_number(busiest, "ranks", r->expert_ranks);
        rc_json_add_number(busiest, "pairs_over_mean", r->busiest_pairs);
        rc_json_add_number(busiest, "experts_over_mean", r->busiest_experts);
        rc_json_add_number(busiest, "prompt_pairs_over_mean", r->busiest_prompt_pairs);
    }
    host_json(a, r);
    cJSON *parts = rc_json_add_array(a, "parts");
    for (size_t i = 0; i < r->parts_count; i++)
        part_json(parts, &r->parts[i]);
    cJSON *prefill = rc_json_add_object(a, "prefill");
    rc_json_add_number(prefill, "tokens", r->prompt);
    rc_json_add_number(prefill, "seconds", r->prefill_s);
    rc_json_add_number(prefill, "frontend_s", r->frontend_s);
    rc_json_add_number(prefill, "ceiling_s", r->prefill_ceiling_s);
    parts = rc_json_add_array(prefill, "parts");
    for (size_t i = 0; i < r->prefill_parts_count; i++)
        part_json(parts, &r->prefill_parts[i]);
    rc_add_texts(a, "assumptions", r->assumptions, r->assumptions_count);
    return a;
}

static void print_parts(FILE *out, const char *heading, const rc_part *parts, size_t count, double whole,
                        rc_format format) {
    rc_text_table *t = rc_text_table_new(9);
    char a[40], b[40], c[40];
    const char *const header[] = {heading,  "time",    "share", "bytes a GPU", "FLOP a GPU",
                                  "memory", "compute", "other", "parameters"};
    for (size_t i = 0; i < 9; i++)
        rc_text_table_cell(t, i, "%s", header[i]);
    for (size_t i = 0; i < count; i++) {
        const rc_part *p = &parts[i];
        rc_text_table_row(t);
        rc_text_table_cell(t, 0, "%s", p->family);
        rc_text_table_cell(t, 1, "%s", rc_quantity_text(a, sizeof a, p->seconds, RC_SECONDS));
        rc_text_table_cell(t, 2, "%.1f %%", 100 * p->seconds / whole);
        rc_text_table_cell(t, 3, "%s", rc_quantity_text(b, sizeof b, p->bytes, RC_BYTES));
        rc_text_table_cell(t, 4, "%.3g", p->flops);
        rc_text_table_cell(t, 5, "%.0f %%", 100 * p->hbm_s / p->seconds);
        rc_text_table_cell(t, 6, "%.0f %%", 100 * p->compute_s / p->seconds);
        rc_text_table_cell(t, 7, "%.0f %%", 100 * (p->seconds - p->hbm_s - p->compute_s) / p->seconds);
        rc_text_table_cell(t, 8, "%s", p->provenance);
    }
    rc_text_table_row(t);
    rc_text_table_cell(t, 0, "sum");
    rc_text_table_cell(t, 1, "%s", rc_quantity_text(c, sizeof c, whole, RC_SECONDS));
    rc_text_table_cell(t, 2, "100 %%");
    rc_text_table_print(t, out, format);
}

static void print_ceiling(FILE *out, const rc_explain_result *r) {
    char a[40], b[40], c[40];
    fprintf(out, "forecast %s a step, %s tokens/s a replica\n", rc_quantity_text(a, sizeof a, r->step_s, RC_SECONDS),
            rc_number_text(b, sizeof b, r->batch * r->step_tokens / r->step_s));
    if (r->drafts > 0)
        fprintf(out, "drafts   %.0f of each sequence are verified, a step brings %.3g tokens\n", r->drafts, r->step_tokens);
    fprintf(out, "ceiling  %s a step, %s tokens/s: each weight read once at the data sheet's bandwidth (%s)\n",
            rc_quantity_text(a, sizeof a, r->ceiling_s, RC_SECONDS),
            rc_number_text(b, sizeof b, r->ceiling_tokens_per_s),
            rc_quantity_text(c, sizeof c, r->weight_bytes, RC_BYTES));
    fprintf(out, "         replicated weights add %s, caches %s\n",
            rc_quantity_text(a, sizeof a, r->replication_s, RC_SECONDS),
            rc_quantity_text(b, sizeof b, r->cache_s, RC_SECONDS));
    if (r->stages > 1)
        fprintf(out, "stages   %.0f: the step is one micro-batch's; %.0f such fill the stages: up to %s tokens/s\n",
                r->stages, r->stages, rc_number_text(a, sizeof a, r->stages * r->batch * r->step_tokens / r->step_s));
    if (r->distinct_experts > 0 && r->distinct_experts == r->distinct_experts_uniform)
        fprintf(out, "experts  %.1f different ones a layer with uniform routing\n", r->distinct_experts);
    else if (r->distinct_experts > 0)
        fprintf(out, "experts  %.1f different ones a layer with this traffic, %.1f with uniform routing (%s)\n",
                r->distinct_experts, r->distinct_experts_uniform,
                rc_quantity_text(a, sizeof a, r->weight_bytes_uniform, RC_BYTES));
    if (r->expert_ranks > 1)
        fprintf(out,
                "         all wait for the busiest of %.0f ranks: %.2f times the mean of pairs and %.2f of experts, "
                "%.2f of a prompt's pairs\n",
                r->expert_ranks, r->busiest_pairs, r->busiest_experts, r->busiest_prompt_pairs);
}

static void print_host(FILE *out, const rc_explain_result *r) {
    host_sums sums = host_of(r);
    char a[40], b[40], c[40];
    if (sums.link_bytes == 0 && sums.memory_s == 0)
        return;
    fprintf(out, "host     %s of weights a GPU lie there; over its link go %s a step, waited for %s",
            rc_quantity_text(a, sizeof a, r->fit.host_bytes_per_gpu, RC_BYTES),
            rc_quantity_text(b, sizeof b, sums.link_bytes, RC_BYTES),
            rc_quantity_text(c, sizeof c, sums.link_s, RC_SECONDS));
    if (sums.memory_s > 0)
        fprintf(out, "; its processors wait %s for its memory",
                rc_quantity_text(a, sizeof a, sums.memory_s, RC_SECONDS));
    fputc('\n', out);
}

static void print_csv_parts(FILE *out, const char *phase, const rc_part *parts, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const rc_part *p = &parts[i];
        const double values[] = {p->seconds, p->bytes,  p->flops,         p->hbm_s,       p->compute_s, p->launch_s,
                                 p->link_s,  p->host_s, p->host_memory_s, p->host_link_s, p->launches};
        fprintf(out, "%s,%s", phase, p->family);
        for (size_t v = 0; v < sizeof values / sizeof *values; v++)
            rc_print_csv_number(out, values[v]);
        fprintf(out, ",%s,%s\n", p->bound, p->provenance);
    }
}

static rc_status print_csv(FILE *out, const rc_explain_result *r) {
    fprintf(out, "phase,family,seconds,bytes,flops,hbm_s,compute_s,launch_s,link_s,host_s,host_memory_s,host_link_s,"
                 "launches,bound,provenance\n");
    print_csv_parts(out, "decode", r->parts, r->parts_count);
    print_csv_parts(out, "prefill", r->prefill_parts, r->prefill_parts_count);
    return RC_OK;
}

rc_status rc_print_explain(FILE *out, const rc_explain_result *r, rc_format format) {
    if (!r->fits)
        return rc_print_fit(out, &r->fit, format);
    if (format == RC_JSON) {
        rc_json_print(out, explain_json(r));
        return RC_OK;
    }
    if (format == RC_CSV)
        return print_csv(out, r);
    char heading[96], tokens[40], a[40], b[40], c[40];
    fprintf(out, "%s\n", r->title.text);
    print_ceiling(out, r);
    print_host(out, r);
    fputc('\n', out);
    snprintf(heading, sizeof heading, "decode, %.0f x %s", r->batch, rc_count_text(tokens, sizeof tokens, r->context));
    print_parts(out, heading, r->parts, r->parts_count, r->step_s, format);
    fputc('\n', out);
    snprintf(heading, sizeof heading, "prefill of %s", rc_count_text(tokens, sizeof tokens, r->prompt));
    print_parts(out, heading, r->prefill_parts, r->prefill_parts_count, r->prefill_s, format);
    fprintf(out, "\nTTFT without a queue: %s, of which front end %s; the prompt's arithmetic at the dense peak: %s\n",
            rc_quantity_text(a, sizeof a, r->prefill_s + r->frontend_s, RC_SECONDS),
            rc_quantity_text(c, sizeof c, r->frontend_s, RC_SECONDS),
            rc_quantity_text(b, sizeof b, r->prefill_ceiling_s, RC_SECONDS));
    rc_print_texts(out, "assumed", r->assumptions, r->assumptions_count);
    return RC_OK;
}
