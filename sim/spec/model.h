/* SPDX-License-Identifier: GPL-3.0-or-later
 * model.h - a language model as shapes: kinds of token mixers (attention), kinds of feed-forward networks, and the
 * order in which layers pair them.  Hybrid, MLA, GQA, sliding-window, gated-delta and MoE models differ in these lists
 * and in nothing else.
 */
#ifndef RC_MODEL_H
#define RC_MODEL_H
#include "fields.h"
#include "number_format.h"

/* How much variety a model may have: kinds of mixers and networks, different limits to looking back. */
enum { RC_MODEL_MIXERS_MAX = 8, RC_MODEL_FFNS_MAX = 8, RC_MODEL_REACHES_MAX = 2 };

typedef enum rc_mixer_kind {
    RC_GQA, /* grouped-query attention; multi-head where kv_heads = heads; a window makes it sliding */
    RC_MLA, /* multi-head latent attention; sparse where it has an indexer */
    RC_KDA, /* Kimi delta attention: a recurrent state per head, gated per channel */
    RC_GDN  /* gated delta net: a recurrent state per value head */
} rc_mixer_kind;

typedef enum rc_qk_norm { RC_QK_NORM_NONE, RC_QK_NORM_HEAD, RC_QK_NORM_LAYER } rc_qk_norm;

typedef struct rc_mixer {
    const char *name;
    int kind;                                   /* rc_mixer_kind */
    double heads;                               /* query heads; value heads of a gated delta net */
    double kv_heads;                            /* gqa */
    double head_dim;                            /* gqa: query, key and value width of a head */
    double window;                              /* gqa: tokens looked back on; 0: all */
    double q_rank, kv_rank, nope_dim, rope_dim; /* mla; q_rank 0: queries are not compressed */
    double value_dim;                           /* mla, kda, gdn: value width of a head */
    double key_heads;                           /* gdn */
    double key_dim;                             /* kda, gdn: key width of a head */
    double conv_width;                          /* kda, gdn: taps of the short convolution */
    double gate_rank;                           /* kda: rank of the decay gate */
    double index_heads, index_dim, index_top_k; /* mla: the indexer of sparse attention; 0: none */
    bool output_gate, qkv_bias, output_bias, sinks;
    int qk_norm; /* rc_qk_norm */
} rc_mixer;

typedef enum rc_ffn_kind { RC_DENSE, RC_MOE } rc_ffn_kind;

typedef struct rc_ffn {
    const char *name;
    int kind;     /* rc_ffn_kind */
    double inner; /* width of the dense network, or of one expert */
    double experts, top_k;
    double shared_inner; /* width of all shared experts together; 0: none */
    double latent;       /* width experts work at; 0: the model's own */
    bool latent_norm, router_bias, router_bias_f32, shared_gate, bias;
} rc_ffn;

typedef struct rc_layer_run {
    const char *mixer_name, *ffn_name;
    double count;        /* consecutive layers of this kind */
    uint32_t mixer, ffn; /* indices, filled by rc_model_finish */
} rc_layer_run;

typedef struct rc_vision {
    double layers, hidden, qkv, inner, patch, positions, projector_in;
} rc_vision;

/* Formats by group of weights, as the checkpoint stores them. */
typedef struct rc_quantization {
    int routed_experts, attention, shared_experts, dense_ffn, router, latent, embedding, lm_head;
} rc_quantization;

typedef struct rc_model {
    const char *name, *title;
    double hidden, vocab, max_context;
    bool tied_embeddings;
    bool attention_residual; /* K3: every layer mixes the outputs of earlier blocks */
    double residual_block;   /* layers of a block */
    double mtp_layers;       /* multi-token-prediction layers in the checkpoint */
    rc_quantization quantization;
    rc_mixer *mixers;
    size_t mixers_count;
    rc_ffn *ffns;
    size_t ffns_count;
    rc_layer_run *layers;
    size_t layers_count;
    bool has_vision;
    rc_vision vision;
    double layers_total; /* filled by rc_model_finish */
} rc_model;

extern const rc_table rc_model_table;

/* Checks what a table cannot (names of kinds, which shapes a kind needs) and fills the derived fields. */
bool rc_model_finish(rc_model *model, const char *path, rc_reader *reader);
/* Layers of a mixer or a network kind among layers first..last (0-based, last not included). */
double rc_model_mixer_layers(const rc_model *model, size_t mixer, double first, double last);
double rc_model_ffn_layers(const rc_model *model, size_t ffn, double first, double last);
/* Tokens a mixer looks back on: its window, what its indexer keeps, or infinity. */
double rc_mixer_reach(const rc_mixer *mixer);
bool rc_mixer_is_recurrent(const rc_mixer *mixer); /* keeps a state instead of a cache that grows */
/* Bytes of KV cache that one layer keeps for a token: the whole of it, before any split.  0 for a recurrent mixer. */
double rc_mixer_kv_bytes(const rc_mixer *mixer, rc_format_id kv_format);
/* Bytes of state that one layer keeps for a request, before any split.  0 for attention. */
double rc_mixer_state_bytes(const rc_mixer *mixer);
#endif
