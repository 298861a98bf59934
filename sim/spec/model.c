/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model.h"
#include "accelerator.h"
#include "text.h"
#include <math.h>
#include <string.h>

static const char *const mixer_kind_names[] = {"gqa", "mla", "kda", "gdn", NULL};
static const char *const ffn_kind_names[] = {"dense", "moe", NULL};
static const char *const qk_norm_names[] = {"none", "head", "layer", NULL};
static const char *const residual_names[] = {"standard", "attention-residual", NULL};

#define SHAPE(type, name_text, member, doc_text)                                                                       \
    { name_text, RC_FIELD_COUNT, offsetof(type, member), doc_text, .low = 0, .high = 1e9 }
#define FLAG(type, name_text, member, doc_text)                                                                        \
    { name_text, RC_FIELD_BOOL, offsetof(type, member), doc_text }

RC_LOCAL_TABLE(mixer_table, rc_mixer, "mixer", "One kind of token mixer.",
               {"kind", RC_FIELD_CHOICE, offsetof(rc_mixer, kind), "gqa, mla, kda or gdn", .required = true,
                .choices = mixer_kind_names},
               SHAPE(rc_mixer, "heads", heads, "query heads (value heads of a gated delta net)"),
               SHAPE(rc_mixer, "kv_heads", kv_heads, "gqa: key and value heads"),
               SHAPE(rc_mixer, "head_dim", head_dim, "gqa: width of a head"),
               SHAPE(rc_mixer, "window", window, "gqa: tokens looked back on; left out for all"),
               SHAPE(rc_mixer, "q_rank", q_rank, "mla: rank of the queries; left out where they are not compressed"),
               SHAPE(rc_mixer, "kv_rank", kv_rank, "mla: width of the cached latent"),
               SHAPE(rc_mixer, "nope_dim", nope_dim, "mla: width of a query head without position"),
               SHAPE(rc_mixer, "rope_dim", rope_dim, "mla: width of the shared slot beside the latent"),
               SHAPE(rc_mixer, "value_dim", value_dim, "mla, kda, gdn: value width of a head"),
               SHAPE(rc_mixer, "key_heads", key_heads, "gdn: key heads"),
               SHAPE(rc_mixer, "key_dim", key_dim, "kda, gdn: key width of a head"),
               SHAPE(rc_mixer, "conv_width", conv_width, "kda, gdn: taps of the short convolution"),
               SHAPE(rc_mixer, "gate_rank", gate_rank, "kda: rank of the decay gate"),
               SHAPE(rc_mixer, "index_heads", index_heads, "mla: heads of the sparse-attention indexer"),
               SHAPE(rc_mixer, "index_dim", index_dim, "mla: width of an indexer head"),
               SHAPE(rc_mixer, "index_top_k", index_top_k, "mla: tokens the indexer keeps"),
               FLAG(rc_mixer, "output_gate", output_gate, "a gate as wide as the attention output"),
               FLAG(rc_mixer, "qkv_bias", qkv_bias, "gqa: biases of q, k, v"),
               FLAG(rc_mixer, "output_bias", output_bias, "gqa: bias of the output projection"),
               FLAG(rc_mixer, "sinks", sinks, "gqa: one learned sink per head"),
               {"qk_norm", RC_FIELD_CHOICE, offsetof(rc_mixer, qk_norm), "gqa: norms of queries and keys",
                .choices = qk_norm_names});

RC_LOCAL_TABLE(ffn_table, rc_ffn, "feed-forward network", "One kind of feed-forward network; gated, three matrices.",
               {"kind", RC_FIELD_CHOICE, offsetof(rc_ffn, kind), "dense or moe", .required = true,
                .choices = ffn_kind_names},
               SHAPE(rc_ffn, "inner", inner, "width of the dense network, or of one expert"),
               SHAPE(rc_ffn, "experts", experts, "moe: routed experts"),
               SHAPE(rc_ffn, "top_k", top_k, "moe: routed experts of a token"),
               SHAPE(rc_ffn, "shared_inner", shared_inner, "moe: width of all shared experts together"),
               SHAPE(rc_ffn, "latent", latent, "moe: width the experts work at; left out for the model's own"),
               FLAG(rc_ffn, "latent_norm", latent_norm, "moe: a norm at the latent width"),
               FLAG(rc_ffn, "router_bias", router_bias, "moe: one bias per expert in the router"),
               FLAG(rc_ffn, "router_bias_f32", router_bias_f32, "moe: that bias is stored in F32"),
               FLAG(rc_ffn, "shared_gate", shared_gate, "moe: a gate on the shared expert"),
               FLAG(rc_ffn, "bias", bias, "moe: biases of the experts"));

RC_LOCAL_TABLE(layer_table, rc_layer_run, "layers", "Consecutive layers of one kind.",
               {"mixer", RC_FIELD_TEXT, offsetof(rc_layer_run, mixer_name), "name of a mixer", .required = true},
               {"ffn", RC_FIELD_TEXT, offsetof(rc_layer_run, ffn_name), "name of a network", .required = true},
               {"count", RC_FIELD_COUNT, offsetof(rc_layer_run, count), "how many in a row", .required = true, .low = 1,
                .high = 100000});

RC_LOCAL_TABLE(vision_table, rc_vision, "vision tower", "A vision transformer and the projector behind it.",
               SHAPE(rc_vision, "layers", layers, "layers"), SHAPE(rc_vision, "hidden", hidden, "width"),
               SHAPE(rc_vision, "qkv", qkv, "width of q, k and v each"),
               SHAPE(rc_vision, "inner", inner, "width of the MLP"),
               SHAPE(rc_vision, "patch", patch, "pixels of a patch's side"),
               SHAPE(rc_vision, "positions", positions, "learned positions"),
               SHAPE(rc_vision, "projector_in", projector_in, "width of merged patches entering the projector"));

#define FORMAT(name_text, member, doc_text)                                                                            \
    {                                                                                                                  \
        name_text, RC_FIELD_CHOICE, offsetof(rc_quantization, member), doc_text, .absent = RC_BF16,                    \
                                                                                 .choices = rc_format_names            \
    }
RC_LOCAL_TABLE(quantization_table, rc_quantization, "quantization", "Formats by group; bf16 where left out.",
               FORMAT("routed_experts", routed_experts, "routed experts"),
               FORMAT("attention", attention, "projections of the mixers"),
               FORMAT("shared_experts", shared_experts, "shared experts"),
               FORMAT("dense_ffn", dense_ffn, "dense networks"), FORMAT("router", router, "routers"),
               FORMAT("latent", latent, "projections to and from the experts' width"),
               FORMAT("embedding", embedding, "token embedding"), FORMAT("lm_head", lm_head, "output head"));

typedef struct model_file {
    rc_model model;
    const char *schema, *date;
    int residual;
    void *sources;
    size_t sources_count;
} model_file;

static bool read_residual(const cJSON *json, void *target, const char *path, rc_reader *reader) {
    const char *name = cJSON_IsString(json) ? json->valuestring : "";
    if (strcmp(name, residual_names[0]) != 0 && strcmp(name, residual_names[1]) != 0)
        return rc_complain_value(reader, RC_UNKNOWN_NAME, path, json, "standard or attention-residual",
                                 "not a kind of residual");
    *(bool *)target = strcmp(name, residual_names[1]) == 0;
    return true;
}

static bool read_vision(const cJSON *json, void *target, const char *path, rc_reader *reader) {
    rc_model *model = (rc_model *)(void *)((char *)target - offsetof(rc_model, vision));
    model->has_vision = true;
    return rc_read(&vision_table, json, target, path, reader);
}

#define FIELD(member) offsetof(model_file, model.member)
RC_TABLE(rc_model_table, model_file, "model", "A language model as shapes.",
         {"schema", RC_FIELD_TEXT, offsetof(model_file, schema), "rackcast/model/1", .required = true},
         {"name", RC_FIELD_TEXT, FIELD(name), "the name used in scenarios", .required = true},
         {"title", RC_FIELD_TEXT, FIELD(title), "the name people say", .required = true},
         {"hidden", RC_FIELD_COUNT, FIELD(hidden), "width of the residual stream", .required = true, .low = 1,
          .high = 1e7},
         {"vocab", RC_FIELD_COUNT, FIELD(vocab), "tokens in the vocabulary", .required = true, .low = 1, .high = 1e8},
         {"max_context", RC_FIELD_COUNT, FIELD(max_context), "longest context in tokens", .required = true, .low = 1,
          .high = 1e9},
         {"tied_embeddings", RC_FIELD_BOOL, FIELD(tied_embeddings), "the head is the embedding"},
         {"residual", RC_FIELD_CUSTOM, FIELD(attention_residual), "standard or attention-residual",
          .custom = read_residual, .custom_schema = "{\"enum\":[\"standard\",\"attention-residual\"]}"},
         SHAPE(rc_model, "residual_block", residual_block, "layers of a block of attention residuals"),
         SHAPE(rc_model, "mtp_layers", mtp_layers, "multi-token-prediction layers in the checkpoint"),
         {"quantization", RC_FIELD_OBJECT, FIELD(quantization), "formats as the checkpoint stores them",
          .required = true, .table = &quantization_table},
         {"mixers", RC_FIELD_MAP, FIELD(mixers), "kinds of token mixers by name", .required = true,
          .table = &mixer_table, .count_offset = FIELD(mixers_count)},
         {"ffns", RC_FIELD_MAP, FIELD(ffns), "kinds of feed-forward networks by name", .required = true,
          .table = &ffn_table, .count_offset = FIELD(ffns_count)},
         {"layers", RC_FIELD_LIST, FIELD(layers), "the layers in their order", .required = true, .table = &layer_table,
          .count_offset = FIELD(layers_count)},
         {"vision", RC_FIELD_CUSTOM, FIELD(vision), "the vision tower", .custom = read_vision,
          .custom_schema = "{\"type\":\"object\"}"},
         {"sources", RC_FIELD_LIST, offsetof(model_file, sources), "where the numbers come from",
          .table = &rc_source_table, .count_offset = offsetof(model_file, sources_count)});
#undef FIELD

/* ---------- checks */

typedef struct need {
    int kind;
    const char *name;
    size_t offset;
} need;

static const need mixer_needs[] = {
    {RC_GQA, "heads", offsetof(rc_mixer, heads)},           {RC_GQA, "kv_heads", offsetof(rc_mixer, kv_heads)},
    {RC_GQA, "head_dim", offsetof(rc_mixer, head_dim)},     {RC_MLA, "heads", offsetof(rc_mixer, heads)},
    {RC_MLA, "kv_rank", offsetof(rc_mixer, kv_rank)},       {RC_MLA, "nope_dim", offsetof(rc_mixer, nope_dim)},
    {RC_MLA, "value_dim", offsetof(rc_mixer, value_dim)},   {RC_KDA, "heads", offsetof(rc_mixer, heads)},
    {RC_KDA, "key_dim", offsetof(rc_mixer, key_dim)},       {RC_KDA, "value_dim", offsetof(rc_mixer, value_dim)},
    {RC_KDA, "conv_width", offsetof(rc_mixer, conv_width)}, {RC_KDA, "gate_rank", offsetof(rc_mixer, gate_rank)},
    {RC_GDN, "heads", offsetof(rc_mixer, heads)},           {RC_GDN, "key_heads", offsetof(rc_mixer, key_heads)},
    {RC_GDN, "key_dim", offsetof(rc_mixer, key_dim)},       {RC_GDN, "value_dim", offsetof(rc_mixer, value_dim)},
    {RC_GDN, "conv_width", offsetof(rc_mixer, conv_width)},
};
static const need ffn_needs[] = {
    {RC_DENSE, "inner", offsetof(rc_ffn, inner)},
    {RC_MOE, "inner", offsetof(rc_ffn, inner)},
    {RC_MOE, "experts", offsetof(rc_ffn, experts)},
    {RC_MOE, "top_k", offsetof(rc_ffn, top_k)},
};

static bool check_needs(const need *needs, size_t count, int kind, const void *entry, const char *path,
                        rc_reader *reader) {
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        double value;
        memcpy(&value, (const char *)entry + needs[i].offset, sizeof value);
        if (needs[i].kind == kind && value <= 0)
            good = rc_complain(reader, RC_MISSING_KEY, rc_arena_format(reader->arena, "%s.%s", path, needs[i].name),
                               "nothing", "a positive number: this kind needs it", "a required shape is missing");
    }
    return good;
}

static bool find_kind(const char *wanted, const char *path, const void *entries, size_t entry_bytes, size_t count,
                      uint32_t *index, rc_reader *reader) {
    const char *names[64];
    for (size_t i = 0; i < count && i < 64; i++) {
        memcpy(&names[i], (const char *)entries + i * entry_bytes, sizeof names[i]);
        if (strcmp(names[i], wanted) == 0) {
            *index = (uint32_t)i;
            return true;
        }
    }
    char words[300];
    rc_choices_text(words, sizeof words, wanted, names, count);
    return rc_complain(reader, RC_UNKNOWN_NAME, path, wanted, words, "no such kind in this model");
}

static bool check_count(size_t count, size_t most, const char *path, const char *key, rc_reader *reader) {
    char found[32], expected[48];
    snprintf(found, sizeof found, "%zu", count);
    snprintf(expected, sizeof expected, "1 to %zu", most);
    return (count >= 1 && count <= most) ||
           rc_complain(reader, RC_BAD_VALUE, rc_arena_format(reader->arena, "%s.%s", path, key), found, expected,
                       "not a number of entries that would do");
}

/* Different limits to how far mixers look back: windows and the tokens an indexer keeps. */
static size_t count_reaches(const rc_model *model) {
    size_t count = 0;
    for (size_t i = 0; i < model->mixers_count; i++) {
        double reach = rc_mixer_reach(&model->mixers[i]);
        bool known = isinf(reach);
        for (size_t j = 0; j < i && !known; j++)
            known = rc_mixer_reach(&model->mixers[j]) == reach;
        count += !known;
    }
    return count;
}

bool rc_model_finish(rc_model *model, const char *path, rc_reader *reader) {
    bool good = check_count(model->mixers_count, RC_MODEL_MIXERS_MAX, path, "mixers", reader);
    good = check_count(model->ffns_count, RC_MODEL_FFNS_MAX, path, "ffns", reader) && good;
    good = check_count(model->layers_count, 100000, path, "layers", reader) && good;
    if (!good)
        return false;
    if (count_reaches(model) > RC_MODEL_REACHES_MAX)
        good = rc_complain(reader, RC_BAD_VALUE, rc_arena_format(reader->arena, "%s.mixers", path), "more windows",
                           "at most 2 different windows or top-k", "too many ways of looking back");
    for (size_t i = 0; i < model->mixers_count; i++)
        good =
            check_needs(mixer_needs, sizeof mixer_needs / sizeof *mixer_needs, model->mixers[i].kind, &model->mixers[i],
                        rc_arena_format(reader->arena, "%s.mixers.%s", path, model->mixers[i].name), reader) &&
            good;
    for (size_t i = 0; i < model->ffns_count; i++)
        good = check_needs(ffn_needs, sizeof ffn_needs / sizeof *ffn_needs, model->ffns[i].kind, &model->ffns[i],
                           rc_arena_format(reader->arena, "%s.ffns.%s", path, model->ffns[i].name), reader) &&
               good;
    model->layers_total = 0;
    for (size_t i = 0; i < model->layers_count; i++) {
        rc_layer_run *run = &model->layers[i];
        good = find_kind(run->mixer_name, rc_arena_format(reader->arena, "%s.layers[%zu].mixer", path, i),
                         model->mixers, sizeof(rc_mixer), model->mixers_count, &run->mixer, reader) &&
               good;
        good = find_kind(run->ffn_name, rc_arena_format(reader->arena, "%s.layers[%zu].ffn", path, i), model->ffns,
                         sizeof(rc_ffn), model->ffns_count, &run->ffn, reader) &&
               good;
        model->layers_total += run->count;
    }
    return good;
}

/* ---------- derived */

static double overlap(double a_first, double a_last, double b_first, double b_last) {
    return fmax(0, fmin(a_last, b_last) - fmax(a_first, b_first));
}

double rc_model_mixer_layers(const rc_model *model, size_t mixer, double first, double last) {
    double at = 0, found = 0;
    for (size_t i = 0; i < model->layers_count; at += model->layers[i++].count)
        if (model->layers[i].mixer == mixer)
            found += overlap(at, at + model->layers[i].count, first, last);
    return found;
}

double rc_model_ffn_layers(const rc_model *model, size_t ffn, double first, double last) {
    double at = 0, found = 0;
    for (size_t i = 0; i < model->layers_count; at += model->layers[i++].count)
        if (model->layers[i].ffn == ffn)
            found += overlap(at, at + model->layers[i].count, first, last);
    return found;
}

double rc_mixer_reach(const rc_mixer *mixer) {
    double reach = mixer->kind == RC_GQA ? mixer->window : mixer->index_top_k;
    return reach > 0 ? reach : INFINITY;
}

bool rc_mixer_is_recurrent(const rc_mixer *mixer) {
    return mixer->kind == RC_KDA || mixer->kind == RC_GDN;
}

double rc_mixer_kv_bytes(const rc_mixer *mixer, rc_format_id kv_format) {
    double value_bytes = rc_number_format_of(kv_format)->bits / 8;
    enum { INDEX_SCALE_BYTES = 4 }; /* the indexer's key is FP8 with one F32 scale a token (DeepSeek-V3.2) */
    if (mixer->kind == RC_GQA)
        return 2 * mixer->kv_heads * mixer->head_dim * value_bytes;
    if (mixer->kind == RC_MLA) {
        double index = mixer->index_heads > 0 ? mixer->index_dim + INDEX_SCALE_BYTES : 0;
        return (mixer->kv_rank + mixer->rope_dim) * value_bytes + index;
    }
    return 0;
}

double rc_mixer_state_bytes(const rc_mixer *mixer) {
    enum { STATE_BYTES = 4, CONV_BYTES = 2 }; /* the recurrent state is F32, the convolution's window BF16 */
    if (!rc_mixer_is_recurrent(mixer))
        return 0;
    double keys = mixer->kind == RC_KDA ? mixer->heads : mixer->key_heads;
    double channels = 2 * keys * mixer->key_dim + mixer->heads * mixer->value_dim;
    return mixer->heads * mixer->key_dim * mixer->value_dim * STATE_BYTES +
           (mixer->conv_width - 1) * channels * CONV_BYTES;
}
