/* SPDX-License-Identifier: GPL-3.0-or-later
 * weights.h - every weight tensor of a model, once: the census, the memory of a rank and the matrix work of a step all
 * read this one list.
 *
 * A tensor is `copies` matrices of rows x columns in each of its layers (experts are copies).  How it is split over the
 * ranks of a stage:
 *   NONE     every rank may hold it whole ("small": the stack says whether it does)
 *   ROWS     rows by tensor parallelism (`units` indivisible pieces: heads)
 *   COLUMNS  columns by tensor parallelism (`units`)
 *   EXPERTS  copies by expert parallelism, and their inner width by the rest
 *
 * Known values (Kimi K3): 2,779,931,837,184 parameters, 1,560,860,324,864 bytes, 104,189,614,848 active.
 */
#ifndef RC_WEIGHTS_H
#define RC_WEIGHTS_H
#include "model.h"
#include "offload.h"

#define RC_COMPONENT_LIST(X)                                                                                           \
    X(ROUTED_EXPERTS, "routed_experts")                                                                                \
    X(KDA, "kda_attention")                                                                                            \
    X(GDN, "gdn_attention")                                                                                            \
    X(MLA, "mla_attention")                                                                                            \
    X(GQA, "gqa_attention")                                                                                            \
    X(INDEXER, "indexer")                                                                                              \
    X(OUTPUT_GATES, "output_gates")                                                                                    \
    X(OUTPUT_PROJECTIONS, "o_proj")                                                                                    \
    X(SHARED_EXPERTS, "shared_experts")                                                                                \
    X(LATENT, "latent_projections")                                                                                    \
    X(ROUTER, "router")                                                                                                \
    X(ROUTER_BIAS, "router_bias")                                                                                      \
    X(EXPERT_NORM, "routed_expert_norm")                                                                               \
    X(DENSE_FFN, "dense_ffn")                                                                                          \
    X(NORMS, "norms")                                                                                                  \
    X(EMBEDDING, "embedding")                                                                                          \
    X(LM_HEAD, "lm_head")                                                                                              \
    X(VISION, "vision")                                                                                                \
    X(MTP, "mtp")
typedef enum rc_component {
#define RC_X(name, text) RC_COMPONENT_##name,
    RC_COMPONENT_LIST(RC_X)
#undef RC_X
        RC_COMPONENT_COUNT
} rc_component;
extern const char *const rc_component_names[];

typedef enum rc_split { RC_SPLIT_NONE, RC_SPLIT_ROWS, RC_SPLIT_COLUMNS, RC_SPLIT_EXPERTS } rc_split;
/* Which layers have the tensor. */
typedef enum rc_owner { RC_OWNER_MIXER, RC_OWNER_FFN, RC_OWNER_LAYER, RC_OWNER_FIRST, RC_OWNER_LAST } rc_owner;

typedef struct rc_weight {
    rc_component component;
    const char *name; /* "q_a": what a stack's list of replicated tensors names */
    rc_owner owner;
    size_t kind; /* of a mixer or network owner: its index in the model */
    double rows, columns, copies;
    rc_format_id format;
    rc_split split;
    double units;  /* pieces a split may fall between */
    double active; /* share of it one token works with: top-k / experts, 0 for an embedding */
    bool gemm;     /* a matrix that tokens are multiplied with */
    bool fused;    /* engines run it in one GEMM with the other fused matrices of its owner */
} rc_weight;

enum { RC_WEIGHTS_MAX = 320 };
typedef struct rc_weights {
    rc_weight list[RC_WEIGHTS_MAX];
    size_t count;
} rc_weights;

/* `format` RC_FORMAT_COUNT: as the checkpoint; otherwise every matrix is stored in that format (vectors stay). */
void rc_weights_list(const rc_model *model, rc_format_id format, rc_weights *weights);
double rc_weight_layers(const rc_model *model, const rc_weight *weight); /* layers that have it */
double rc_weight_parameters(const rc_weight *weight);                    /* in one layer */
double rc_weight_bytes(const rc_weight *weight);                         /* in one layer, scales included */
double rc_weight_scale_bytes(const rc_weight *weight);                   /* in one layer */
/* The share of its layers in which it lies in host memory.  Where the host computes all layers, embedding and output head
 * are there too. */
double rc_weight_on_host(const rc_weight *weight, const rc_offload *offload);
bool rc_weight_is_loaded(const rc_weight *weight); /* false for vision and MTP */
#endif
