/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "weights.h"
#include <assert.h>
#include <math.h>

const char *const rc_component_names[] = {
#define RC_X(name, text) text,
    RC_COMPONENT_LIST(RC_X)
#undef RC_X
};

typedef struct lister {
    rc_weights *weights;
    const rc_model *model;
    rc_format_id override; /* RC_FORMAT_COUNT: none */
    rc_owner owner;
    size_t kind;
} lister;

static rc_weight *add(lister *l, rc_component component, const char *name, double rows, double columns, int format) {
    assert(l->weights->count < RC_WEIGHTS_MAX);
    rc_weight *weight = &l->weights->list[l->weights->count++];
    *weight = (rc_weight){.component = component,
                          .name = name,
                          .owner = l->owner,
                          .kind = l->kind,
                          .rows = rows,
                          .columns = columns,
                          .copies = 1,
                          .format = (rc_format_id)format,
                          .active = 1,
                          .units = 1};
    return weight;
}

/* A matrix that tokens meet in a GEMM. */
static rc_weight *add_matrix(lister *l, rc_component component, const char *name, double rows, double columns,
                             int format, rc_split split, double units) {
    bool override = l->override != RC_FORMAT_COUNT;
    rc_weight *weight = add(l, component, name, rows, columns, override ? (int)l->override : format);
    weight->split = split;
    weight->units = units;
    weight->gemm = true;
    return weight;
}

/* One of several matrices that meet the same input and run as one GEMM. */
static void add_fused(lister *l, rc_component component, const char *name, double rows, double columns, int format,
                      rc_split split, double units) {
    add_matrix(l, component, name, rows, columns, format, split, units)->fused = true;
}

static void add_vector(lister *l, rc_component component, const char *name, double length, int format) {
    if (length > 0)
        add(l, component, name, length, 1, format);
}

/* ---------- mixers */

static void list_gqa(lister *l, const rc_mixer *m) {
    double hidden = l->model->hidden, q = m->heads * m->head_dim, kv = m->kv_heads * m->head_dim;
    int format = l->model->quantization.attention;
    add_fused(l, RC_COMPONENT_GQA, "q_proj", q, hidden, format, RC_SPLIT_ROWS, m->heads);
    add_fused(l, RC_COMPONENT_GQA, "k_proj", kv, hidden, format, RC_SPLIT_ROWS, m->kv_heads);
    add_fused(l, RC_COMPONENT_GQA, "v_proj", kv, hidden, format, RC_SPLIT_ROWS, m->kv_heads);
    if (m->output_gate)
        add_fused(l, RC_COMPONENT_OUTPUT_GATES, "g_proj", q, hidden, format, RC_SPLIT_ROWS, m->heads);
    add_matrix(l, RC_COMPONENT_OUTPUT_PROJECTIONS, "o_proj", hidden, q, format, RC_SPLIT_COLUMNS, m->heads);
    add_vector(l, RC_COMPONENT_GQA, "norms", m->qkv_bias ? q + 2 * kv : 0, RC_BF16);
    add_vector(l, RC_COMPONENT_OUTPUT_PROJECTIONS, "norms", m->output_bias ? hidden : 0, RC_BF16);
    add_vector(l, RC_COMPONENT_GQA, "norms", m->sinks ? m->heads : 0, RC_BF16);
    add_vector(l, RC_COMPONENT_GQA, "norms",
               m->qk_norm == RC_QK_NORM_HEAD    ? 2 * m->head_dim
               : m->qk_norm == RC_QK_NORM_LAYER ? q + kv
                                                : 0,
               RC_BF16);
}

static void list_indexer(lister *l, const rc_mixer *m) {
    int format = l->model->quantization.attention;
    double hidden = l->model->hidden;
    add_matrix(l, RC_COMPONENT_INDEXER, "indexer", m->index_heads * m->index_dim, m->q_rank, format, RC_SPLIT_NONE, 1);
    add_matrix(l, RC_COMPONENT_INDEXER, "indexer", m->index_dim, hidden, format, RC_SPLIT_NONE, 1);
    add_matrix(l, RC_COMPONENT_INDEXER, "indexer", m->index_heads, hidden, RC_BF16, RC_SPLIT_NONE, 1);
    add_vector(l, RC_COMPONENT_INDEXER, "norms", 2 * m->index_dim, RC_BF16);
}

static void list_mla(lister *l, const rc_mixer *m) {
    double hidden = l->model->hidden, q = m->heads * (m->nope_dim + m->rope_dim), out = m->heads * m->value_dim;
    int format = l->model->quantization.attention;
    if (m->q_rank > 0) {
        add_fused(l, RC_COMPONENT_MLA, "q_a", m->q_rank, hidden, format, RC_SPLIT_NONE, 1);
        add_matrix(l, RC_COMPONENT_MLA, "q_b", q, m->q_rank, format, RC_SPLIT_ROWS, m->heads);
    } else
        add_matrix(l, RC_COMPONENT_MLA, "q_proj", q, hidden, format, RC_SPLIT_ROWS, m->heads);
    add_fused(l, RC_COMPONENT_MLA, "kv_a", m->kv_rank + m->rope_dim, hidden, format, RC_SPLIT_NONE, 1);
    add_matrix(l, RC_COMPONENT_MLA, "kv_b", m->heads * (m->nope_dim + m->value_dim), m->kv_rank, format, RC_SPLIT_ROWS,
               m->heads);
    if (m->output_gate)
        add_matrix(l, RC_COMPONENT_OUTPUT_GATES, "g_proj", out, hidden, format, RC_SPLIT_ROWS, m->heads);
    add_matrix(l, RC_COMPONENT_OUTPUT_PROJECTIONS, "o_proj", hidden, out, format, RC_SPLIT_COLUMNS, m->heads);
    add_vector(l, RC_COMPONENT_MLA, "norms", m->q_rank + m->kv_rank, RC_BF16);
    if (m->index_heads > 0)
        list_indexer(l, m);
}

static void list_kda(lister *l, const rc_mixer *m) {
    double hidden = l->model->hidden, keys = m->heads * m->key_dim, values = m->heads * m->value_dim;
    int format = l->model->quantization.attention;
    add_fused(l, RC_COMPONENT_KDA, "q_proj", keys, hidden, format, RC_SPLIT_ROWS, m->heads);
    add_fused(l, RC_COMPONENT_KDA, "k_proj", keys, hidden, format, RC_SPLIT_ROWS, m->heads);
    add_fused(l, RC_COMPONENT_KDA, "v_proj", values, hidden, format, RC_SPLIT_ROWS, m->heads);
    add_fused(l, RC_COMPONENT_KDA, "f_a", m->gate_rank, hidden, format, RC_SPLIT_NONE, 1);
    add_matrix(l, RC_COMPONENT_KDA, "f_b", keys, m->gate_rank, format, RC_SPLIT_ROWS, m->heads);
    add_fused(l, RC_COMPONENT_KDA, "b_proj", m->heads, hidden, format, RC_SPLIT_ROWS, m->heads);
    if (m->output_gate)
        add_fused(l, RC_COMPONENT_OUTPUT_GATES, "g_proj", values, hidden, format, RC_SPLIT_ROWS, m->heads);
    add_matrix(l, RC_COMPONENT_OUTPUT_PROJECTIONS, "o_proj", hidden, values, format, RC_SPLIT_COLUMNS, m->heads);
    rc_weight *conv = add(l, RC_COMPONENT_KDA, "conv", 2 * keys + values, m->conv_width, RC_F32);
    conv->split = RC_SPLIT_ROWS;
    conv->units = m->heads;
    /* The checkpoint keeps A_log and o_norm per channel of a head, dt_bias per channel of all heads; all in F32. */
    add_vector(l, RC_COMPONENT_KDA, "norms", m->key_dim + keys + m->value_dim, RC_F32);
}

static void list_gdn(lister *l, const rc_mixer *m) {
    double hidden = l->model->hidden, keys = m->key_heads * m->key_dim, values = m->heads * m->value_dim;
    int format = l->model->quantization.attention;
    add_fused(l, RC_COMPONENT_GDN, "q_proj", keys, hidden, format, RC_SPLIT_ROWS, m->key_heads);
    add_fused(l, RC_COMPONENT_GDN, "k_proj", keys, hidden, format, RC_SPLIT_ROWS, m->key_heads);
    add_fused(l, RC_COMPONENT_GDN, "v_proj", values, hidden, format, RC_SPLIT_ROWS, m->heads);
    add_fused(l, RC_COMPONENT_GDN, "ba_proj", 2 * m->heads, hidden, format, RC_SPLIT_ROWS, m->heads);
    if (m->output_gate)
        add_fused(l, RC_COMPONENT_OUTPUT_GATES, "z_proj", values, hidden, format, RC_SPLIT_ROWS, m->heads);
    add_matrix(l, RC_COMPONENT_OUTPUT_PROJECTIONS, "o_proj", hidden, values, format, RC_SPLIT_COLUMNS, m->heads);
    rc_weight *conv = add(l, RC_COMPONENT_GDN, "conv", 2 * keys + values, m->conv_width, RC_BF16);
    conv->split = RC_SPLIT_ROWS;
    conv->units = m->key_heads;
    add_vector(l, RC_COMPONENT_GDN, "norms", 2 * m->heads + m->value_dim, RC_F32); /* A_log, dt_bias, gated norm */
}

/* ---------- networks */

static void list_gated(lister *l, rc_component component, const char *up, const char *down, double outer, double inner,
                       int format) {
    add_matrix(l, component, up, 2 * inner, outer, format, RC_SPLIT_ROWS, inner);
    add_matrix(l, component, down, outer, inner, format, RC_SPLIT_COLUMNS, inner);
}

static void make_experts(rc_weight *weight, const rc_ffn *f) {
    weight->copies = f->experts;
    weight->split = RC_SPLIT_EXPERTS;
    weight->units = f->inner;
    weight->active = f->top_k / f->experts;
}

static void list_moe(lister *l, const rc_ffn *f) {
    const rc_quantization *q = &l->model->quantization;
    double hidden = l->model->hidden, width = f->latent > 0 ? f->latent : hidden;
    make_experts(add_matrix(l, RC_COMPONENT_ROUTED_EXPERTS, "experts_up", 2 * f->inner, width, q->routed_experts,
                            RC_SPLIT_EXPERTS, 1),
                 f);
    make_experts(add_matrix(l, RC_COMPONENT_ROUTED_EXPERTS, "experts_down", width, f->inner, q->routed_experts,
                            RC_SPLIT_EXPERTS, 1),
                 f);
    if (f->bias)
        make_experts(add(l, RC_COMPONENT_ROUTED_EXPERTS, "experts_bias", 2 * f->inner + width, 1, RC_BF16), f);
    if (f->latent > 0) {
        add_matrix(l, RC_COMPONENT_LATENT, "latent", width, hidden, q->latent, RC_SPLIT_NONE, 1);
        add_matrix(l, RC_COMPONENT_LATENT, "latent", hidden, width, q->latent, RC_SPLIT_NONE, 1);
    }
    add_vector(l, RC_COMPONENT_EXPERT_NORM, "norms", f->latent_norm ? width : 0, RC_BF16);
    add_matrix(l, RC_COMPONENT_ROUTER, "router", f->experts, hidden, q->router, RC_SPLIT_NONE, 1);
    add_vector(l, RC_COMPONENT_ROUTER_BIAS, "router", f->router_bias ? f->experts : 0,
               f->router_bias_f32 ? RC_F32 : RC_BF16);
    if (f->shared_inner > 0)
        list_gated(l, RC_COMPONENT_SHARED_EXPERTS, "shared_up", "shared_down", hidden, f->shared_inner,
                   q->shared_experts);
    add_vector(l, RC_COMPONENT_SHARED_EXPERTS, "norms", f->shared_gate ? hidden : 0, RC_BF16);
}

/* ---------- the whole */

static void list_mixer(lister *l, size_t index) {
    const rc_mixer *mixer = &l->model->mixers[index];
    l->owner = RC_OWNER_MIXER;
    l->kind = index;
    switch (mixer->kind) {
    case RC_GQA: list_gqa(l, mixer); break;
    case RC_MLA: list_mla(l, mixer); break;
    case RC_KDA: list_kda(l, mixer); break;
    default: list_gdn(l, mixer); break;
    }
}

static void list_ffn(lister *l, size_t index) {
    const rc_ffn *ffn = &l->model->ffns[index];
    l->owner = RC_OWNER_FFN;
    l->kind = index;
    if (ffn->kind == RC_MOE)
        list_moe(l, ffn);
    else
        list_gated(l, RC_COMPONENT_DENSE_FFN, "ffn_up", "ffn_down", l->model->hidden, ffn->inner,
                   l->model->quantization.dense_ffn);
}

/* Parameters of the tower and its projector: convolution of patches, positions, per layer two norms, attention and
 * an MLP, a final norm; two projector matrices and a norm.  Biases are left out, as the Kimi towers have none. */
static double vision_parameters(const rc_vision *v, double hidden) {
    enum { COLOURS = 3 };
    double layer = 3 * v->qkv * v->hidden + v->qkv * v->hidden + 2 * v->hidden * v->inner + 2 * v->hidden;
    double tower = COLOURS * v->patch * v->patch * v->hidden + v->positions * v->hidden + v->layers * layer + v->hidden;
    return tower + v->projector_in * v->projector_in + v->projector_in * hidden + hidden;
}

/* A multi-token-prediction layer (DeepSeek-V3): one layer of the last kind, a projection of two joined hidden states,
 * three norms.  Only its size matters here. */
static double mtp_parameters(const rc_model *model, const rc_weights *weights) {
    const rc_layer_run *last = &model->layers[model->layers_count - 1];
    double parameters = 2 * model->hidden * model->hidden + 5 * model->hidden;
    for (size_t i = 0; i < weights->count; i++) {
        const rc_weight *w = &weights->list[i];
        if ((w->owner == RC_OWNER_MIXER && w->kind == last->mixer) ||
            (w->owner == RC_OWNER_FFN && w->kind == last->ffn))
            parameters += rc_weight_parameters(w);
    }
    return parameters;
}

static void list_outside(lister *l) {
    const rc_model *model = l->model;
    const rc_quantization *q = &model->quantization;
    l->owner = RC_OWNER_LAYER;
    add_vector(l, RC_COMPONENT_NORMS, "norms", 2 * model->hidden, RC_BF16);
    /* Attention residuals: two mixes a layer, each with a norm and a score projection; one more pair at the output. */
    add_vector(l, RC_COMPONENT_NORMS, "norms", model->attention_residual ? 4 * model->hidden : 0, RC_BF16);
    l->owner = RC_OWNER_LAST;
    add_vector(l, RC_COMPONENT_NORMS, "norms", model->attention_residual ? 3 * model->hidden : model->hidden, RC_BF16);
    if (!model->tied_embeddings)
        add_matrix(l, RC_COMPONENT_LM_HEAD, "lm_head", model->vocab, model->hidden, q->lm_head, RC_SPLIT_ROWS,
                   model->vocab);
    l->owner = RC_OWNER_FIRST;
    rc_weight *embedding = add_matrix(l, RC_COMPONENT_EMBEDDING, "embedding", model->vocab, model->hidden, q->embedding,
                                      RC_SPLIT_ROWS, model->vocab);
    embedding->gemm = model->tied_embeddings; /* then it is the head as well */
    embedding->active = model->tied_embeddings ? 1 : 0;
    if (model->has_vision)
        add(l, RC_COMPONENT_VISION, "vision", vision_parameters(&model->vision, model->hidden), 1, RC_BF16)->active = 0;
    if (model->mtp_layers > 0) {
        rc_weight *mtp = add(l, RC_COMPONENT_MTP, "mtp", model->mtp_layers * mtp_parameters(model, l->weights), 1,
                             l->override != RC_FORMAT_COUNT ? (int)l->override : q->routed_experts);
        mtp->active = 0;
    }
}

void rc_weights_list(const rc_model *model, rc_format_id format, rc_weights *weights) {
    lister l = {.weights = weights, .model = model, .override = format};
    weights->count = 0;
    for (size_t i = 0; i < model->mixers_count; i++)
        list_mixer(&l, i);
    for (size_t i = 0; i < model->ffns_count; i++)
        list_ffn(&l, i);
    list_outside(&l);
}

double rc_weight_layers(const rc_model *model, const rc_weight *weight) {
    switch (weight->owner) {
    case RC_OWNER_MIXER: return rc_model_mixer_layers(model, weight->kind, 0, model->layers_total);
    case RC_OWNER_FFN: return rc_model_ffn_layers(model, weight->kind, 0, model->layers_total);
    case RC_OWNER_LAYER: return model->layers_total;
    default: return 1;
    }
}

double rc_weight_parameters(const rc_weight *weight) {
    return weight->rows * weight->columns * weight->copies;
}

double rc_weight_scale_bytes(const rc_weight *weight) {
    return weight->columns > 1 ? weight->copies * rc_scale_bytes(weight->format, weight->rows, weight->columns) : 0;
}

double rc_weight_bytes(const rc_weight *weight) {
    return weight->copies * rc_value_bytes(weight->format, weight->rows, weight->columns) +
           rc_weight_scale_bytes(weight);
}

bool rc_weight_is_loaded(const rc_weight *weight) {
    return weight->component != RC_COMPONENT_VISION && weight->component != RC_COMPONENT_MTP;
}

double rc_weight_on_host(const rc_weight *w, const rc_offload *offload) {
    bool in_layer = w->owner == RC_OWNER_MIXER || w->owner == RC_OWNER_FFN || w->owner == RC_OWNER_LAYER;
    return in_layer ? rc_offload_share(offload, w->split == RC_SPLIT_EXPERTS) : rc_offloads_all(offload);
}
