/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stack.h"
#include "number_format.h"
#include <math.h>
#include <string.h>

const char *const rc_provenance_names[] = {"measured", "fitted", "transferred", "assumed", NULL};
const char *const rc_operation_names[] = {"all-reduce", "all-to-all", "point-to-point", "dispatch",
                                          "combine",    "all-gather", "reduce-scatter", NULL};
const char *const rc_algorithm_names[] = {"one-shot", "two-shot",        "ring",          "tree", "nvls",
                                          "direct",   "copy-per-expert", "copy-per-rank", NULL};
const char *const rc_level_names[] = {"inner", "outer", NULL};

#define PROVENANCE(type)                                                                                               \
    {"provenance",                                                                                                     \
     RC_FIELD_CHOICE,                                                                                                  \
     offsetof(type, provenance),                                                                                       \
     "measured, fitted, transferred or assumed",                                                                       \
     .required = true,                                                                                                 \
     .choices = rc_provenance_names},                                                                                  \
    {                                                                                                                  \
        "source", RC_FIELD_TEXT, offsetof(type, source), "where the numbers come from"                                 \
    }

RC_LOCAL_TABLE(
    kernel_table, rc_kernel, "kernel",
    "One kernel family: t = (launch + unit_time units + group_time groups + depth_time depth + p-norm of memory and "
    "compute) x its curves.",
    {"launch", RC_FIELD_QUANTITY, offsetof(rc_kernel, launch_s), "launch and ramp of the kernel", .required = true,
     .unit = RC_SECONDS},
    {"memory_efficiency", RC_FIELD_NUMBER, offsetof(rc_kernel, memory_efficiency),
     "share of the sheet's bandwidth it reaches", .required = true, .low = 0.001, .high = 1},
    {"compute_efficiency", RC_FIELD_NUMBER, offsetof(rc_kernel, compute_efficiency),
     "share of the dense peak it reaches", .required = true, .low = 0.001, .high = 1},
    {"sharpness", RC_FIELD_NUMBER, offsetof(rc_kernel, sharpness), "exponent of the p-norm", .absent = 2.5, .low = 1,
     .high = 20},
    {"peak", RC_FIELD_CHOICE, offsetof(rc_kernel, peak), "which peak", .choices = rc_peak_names},
    {"unit_time", RC_FIELD_QUANTITY, offsetof(rc_kernel, unit_time_s), "cost of a unit of work", .unit = RC_SECONDS},
    {"group_time", RC_FIELD_QUANTITY, offsetof(rc_kernel, group_time_s), "cost of an expert with a token",
     .unit = RC_SECONDS},
    {"depth_time", RC_FIELD_QUANTITY, offsetof(rc_kernel, depth_time_s),
     "cost of a column that a GEMM sums over, of a key that the longest chunk sees", .unit = RC_SECONDS},
    {"column_tile", RC_FIELD_COUNT, offsetof(rc_kernel, column_tile), "columns are rounded up to it", .absent = 1,
     .low = 1, .high = 65536},
    {"token_tile", RC_FIELD_COUNT, offsetof(rc_kernel, token_tile), "widest tile of the tokens of an expert",
     .absent = 1, .low = 1, .high = 65536},
    {"head_tile", RC_FIELD_COUNT, offsetof(rc_kernel, head_tile), "query heads are rounded up to it", .absent = 1,
     .low = 1, .high = 1024},
    {"query_tile", RC_FIELD_COUNT, offsetof(rc_kernel, query_tile),
     "rows of a tile of prefill; whole tiles are computed", .absent = 1, .low = 1, .high = 4096},
    {"packs_heads", RC_FIELD_BOOL, offsetof(rc_kernel, packs_heads), "heads of one KV head share the rows of a tile"},
    {"fast_heads", RC_FIELD_COUNT, offsetof(rc_kernel, fast_heads),
     "it exists for multiples of so many heads and their divisors; else NAME-fallback runs", .absent = 0, .low = 1,
     .high = 4096},
    {"curves", RC_FIELD_LIST, offsetof(rc_kernel, curves), "factors on the whole, by the shape of a call",
     .table = &rc_shape_curve_table, .count_offset = offsetof(rc_kernel, curves_count)},
    PROVENANCE(rc_kernel),
    {"samples", RC_FIELD_COUNT, offsetof(rc_kernel, samples), "measured rows it was fitted to", .absent = NAN},
    {"shapes", RC_FIELD_TEXT, offsetof(rc_kernel, shapes), "range of shapes it was fitted to"},
    {"median_error", RC_FIELD_NUMBER, offsetof(rc_kernel, median_error), "on those rows, as a share", .absent = NAN},
    {"p90_error", RC_FIELD_NUMBER, offsetof(rc_kernel, p90_error), "on those rows, as a share", .absent = NAN});

RC_LOCAL_TABLE(collective_table, rc_collective, "collective", "One algorithm of one collective on one level.",
               {"operation", RC_FIELD_CHOICE, offsetof(rc_collective, operation), "what it does", .required = true,
                .choices = rc_operation_names},
               {"algorithm", RC_FIELD_CHOICE, offsetof(rc_collective, algorithm), "how", .required = true,
                .choices = rc_algorithm_names},
               {"level", RC_FIELD_CHOICE, offsetof(rc_collective, level), "on which level of the fabric",
                .required = true, .choices = rc_level_names},
               {"latency", RC_FIELD_QUANTITY, offsetof(rc_collective, latency_s), "of the software", .required = true,
                .unit = RC_SECONDS},
               {"hops", RC_FIELD_NUMBER, offsetof(rc_collective, hops), "how often the link's latency is paid",
                .absent = 0, .low = 0, .high = 1000},
               {"efficiency", RC_FIELD_NUMBER, offsetof(rc_collective, efficiency), "share of the link's bandwidth",
                .required = true, .low = 0.001, .high = 1},
               {"token_time", RC_FIELD_QUANTITY, offsetof(rc_collective, token_s),
                "of dispatch and combine, for each token a rank sends", .unit = RC_SECONDS},
               {"expert_time", RC_FIELD_QUANTITY, offsetof(rc_collective, expert_s),
                "of dispatch and combine, for each expert", .unit = RC_SECONDS},
               {"format", RC_FIELD_CHOICE, offsetof(rc_collective, format), "of the values dispatch and combine send",
                .absent = RC_BF16, .choices = rc_format_names},
               {"samples", RC_FIELD_COUNT, offsetof(rc_collective, samples), "rows fitted", .absent = NAN},
               {"median_error", RC_FIELD_NUMBER, offsetof(rc_collective, median_error), "on rows held out",
                .absent = NAN},
               {"p90_error", RC_FIELD_NUMBER, offsetof(rc_collective, p90_error), "on rows held out", .absent = NAN},
               PROVENANCE(rc_collective));

RC_LOCAL_TABLE(memory_table, rc_stack_memory, "memory", "What the engine takes beside weights and caches, on one GPU.",
               {"workspace", RC_FIELD_QUANTITY, offsetof(rc_stack_memory, workspace_bytes), "activations and libraries",
                .required = true, .unit = RC_BYTES},
               {"graphs", RC_FIELD_QUANTITY, offsetof(rc_stack_memory, graphs_bytes), "captured graphs",
                .required = true, .unit = RC_BYTES},
               {"state_slots", RC_FIELD_COUNT, offsetof(rc_stack_memory, state_slots),
                "recurrent-state slots a running request takes", .absent = 1, .low = 1, .high = 64},
               {"kept_state_slots", RC_FIELD_COUNT, offsetof(rc_stack_memory, kept_state_slots),
                "the same with a prefix cache, which keeps copies of states on the way", .absent = NAN, .low = 1,
                .high = 64});

RC_LOCAL_TABLE(engine_table, rc_stack_engine, "defaults", "The engine's settings unless a scenario says otherwise.",
               {"policy", RC_FIELD_TEXT, offsetof(rc_stack_engine, policy), "scheduling policy", .required = true},
               {"max_running", RC_FIELD_COUNT, offsetof(rc_stack_engine, max_running), "running requests of a replica",
                .required = true, .low = 1, .high = 1e6},
               {"max_batched_tokens", RC_FIELD_COUNT, offsetof(rc_stack_engine, max_batched_tokens), "tokens of a step",
                .required = true, .low = 1, .high = 1e7},
               {"memory_fraction", RC_FIELD_NUMBER, offsetof(rc_stack_engine, memory_fraction),
                "share of usable memory", .required = true, .low = 0.01, .high = 1},
               {"kv_dtype", RC_FIELD_CHOICE, offsetof(rc_stack_engine, kv_format), "format of the KV cache",
                .required = true, .choices = rc_format_names},
               {"kv_block_tokens", RC_FIELD_COUNT, offsetof(rc_stack_engine, kv_block_tokens), "tokens of a KV block",
                .required = true, .low = 1, .high = 65536},
               {"graph_tokens", RC_FIELD_COUNT, offsetof(rc_stack_engine, graph_tokens),
                "largest step with prompts that runs as a captured graph", .absent = 0, .low = 0, .high = 1e7});

RC_LOCAL_TABLE(step_table, rc_stack_step, "step", "What a step costs beside its kernels, and what hides behind what.",
               {"host", RC_FIELD_QUANTITY, offsetof(rc_stack_step, host_s), "host time that kernels do not hide",
                .required = true, .unit = RC_SECONDS},
               {"launch_hidden", RC_FIELD_NUMBER, offsetof(rc_stack_step, launch_hidden),
                "share of launches hidden in a captured decode step", .required = true, .low = 0, .high = 1},
               {"eager_launch", RC_FIELD_QUANTITY, offsetof(rc_stack_step, eager_launch_s),
                "host time of a kernel launched outside a captured graph", .required = true, .unit = RC_SECONDS},
               {"batch_overlap", RC_FIELD_NUMBER, offsetof(rc_stack_step, batch_overlap),
                "with two-batch overlap: share of the shorter of messages to experts and work that disappears; 0.85 is assumed, "
                "as 20 of 132 multiprocessors send",
                .absent = 0.85, .low = 0, .high = 1},
               {"shared_overlap", RC_FIELD_NUMBER, offsetof(rc_stack_step, shared_overlap),
                "share of the shared experts' time hidden behind the routed ones", .required = true, .low = 0,
                .high = 1},
               PROVENANCE(rc_stack_step),
               {"samples", RC_FIELD_COUNT, offsetof(rc_stack_step, samples), "rows it was taken from", .absent = NAN});

RC_LOCAL_TABLE(frontend_table, rc_stack_frontend, "frontend",
               "What a request meets before the engine: HTTP and the tokenizer, one request after another.",
               {"request", RC_FIELD_QUANTITY, offsetof(rc_stack_frontend, request_s), "time for a request",
                .required = true, .unit = RC_SECONDS},
               {"token", RC_FIELD_QUANTITY, offsetof(rc_stack_frontend, token_s), "and for each token of its prompt",
                .required = true, .unit = RC_SECONDS},
               PROVENANCE(rc_stack_frontend),
               {"samples", RC_FIELD_COUNT, offsetof(rc_stack_frontend, samples), "rows it was taken from",
                .absent = NAN});

RC_LOCAL_TABLE(interval_table, rc_stack_interval, "interval", "How sure a forecast is: half-widths of 90 % ranges.",
               {"share", RC_FIELD_NUMBER, offsetof(rc_stack_interval, share), "of times and rates, as a share",
                .required = true, .low = 0.01, .high = 10},
               {"first_token_share", RC_FIELD_NUMBER, offsetof(rc_stack_interval, first_token_share),
                "of times to first token; as share if left out", .absent = NAN, .low = 0.01, .high = 100},
               {"unseen_share", RC_FIELD_NUMBER, offsetof(rc_stack_interval, unseen_share),
                "for a model that is not in models; as share if left out", .absent = NAN, .low = 0.01, .high = 10},
               {"unseen_first_token_share", RC_FIELD_NUMBER, offsetof(rc_stack_interval, unseen_first_token_share),
                "the same of times to first token", .absent = NAN, .low = 0.01, .high = 100},
               {"models", RC_FIELD_TEXTS, offsetof(rc_stack_interval, models), "whose rows it was taken from",
                .count_offset = offsetof(rc_stack_interval, models_count)},
               PROVENANCE(rc_stack_interval));

typedef struct stack_file {
    rc_stack stack;
    const char *schema, *include;
    void *sources;
    size_t sources_count;
} stack_file;

#define FIELD(member) offsetof(stack_file, stack.member)
RC_TABLE(rc_stack_table, stack_file, "stack", "What a serving engine makes of an accelerator.",
         {"schema", RC_FIELD_TEXT, offsetof(stack_file, schema), "rackcast/stack/1", .required = true},
         {"name", RC_FIELD_TEXT, FIELD(name), "the name used in scenarios", .required = true},
         {"title", RC_FIELD_TEXT, FIELD(title), "the name people say", .required = true},
         {"engine", RC_FIELD_TEXT, FIELD(engine), "the serving engine", .required = true},
         {"version", RC_FIELD_TEXT, FIELD(version), "its version", .required = true},
         {"accelerator", RC_FIELD_TEXT, FIELD(accelerator), "the accelerator it runs on", .required = true},
         {"replicated", RC_FIELD_TEXTS, FIELD(replicated), "small tensors every rank holds whole", .required = true,
          .count_offset = FIELD(replicated_count)},
         {"memory", RC_FIELD_OBJECT, FIELD(memory), "memory beside weights and caches", .required = true,
          .table = &memory_table},
         {"defaults", RC_FIELD_OBJECT, FIELD(defaults), "engine settings", .required = true, .table = &engine_table},
         {"step", RC_FIELD_OBJECT, FIELD(step), "cost beside kernels", .required = true, .table = &step_table},
         {"frontend", RC_FIELD_OBJECT, FIELD(frontend), "HTTP and the tokenizer; without it they take no time",
          .table = &frontend_table},
         {"kernels", RC_FIELD_MAP, FIELD(kernels), "kernel families by name", .required = true, .table = &kernel_table,
          .count_offset = FIELD(kernels_count)},
         {"collectives", RC_FIELD_LIST, FIELD(collectives), "collective algorithms", .required = true,
          .table = &collective_table, .count_offset = FIELD(collectives_count)},
         {"interval", RC_FIELD_OBJECT, FIELD(interval), "how sure a forecast is", .required = true,
          .table = &interval_table},
         {"sources", RC_FIELD_LIST, offsetof(stack_file, sources), "where the numbers come from",
          .table = &rc_source_table, .count_offset = offsetof(stack_file, sources_count)});
#undef FIELD

double rc_stack_share(const rc_stack *stack, const char *model, bool first_token, bool *seen) {
    const rc_stack_interval *interval = &stack->interval;
    *seen = interval->models_count == 0;
    for (size_t i = 0; i < interval->models_count && !*seen; i++)
        *seen = strcmp(interval->models[i], model) == 0;
    double share = first_token && !isnan(interval->first_token_share) ? interval->first_token_share : interval->share;
    double unseen = first_token ? interval->unseen_first_token_share : interval->unseen_share;
    return *seen || isnan(unseen) ? share : fmax(share, unseen);
}

const rc_kernel *rc_stack_kernel(const rc_stack *stack, const char *name) {
    for (size_t i = 0; i < stack->kernels_count; i++)
        if (strcmp(stack->kernels[i].name, name) == 0)
            return &stack->kernels[i];
    return NULL;
}

bool rc_stack_replicates(const rc_stack *stack, const char *tensor) {
    for (size_t i = 0; i < stack->replicated_count; i++)
        if (strcmp(stack->replicated[i], tensor) == 0)
            return true;
    return false;
}
