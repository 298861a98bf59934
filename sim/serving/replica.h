/* SPDX-License-Identifier: GPL-3.0-or-later
 * replica.h - one copy of the model at work: its queue, its running requests, its cache, and the step under way.
 *
 * The replica is either idle or in a *stretch*: one step with prompts, or many decode steps at once, as many as nothing
 * can change in (a finish, a full cache, a context that reaches a window, the run's end).  An arrival that could be
 * admitted shortens the stretch to the end of the step it falls in.
 *
 * A model in stages is a replica for each micro-batch, with its share of the cache and of the running requests; they pass
 * the same pipeline, one step at a time.
 *
 * Requests are named by their index in the run's array.  Every request decodes from a step of the replica's own count,
 * so that the next to finish is the top of a heap and one visit a change of state is enough.
 */
#ifndef RC_REPLICA_H
#define RC_REPLICA_H
#include "frontend.h"
#include "intake.h"
#include "kv_pool.h"
#include "metrics.h"
#include "pipeline.h"
#include "policy.h"
#include "prefix_cache.h"
#include "stretch.h"

typedef struct rc_decoder {
    uint64_t finish_step; /* count of decode steps at which its last token is there */
    uint32_t request;
} rc_decoder;

/* Seconds of the fixed part of a captured decode step, by batch; filled when first needed. */
typedef struct rc_fixed_cost {
    bool known;
    double seconds, where_s[RC_WHERE_COUNT];
    double outer_wire_s;
} rc_fixed_cost;

struct rc_replica {
    int role;                            /* rc_pool_role */
    uint32_t index, copy, hardware_pool; /* copy: of the model, over all pools; micro-batches share one */
    const rc_scenario *scenario;
    const rc_step_plan *plan;
    const rc_policy *policy;
    rc_metrics *metrics;
    rc_request **requests; /* the run's array, which may move as it grows */
    rc_frontend *frontend; /* shared by the micro-batches of a model in stages */
    size_t arriving;       /* requests that are in it, on their way here */
    rc_intake intake;
    rc_kv_pool pool;
    rc_prefix_cache *cache;    /* NULL: prompts are computed whole */
    uint64_t available_before; /* blocks that could be had just before the last change: the end of a ramp */
    double max_running, max_batched_tokens;
    bool stepwise;
    bool in_stages; /* a micro-batch of a model in stages: whoever moves it through them sets `ends` */

    uint32_t *waiting;                                     /* ring of requests */
    size_t waiting_first, waiting_count, waiting_capacity; /* capacity: a power of two */
    double waiting_tokens;                                 /* of their prompts */
    uint32_t *prefilling;                                  /* admitted, prompt not yet computed */
    size_t prefilling_count, prefilling_capacity;
    rc_decoder *decoding; /* heap by finish_step */
    size_t decoding_count, decoding_capacity;
    /* Where two pools share the work: requests that will write their answers here, not decoding yet; those with room set aside;
     * those whose caches came and that join at the next step; and prompts that the last rc_replica_end computed for others. */
    size_t expected, reserved;
    uint32_t *arrived, *handed;
    size_t arrived_count, arrived_capacity, handed_count, handed_capacity;
    size_t holding;   /* prompts computed whose caches have not left */
    uint32_t *joined; /* requests that have not decoded since their first token */
    size_t joined_count, joined_capacity;
    uint64_t step;         /* decode steps done */
    double context;        /* sum of tokens the decoding requests will look at in their next step */
    double step_tokens;    /* that a step brings a sequence: 1, with drafts more, on average */
    double step_variance;  /* of the same */
    rc_random *acceptance; /* how many steps an answer takes; NULL without drafts */
    uint64_t admissions;
    rc_time last_decode; /* end of the last decode step */

    bool busy, decodes;   /* decodes: this stretch holds decode steps */
    double chunks_tokens; /* prompt tokens of the step under way */
    double loading_s;     /* to bring its prefixes to the device, beside its work */
    rc_stretch stretch;
    double stretch_steps;
    rc_time began, ends;
    rc_pass *train; /* in stages: the step under way, without hand-offs */
    size_t train_count, train_capacity;
    double carry_ps;      /* what rounding `began` to whole picoseconds left over; keeps long runs of steps exact */
    double next_carry_ps; /* the same of `ends` */
    bool beyond_clock;    /* the stretch would end after the clock does */
    rc_step_cost cost;    /* of a step with prompts */
    rc_fixed_cost *fixed; /* by batch, up to fixed_count */
    size_t fixed_count;
    uint32_t *finished; /* what the last rc_replica_end finished */
    size_t finished_count, finished_capacity;
};

/* What a block of the cache holds. */
typedef struct rc_block {
    double bytes, tokens, state_blocks; /* the last: of a request */
} rc_block;

/* A model without a growing cache counts requests: one block holds the state of one. */
rc_block rc_block_of(double tokens, double kv_bytes_per_token, double state_bytes);
void rc_replica_init(rc_replica *replica, uint32_t index, const rc_scenario *scenario, const rc_step_plan *plan,
                     const rc_policy *policy, rc_kv_memory *memory, rc_block block, rc_metrics *metrics,
                     rc_request **requests, rc_frontend *frontend, bool stepwise, rc_arena *arena);
void rc_replica_free(rc_replica *replica);
/* A request whose caches could never fit, alone on the replica. */
bool rc_replica_can_hold(const rc_replica *replica, const rc_request *request);
/* A request comes at `now`. */
void rc_replica_enqueue(rc_replica *replica, uint32_t request, rc_time now);
double rc_replica_finds(const rc_replica *replica, const rc_request *request); /* tokens of its prompt in the cache */
double rc_replica_load(const rc_replica *replica); /* requests in the front end, waiting and running */

/* Ends the stretch under way with the step that `now` falls in; true where that is sooner. */
bool rc_replica_pause(rc_replica *replica, rc_time now);
/* Sets room aside for the caches that another replica will send; false: there is none yet, or a stretch is under way. */
bool rc_replica_reserve(rc_replica *replica, uint32_t request);
/* The caches are there: the request joins after the step that `now` falls in.  True where that shortened the stretch. */
bool rc_replica_arrive(rc_replica *replica, uint32_t request, rc_time now);
/* The caches of a prompt that was computed for another replica have left. */
void rc_replica_let_go(rc_replica *replica, uint32_t request);

/* Plans and begins the next stretch at `now`; false where there is nothing to do.  It ends at replica->ends; in
 * stages that is not known yet. */
bool rc_replica_begin(rc_replica *replica, rc_time now, rc_time horizon);
/* After an arrival at `now`: shortens the stretch under way where the new request could be admitted; true where it did. */
bool rc_replica_shorten(rc_replica *replica, rc_time now);
/* In stages: the step has left the last one at `now`, after so many seconds in hand-offs by level. */
void rc_replica_left_stages(rc_replica *replica, rc_time now, const double link_s[2]);
/* Ends the stretch at replica->ends; replica->finished lists the requests that are done. */
void rc_replica_end(rc_replica *replica);

/* For policies.  Admits the first waiting request where limits and cache allow, and the tokens left in the step where it
 * must be read whole; one that no step could hold whole is read in chunks. */
bool rc_replica_admit(rc_replica *replica, double budget);
/* Give prompts admitted earlier, or the one admitted last, a chunk of at most `budget` tokens; return what is left. */
double rc_replica_chunk_admitted(rc_replica *replica, double budget);
double rc_replica_chunk_last(rc_replica *replica, double budget);
#endif
