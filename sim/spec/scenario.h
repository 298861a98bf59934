/* SPDX-License-Identifier: GPL-3.0-or-later
 * scenario.h - the whole question in SI units: model, rack, stack, engine settings, load, price, objectives.
 * Immutable once opened; everything it points to lives in its arena.
 */
#ifndef RC_SCENARIO_H
#define RC_SCENARIO_H
#include "accelerator.h"
#include "draft.h"
#include "fabric.h"
#include "model.h"
#include "offload.h"
#include "price.h"
#include "stack.h"
#include "workload.h"

/* Where the stages of several copies lie: each copy on GPUs side by side, or stage by stage, copies side by side. */
typedef enum rc_placement { RC_PACKED, RC_STAGES_APART } rc_placement;

typedef struct rc_parallel {
    double tp, pp, ep, dp, dcp, replicas;
    int placement;            /* rc_placement */
    double redundant_experts; /* slots beyond one for each expert, over all ranks that share them */
    double rebalance_steps;   /* steps after which experts are placed anew; 0: never while it runs */
    bool balanced_experts;    /* experts are placed by popularity (EPLB); else as they are numbered */
} rc_parallel;

typedef struct rc_engine {
    const char *policy;
    double max_running, max_batched_tokens, memory_fraction, kv_block_tokens;
    double kv_tokens;    /* room of a rank's cache in tokens, as an engine's log tells it; NAN: what memory leaves */
    double graph_tokens; /* of the largest step with prompts that runs as a captured graph */
    double receive_interval; /* decode steps between looks at what came; 1: every step */
    double batch_wait_steps; /* decode steps that prompts wait for more of them; 0: none */
    bool whole_prompts;      /* a prompt is read in one step: chunks are off */
    double batch_wait_share; /* of max_batched_tokens; with so many tokens waiting they need not */
    double max_context;      /* longest request the engine admits, in tokens; infinite: as the model and the load say */
    int kv_format;           /* rc_format_id */
    bool fused_experts;      /* where tokens are sent to experts: one kernel sends, computes and brings back */
    bool two_batch_overlap;  /* messages to experts of one half of a step behind the work of the other */
    bool vision;             /* load the vision tower too */
    bool prefix_cache;       /* caches of prompts and answers are kept for prompts that begin alike */
    double host_cache_bytes, remote_cache_bytes; /* of a GPU, for what the card has no room to keep; 0: none */
    double remote_bytes_per_s;                   /* of a GPU, from the remote store */
    double state_interval; /* tokens of a prompt between saved recurrent states; 0: where prompts and answers end */
} rc_engine;

typedef struct rc_hardware {
    double count, per_node;
    rc_accelerator accelerator;
    rc_fabric fabric;
    rc_stack stack;
    rc_host host;
} rc_hardware;

typedef enum rc_metric { RC_METRIC_TTFT, RC_METRIC_TPOT, RC_METRIC_ITL, RC_METRIC_E2E, RC_METRIC_COUNT } rc_metric;
typedef struct rc_objective {
    const char *text;
    int metric;
    double limit_s;
    double percentile; /* 0 to 1 */
} rc_objective;

/* A data file the scenario was made from. */
typedef struct rc_data_file {
    const char *name; /* without the folder of the data root, so that a fingerprint does not depend on it */
    const char *path;
    uint64_t hash;
} rc_data_file;

/* How caches go from pools that compute prompts to pools that write answers. */
typedef struct rc_transfer {
    double bytes_per_s; /* of a GPU; NaN: what the pools' fabrics allow between them */
    double latency_s;   /* of a message; NaN: the same */
    bool overlap;       /* layer by layer while the prompt is computed; else when it is done */
} rc_transfer;

/* What the replicas of a pool do: everything; or only compute prompts; or only write answers. */
typedef enum rc_pool_role { RC_POOL_ANY, RC_POOL_PREFILL, RC_POOL_DECODE } rc_pool_role;

struct rc_scenario {
    rc_arena *arena;
    /* Several pools of hardware that share a load: each a scenario of its own, with the same model and load; the scenario
     * itself then is that of the first.  None where there is one kind of hardware. */
    rc_scenario **pools;
    size_t pools_count;
    int role; /* rc_pool_role, of a pool */
    const char *title, *name;
    rc_model model;
    rc_format_id weights_format; /* RC_FORMAT_COUNT: as the checkpoint */
    rc_hardware hardware;
    rc_parallel parallel;
    rc_offload offload;
    rc_engine engine;
    rc_speculation speculation;
    bool has_workload;
    rc_workload workload;
    rc_transfer transfer;
    const char *router;      /* NULL: the usual one */
    const char *price_book;  /* NULL: no price */
    double usd_per_gpu_hour; /* NaN: no price */
    rc_objective *objectives;
    size_t objectives_count;
    uint64_t seed;
    const char **assumptions; /* what was not asked for and taken from the stack or assumed */
    size_t assumptions_count;
    const char *resolved; /* JSON text */
    rc_data_file *files;
    size_t files_count;
};

/* What rc_open does, but for names that later rooms know (policies). */
rc_scenario *rc_scenario_open(const rc_question *question, rc_problems *problems);

size_t rc_pools_count(const rc_scenario *scenario); /* at least 1 */
const rc_scenario *rc_pool(const rc_scenario *scenario, size_t index);
double rc_pools_gpus(const rc_scenario *scenario); /* of all pools together */

extern const rc_table rc_scenario_table;
extern const rc_table rc_parallel_table;

/* The rank grid: GPUs of a replica, ranks that share the experts of a stage, ranks that split one expert. */
double rc_replica_gpus(const rc_parallel *parallel);
double rc_expert_ranks(const rc_parallel *parallel);
double rc_expert_tp(const rc_parallel *parallel);
/* The first GPU of a stage of a copy, all counted through. */
double rc_stage_gpu(const rc_parallel *parallel, double copy, double stage);
/* "TP8", "TP8 x PP2", "DP16 + EP16" */
const char *rc_parallel_text(char *text, size_t size, const rc_parallel *parallel);
#endif
