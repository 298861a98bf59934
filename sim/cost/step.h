/* SPDX-License-Identifier: GPL-3.0-or-later
 * step.h - the price of one step of a replica.
 *
 * A plan is made once from a scenario: every kernel of a step with its shapes on one rank, how often it runs, and how
 * fast the stack is at it.  Pricing a load is then a sum over the plan.  It splits in two: what depends on the number of
 * tokens alone (`fixed`: the same in every step of a stretch), and decode attention, which grows with the contexts.
 *
 * A step of decodes alone runs as a captured graph: there the stack's share of launches is hidden, and the shared
 * experts hide behind the routed ones as far as memory and arithmetic allow.  A step with prompts is launched kernel by
 * kernel: where the host needs longer for that than the GPU for the work, the step waits for the host.
 *
 * With speculation a decode step verifies `queries` tokens of each sequence at once and then passes the draft model for the
 * next ones.
 *
 * With two-batch overlap a step's tokens are worked on in two halves: while one computes, the other's tokens are on their way to
 * experts or back.  Both halves are priced as they are; of messages to experts and the rest of the work (decode attention not
 * counted: it is priced apart) a share of the shorter disappears.  Engines do so where it is faster.
 *
 * With DP attention each of the dp ranks works on its share of the tokens, rounded up to whole ones; routed experts see
 * them all.  Pipeline stages are passed one after the other.
 */
#ifndef RC_COST_STEP_H
#define RC_COST_STEP_H
#include "attention.h"
#include "collective.h"
#include "elementwise.h"
#include "expert_exchange.h"
#include "experts.h"
#include "gemm.h"
#include "linear_attention.h"

enum {
    RC_GEMMS_MAX = 512,
    RC_MIXERS_MAX = RC_MODEL_MIXERS_MAX,
    RC_FFNS_MAX = RC_MODEL_FFNS_MAX,
    RC_ELEMENTWISE_MAX = 128,
    RC_PLAN_EXPERTS_MAX = 2 * RC_FFNS_MAX, /* on the card and on the host */
    RC_PLAN_MIXERS_MAX = 2 * RC_MIXERS_MAX
};

/* Tokens that go to the host's processors and come back. */
typedef struct rc_host_copies {
    double count;           /* of a step, both ways; 0: none */
    double bytes_per_token; /* in each */
    double s_per_byte, latency_s;
} rc_host_copies;

typedef struct rc_step_plan {
    double unlike;  /* of `queries` tokens of a sequence: as many independent ones touch as many experts */
    double queries; /* tokens of a decoding sequence in a step: 1, and the drafts that are verified */
    /* The draft: a plan of its own, passed so many times a decode step; NULL: no speculation. */
    struct rc_step_plan *draft;
    double draft_passes;
    bool draft_reads_prompts; /* its layers see every token of a prompt, not only its taps */
    rc_gemm draft_taps;       /* joins states of the target for it, of all tokens; no rows: none */
    rc_gemm gemms[RC_GEMMS_MAX];
    int gemms_count;
    rc_experts experts[RC_PLAN_EXPERTS_MAX];
    int experts_count;
    rc_attention attentions[RC_PLAN_MIXERS_MAX];
    int attentions_count;
    rc_linear_attention linears[RC_PLAN_MIXERS_MAX];
    int linears_count;
    rc_elementwise elementwise[RC_ELEMENTWISE_MAX];
    int elementwise_count;
    double reaches[RC_REACHES_MAX]; /* reaches[0] is infinite */
    int reaches_count;
    rc_group tensor_group, context_group, expert_group, stage_group;
    double all_reduces, hand_offs; /* messages of a step */
    /* Tokens to experts and back, for each of `experts`; tokens are filled in. */
    rc_exchange exchanges[RC_PLAN_EXPERTS_MAX];
    double senders; /* ranks that hold the same tokens and share sending them to experts; 0: every rank holds all */
    double norm_reduces;  /* of the squares that norms over split queries and keys need, two F32 values a token */
    double message_bytes; /* of a token, in an all-reduce or a hand-off */
    double context_exchanges, context_bytes; /* messages of a step between ranks that share a cache (DCP), bytes of a
                                                 * sequence in each */
    rc_host_copies host_copies;
    double rebalance_s, rebalance_bytes; /* moving experts' weights, spread over the steps between; bytes of a rank */
    int rebalance_level;
    double dp;
    double host_operations; /* that the host starts one by one for a step with prompts */
    double graph_tokens;    /* of the largest step with prompts that is captured all the same */
    bool two_batches;       /* messages to experts of one half behind the work of the other */
    double batch_overlap;   /* share of the shorter of both that disappears then */
    double host_s, launch_hidden, eager_launch_s, shared_overlap;
    double sheet_bytes_per_s, sheet_flops_per_s;
    rc_provenance provenance[RC_FAMILY_COUNT];
} rc_step_plan;

/* A plan in the arena, or NULL and problems (a kernel the stack lacks, ranks the fabric cannot join). */
rc_step_plan *rc_step_plan_new(const rc_scenario *scenario, rc_arena *arena, rc_problems *problems);
/* All of a step. */
void rc_step_price(const rc_step_plan *plan, const rc_load *load, rc_step_cost *cost);
/* Tokens of a load that one rank of a stage works on. */
double rc_step_rank_tokens(const rc_step_plan *plan, const rc_load *load);
/* All but decode attention. */
void rc_step_fixed(const rc_step_plan *plan, const rc_load *load, rc_step_cost *cost);
/* Decode attention of a captured or a mixed step: seconds by where they went, added to `by_where`. */
void rc_step_growing(const rc_step_plan *plan, double sequences, const double *context, bool captured,
                     double by_where[RC_WHERE_COUNT]);
/* Contexts grow by `growth` a step: steps until the time of decode attention bends, because a kernel has another variant
 * from there on; infinite where it does not.  Between bends it is smooth. */
double rc_step_next_bend(const rc_step_plan *plan, double sequences, const double *context, const double *growth);
#endif
