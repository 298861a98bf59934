/* SPDX-License-Identifier: GPL-3.0-or-later
 * kernel.h - the time of one kernel, and where a step's seconds are added up.
 *
 *   t = launch + unit_time * units + group_time * groups + depth_time * depth
 *       + ((bytes / (em BW))^p + (flops / (ec peak))^p)^(1/p)
 *
 * times the factors of its shape curves.  Where weights come over the link to the host, the kernel takes at least as long
 * as they do.  Of the body, memory gets m^p / (m^p + c^p) and compute the rest, so that a breakdown always adds up.  A unit of work
 * (a sequence x KV head in attention, a token that enters the experts) and a group (an expert that has a token) cost
 * compute.
 * Known value: m = 3 us, c = 4 us, p = 2 give a body of 5 us, 1.8 us of it memory and 3.2 us compute.
 */
#ifndef RC_COST_KERNEL_H
#define RC_COST_KERNEL_H
#include "scenario.h"

/* Where a second went.  LINK_0 and LINK_1 are the inner and the outer level of the fabric, LINK_HOST joins a card to its
 * host; HOST_MEMORY is what the host's processors wait for theirs. */
typedef enum rc_where {
    RC_HBM,
    RC_COMPUTE,
    RC_LINK_0,
    RC_LINK_1,
    RC_LINK_HOST,
    RC_LAUNCH,
    RC_HOST,
    RC_HOST_MEMORY,
    RC_WHERE_COUNT
} rc_where;

#define RC_FAMILY_LIST(X)                                                                                              \
    X(PROJECTIONS, "projections")                                                                                      \
    X(ATTENTION, "attention")                                                                                          \
    X(MLA, "mla")                                                                                                      \
    X(INDEXER, "indexer")                                                                                              \
    X(KDA, "kda")                                                                                                      \
    X(GDN, "gdn")                                                                                                      \
    X(EXPERTS, "experts")                                                                                              \
    X(SHARED, "shared experts")                                                                                        \
    X(LATENT, "latent projections")                                                                                    \
    X(ROUTER, "router")                                                                                                \
    X(DENSE, "dense network")                                                                                          \
    X(ELEMENTWISE, "norms and element-wise")                                                                           \
    X(HEAD, "output head")                                                                                             \
    X(SAMPLING, "sampling")                                                                                            \
    X(DRAFT, "drafts")                                                                                                 \
    X(ALL_REDUCE, "all-reduce")                                                                                        \
    X(ALL_TO_ALL, "all-to-all")                                                                                        \
    X(HAND_OFF, "stage hand-off")                                                                                      \
    X(REBALANCE, "rebalancing experts")                                                                                \
    X(HOST_COPIES, "copies to the host")                                                                               \
    X(HOST, "host")
typedef enum rc_family {
#define RC_X(name, text) RC_FAMILY_##name,
    RC_FAMILY_LIST(RC_X)
#undef RC_X
        RC_FAMILY_COUNT
} rc_family;
extern const char *const rc_family_names[];

typedef struct rc_cost_line {
    double seconds[RC_WHERE_COUNT];
    double bytes, flops, launches;
    double host_link_bytes; /* of bytes, over the link to the host */
    double outer_wire_s;    /* of the seconds on the outer link: bytes under way, without latencies */
} rc_cost_line;

/* A step, family by family.  All zero is an empty step. */
typedef struct rc_step_cost {
    rc_cost_line lines[RC_FAMILY_COUNT];
} rc_step_cost;

/* Adds all lines of a step, so many times, to one line. */
void rc_line_add_cost(rc_cost_line *line, const rc_step_cost *cost, double times);

/* A kernel of a stack on an accelerator, ready to price work. */
typedef struct rc_rate {
    double launch_s, unit_s, group_s, depth_s;
    double s_per_byte, s_per_flop;
    double link_s_per_weight_byte; /* weights come over the link to the host; 0: they lie in the card's memory */
    bool on_host;                  /* the host's processors run it */
    double sharpness;
    double column_tile, token_tile, head_tile, query_tile;
    bool packs_heads;
    const rc_shape_curve *curves; /* of the stack's kernel */
    size_t curves_count;
    rc_provenance provenance;
} rc_rate;

typedef struct rc_work {
    double bytes, flops, units, groups;
    double weight_bytes; /* of bytes, those of weights */
    double depth; /* of the longest chain that one thread block walks alone: columns of a GEMM, keys of a query */
    double shape[RC_AXIS_DEPTH]; /* by rc_axis, those before depth; 0: it has none */
} rc_work;

/* The work's value of any axis. */
double rc_work_axis(const rc_work *work, rc_axis axis);

/* The first of a chain of kernel names (ends with NULL) that the stack has.  False where it has none. */
bool rc_rate_find(const rc_stack *stack, const rc_accelerator *accelerator, const char *const *names, rc_rate *rate);
/* The same for a scenario's stack, with one name to fall back on. */
bool rc_rate_first(const rc_scenario *scenario, const char *name, const char *otherwise, rc_rate *rate);
/* The same for so many heads on a rank: where the kernel has no fast path for them and does not pad, its fallback. */
bool rc_rate_for_heads(const rc_scenario *scenario, double heads, const char *name, const char *otherwise,
                       rc_rate *rate);
/* Work grows evenly from `none` at 0 to `one` at 1 and on: the first point after `at` where a curve of the rate bends;
 * infinite where none does. */
double rc_rate_next_bend(const rc_rate *rate, const rc_work *none, const rc_work *one, double at);
/* Adds `count` runs of a kernel to a line of the step. */
void rc_rate_add(const rc_rate *rate, rc_work work, double count, rc_cost_line *line);
double rc_step_outer_wire_s(const rc_step_cost *cost);
double rc_line_seconds(const rc_cost_line *line);
/* Adds up a step: seconds by where they went; returns their sum. */
double rc_step_seconds(const rc_step_cost *cost, double by_where[RC_WHERE_COUNT]);
/* Adds one step to another, family by family. */
void rc_step_cost_add(rc_step_cost *into, const rc_step_cost *from);
double rc_round_up(double value, double tile);
#endif
