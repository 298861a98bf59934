/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scenario.h"
#include "catalog.h"
#include "pools.h"
#include "resolve.h"
#include "text.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------- file's shape */

static const char *const weights_names[] = {"checkpoint", "bf16", "fp8", "fp8-tensor", "nvfp4", "mxfp4", "int4", NULL};
static const rc_format_id weights_formats[] = {RC_FORMAT_COUNT, RC_BF16,  RC_FP8, RC_FP8_TENSOR,
                                               RC_NVFP4,        RC_MXFP4, RC_INT4};
const char *const rc_pool_role_names[] = {"any", "prefill", "decode", NULL};
static const char *const placement_names[] = {"packed", "stages-apart", NULL};
static const char *const metric_names[] = {"ttft", "tpot", "itl", "e2e", NULL};

typedef struct price_file {
    const char *book;
    double usd_per_gpu_hour;
} price_file;

typedef struct scenario_file {
    const char *schema, *title, *name;
    rc_model model;
    int weights;
    rc_hardware hardware;
    rc_parallel parallel;
    rc_offload offload;
    rc_engine engine;
    rc_workload workload;
    bool has_workload;
    int role;
    rc_speculation speculation;
    rc_transfer transfer;
    const char *router;
    price_file price;
    const char **objectives;
    size_t objectives_count;
    double seed;
} scenario_file;

/* Pools are opened one by one, each as a scenario of its own. */
static bool pass(const cJSON *json, void *target, const char *path, rc_reader *reader) {
    (void)json, (void)target, (void)path, (void)reader;
    return true;
}

static bool read_model(const cJSON *json, void *target, const char *path, rc_reader *reader) {
    return rc_read_kept(&rc_model_table, json, target, sizeof(rc_model), path, reader) &&
           rc_model_finish(target, path, reader);
}

static bool read_accelerator(const cJSON *json, void *target, const char *path, rc_reader *reader) {
    return rc_read_kept(&rc_accelerator_table, json, target, sizeof(rc_accelerator), path, reader);
}

static bool read_fabric(const cJSON *json, void *target, const char *path, rc_reader *reader) {
    if (!rc_read_kept(&rc_fabric_table, json, target, sizeof(rc_fabric), path, reader))
        return false;
    const rc_fabric *fabric = target;
    char found[32];
    snprintf(found, sizeof found, "%zu levels", fabric->levels_count);
    if (fabric->levels_count != 1 && fabric->levels_count != 2)
        return rc_complain(reader, RC_BAD_VALUE, path, found, "one or two levels", "wrong number of levels");
    bool good = true;
    for (size_t i = 0; i < fabric->levels_count; i++)
        if (fabric->levels[i].bandwidth_of == RC_OF_NIC && isnan(fabric->levels[i].nics))
            good = rc_complain(reader, RC_MISSING_KEY, rc_arena_format(reader->arena, "%s.levels[%zu].nics", path, i),
                               "nothing", "NICs of a node", "the bandwidth is that of one NIC");
    return good;
}

static bool read_stack(const cJSON *json, void *target, const char *path, rc_reader *reader) {
    return rc_read_kept(&rc_stack_table, json, target, sizeof(rc_stack), path, reader);
}

static bool read_workload(const cJSON *json, void *target, const char *path, rc_reader *reader) {
    scenario_file *file = (scenario_file *)(void *)((char *)target - offsetof(scenario_file, workload));
    file->has_workload = true;
    return rc_read_kept(&rc_workload_table, json, target, sizeof(rc_workload), path, reader) &&
           rc_workload_finish(target, path, reader);
}

#define DEGREE(name_text, member, doc_text)                                                                            \
    { name_text, RC_FIELD_COUNT, offsetof(rc_parallel, member), doc_text, .absent = 1, .low = 1, .high = 4096 }

RC_TABLE(rc_parallel_table, rc_parallel, "parallel", "How a replica is split over GPUs.",
         DEGREE("tp", tp, "tensor parallel: heads and columns"), DEGREE("pp", pp, "pipeline stages"),
         DEGREE("ep", ep, "expert parallel, among the tp x dp ranks of a stage"),
         DEGREE("dp", dp, "copies of attention in a replica"),
         DEGREE("dcp", dcp, "decode context parallel: the cache split by position among tp ranks"),
         DEGREE("replicas", replicas, "independent copies of the whole"),
         {"placement", RC_FIELD_CHOICE, offsetof(rc_parallel, placement),
          "packed: a copy on GPUs side by side; stages-apart: stage by stage, copies side by side",
          .choices = placement_names},
         {"balanced_experts", RC_FIELD_BOOL, offsetof(rc_parallel, balanced_experts),
          "experts are placed by popularity (EPLB), not as they are numbered"},
         {"redundant_experts", RC_FIELD_COUNT, offsetof(rc_parallel, redundant_experts),
          "slots for second copies of popular experts, over all ranks", .absent = 0, .low = 0, .high = 65536},
         {"rebalance_steps", RC_FIELD_COUNT, offsetof(rc_parallel, rebalance_steps),
          "steps after which balanced experts are placed anew; 0: never while it runs", .absent = 0, .low = 0,
          .high = 1e9});

RC_LOCAL_TABLE(hardware_table, rc_hardware, "hardware", "The rack.",
               {"accelerator", RC_FIELD_CUSTOM, offsetof(rc_hardware, accelerator), "name, path or object",
                .required = true, .custom = read_accelerator, .custom_schema = "{\"type\":[\"string\",\"object\"]}"},
               {"count", RC_FIELD_COUNT, offsetof(rc_hardware, count), "GPUs", .absent = NAN, .low = 1, .high = 1e6},
               {"per_node", RC_FIELD_COUNT, offsetof(rc_hardware, per_node), "GPUs of a node", .absent = NAN, .low = 1,
                .high = 1024},
               {"fabric", RC_FIELD_CUSTOM, offsetof(rc_hardware, fabric), "name, path or object", .required = true,
                .custom = read_fabric, .custom_schema = "{\"type\":[\"string\",\"object\"]}"},
               {"stack", RC_FIELD_CUSTOM, offsetof(rc_hardware, stack), "name, path or object", .required = true,
                .custom = read_stack, .custom_schema = "{\"type\":[\"string\",\"object\"]}"},
               {"host", RC_FIELD_OBJECT, offsetof(rc_hardware, host), "the host of a node, for weights in its memory",
                .table = &rc_host_table});

#define FIELD(member) offsetof(rc_engine, member)
RC_LOCAL_TABLE(
    engine_table, rc_engine, "engine", "Settings of the serving engine; the stack's own where left out.",
    {"policy", RC_FIELD_TEXT, FIELD(policy), "scheduling policy"},
    {"max_running", RC_FIELD_COUNT, FIELD(max_running), "running requests of a replica", .absent = NAN, .low = 1,
     .high = 1e6},
    {"max_batched_tokens", RC_FIELD_COUNT, FIELD(max_batched_tokens), "tokens of a step", .absent = NAN, .low = 1,
     .high = 1e7},
    {"memory_fraction", RC_FIELD_NUMBER, FIELD(memory_fraction), "share of the usable memory taken", .absent = NAN,
     .low = 0.01, .high = 1},
    {"kv_dtype", RC_FIELD_CHOICE, FIELD(kv_format), "format of the KV cache", .absent = -1, .choices = rc_format_names},
    {"kv_block_tokens", RC_FIELD_COUNT, FIELD(kv_block_tokens), "tokens of a KV block", .absent = NAN, .low = 1,
     .high = 65536},
    {"max_context", RC_FIELD_COUNT, FIELD(max_context), "longest request admitted, in tokens", .absent = INFINITY,
     .low = 1, .high = 1e9},
    {"kv_tokens", RC_FIELD_COUNT, FIELD(kv_tokens),
     "tokens that fit into the cache of a rank, states of requests counted in their place", .absent = NAN, .low = 1,
     .high = 1e12},
    {"graph_tokens", RC_FIELD_COUNT, FIELD(graph_tokens),
     "largest step with prompts that runs as a captured graph, in tokens", .absent = NAN, .low = 0, .high = 1e7},
    {"receive_interval", RC_FIELD_COUNT, FIELD(receive_interval), "decode steps between looks at what came",
     .absent = 1, .low = 1, .high = 1e6},
    {"batch_wait_steps", RC_FIELD_COUNT, FIELD(batch_wait_steps), "decode steps that prompts wait for more of them",
     .absent = 0, .low = 0, .high = 1e6},
    {"batch_wait_share", RC_FIELD_NUMBER, FIELD(batch_wait_share),
     "share of the step's tokens with which they need not wait", .absent = 1, .low = 0, .high = 1},
    {"whole_prompts", RC_FIELD_BOOL, FIELD(whole_prompts), "read a prompt in one step, never in chunks"},
    {"fused_experts", RC_FIELD_BOOL, FIELD(fused_experts),
     "one kernel sends tokens to experts, computes and brings results back (MegaMoE); with EP and DP"},
    {"two_batch_overlap", RC_FIELD_BOOL, FIELD(two_batch_overlap),
     "with EP and DP: a step in two halves, messages to experts of one behind the work of the other"},
    {"vision", RC_FIELD_BOOL, FIELD(vision), "load the vision tower"},
    {"prefix_cache", RC_FIELD_BOOL, FIELD(prefix_cache), "caches are kept for prompts that begin alike"},
    {"host_cache", RC_FIELD_QUANTITY, FIELD(host_cache_bytes),
     "host memory of each GPU for caches that the card has no room to keep", .unit = RC_BYTES},
    {"remote_cache", RC_FIELD_QUANTITY, FIELD(remote_cache_bytes), "a remote store's room for caches, for each GPU",
     .unit = RC_BYTES},
    {"remote_bandwidth", RC_FIELD_QUANTITY, FIELD(remote_bytes_per_s), "from the remote store to a GPU", .absent = NAN,
     .unit = RC_BYTES_PER_S, .positive = true},
    {"state_interval", RC_FIELD_COUNT, FIELD(state_interval),
     "tokens of a prompt between saved recurrent states; 0: where prompts and answers end", .low = 0, .high = 1e9});
#undef FIELD

RC_LOCAL_TABLE(transfer_table, rc_transfer, "transfer", "How caches go from prefill to decode pools.",
               {"bandwidth", RC_FIELD_QUANTITY, offsetof(rc_transfer, bytes_per_s),
                "of a GPU; what the fabrics of the pools allow where left out", .absent = NAN, .unit = RC_BYTES_PER_S,
                .positive = true},
               {"latency", RC_FIELD_QUANTITY, offsetof(rc_transfer, latency_s),
                "of a message; the fabrics' where left out", .absent = NAN, .unit = RC_SECONDS},
               {"overlap", RC_FIELD_BOOL, offsetof(rc_transfer, overlap),
                "layer by layer while the prompt is computed; else when it is done", .absent = 1});

RC_LOCAL_TABLE(price_table, price_file, "price", "What a GPU costs.",
               {"book", RC_FIELD_TEXT, offsetof(price_file, book), "name of a price book"},
               {"usd_per_gpu_hour", RC_FIELD_QUANTITY, offsetof(price_file, usd_per_gpu_hour), "a price of your own",
                .absent = NAN, .unit = RC_USD_PER_HOUR});

#define FIELD(member) offsetof(scenario_file, member)
RC_TABLE(rc_scenario_table, scenario_file, "scenario", "A question: a model on a rack under a load.",
         {"schema", RC_FIELD_TEXT, FIELD(schema), "rackcast/scenario/1", .required = true},
         {"name", RC_FIELD_TEXT, FIELD(name), "the file's name"},
         {"title", RC_FIELD_TEXT, FIELD(title), "what the scenario shows"},
         {"model", RC_FIELD_CUSTOM, FIELD(model), "name, path or object of a model", .required = true,
          .custom = read_model, .custom_schema = "{\"type\":[\"string\",\"object\"]}"},
         {"weights", RC_FIELD_CHOICE, FIELD(weights), "format the weights are stored in", .choices = weights_names},
         {"hardware", RC_FIELD_OBJECT, FIELD(hardware), "the rack, as an object or as \"8xb300\"", .required = true,
          .table = &hardware_table},
         {"parallel", RC_FIELD_OBJECT, FIELD(parallel), "how a replica is split", .table = &rc_parallel_table},
         {"offload", RC_FIELD_OBJECT, FIELD(offload), "weights that lie in host memory", .table = &rc_offload_table},
         {"engine", RC_FIELD_OBJECT, FIELD(engine), "engine settings", .table = &engine_table},
         {"workload", RC_FIELD_CUSTOM, FIELD(workload), "name, path or object of a load", .custom = read_workload,
          .custom_schema = "{\"type\":[\"string\",\"object\"]}"},
         {"transfer", RC_FIELD_OBJECT, FIELD(transfer), "how caches go from prefill to decode pools",
          .table = &transfer_table},
         {"router", RC_FIELD_TEXT, FIELD(router), "which replica a request goes to"},
         {"price", RC_FIELD_OBJECT, FIELD(price), "what a GPU costs", .table = &price_table},
         {"objectives", RC_FIELD_TEXTS, FIELD(objectives), "limits, as \"ttft:2s:p99\"",
          .count_offset = FIELD(objectives_count)},
         {"seed", RC_FIELD_COUNT, FIELD(seed), "of all random numbers", .absent = 1, .low = 0, .high = 9e15},
         {"speculation", RC_FIELD_CUSTOM, FIELD(speculation),
          "a small model drafts tokens, the large one verifies them", .custom = rc_speculation_read,
          .custom_schema = "{\"type\":\"object\",\"required\":[\"draft\",\"tokens\",\"acceptance\"]}"},
         {"role", RC_FIELD_CHOICE, FIELD(role), "what a pool does", .choices = rc_pool_role_names},
         {"pools", RC_FIELD_CUSTOM, 0,
          "several pools of hardware, each with hardware, parallel, engine, offload, price", .custom = pass,
          .custom_schema = "{\"type\":\"array\"}"});
#undef FIELD

/* ---------- layouts */

double rc_replica_gpus(const rc_parallel *p) {
    return p->tp * p->dp * p->pp;
}

double rc_expert_ranks(const rc_parallel *p) {
    return p->tp * p->dp;
}

double rc_expert_tp(const rc_parallel *p) {
    return p->tp * p->dp / p->ep;
}

double rc_stage_gpu(const rc_parallel *p, double copy, double stage) {
    double place = p->placement == RC_PACKED ? copy * p->pp + stage : stage * p->replicas + copy;
    return place * p->tp * p->dp;
}

const char *rc_parallel_text(char *text, size_t size, const rc_parallel *p) {
    size_t used = 0;
    const struct {
        const char *name;
        double degree;
    } parts[] = {{"TP", p->tp}, {"DP", p->dp}, {"EP", p->ep}, {"DCP", p->dcp}, {"PP", p->pp}};
    text[0] = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && used < size; i++)
        if (parts[i].degree > 1)
            used +=
                (size_t)snprintf(text + used, size - used, "%s%s%.0f", used ? "+" : "", parts[i].name, parts[i].degree);
    if (!used)
        used = (size_t)snprintf(text, size, "TP1");
    if (p->replicas > 1 && used < size)
        snprintf(text + used, size - used, " x %.0f replicas", p->replicas);
    return text;
}

/* ---------- filling the gaps */

static void assume(rc_resolution *r, const char *format, const char *value) {
    char text[RC_TEXT_LENGTH];
    snprintf(text, sizeof text, format, value);
    rc_resolution_assume(r, text);
}

static void assume_number(rc_resolution *r, const char *format, double value) {
    char text[RC_TEXT_LENGTH];
    snprintf(text, sizeof text, format, value);
    rc_resolution_assume(r, text);
}

static void fill_number(rc_resolution *r, double *value, double from_stack, const char *format) {
    if (!isnan(*value))
        return;
    *value = from_stack;
    assume_number(r, format, from_stack);
}

static void fill_engine(rc_resolution *r, rc_engine *engine, const rc_stack_engine *defaults) {
    if (!engine->policy) {
        engine->policy = defaults->policy;
        assume(r, "policy: %s (the stack's default)", defaults->policy);
    }
    if (engine->kv_format < 0) {
        engine->kv_format = defaults->kv_format;
        assume(r, "KV cache: %s (the stack's default)", rc_format_names[defaults->kv_format]);
    }
    fill_number(r, &engine->max_running, defaults->max_running, "running requests: at most %.0f (the stack's default)");
    fill_number(r, &engine->max_batched_tokens, defaults->max_batched_tokens,
                "tokens of a step: at most %.0f (the stack's default)");
    fill_number(r, &engine->memory_fraction, defaults->memory_fraction, "memory fraction: %.2f (the stack's default)");
    fill_number(r, &engine->kv_block_tokens, defaults->kv_block_tokens, "KV block: %.0f tokens (the stack's default)");
    if (isnan(engine->graph_tokens) && defaults->graph_tokens == 0)
        engine->graph_tokens = 0;
    fill_number(r, &engine->graph_tokens, defaults->graph_tokens,
                "steps with prompts: captured up to %.0f tokens (the stack's default)");
}

static bool is_power_of_two(double value) {
    double part;
    return value >= 1 && frexp(value, &(int){0}) == 0.5 && modf(value, &part) == 0;
}

/* Where only a count is given: tensor parallelism over a node, pipeline stages over nodes. */
static void fill_layout(rc_resolution *r, rc_hardware *hardware, rc_parallel *parallel, bool given) {
    if (isnan(hardware->per_node))
        hardware->per_node = hardware->accelerator.node;
    if (isnan(hardware->count))
        hardware->count = rc_replica_gpus(parallel) * parallel->replicas;
    if (given || hardware->count == 1)
        return;
    double widest = is_power_of_two(hardware->count) && hardware->count <= 2 * hardware->per_node ? hardware->count
                                                                                                  : hardware->per_node;
    while (widest > 1 && (fmod(hardware->count, widest) != 0 || !is_power_of_two(widest)))
        widest--;
    parallel->tp = widest;
    parallel->pp = hardware->count / widest;
    char text[RC_TEXT_LENGTH];
    assume(r, "layout: %s (no layout was given)", rc_parallel_text(text, sizeof text, parallel));
}

static bool has_problem_below(const rc_problems *problems, const char *path) {
    for (size_t i = 0; i < rc_problems_count(problems); i++)
        if (strncmp(rc_problems_at(problems, i)->path, path, strlen(path)) == 0)
            return true;
    return false;
}

static bool has_experts(const rc_model *model) {
    for (size_t i = 0; i < model->ffns_count; i++)
        if (model->ffns[i].kind == RC_MOE)
            return true;
    return false;
}

static bool check_layout(rc_reader *reader, const rc_model *model, const rc_hardware *hardware, const rc_parallel *p) {
    if (has_problem_below(reader->problems, "parallel") || has_problem_below(reader->problems, "hardware"))
        return false;
    char found[RC_TEXT_LENGTH], expected[RC_TEXT_LENGTH];
    double product = rc_replica_gpus(p) * p->replicas;
    bool good = true;
    if (product != hardware->count) {
        snprintf(found, sizeof found, "tp %.0f x dp %.0f x pp %.0f x replicas %.0f = %.0f", p->tp, p->dp, p->pp,
                 p->replicas, product);
        snprintf(expected, sizeof expected, "a product of %.0f, the count of GPUs", hardware->count);
        good = rc_complain(reader, RC_BAD_VALUE, "parallel", found, expected, "the layout does not use the rack");
    }
    if (fmod(p->tp * p->dp, p->ep) != 0) {
        snprintf(found, sizeof found, "ep %.0f", p->ep);
        snprintf(expected, sizeof expected, "a divisor of tp x dp = %.0f", p->tp * p->dp);
        good = rc_complain(reader, RC_BAD_VALUE, "parallel.ep", found, expected, "EP does not divide the ranks");
    }
    if (p->ep > 1 && model->name && !has_experts(model)) {
        snprintf(found, sizeof found, "ep %.0f", p->ep);
        good = rc_complain(reader, RC_BAD_VALUE, "parallel.ep", found, "1", "the model has no routed experts");
    }
    if (p->redundant_experts > 0 && !p->balanced_experts) {
        snprintf(found, sizeof found, "%.0f", p->redundant_experts);
        good = rc_complain(reader, RC_BAD_VALUE, "parallel.redundant_experts", found,
                           "parallel.balanced_experts true beside it", "copies need popularity to be placed by");
    }
    if (p->rebalance_steps > 0 && !p->balanced_experts)
        good = rc_complain(reader, RC_BAD_VALUE, "parallel.rebalance_steps", "experts placed as they are numbered",
                           "parallel.balanced_experts true beside it", "there is nothing to balance again");
    if (p->balanced_experts && p->ep == 1)
        good = rc_complain(reader, RC_BAD_VALUE, "parallel.balanced_experts", "ep 1", "ep above 1, or false",
                           "without expert parallelism there is nothing to balance");
    if (fmod(p->tp, p->dcp) != 0) {
        snprintf(found, sizeof found, "dcp %.0f", p->dcp);
        snprintf(expected, sizeof expected, "a divisor of tp = %.0f", p->tp);
        good = rc_complain(reader, RC_BAD_VALUE, "parallel.dcp", found, expected, "DCP does not divide TP");
    }
    return good;
}

/* ---------- price, objectives, trace */

static bool find_price(rc_reader *reader, rc_resolution *r, const price_file *given, rc_scenario *s) {
    s->usd_per_gpu_hour = given->usd_per_gpu_hour;
    if (!given->book || !isnan(given->usd_per_gpu_hour))
        return true;
    s->price_book = given->book;
    char *file = rc_catalog_find(RC_CATALOG_PRICES, "prices", r->arena);
    cJSON *json = file ? rc_catalog_load(file, r->problems) : NULL;
    rc_price_books books;
    rc_reader book_reader = {reader->arena, reader->problems, NULL, NULL};
    bool good = json && rc_read(&rc_price_books_table, json, &books, "", &book_reader);
    cJSON_Delete(json);
    if (!good)
        return rc_complain(reader, RC_NO_FILE, "price.book", given->book, "hwmodels/prices.json", "no price books");
    rc_resolution_add_file(r, file);
    const rc_price_book *book = rc_price_book_find(&books, given->book);
    if (!book) {
        const char **names = rc_arena_take(reader->arena, (books.books_count + 1) * sizeof *names);
        for (size_t i = 0; i < books.books_count; i++)
            names[i] = books.books[i].name;
        char words[300];
        rc_choices_text(words, sizeof words, given->book, names, books.books_count);
        return rc_complain(reader, RC_UNKNOWN_NAME, "price.book", given->book, words, "unknown price book");
    }
    if (!s->hardware.accelerator.name)
        return false; /* which was said */
    s->usd_per_gpu_hour = rc_price_find(book, s->hardware.accelerator.name);
    if (isnan(s->usd_per_gpu_hour))
        assume(r, "price: the book has none for %s", s->hardware.accelerator.name);
    return true;
}

/* "ttft:2s:p99"; without a percentile p99. */
static bool read_objective(rc_reader *reader, const char *text, size_t index, rc_objective *objective) {
    char metric[16] = "", limit[32] = "", percentile[16] = "p99", path[64];
    int read = sscanf(text, "%15[^:]:%31[^:]:%15[^\n]", metric, limit, percentile);
    size_t colons = 0;
    for (const char *c = text; *c; c++)
        colons += *c == ':';
    char *end = percentile;
    double rank = percentile[0] == 'p' ? strtod(percentile + 1, &end) : NAN;
    *objective = (rc_objective){.text = text, .metric = RC_METRIC_COUNT, .percentile = rank / 100};
    for (int i = 0; metric_names[i]; i++)
        if (strcmp(metric_names[i], metric) == 0)
            objective->metric = i;
    bool good = read == (int)colons + 1 && objective->metric != RC_METRIC_COUNT && !*end && rank > 0 && rank <= 100 &&
                rc_quantity_parse(limit, RC_SECONDS, &objective->limit_s);
    snprintf(path, sizeof path, "objectives[%zu]", index);
    return good ||
           rc_complain(reader, RC_BAD_VALUE, path, text,
                       "metric:limit:percentile, as \"ttft:2s:p99\" (ttft, tpot, itl or e2e)", "not an objective");
}

/* A trace lies where the path says, beside the scenario, or among the shipped ones. */
static bool find_trace(rc_reader *reader, rc_resolution *r, rc_arrival *arrival) {
    const char *slash = strrchr(r->scenario_file, '/');
    char *beside = rc_arena_format(r->arena, "%.*s%s", slash ? (int)(slash - r->scenario_file) + 1 : 0,
                                   r->scenario_file, arrival->file);
    FILE *here = fopen(arrival->file, "rb"), *there = here ? NULL : fopen(beside, "rb");
    char *shipped = here || there ? NULL : rc_catalog_find(RC_CATALOG_TRACE, arrival->file, r->arena);
    if (here || there)
        fclose(here ? here : there);
    if (!here && !there && !shipped) {
        rc_catalog_complain(RC_CATALOG_TRACE, arrival->file, rc_resolution_file(r, "workload"), "workload.arrival.file",
                            reader->arena, reader->problems);
        return false;
    }
    arrival->file = here ? arrival->file : there ? beside : shipped;
    rc_resolution_add_file(r, arrival->file);
    return true;
}

/* ---------- opening */

/* A histogram has a count for each expert, and enough experts that are chosen at all. */
static bool check_histogram(rc_reader *reader, const rc_scenario *s) {
    const rc_routing *routing = &s->workload.routing;
    char found[RC_TEXT_LENGTH], expected[RC_TEXT_LENGTH];
    double chosen = 0;
    for (size_t e = 0; e < routing->counts_count; e++)
        chosen += routing->counts[e] > 0;
    for (size_t i = 0; i < s->model.ffns_count && routing->kind == RC_ROUTING_HISTOGRAM; i++) {
        const rc_ffn *f = &s->model.ffns[i];
        if (f->kind != RC_MOE || ((double)routing->counts_count == f->experts && chosen > f->top_k))
            continue;
        snprintf(found, sizeof found, "%zu counts, %.0f of them above 0", routing->counts_count, chosen);
        snprintf(expected, sizeof expected, "%.0f, more than %.0f of them above 0", f->experts, f->top_k);
        return rc_complain(reader, RC_BAD_VALUE, "workload.routing.counts", found, expected,
                           "the histogram is of another model");
    }
    return true;
}

static bool check_schema(rc_reader *reader, const char *found) {
    static const char wanted[] = "rackcast/scenario/1";
    return !found || strcmp(found, wanted) == 0 ||
           rc_complain(reader, RC_BAD_VALUE, "schema", found, wanted, "not a scenario of this version");
}

static bool check_caches(rc_reader *reader, const rc_engine *engine) {
    bool below = engine->host_cache_bytes > 0 || engine->remote_cache_bytes > 0, good = true;
    if (below && !engine->prefix_cache)
        good = rc_complain(reader, RC_BAD_VALUE, "engine.prefix_cache", "false", "true",
                           "a cache in host memory or a remote store keeps what the prefix cache has no room for");
    if (engine->remote_cache_bytes > 0 && isnan(engine->remote_bytes_per_s))
        good = rc_complain(reader, RC_MISSING_KEY, "engine.remote_bandwidth", "nothing",
                           "what comes from the store to a GPU, as \"12.5GB/s\"", "a remote store needs a bandwidth");
    return good;
}

static bool fill(rc_scenario *s, const scenario_file *file, rc_resolution *r, rc_reader *reader, bool layout_given) {
    s->model = file->model;
    s->weights_format = weights_formats[file->weights];
    s->hardware = file->hardware;
    s->parallel = file->parallel;
    s->offload = file->offload;
    s->engine = file->engine;
    s->role = file->role;
    s->transfer = file->transfer;
    s->router = file->router;
    s->speculation = file->speculation;
    s->has_workload = file->has_workload;
    s->workload = file->workload;
    s->seed = (uint64_t)file->seed;
    if (s->hardware.accelerator.name)
        fill_layout(r, &s->hardware, &s->parallel, layout_given);
    if (s->hardware.stack.name)
        fill_engine(r, &s->engine, &s->hardware.stack.defaults);
    bool good = check_schema(reader, file->schema);
    good = check_histogram(reader, s) && good;
    good = check_caches(reader, &s->engine) && good;
    good = rc_speculation_finish(&s->speculation, &s->model, reader) && good;
    good = check_layout(reader, &s->model, &s->hardware, &s->parallel) && good;
    if (s->engine.fused_experts && !(has_experts(&s->model) && s->parallel.dp > 1 && s->parallel.ep > 1))
        good = rc_complain(reader, RC_BAD_VALUE, "engine.fused_experts", "true",
                           "a model with routed experts, dp and ep above 1; or false",
                           "only where tokens are sent to experts can one kernel send them and compute");
    if (s->engine.two_batch_overlap && !(has_experts(&s->model) && s->parallel.dp > 1))
        good = rc_complain(reader, RC_BAD_VALUE, "engine.two_batch_overlap", "true",
                           "a model with routed experts and dp above 1; or false",
                           "where no tokens are sent to experts there is nothing to hide");
    good = rc_offload_finish(&s->offload, &s->hardware.host, s->model.layers_total, has_experts(&s->model), reader) &&
           good;
    good = find_price(reader, r, &file->price, s) && good;
    if (file->objectives_count > RC_OBJECTIVES_MAX) {
        char found[32];
        snprintf(found, sizeof found, "%zu", file->objectives_count);
        good = rc_complain(reader, RC_BAD_VALUE, "objectives", found, "at most 16", "too many objectives");
    }
    s->objectives_count = file->objectives_count;
    s->objectives = rc_arena_take(s->arena, (file->objectives_count + 1) * sizeof *s->objectives);
    for (size_t i = 0; i < file->objectives_count; i++)
        good = read_objective(reader, file->objectives[i], i, &s->objectives[i]) && good;
    if (s->has_workload && s->workload.arrival.kind == RC_ARRIVAL_TRACE)
        good = find_trace(reader, r, &s->workload.arrival) && good;
    return good;
}

bool rc_question_changes_rack(const rc_question *question) {
    static const char *const parts[] = {"model", "hardware", "parallel", "pools"};
    for (size_t i = 0; i < question->settings_count; i++)
        for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
            if (strncmp(question->settings[i], parts[p], strlen(parts[p])) == 0)
                return true;
    return false;
}

static void describe_offload(const rc_scenario *s, rc_resolution *r) {
    const rc_offload *o = &s->offload;
    const rc_host *h = &s->hardware.host;
    double layers = s->model.layers_total, whole = o->layers * layers;
    rc_resolution_assume(r, rc_arena_format(s->arena,
                                            "in host memory: %.0f of %.0f layers and the experts of %.0f more, "
                                            "computed by the %s",
                                            whole, layers, fabs(o->experts * (layers - whole)),
                                            o->computed_by == RC_BY_HOST ? "host" : "GPU"));
    rc_resolution_assume(r, rc_arena_format(s->arena,
                                            "the host's link reaches %.0f %%, its memory %.0f %%, its arithmetic "
                                            "%.0f %% (hardware.host)",
                                            100 * h->link_efficiency, 100 * h->memory_efficiency,
                                            100 * h->compute_efficiency));
}

static void describe(rc_scenario *s, const scenario_file *file, rc_resolution *r, const rc_question *question) {
    char layout[64];
    s->name = file->name ? file->name : "";
    s->title =
        file->title && !rc_question_changes_rack(question)
            ? file->title
            : rc_arena_format(s->arena, "%s on %.0f x %s, %s", s->model.title, s->hardware.count,
                              s->hardware.accelerator.title, rc_parallel_text(layout, sizeof layout, &s->parallel));
    if (file->title && !rc_question_changes_rack(question) && question->settings_count)
        s->title = rc_arena_format(s->arena, "%s, %zu setting%s changed", file->title, question->settings_count,
                                   question->settings_count > 1 ? "s" : "");
    bool moe = has_experts(&s->model);
    const rc_hardware *h = &s->hardware;
    if (strcmp(h->stack.accelerator, h->accelerator.name) != 0)
        rc_resolution_assume(r, rc_arena_format(s->arena,
                                                "stack %s was made for %s: its efficiencies are carried over to %s",
                                                h->stack.name, h->stack.accelerator, h->accelerator.name));
    if (rc_offloads(&s->offload))
        describe_offload(s, r);
    if (moe && s->has_workload && !s->workload.routing_given)
        assume_number(
            r, "expert popularity of this traffic: log-normal, sigma %.1f (assumed; 1 to 2 is plausible, 0 is uniform)",
            s->workload.routing.sigma);
    s->assumptions = rc_arena_take(s->arena, (r->assumptions_count + 1) * sizeof *s->assumptions);
    memcpy(s->assumptions, r->assumptions, r->assumptions_count * sizeof *s->assumptions);
    s->assumptions_count = r->assumptions_count;
    s->files = rc_arena_take(s->arena, (r->files_count + 1) * sizeof *s->files);
    memcpy(s->files, r->files, r->files_count * sizeof *s->files);
    s->files_count = r->files_count;
    char *text = rc_json_canonical(r->root);
    s->resolved = rc_arena_text(s->arena, text);
    free(text);
}

rc_scenario *rc_scenario_open_one(rc_resolution *r, const rc_question *question, bool good) {
    size_t before = rc_problems_count(r->problems);
    rc_scenario *s = rc_arena_take(r->arena, sizeof *s);
    s->arena = r->arena;
    rc_reader reader = {r->arena, r->problems, rc_resolution_file, r};
    scenario_file *file = rc_arena_take(r->arena, sizeof *file);
    good = rc_resolve_names(r) && good; /* goes on after a mistake, to find the others */
    good = rc_read(&rc_scenario_table, r->root, file, "", &reader) && good;
    good = fill(s, file, r, &reader, rc_json_get(r->root, "parallel") != NULL) && good;
    if (good)
        describe(s, file, r, question);
    return good && rc_problems_count(r->problems) == before ? s : NULL;
}

/* Without pools there is one kind of hardware, and it does everything. */
static bool has_no_role(const rc_scenario *s, rc_resolution *r) {
    rc_reader reader = {r->arena, r->problems, rc_resolution_file, r};
    return !s || s->role == RC_POOL_ANY ||
           rc_complain(&reader, RC_BAD_VALUE, "role", rc_pool_role_names[s->role], "a list of pools, each with a role",
                       "one kind of hardware does everything");
}

rc_scenario *rc_scenario_open(const rc_question *question, rc_problems *problems) {
    rc_arena *arena = rc_arena_new();
    rc_resolution r = {.arena = arena, .problems = problems};
    bool good = rc_resolve_question(&r, question);
    rc_scenario *s = !r.root                        ? NULL
                     : rc_json_get(r.root, "pools") ? rc_pools_open(&r, question, good)
                                                    : rc_scenario_open_one(&r, question, good);
    if (s && s->pools_count == 0)
        good = has_no_role(s, &r) && good;
    cJSON_Delete(r.root);
    if (s && rc_problems_count(problems) == 0)
        return s;
    rc_arena_free(arena);
    return NULL;
}

void rc_close(rc_scenario *scenario) {
    if (scenario)
        rc_arena_free(scenario->arena);
}

const char *rc_scenario_title(const rc_scenario *scenario) {
    return scenario->title;
}

const char *rc_scenario_resolved(const rc_scenario *scenario) {
    return scenario->resolved;
}
