/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * rackcast.h - the public interface of librackcast, and all of it.
 *
 * Concept.  A *question* (a scenario file or its name, plus any number of settings) is opened into an immutable
 * scenario in SI units.  A scenario can be asked whether it fits (rc_fit), what one step costs (rc_explain) or be played
 * (rc_run).  Each answer is a plain struct that the caller owns; each can be printed by the report functions below.
 *
 * Units.  Bytes, seconds, tokens, US dollars; a name says so where it matters (_bytes, _s, _per_s, _usd).  "per GPU"
 * counts the GPUs of all replicas.
 *
 * Errors.  A call that can fail returns an rc_status and appends one rc_problem for every mistake it found, in words, to
 * the list it was given.  Mistakes of the user are returned; broken promises of the programmer assert.
 *
 * Ownership.  Whatever a function fills in is released by its *_free partner.  Strings inside results live as long as
 * the result; strings inside problems as long as the list.
 *
 * Threads.  A scenario may be read by many threads at once; each run has its own result and problem list.
 */
#ifndef RACKCAST_H
#define RACKCAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---------- status */

/* Every way a call can end: name, exit code of the program, what it means. */
#define RC_STATUS_LIST(X)                                                                                              \
    X(RC_OK, 0, "ok")                                                                                                  \
    X(RC_OBJECTIVE_MISSED, 1, "objective missed")                                                                      \
    X(RC_USAGE, 2, "usage")                                                                                            \
    X(RC_NO_FILE, 3, "file not found")                                                                                 \
    X(RC_BAD_JSON, 3, "not valid JSON")                                                                                \
    X(RC_UNKNOWN_NAME, 3, "unknown name")                                                                              \
    X(RC_UNKNOWN_KEY, 3, "unknown key")                                                                                \
    X(RC_MISSING_KEY, 3, "missing key")                                                                                \
    X(RC_BAD_VALUE, 3, "bad value")                                                                                    \
    X(RC_BAD_UNIT, 3, "bad unit")                                                                                      \
    X(RC_BAD_TRACE, 3, "bad trace")                                                                                    \
    X(RC_DOES_NOT_FIT, 4, "does not fit")                                                                              \
    X(RC_NOT_SUPPORTED, 4, "not supported")                                                                            \
    X(RC_INTERNAL, 5, "internal error")                                                                                \
    X(RC_WRITE_FAILED, 5, "could not write")

typedef enum rc_status {
#define RC_X(name, code, text) name,
    RC_STATUS_LIST(RC_X)
#undef RC_X
        RC_STATUS_COUNT
} rc_status;

const char *rc_status_name(rc_status status); /* "bad unit"; never NULL */
int rc_status_exit_code(rc_status status);    /* 0 to 5, see RC_STATUS_LIST */

/* One mistake.  Any string may be empty, none is NULL; line is 0 where a line means nothing. */
typedef struct rc_problem {
    rc_status status;
    const char *file;     /* the file that holds the mistake */
    const char *path;     /* where in it: "hardware.count" */
    long line;            /* 1-based line, for traces and broken JSON */
    const char *found;    /* what is there */
    const char *expected; /* what would do, with "did you mean" */
    const char *message;  /* one sentence */
} rc_problem;

typedef struct rc_problems rc_problems; /* a growing list of problems and notes */

rc_problems *rc_problems_new(void);
void rc_problems_free(rc_problems *problems);
size_t rc_problems_count(const rc_problems *problems);
const rc_problem *rc_problems_at(const rc_problems *problems, size_t index); /* index < count */
size_t rc_notes_count(const rc_problems *problems);                          /* remarks that are no mistakes */
const char *rc_notes_at(const rc_problems *problems, size_t index);          /* index < count */
/* Adds a problem of the caller's own: a wrong word on a command line.  Strings are copied; NULL counts as empty. */
rc_status rc_problems_report(rc_problems *problems, rc_status status, const char *path, const char *found,
                             const char *expected, const char *message);
/* Writes the candidates as "a, b, c" into `text`, with "did you mean" in front where one is near. */
const char *rc_suggest(char *text, size_t size, const char *word, const char *const *candidates, size_t count);

/* ---------- question */

/* What to open.  All pointers may be NULL or empty; they are read during rc_open only. */
typedef struct rc_question {
    const char *scenario;        /* a file, or the name of a shipped scenario; NULL: built from the settings alone */
    const char *const *settings; /* "path=value", value is JSON or bare text; null removes; later ones win */
    size_t settings_count;
} rc_question;

typedef struct rc_scenario rc_scenario; /* immutable after rc_open */

/* Resolves names to files and units to SI, checks everything and lists every mistake at once.
 * Returns NULL where a mistake was found. */
rc_scenario *rc_open(const rc_question *question, rc_problems *problems);
void rc_close(rc_scenario *scenario);
const char *rc_scenario_title(const rc_scenario *scenario);
/* The resolved scenario as JSON text, every file expanded and every setting applied; owned by the scenario. */
const char *rc_scenario_resolved(const rc_scenario *scenario);

/* ---------- fit */

enum { RC_TEXT_LENGTH = 240, RC_REASONS_MAX = 24, RC_COMPONENTS_MAX = 24, RC_PARTS_MAX = 48 };

typedef struct rc_text {
    char text[RC_TEXT_LENGTH];
} rc_text;

/* Weights of one kind, over the whole model (once) and on the fullest GPU. */
typedef struct rc_weight_line {
    const char *name;     /* "routed_experts" */
    const char *format;   /* storage format: "mxfp4", "bf16"; "mixed" where tensors differ */
    double parameters;    /* numbers, scales not counted */
    double bytes;         /* with scales */
    double scale_bytes;   /* of which scales of block formats */
    double active;        /* parameters one token works with (top-k experts only, no embedding rows, no vision) */
    double bytes_per_gpu; /* on the fullest GPU */
    bool loaded;          /* false: in the checkpoint but not loaded for text serving (vision tower, MTP layers) */
} rc_weight_line;

typedef struct rc_fit_result {
    bool fits;
    rc_text title;
    rc_text reasons[RC_REASONS_MAX]; /* why it does not fit, one a line */
    size_t reasons_count;
    rc_text warnings[RC_REASONS_MAX];
    size_t warnings_count;
    rc_text assumptions[RC_REASONS_MAX]; /* settings taken from the stack, with their value */
    size_t assumptions_count;
    uint32_t gpus; /* tp x dp x pp x replicas */
    uint32_t
        smallest_count; /* smallest whole number of nodes that fits with all degrees powers of two, in GPUs; 0: none up to 4,096 */
    rc_text smallest_layout; /* "TP16" */
    rc_weight_line components[RC_COMPONENTS_MAX];
    size_t components_count;
    double parameters_total;
    double parameters_active;          /* per token */
    double checkpoint_bytes;           /* every tensor, with scales, vision and MTP */
    double scale_bytes;                /* of which scales */
    double redundant_bytes_per_gpu;    /* of those: second copies of popular experts */
    double host_bytes_per_gpu;         /* weights that lie in host memory instead; 0: none */
    double weights_bytes_per_gpu;      /* fullest GPU, as this stack lays them out */
    double weights_bytes_per_gpu_even; /* had everything been sharded evenly over a replica */
    double draft_bytes_per_gpu;        /* of those: the draft of speculation; 0: none */
    double replicated_bytes_per_gpu;   /* of weights_bytes_per_gpu: tensors every rank holds whole */
    double memory_nameplate_bytes;     /* a GPU's label */
    double memory_usable_bytes;        /* what the driver shows */
    double memory_fraction;            /* share of the usable memory the engine takes */
    double workspace_bytes;            /* activations, libraries and non-framework memory, per GPU */
    double graphs_bytes;               /* captured graphs, per GPU */
    double kv_bytes_per_token_per_gpu;
    double state_bytes_per_request_per_gpu; /* recurrent state of one request (one slot) */
    double state_slots_per_request;         /* how many slots the stack reserves */
    double state_bytes_per_request_total;   /* one slot, whole model */
    double kv_bytes_per_token_total;        /* one copy, whole model */
    double room_bytes_per_gpu;              /* for KV and state; negative where it does not fit */
    double kv_capacity_tokens;              /* room / KV bytes per token, no state */
    double longest_request_tokens;          /* the longest request the load asks for */
    double max_requests;                    /* requests of that length, per replica */
    double max_context;                     /* longest single request */
    double model_max_context;
} rc_fit_result;

/* Says whether the scenario fits.  Returns RC_OK, or RC_DOES_NOT_FIT with the result filled in and `fits` false. */
rc_status rc_fit(const rc_scenario *scenario, rc_fit_result *result, rc_problems *problems);

/* ---------- explain */

/* One line of a step.  The shares of all parts add up to the step. */
typedef struct rc_part {
    const char *family; /* "experts", "kda", "all-reduce" */
    double seconds;
    double bytes;           /* moved on one GPU: memory for kernels, link for collectives */
    double flops;           /* on one GPU, padding included */
    double hbm_s;           /* of seconds: waiting for memory */
    double compute_s;       /* of seconds: waiting for arithmetic */
    double launch_s;        /* of seconds: launches and ramps */
    double link_s;          /* of seconds: bytes on links between GPUs and their latency */
    double host_link_s;     /* of seconds: the link to the host */
    double host_s;          /* of seconds: the host's processors */
    double host_memory_s;   /* of seconds: those waiting for their memory */
    double host_link_bytes; /* of bytes: over the link to the host */
    double launches;        /* kernels or messages */
    const char *bound;      /* "hbm", "compute", "launch", "link", "link.host", "host", "host memory": the largest of
                               the above */
    const char *provenance; /* measured, fitted, transferred, assumed */
} rc_part;

typedef struct rc_explain_result {
    bool fits;
    rc_fit_result fit; /* reasons where it does not fit */
    rc_text title;
    double batch;     /* decoding sequences in a step of a replica, of one micro-batch where it has stages */
    double stages;    /* pipeline stages; as many micro-batches fill them */
    double context;   /* cached tokens of each */
    double prompt;    /* prompt of the prefill that is explained */
    double drafts;    /* that a step verifies, of each sequence; 0: no speculation */
    double step_tokens; /* that a step brings a sequence: 1 and the drafts that are accepted, on average */
    double step_s;    /* one decode step */
    double ceiling_s; /* each weight once per replica, evenly sharded, at sheet bandwidth; or the sheet's FLOPs */
    double ceiling_tokens_per_s;     /* stages x batch x step_tokens / ceiling_s, one replica */
    double replication_s;            /* what reading replicated weights on every rank adds to the ceiling */
    double cache_s;                  /* what reading KV and state adds to the ceiling */
    double weight_bytes;             /* weights a step reads, whole replica, each once, with this traffic's routing */
    double weight_bytes_uniform;     /* the same with uniform routing */
    double distinct_experts;         /* experts touched in a layer by this traffic */
    double distinct_experts_uniform; /* by uniform routing */
    double expert_ranks;             /* that share the experts of a layer (EP) */
    double busiest_pairs, busiest_experts; /* of the rank with most, over the mean: token-expert pairs of the step, and
                                              experts that it touches */
    double busiest_prompt_pairs;           /* pairs of the prompt */
    rc_part parts[RC_PARTS_MAX];
    size_t parts_count;
    double prefill_s;         /* the prompt alone on an idle rack; with frontend_s TTFT without a queue */
    double frontend_s;        /* what HTTP and the tokenizer take before */
    double prefill_ceiling_s; /* its FLOPs at the sheet's dense peak */
    rc_part prefill_parts[RC_PARTS_MAX];
    size_t prefill_parts_count;
    rc_text assumptions[RC_REASONS_MAX];
    size_t assumptions_count;
} rc_explain_result;

/* The price of one decode step with `batch` sequences of `context` tokens, and of one prefill of `prompt` tokens.
 * Zero takes the load's own: its concurrency and its mean lengths. */
rc_status rc_explain(const rc_scenario *scenario, double batch, double context, double prompt,
                     rc_explain_result *result, rc_problems *problems);

/* ---------- run */

/* A distribution over completed requests (of ITL: over all tokens but the first ones); NaN where nothing was observed. */
typedef struct rc_percentiles {
    double mean, p50, p90, p95, p99;
    double count; /* observations */
} rc_percentiles;

/* Names of what a replica's time went into; shares of a run sum to 1. */
#define RC_BREAKDOWN_LIST(X)                                                                                           \
    X(HBM, "hbm")                                                                                                      \
    X(COMPUTE, "compute")                                                                                              \
    X(LINK_INNER, "link.inner")                                                                                        \
    X(LINK_OUTER, "link.outer")                                                                                        \
    X(LINK_HOST, "link.host")                                                                                          \
    X(LAUNCH, "launch")                                                                                                \
    X(HOST, "host")                                                                                                    \
    X(HOST_MEMORY, "host memory")                                                                                      \
    X(IDLE, "idle")
typedef enum rc_breakdown {
#define RC_X(name, text) RC_TIME_##name,
    RC_BREAKDOWN_LIST(RC_X)
#undef RC_X
        RC_TIME_COUNT
} rc_breakdown;

typedef struct rc_range {
    double low, high;
} rc_range;

typedef struct rc_request_record {
    uint32_t input_tokens, output_tokens;
    double arrival_s, first_token_s, finish_s; /* since the run began; NaN where it did not happen */
    double admitted_s;
    uint32_t preemptions;
    uint32_t replica;
    uint32_t found_tokens; /* of the prompt, in the prefix cache */
} rc_request_record;

enum { RC_TIMELINE_POINTS = 128 };
/* Averages over equal stretches of simulated time, all replicas together. */
typedef struct rc_timeline {
    double bucket_s;
    size_t count;
    double waiting[RC_TIMELINE_POINTS]; /* requests */
    double running[RC_TIMELINE_POINTS]; /* requests */
    double kv_used[RC_TIMELINE_POINTS]; /* share of the cache */
} rc_timeline;

enum { RC_OBJECTIVES_MAX = 16 };
typedef struct rc_objective_result {
    rc_text text;    /* "ttft:2s:p99" */
    double observed; /* the metric at that percentile */
    double limit;
    double
        pass_rate; /* share of completed requests within the bare threshold; an ITL limit is held against a request's TPOT */
    bool met;
} rc_objective_result;

enum { RC_POOLS_MAX = 16 };

/* One of several pools of hardware: what it answered in full. */
typedef struct rc_pool_result {
    rc_text hardware, stack;
    uint32_t gpus, replicas;
    double usd_per_hour; /* NaN: no price known */
    double completed;    /* requests */
    double output_tokens, input_tokens;
} rc_pool_result;

typedef struct rc_run_result {
    bool fits;
    rc_fit_result fit;
    rc_text title, model, hardware, stack, policy, load, price_book, weights_format;
    uint32_t gpus, replicas;
    rc_pool_result pools[RC_POOLS_MAX];
    size_t pools_count;                      /* 0 where there is one kind of hardware */
    double completed, queued, running, lost; /* requests */
    double preemptions;
    /* Tokens of prompts that were admitted; of these, found in a prefix cache; of these, loaded from below the card. */
    double prompt_tokens, found_tokens, loaded_tokens;
    double drafts, step_tokens; /* as in rc_explain_result */
    rc_text speculation;        /* "7 drafts of k3-dspark, coding as measured"; empty: none */
    bool keeps_prefixes; /* some pool has a prefix cache */
    double duration_s;
    double output_tokens, input_tokens; /* of completed and cut-off requests alike, as produced */
    double output_tokens_per_s, input_tokens_per_s, total_tokens_per_s; /* whole rack */
    rc_percentiles ttft_s, tpot_s, itl_s, e2e_s, queue_s;
    /* What the mean time to the first token consists of, seconds; the sum is ttft_s.mean.  The last two where prompts are
     * computed in another pool than answers are written: caches on their way, waiting for a step there and the step itself. */
    double ttft_queue_s, ttft_prefill_s, ttft_transfer_s, ttft_first_step_s;
    bool hands_over; /* prompts are computed in another pool */
    double interactivity_tokens_per_s;     /* 1 / mean TPOT */
    double concurrency_mean;               /* requests running, average over time, all replicas */
    double decode_batch_mean;              /* sequences in a decode step, one replica */
    double usd_per_gpu_hour, usd_per_hour; /* NaN: no price known */
    double usd_per_million_output, usd_per_million_input, usd_per_million_total;
    double output_tokens_per_s_per_usd_hour;
    double breakdown[RC_TIME_COUNT];    /* shares, sum 1 */
    rc_text link_names[2];              /* of the two links: "link.nvlink", "link.roce" */
    double ceiling_output_tokens_per_s; /* whole rack, at the mean decode batch */
    double ceiling_tpot_s;
    rc_range interval_output_tokens_per_s, interval_ttft_s, interval_tpot_s, interval_e2e_s;
    double interval_share, interval_ttft_share; /* half-widths as shares: of all others, of the time to first token */
    bool interval_seen; /* the model is one of those whose published rows the range was taken from, or none are named */
    const char *interval_provenance;
    double goodput_per_s; /* requests that meet every objective; all completed where none is set */
    rc_objective_result objectives[RC_OBJECTIVES_MAX];
    size_t objectives_count;
    bool stationary;
    double queue_growth_per_s; /* requests; 0 where stationary */
    double events;             /* the engine handled */
    double decode_steps;       /* steps in which sequences decoded, of all replicas */
    double steps;              /* of all replicas */
    double wall_s;             /* what simulating took */
    char fingerprint[17];      /* hash of resolved scenario, data, version and result */
    uint64_t seed;
    rc_timeline timeline;
    rc_request_record *requests; /* array of requests_count, in order of arrival */
    size_t requests_count;
    rc_text assumptions[RC_REASONS_MAX];
    size_t assumptions_count;
    char *resolved_scenario; /* JSON text */
} rc_run_result;

typedef struct rc_run_options {
    bool stepwise; /* play every step: slow, the reference that stretches are held to */
} rc_run_options;

/* Plays the scenario.  RC_OK; RC_OBJECTIVE_MISSED with a full result; RC_DOES_NOT_FIT with `fits` false. */
rc_status rc_run(const rc_scenario *scenario, const rc_run_options *options, rc_run_result *result,
                 rc_problems *problems);
void rc_run_result_free(rc_run_result *result);

/* ---------- compare and the rest */

/* How an answer is printed. */
typedef enum rc_format { RC_TERMINAL, RC_JSON, RC_MARKDOWN, RC_CSV, RC_LOG } rc_format;

/* Each prints one answer; RC_LOG is the log lines engines print at start.  `timing` adds wall_s. */
rc_status rc_print_fit(FILE *out, const rc_fit_result *result, rc_format format);
rc_status rc_print_explain(FILE *out, const rc_explain_result *result, rc_format format);
rc_status rc_print_run(FILE *out, const rc_run_result *result, rc_format format, bool timing);
/* Runs side by side: the best of each row is marked, with the price at which each rack would equal the cheapest. */
rc_status rc_print_compare(FILE *out, const rc_run_result *results, size_t count, rc_format format);
/* Prints {"error": ...} for the first problem, with all of them below "all". */
void rc_print_problems_json(FILE *out, const rc_problems *problems);
/* "error: file: path: message (found ..., expected ...)", one a line, then the notes. */
void rc_print_problems(FILE *out, const rc_problems *problems);

/* Keeps a run: in a SQLite file (tables run, request, breakdown, timeline, data_file), its requests as CSV, or both;
 * either name may be NULL.  All of it or nothing: where one cannot be written, neither is. */
rc_status rc_save_run(const char *database_file, const char *requests_file, const rc_scenario *scenario,
                      const rc_run_result *result, rc_problems *problems);

/* -------------------------------------------------------------------------------------------------------- validate */

/* One measured figure beside its forecast. */
typedef struct rc_validated_row {
    long row;                   /* line of the table */
    const char *metric;         /* as the table names it */
    const char *group;          /* what the row may be used for: the table's `use` column, or "all" */
    const char *case_name;      /* "kimi-k3 8xb300 sglang TP8 8192/1024 c16" */
    double measured, predicted; /* SI units; predicted is NaN where the row was not played */
    double error;               /* predicted / measured - 1 */
    bool inside;                /* the measured figure lies in the forecast's interval */
    const char *skipped;        /* why it was not played; empty where it was */
} rc_validated_row;

typedef struct rc_validated_group {
    const char *group, *metric;
    double n, skipped;
    double median_abs_error, p90_abs_error; /* shares */
    double bias;                            /* median of the signed errors */
    double rank_correlation;                /* Spearman, predicted against measured */
    double coverage;                        /* share of rows inside their interval */
    double floor; /* median error of the best single prediction for rows alike in every column; NaN: none */
    double floor_rows;
} rc_validated_group;

typedef struct rc_validate_result {
    rc_validated_row *rows;
    size_t rows_count;
    rc_validated_group *groups;
    size_t groups_count;
    double runs;        /* scenarios played */
    double recipe_rows; /* rows whose engine options came from a recipe */
    bool kernels;       /* the table was one of measured kernels */
    double ignored;     /* of those: rows that no stack has a place for */
    void *memory;       /* everything above lies in it */
} rc_validate_result;

/* A table of measured kernels (formats: sim/study/kernel_table.h), told by its header, is held against the kernels of the
 * shipped stacks: each row's metric is "seconds", its group the stack, the family and, in brackets, whether a fit may have
 * seen it.  Else:
 * plays the end-to-end rows of a table of measurements as scenarios.  Columns: date, model, precision, hardware (or gpu), gpus
 * (or n_gpus), engine, parallelism, spec_decode, input_len (or isl), output_len (or osl), concurrency_or_rate (or
 * concurrency), metric, value, unit, notes, use.  Rows that cannot be played are counted with their reason.
 * `recipes_file`: how the benchmarks behind the rows launched their engines (format: sim/study/recipe.h); NULL: those
 * that ship. */
rc_status rc_validate(const char *table_file, const char *recipes_file, rc_validate_result *result,
                      rc_problems *problems);
void rc_validate_result_free(rc_validate_result *result);

rc_status rc_print_validate(FILE *out, const rc_validate_result *result, rc_format format);

/* ---------- whatif */

enum { RC_VARIED_MAX = 8, RC_VALUES_MAX = 32 };

typedef struct rc_whatif_question {
    rc_question scenario; /* what stays */
    const char *const
        *varied;         /* "path=a,b,c", a value as in a setting or "x2": twice what it is; several vary together,
                                  first with first, second with second, and have as many values each */
    size_t varied_count; /* 1 to RC_VARIED_MAX, of at most RC_VALUES_MAX values */
} rc_whatif_question;

/* The scenario with one value of each varied path. */
typedef struct rc_whatif_row {
    rc_text value;         /* "900GB/s", "parallel.tp=16, hardware.count=16" */
    bool as_it_is;         /* what the scenario has without any change */
    double number;         /* of the first path, in SI; NaN where it is no number */
    rc_run_result run;     /* `fits` false: the reasons; its requests are not kept */
    rc_explain_result why; /* a step of the run's mean batch, and the load's mean prompt */
} rc_whatif_row;

/* d ln(figure) / d ln(value), least squares over the values that fit; NaN where fewer than two have a number, and
 * where several paths vary together. */
typedef struct rc_elasticity {
    double output_tokens_per_s, ttft, tpot, usd_per_million_output; /* the times: means */
} rc_elasticity;

typedef struct rc_whatif_result {
    const char *path;    /* of the first */
    rc_whatif_row *rows; /* as it is first, unless it is one of the values */
    size_t rows_count;
    rc_elasticity elasticity;
    char sentence[1024]; /* what moved between the smallest and the largest value, or what moved most */
    void *memory;
} rc_whatif_result;

/* Plays a scenario once for each value.  RC_OK where one of them fits. */
rc_status rc_whatif(const rc_whatif_question *question, rc_whatif_result *result, rc_problems *problems);
void rc_whatif_result_free(rc_whatif_result *result);
rc_status rc_print_whatif(FILE *out, const rc_whatif_result *result, rc_format format);

/* ---------- support */

enum { RC_PROVENANCES = 4 }; /* measured, fitted, transferred, assumed */

/* A model under a stack. */
typedef struct rc_supported {
    const char *model, *accelerator, *stack;
    double gpus;                   /* smallest count of whole nodes that fits */
    bool explained;                /* false: no step can be priced, see reason */
    double shares[RC_PROVENANCES]; /* of a decode step's time, by where its parameters come from; they add up to 1 */
    rc_text reason;
} rc_supported;

typedef struct rc_support_result {
    double batch, context; /* of the step */
    rc_supported *rows;    /* stack by stack, every model */
    size_t rows_count;
    void *memory;
} rc_support_result;

/* Every shipped model under every shipped stack.  Prices some hundred steps: takes seconds. */
rc_status rc_support(rc_support_result *result, rc_problems *problems);
void rc_support_result_free(rc_support_result *result);
rc_status rc_print_support(FILE *out, const rc_support_result *result, rc_format format);

/* ---------- calibrate */

enum { RC_FAMILIES_MAX = 64 };

/* A kernel family fitted to measured calls; the meaning of its numbers is in the documentation of stacks. */
typedef struct rc_calibrated_family {
    const char *family;
    const char *code;        /* what the table calls the kernel; "" where a call is several of them */
    bool in_stack;           /* it has the most rows of its family: the stack takes it */
    double fitted, held_out; /* rows */
    double launch_s, memory_efficiency, compute_efficiency, sharpness, unit_time_s, group_time_s, depth_time_s;
    double tile;                      /* columns or heads are rounded up to it; 1: none */
    double token_tile;                /* widest tile of the tokens of an expert, or of the rows of prefill; 1: none */
    bool packs_heads;                 /* heads of one KV head share the rows */
    const char *curves;               /* axes of its shape curves, "width, group"; "": none */
    double median_error, p90_error;   /* on the rows held out, as shares */
    double fitted_median, fitted_p90; /* the same on the rows that were fitted */
    double floor_median, floor_p90; /* on the rows held out, were they told from the nearest fitted shapes; NaN: none */
    double falls;                   /* share of neighbouring rows where the time falls though the work grows */
    bool explained;                 /* median at most 10 % and 90th percentile at most 30 % */
} rc_calibrated_family;

typedef struct rc_calibrate_result {
    rc_calibrated_family families[RC_FAMILIES_MAX];
    size_t families_count;
    double rows, ignored, duplicates;
    void *memory;
} rc_calibrate_result;

typedef struct rc_calibrate_question {
    const char *const *tables; /* files of measured kernels; formats: sim/study/kernel_table.h */
    size_t tables_count;
    const char *stack; /* what it starts from: its accelerator and engine say which rows count, and its families without
                             rows stay */
    const char *out_file; /* the stack that is written, whole or not at all; NULL: none */
    const char *source;   /* written beside each fitted family; NULL: a general word */
    const char *kernel; /* of a family with several kernels, the one with this in its name goes into the stack; NULL or
                             where none has it, the one with the most rows */
} rc_calibrate_question;

/* Fits the kernel families of a stack to tables of measured kernels. */
rc_status rc_calibrate(const rc_calibrate_question *question, rc_calibrate_result *result, rc_problems *problems);
void rc_calibrate_result_free(rc_calibrate_result *result);
rc_status rc_print_calibrate(FILE *out, const rc_calibrate_result *result, rc_format format);

/* Makes a model file from a Hugging Face config.json.  `name` NULL: from the file's folder or name.  `out_file` NULL:
 * nothing is written.  The census and the notes go to `out`. */
rc_status rc_import(const char *config_file, const char *name, const char *out_file, FILE *out, rc_format format,
                    rc_problems *problems);

/* A trace, or a load to be written down as one.  Pointers may be NULL where not said otherwise. */
typedef struct rc_trace_question {
    const char *name;      /* never NULL: a trace (file or name), a mix or a scenario (name or .json file) */
    const char *time_unit; /* of a trace: "s", "ms", "us", "ns" where its column's name does not say */
    const char *out_file;  /* written in our own CSV */
    const char *const *settings; /* of a mix or a scenario: "workload.requests=100", "seed=2" */
    size_t settings_count;
} rc_trace_question;

/* Describes a trace: rows, span, rate, lengths, what was skipped.  A mix, or the load of a scenario, becomes one first:
 * with answers that take what they take at nominal speeds, as nobody serves them. */
rc_status rc_describe_trace(const rc_trace_question *question, FILE *out, rc_format format, rc_problems *problems);

/* Lists what there is of a kind: accelerators, fabrics, stacks, models, mixes, traces, scenarios, prices, policies. */
rc_status rc_list(const char *kind, FILE *out, rc_format format, rc_problems *problems);
/* Prints one data file as it is after includes; `name` may be a path. */
rc_status rc_show(const char *name, FILE *out, rc_format format, rc_problems *problems);
/* Prints the JSON Schema of a kind of file: scenario, model, accelerator, fabric, stack, mix, prices. */
rc_status rc_schema(const char *kind, FILE *out, rc_problems *problems);

#ifdef __cplusplus
}
#endif
#endif
