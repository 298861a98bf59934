/* SPDX-License-Identifier: GPL-3.0-or-later
 * stack.h - what a serving engine of a given version makes of an accelerator: which kernels it has, how fast they really
 * are, what a step costs beside them, what memory it takes, and what its settings are unless a scenario says otherwise.
 *
 * A kernel family's time is
 *   t = launch + unit_time * units + group_time * groups + depth_time * depth
 *       + ((bytes / (em BW))^p + (flops / (ec peak))^p)^(1/p)
 * with em and ec the shares of the data sheet it reaches and p how sharply memory and compute give way to each other;
 * times the factors of its shape curves at the shape of the call (see shape_curve.h).
 */
#ifndef RC_STACK_H
#define RC_STACK_H
#include "accelerator.h"
#include "shape_curve.h"

typedef enum rc_provenance { RC_MEASURED, RC_FITTED, RC_TRANSFERRED, RC_ASSUMED } rc_provenance;
extern const char *const rc_provenance_names[];

typedef struct rc_kernel {
    const char *name; /* "gemm-bf16", "mla-decode" */
    double launch_s;
    double memory_efficiency;  /* em, 0 to 1 */
    double compute_efficiency; /* ec, 0 to 1 */
    double sharpness;          /* p */
    int peak;                  /* rc_peak: which peak ec is a share of */
    double unit_time_s;        /* per unit of work: sequence x KV head in attention, token that enters the experts */
    double depth_time_s;       /* per column that a GEMM sums over, per key of the longest chunk: one after another */
    double group_time_s;       /* per group of a grouped GEMM: expert with a token */
    double column_tile;        /* columns are rounded up to a multiple of it */
    double token_tile;         /* widest tile of an expert's tokens (see experts.h); 1: no tiles */
    double head_tile;          /* query heads are rounded up to a multiple of it */
    double query_tile;         /* rows of a tile of prefill (see attention.h); 1: nothing is rounded up */
    bool packs_heads;          /* heads that share a KV head share the rows of a tile */
    double fast_heads; /* the kernel exists for multiples of so many heads and for its divisors; any other number that
                            is not padded (head_tile) runs on "NAME-fallback", where the stack has it; 0: for all */
    rc_shape_curve *curves;
    size_t curves_count;
    int provenance;
    double samples, median_error, p90_error; /* NaN where it was not fitted */
    const char *shapes;                      /* range of shapes it was fitted to; NULL: none */
    const char *source;
} rc_kernel;

/* DISPATCH sends tokens to the ranks of their experts, COMBINE brings the results back. */
typedef enum rc_operation {
    RC_ALL_REDUCE,
    RC_ALL_TO_ALL,
    RC_POINT_TO_POINT,
    RC_DISPATCH,
    RC_COMBINE,
    RC_ALL_GATHER,
    RC_REDUCE_SCATTER
} rc_operation;
/* The last two belong to DISPATCH and COMBINE: a token is sent once to each of its experts, or once to each rank that holds
 * any of them. */
typedef enum rc_algorithm {
    RC_ONE_SHOT,
    RC_TWO_SHOT,
    RC_RING,
    RC_TREE,
    RC_NVLS, /* the switch adds up and sends to all */
    RC_DIRECT,
    RC_COPY_PER_EXPERT,
    RC_COPY_PER_RANK
} rc_algorithm;

extern const char *const rc_operation_names[], *const rc_algorithm_names[];
extern const char *const rc_level_names[]; /* "inner", "outer" */

typedef struct rc_collective {
    int operation, algorithm;
    int level;                               /* 0: the inner level of the fabric, 1: the outer */
    double latency_s;                        /* of the software: kernel, synchronisation */
    double hops;                             /* how often the link's own latency is paid */
    double efficiency;                       /* share of the link's bandwidth */
    double token_s, expert_s;                /* of DISPATCH and COMBINE: for each token a rank sends, for each expert */
    int format;                              /* rc_format_id of the values they send */
    double samples, median_error, p90_error; /* of a fit, on rows held out; NaN: none */
    int provenance;
    const char *source;
} rc_collective;

typedef struct rc_stack_memory {
    double workspace_bytes;  /* activations, libraries, non-framework memory of a GPU */
    double graphs_bytes;     /* captured graphs of a GPU */
    double state_slots;      /* recurrent-state slots a running request takes, without prefix cache */
    double kept_state_slots; /* and with it: states are copied before they go on; NAN: not told */
} rc_stack_memory;

typedef struct rc_stack_engine {
    const char *policy;
    double max_running;        /* requests in a replica */
    double max_batched_tokens; /* tokens of a step */
    double memory_fraction;    /* of usable memory */
    int kv_format;             /* index into rc_format_names */
    double kv_block_tokens;
    double graph_tokens; /* of the largest step with prompts that runs as a captured graph; 0: none does */
} rc_stack_engine;

typedef struct rc_stack_step {
    double host_s;         /* host time of a step that kernels do not hide */
    double launch_hidden;  /* share of launches hidden in a captured decode step */
    double eager_launch_s; /* host time of an operation outside a captured graph: a step with prompts takes at least
                              that for all of them */
    double batch_overlap;  /* with two-batch overlap: share of the shorter of messages to experts and work that disappears */
    double shared_overlap; /* share of the shared experts' time hidden behind the routed ones */
    int provenance;
    double samples;
    const char *source;
} rc_stack_step;

/* How sure a forecast is: half-widths of 90 % ranges as shares, from errors of forecasts of published rows. */
typedef struct rc_stack_interval {
    double share, first_token_share;               /* of times and rates, and of times to first token */
    double unseen_share, unseen_first_token_share; /* the same for a model that none of those rows is of */
    const char **models;                           /* that those rows are of */
    size_t models_count;
    int provenance;
    const char *source;
} rc_stack_interval;

/* What a request meets before the engine: HTTP, the chat template and the tokenizer, in one process, one request after
 * another; the way back of its first token is counted here too. */
typedef struct rc_stack_frontend {
    double request_s; /* seconds for a request */
    double token_s;   /* and for each token of its prompt */
    int provenance;
    double samples;
    const char *source;
} rc_stack_frontend;

typedef struct rc_stack {
    const char *name, *title, *engine, *version, *accelerator;
    const char **replicated; /* small tensors that every rank holds whole */
    size_t replicated_count;
    rc_stack_memory memory;
    rc_stack_engine defaults;
    rc_stack_step step;
    rc_stack_frontend frontend; /* zeros where the file has none */
    rc_kernel *kernels;
    size_t kernels_count;
    rc_collective *collectives;
    size_t collectives_count;
    rc_stack_interval interval;
} rc_stack;

extern const rc_table rc_stack_table;
const rc_kernel *rc_stack_kernel(const rc_stack *stack, const char *name); /* NULL: none */
/* Half-width of the 90 % range of a forecast, of times to first token or else of all other times and of rates, and
 * whether the model is one of those it was taken from. */
double rc_stack_share(const rc_stack *stack, const char *model, bool first_token, bool *seen);
bool rc_stack_replicates(const rc_stack *stack, const char *tensor);
#endif
