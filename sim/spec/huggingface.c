/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "huggingface.h"
#include "number_format.h"
#include <math.h>
#include <string.h>
#include <time.h>

typedef struct importer {
    const cJSON *top, *text; /* the config, and the part of it that is the language model */
    const char *prefix;      /* path of that part, with a dot at the end */
    const char *file;
    rc_problems *problems;
    bool failed;
} importer;

/* ---------- reading the config */

static const cJSON *find(const importer *in, const char *const *keys) {
    for (; *keys; keys++) {
        const cJSON *value = rc_json_get(in->text, *keys);
        if (value && !cJSON_IsNull(value))
            return value;
    }
    return NULL;
}

#define KEYS(...) ((const char *const[]){__VA_ARGS__, NULL})

static double number_or(importer *in, const char *const *keys, double otherwise) {
    const cJSON *value = find(in, keys);
    if (!value)
        return otherwise;
    bool good = cJSON_IsNumber(value) && value->valuedouble >= 0 && value->valuedouble == floor(value->valuedouble);
    if (!good) {
        char path[128], brief[64];
        snprintf(path, sizeof path, "%s%s", in->prefix, value->string);
        rc_problem_add(in->problems, RC_BAD_VALUE, in->file, path, 0, rc_json_brief(brief, sizeof brief, value),
                       "a whole number", "not a number that would do");
        in->failed = true;
        return NAN;
    }
    return value->valuedouble;
}

static double need(importer *in, const char *const *keys, const char *meaning) {
    double value = number_or(in, keys, 0);
    if (value > 0 || isnan(value))
        return value;
    char path[128], expected[200];
    snprintf(path, sizeof path, "%s%s", in->prefix, keys[0]);
    snprintf(expected, sizeof expected, "%s", meaning);
    rc_problem_add(in->problems, RC_MISSING_KEY, in->file, path, 0, "nothing", expected,
                   "the config lacks a number the model cannot do without");
    in->failed = true;
    return NAN;
}

static bool flag(const importer *in, const char *key) {
    return cJSON_IsTrue(rc_json_get(in->text, key));
}

static const char *text_of(const cJSON *object, const char *key) {
    const cJSON *value = rc_json_get(object, key);
    return cJSON_IsString(value) ? value->valuestring : "";
}

/* The part of the config that is the language model. */
static void find_text(importer *in) {
    static const char *const places[] = {"text_config", "llm_config", "language_config"};
    in->text = in->top;
    in->prefix = "";
    const cJSON *thinker = rc_json_get(in->top, "thinker_config");
    if (cJSON_IsObject(thinker) && cJSON_IsObject(rc_json_get(thinker, "text_config"))) {
        in->text = rc_json_get(thinker, "text_config");
        in->prefix = "thinker_config.text_config.";
        return;
    }
    static const char *const prefixes[] = {"text_config.", "llm_config.", "language_config."};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (cJSON_IsObject(rc_json_get(in->top, places[i]))) {
            in->text = rc_json_get(in->top, places[i]);
            in->prefix = prefixes[i];
            return;
        }
}

/* ---------- writing the model */

static void put(cJSON *object, const char *key, double value) {
    if (value > 0)
        rc_json_add_number(object, key, value);
}

static void put_flag(cJSON *object, const char *key, bool value) {
    if (value)
        rc_json_add_bool(object, key, true);
}

static cJSON *add_kind(cJSON *map, const char *name, const char *kind) {
    cJSON *entry = rc_json_add_object(map, name);
    rc_json_add_text(entry, "kind", kind);
    return entry;
}

/* ---------- attention */

static void import_mla(importer *in, cJSON *mixers) {
    cJSON *mla = add_kind(mixers, "mla", "mla");
    put(mla, "heads", need(in, KEYS("num_attention_heads"), "query heads"));
    put(mla, "q_rank", number_or(in, KEYS("q_lora_rank"), 0));
    put(mla, "kv_rank", need(in, KEYS("kv_lora_rank"), "width of the cached latent"));
    put(mla, "nope_dim", need(in, KEYS("qk_nope_head_dim"), "width of a query head without position"));
    put(mla, "rope_dim", need(in, KEYS("qk_rope_head_dim"), "width of the shared slot beside the latent"));
    put(mla, "value_dim", need(in, KEYS("v_head_dim"), "value width of a head"));
    put_flag(mla, "output_gate", flag(in, "mla_use_output_gate"));
    put(mla, "index_heads", number_or(in, KEYS("index_n_heads"), 0));
    put(mla, "index_dim", number_or(in, KEYS("index_head_dim"), 0));
    put(mla, "index_top_k", number_or(in, KEYS("index_topk"), 0));
}

static void import_kda(importer *in, cJSON *mixers, const cJSON *linear) {
    importer nested = *in;
    nested.text = linear;
    nested.prefix = "text_config.linear_attn_config.";
    cJSON *kda = add_kind(mixers, "kda", "kda");
    double dim = need(&nested, KEYS("head_dim"), "width of a head");
    put(kda, "heads", need(&nested, KEYS("num_heads"), "heads"));
    put(kda, "key_dim", dim);
    put(kda, "value_dim", dim);
    put(kda, "conv_width", need(&nested, KEYS("short_conv_kernel_size"), "taps of the short convolution"));
    put(kda, "gate_rank", dim); /* the decay gate's rank is the head's width (Kimi Linear) */
    put_flag(kda, "output_gate", flag(&nested, "use_full_rank_gate"));
    in->failed = in->failed || nested.failed;
}

static void import_gdn(importer *in, cJSON *mixers) {
    cJSON *gdn = add_kind(mixers, "gdn", "gdn");
    put(gdn, "heads", need(in, KEYS("linear_num_value_heads"), "value heads"));
    put(gdn, "key_heads", need(in, KEYS("linear_num_key_heads"), "key heads"));
    put(gdn, "key_dim", need(in, KEYS("linear_key_head_dim"), "key width of a head"));
    put(gdn, "value_dim", need(in, KEYS("linear_value_head_dim"), "value width of a head"));
    put(gdn, "conv_width", need(in, KEYS("linear_conv_kernel_dim"), "taps of the short convolution"));
    put_flag(gdn, "output_gate", true); /* the gated delta net always gates its output */
}

static double head_width(importer *in) {
    double width = number_or(in, KEYS("head_dim"), 0), heads = number_or(in, KEYS("num_attention_heads"), 0);
    double hidden = number_or(in, KEYS("hidden_size"), 0);
    if (width > 0 || !(heads > 0) || !(hidden > 0))
        return width;
    if (fmod(hidden, heads) == 0)
        return hidden / heads; /* what the field means where it is left out */
    return need(in, KEYS("head_dim"), "width of a head: hidden_size does not divide by num_attention_heads");
}

static void import_gqa(importer *in, cJSON *mixers, const char *name, double window) {
    const char *type = text_of(in->text, "model_type");
    bool norm_all = strcmp(text_of(in->text, "qk_norm_type"), "per_layer") == 0;
    bool norm = strncmp(type, "qwen3", 5) == 0 || flag(in, "use_qk_norm"); /* Qwen3: a norm a head, no field tells */
    bool bias = flag(in, "attention_bias");
    cJSON *gqa = add_kind(mixers, name, "gqa");
    put(gqa, "heads", need(in, KEYS("num_attention_heads"), "query heads"));
    put(gqa, "kv_heads", need(in, KEYS("num_key_value_heads"), "key and value heads (as many as query heads in MHA)"));
    put(gqa, "head_dim", head_width(in));
    put(gqa, "window", window);
    put_flag(gqa, "output_gate", flag(in, "attn_output_gate"));
    put_flag(gqa, "qkv_bias", bias || strncmp(type, "qwen2", 5) == 0);
    put_flag(gqa, "output_bias", bias);
    put_flag(gqa, "sinks", strcmp(type, "gpt_oss") == 0);
    if (norm)
        rc_json_add_text(gqa, "qk_norm", norm_all ? "layer" : "head");
}

/* ---------- networks */

static double expert_count(importer *in) {
    return number_or(in, KEYS("n_routed_experts", "num_experts", "num_local_experts"), 0);
}

static double shared_width(importer *in, double inner) {
    double width = number_or(in, KEYS("shared_expert_intermediate_size", "shared_intermediate_size"), 0);
    return width > 0 ? width : inner * number_or(in, KEYS("n_shared_experts", "num_shared_experts"), 0);
}

static void import_moe(importer *in, cJSON *ffns) {
    const char *type = text_of(in->text, "model_type");
    double inner = need(in, KEYS("moe_intermediate_size", "intermediate_size"), "width of an expert");
    bool sigmoid = strcmp(text_of(in->text, "topk_method"), "noaux_tc") == 0 || flag(in, "use_routing_bias");
    bool oss = strcmp(type, "gpt_oss") == 0;
    cJSON *moe = add_kind(ffns, "moe", "moe");
    put(moe, "inner", inner);
    put(moe, "experts", expert_count(in));
    put(moe, "top_k",
        need(in, KEYS("num_experts_per_tok", "num_experts_per_token", "experts_per_token"), "experts of a token"));
    put(moe, "shared_inner", shared_width(in, inner));
    put(moe, "latent", number_or(in, KEYS("routed_expert_hidden_size"), 0));
    put_flag(moe, "latent_norm", flag(in, "latent_moe_use_norm"));
    put_flag(moe, "router_bias", sigmoid || oss);
    put_flag(moe, "router_bias_f32", sigmoid);
    put_flag(moe, "shared_gate", number_or(in, KEYS("shared_expert_intermediate_size"), 0) > 0);
    put_flag(moe, "bias", oss);
}

static void import_ffns(importer *in, cJSON *ffns) {
    bool moe = expert_count(in) > 0, dense = !moe || number_or(in, KEYS("first_k_dense_replace"), 0) > 0;
    if (dense)
        put(add_kind(ffns, "dense", "dense"), "inner", need(in, KEYS("intermediate_size"), "width of the network"));
    if (moe)
        import_moe(in, ffns);
}

/* ---------- order */

static bool listed(const cJSON *list, double layer) {
    for (const cJSON *item = cJSON_IsArray(list) ? list->child : NULL; item; item = item->next)
        if (cJSON_IsNumber(item) && item->valuedouble == layer)
            return true;
    return false;
}

/* The mixer of a layer, counted from 0. */
static const char *mixer_of(importer *in, const cJSON *linear, int layer) {
    const cJSON *types = rc_json_get(in->text, "layer_types"), *type = cJSON_GetArrayItem(types, layer);
    if (linear)
        return listed(rc_json_get(linear, "full_attn_layers"), layer + 1) ? "mla" : "kda"; /* listed from 1 */
    if (cJSON_IsString(type))
        return strcmp(type->valuestring, "linear_attention") == 0    ? "gdn"
               : strcmp(type->valuestring, "sliding_attention") == 0 ? "sliding"
                                                                     : "full";
    return rc_json_get(in->text, "kv_lora_rank") ? "mla" : "full";
}

static void import_layers(importer *in, cJSON *model, const cJSON *linear, double layers) {
    cJSON *list = rc_json_add_array(model, "layers"), *run = NULL;
    double dense = expert_count(in) > 0 ? number_or(in, KEYS("first_k_dense_replace"), 0) : layers;
    for (int layer = 0; layer < layers; layer++) {
        const char *mixer = mixer_of(in, linear, layer), *ffn = layer < dense ? "dense" : "moe";
        bool same = run && strcmp(text_of(run, "mixer"), mixer) == 0 && strcmp(text_of(run, "ffn"), ffn) == 0;
        if (same) {
            cJSON_SetNumberHelper(rc_json_get(run, "count"), rc_json_get(run, "count")->valuedouble + 1);
            continue;
        }
        run = cJSON_CreateObject();
        rc_json_add_text(run, "mixer", mixer);
        rc_json_add_text(run, "ffn", ffn);
        rc_json_add_number(run, "count", 1);
        cJSON_AddItemToArray(list, run);
    }
}

static bool uses_mixer(const cJSON *model, const char *name) {
    const cJSON *list = rc_json_get(model, "layers");
    for (const cJSON *run = list ? list->child : NULL; run; run = run->next)
        if (strcmp(text_of(run, "mixer"), name) == 0)
            return true;
    return false;
}

static void import_mixers(importer *in, const cJSON *model, cJSON *mixers, const cJSON *linear) {
    if (uses_mixer(model, "kda"))
        import_kda(in, mixers, linear);
    if (uses_mixer(model, "gdn"))
        import_gdn(in, mixers);
    if (uses_mixer(model, "mla"))
        import_mla(in, mixers);
    if (uses_mixer(model, "full"))
        import_gqa(in, mixers, "full", 0);
    if (uses_mixer(model, "sliding"))
        import_gqa(in, mixers, "sliding", need(in, KEYS("sliding_window"), "tokens a sliding layer looks back on"));
}

/* ---------- quantisation */

static const cJSON *quantization_of(const importer *in) {
    const cJSON *inner = rc_json_get(in->text, "quantization_config");
    return inner ? inner : rc_json_get(in->top, "quantization_config");
}

/* The format of the quantised matrices, or NULL where the config names one that is not known here. */
static const char *format_of(const cJSON *quantization) {
    const char *method = text_of(quantization, "quant_method"), *format = text_of(quantization, "format");
    const cJSON *group = rc_json_get(rc_json_get(quantization, "config_groups"), "group_0");
    const cJSON *weights = rc_json_get(group, "weights");
    const cJSON *bits = rc_json_get(weights, "num_bits"), *size = rc_json_get(weights, "group_size");
    double width = cJSON_IsNumber(bits) ? bits->valuedouble : 0,
           together = cJSON_IsNumber(size) ? size->valuedouble : 0;
    bool integer = strcmp(text_of(weights, "type"), "int") == 0;
    if (strcmp(method, "mxfp4") == 0 || strstr(format, "mxfp4"))
        return "mxfp4";
    if (strstr(text_of(quantization, "quant_algo"), "NVFP4") || (width == 4 && together == 16 && !integer))
        return "nvfp4";
    bool eight = width == 8 && strcmp(text_of(weights, "type"), "float") == 0;
    bool blocks = rc_json_get(quantization, "weight_block_size") || strcmp(text_of(weights, "strategy"), "block") == 0;
    if (strcmp(method, "fp8") == 0 || strcmp(text_of(quantization, "quant_algo"), "FP8") == 0 || eight)
        return blocks ? "fp8" : "fp8-tensor";
    if (width == 4 && integer)
        return together == 32 ? "int4-g32" : "int4";
    return width == 8 && integer ? "int8" : NULL;
}

static bool ignores(const cJSON *quantization, const char *word) {
    static const char *const lists[] = {"ignore", "modules_to_not_convert"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const cJSON *list = rc_json_get(quantization, lists[i]);
        for (const cJSON *item = list ? list->child : NULL; item; item = item->next)
            if (cJSON_IsString(item) && strstr(item->valuestring, word))
                return true;
    }
    return false;
}

/* Groups of weights, the word that names them in an ignore list, and whether the group is ever quantised.
 * Routers, embeddings and heads stay in BF16 in every checkpoint read here.  Rule for kimi_k3: the ignore list does not
 * name the latent projections, yet the checkpoint has them in BF16 (census of its tensors); so they are not quantised. */
static void import_quantization(importer *in, cJSON *model) {
    static const struct {
        const char *group, *word;
    } groups[] = {{"routed_experts", "mlp.experts"},
                  {"attention", "self_attn"},
                  {"shared_experts", "shared_experts"},
                  {"dense_ffn", "mlp\\.(gate"}};
    cJSON *written = rc_json_add_object(model, "quantization");
    const cJSON *quantization = quantization_of(in);
    const char *format = quantization ? format_of(quantization) : NULL;
    if (quantization && !format) {
        rc_problem_add(in->problems, RC_BAD_VALUE, in->file, "quantization_config", 0,
                       text_of(quantization, "quant_method"), "mxfp4, nvfp4, fp8, int4 or int8",
                       "a quantisation that is not known");
        in->failed = true;
    }
    for (size_t i = 0; format && i < sizeof groups / sizeof *groups; i++)
        if (!ignores(quantization, groups[i].word))
            rc_json_add_text(written, groups[i].group, format);
}

/* ---------- vision */

static double vision_number(const cJSON *vision, const char *key) {
    const cJSON *value = rc_json_get(vision, key);
    return cJSON_IsNumber(value) ? value->valuedouble : 0;
}

/* The Kimi towers (vt_*): learned positions on a grid, patches merged before the projector. */
static void import_vision(importer *in, cJSON *model) {
    const cJSON *vision = rc_json_get(in->top, "vision_config");
    if (!vision)
        return;
    double hidden = vision_number(vision, "vt_hidden_size");
    if (!(hidden > 0)) {
        rc_note_add(in->problems, "vision_config: this kind of tower is not understood; the census leaves it out");
        return;
    }
    const cJSON *merge = rc_json_get(vision, "merge_kernel_size");
    double merged = 1;
    for (const cJSON *side = merge ? merge->child : NULL; side; side = side->next)
        merged *= side->valuedouble;
    double qkv = vision_number(vision, "qkv_hidden_size");
    cJSON *tower = rc_json_add_object(model, "vision");
    put(tower, "layers", vision_number(vision, "vt_num_hidden_layers"));
    put(tower, "hidden", hidden);
    put(tower, "qkv", qkv > 0 ? qkv : hidden);
    put(tower, "inner", vision_number(vision, "vt_intermediate_size"));
    put(tower, "patch", vision_number(vision, "patch_size"));
    put(tower, "positions", vision_number(vision, "init_pos_emb_height") * vision_number(vision, "init_pos_emb_width"));
    put(tower, "projector_in", vision_number(vision, "mm_hidden_size") * merged);
}

/* ---------- notes */

/* Fields that change no shape and no byte, and those read above. */
static const char *const understood[] = {"architectures",
                                         "auto_map",
                                         "model_type",
                                         "torch_dtype",
                                         "dtype",
                                         "transformers_version",
                                         "use_cache",
                                         "hidden_act",
                                         "initializer_range",
                                         "rms_norm_eps",
                                         "layer_norm_eps",
                                         "rope_scaling",
                                         "rope_theta",
                                         "rope_parameters",
                                         "rope_interleave",
                                         "rotary_dim",
                                         "attention_dropout",
                                         "attention_bias",
                                         "mlp_bias",
                                         "pretraining_tp",
                                         "tie_word_embeddings",
                                         "hidden_size",
                                         "intermediate_size",
                                         "num_hidden_layers",
                                         "num_attention_heads",
                                         "num_key_value_heads",
                                         "head_dim",
                                         "vocab_size",
                                         "max_position_embeddings",
                                         "sliding_window",
                                         "use_sliding_window",
                                         "max_window_layers",
                                         "layer_types",
                                         "full_attention_interval",
                                         "quantization_config",
                                         "text_config",
                                         "vision_config",
                                         "kv_lora_rank",
                                         "q_lora_rank",
                                         "qk_nope_head_dim",
                                         "qk_rope_head_dim",
                                         "qk_head_dim",
                                         "v_head_dim",
                                         "mla_use_output_gate",
                                         "mla_use_nope",
                                         "index_n_heads",
                                         "index_head_dim",
                                         "index_topk",
                                         "indexer_rope_interleave",
                                         "linear_attn_config",
                                         "linear_num_value_heads",
                                         "linear_num_key_heads",
                                         "linear_key_head_dim",
                                         "linear_value_head_dim",
                                         "linear_conv_kernel_dim",
                                         "mamba_ssm_dtype",
                                         "attn_output_gate",
                                         "use_qk_norm",
                                         "qk_norm_type",
                                         "n_routed_experts",
                                         "num_experts",
                                         "num_local_experts",
                                         "num_experts_per_tok",
                                         "num_experts_per_token",
                                         "experts_per_token",
                                         "moe_intermediate_size",
                                         "shared_expert_intermediate_size",
                                         "shared_intermediate_size",
                                         "n_shared_experts",
                                         "num_shared_experts",
                                         "routed_expert_hidden_size",
                                         "latent_moe_use_norm",
                                         "topk_method",
                                         "use_routing_bias",
                                         "first_k_dense_replace",
                                         "moe_layer_freq",
                                         "decoder_sparse_step",
                                         "mlp_only_layers",
                                         "norm_topk_prob",
                                         "moe_renormalize",
                                         "scoring_func",
                                         "moe_router_activation_func",
                                         "routed_scaling_factor",
                                         "router_aux_loss_coef",
                                         "n_group",
                                         "topk_group",
                                         "num_expert_group",
                                         "use_grouped_topk",
                                         "num_nextn_predict_layers",
                                         "mtp_num_hidden_layers",
                                         "mtp_use_dedicated_embeddings",
                                         "num_mtp_modules",
                                         "mtp_transformer_layers",
                                         "use_mtp",
                                         "attn_res_block_size",
                                         "activation_situ_beta",
                                         "activation_situ_linear_beta",
                                         "swiglu_limit",
                                         "ep_size",
                                         "initial_context_length",
                                         "output_router_logits",
                                         "aux_loss_alpha",
                                         "seq_aux",
                                         "use_unified_vision_chunk",
                                         "ignore_index",
                                         "max_length",
                                         "min_length",
                                         "temperature",
                                         "top_k",
                                         "top_p",
                                         "typical_p",
                                         "pad_token_id",
                                         "_name_or_path",
                                         NULL};

/* Fields of the generation and tokenizer kind that every Hugging Face config may carry. */
static bool is_noise(const cJSON *field) {
    static const char *const words[] = {
        "token_id",      "_token",        "num_beam",        "penalty",        "suppress",
        "return_dict",   "decoder",       "encoder",         "label",          "sample",
        "torchscript",   "prefix",        "cross_attention", "pruned",         "problem_type",
        "finetuning",    "ngram",         "tokenizer",       "chunk_size",     "output_attentions",
        "output_hidden", "bfloat16",      "early_stopping",  "remove_invalid", "return_sequences",
        "bad_words",     "output_scores", "exponential",     "legacy_loss"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(field->string, words[i]))
            return true;
    return false;
}

static void note_unknown(importer *in) {
    for (const cJSON *field = in->text->child; field; field = field->next) {
        bool known = is_noise(field) || cJSON_IsNull(field);
        for (size_t i = 0; understood[i] && !known; i++)
            known = strcmp(understood[i], field->string) == 0;
        char brief[60];
        if (!known)
            rc_note_add(in->problems, "%s%s = %s: not understood, ignored", in->prefix, field->string,
                        rc_json_brief(brief, sizeof brief, field));
    }
}

/* ---------- whole */

static void check_order(importer *in) {
    double step = number_or(in, KEYS("decoder_sparse_step", "moe_layer_freq"), 1);
    if (step != 1 && expert_count(in) > 0) {
        rc_problem_add(in->problems, RC_NOT_SUPPORTED, in->file, "decoder_sparse_step", 0, "not 1", "1",
                       "experts in every second layer only are not understood");
        in->failed = true;
    }
}

static void add_source(cJSON *model, const importer *in) {
    cJSON *source = cJSON_CreateObject(), *of = rc_json_add_array(source, "of");
    const char *slash = strrchr(in->file, '/'), *base = slash ? slash + 1 : in->file;
    static const char ending[] = ".config.json";
    size_t length = strlen(base);
    char url[256];
    const char *dashes = strstr(base, "--");
    if (dashes && length > sizeof ending && strcmp(base + length - strlen(ending), ending) == 0)
        snprintf(url, sizeof url, "https://huggingface.co/%.*s/%.*s/blob/main/config.json", (int)(dashes - base), base,
                 (int)(length - strlen(ending) - (size_t)(dashes + 2 - base)), dashes + 2);
    else
        snprintf(url, sizeof url, "%s", base);
    cJSON_AddItemToArray(of, cJSON_CreateString("*"));
    rc_json_add_text(source, "url", url);
    char today[16];
    time_t now = time(NULL);
    strftime(today, sizeof today, "%Y-%m-%d", gmtime(&now));
    rc_json_add_text(source, "date", today);
    cJSON_AddItemToArray(rc_json_add_array(model, "sources"), source);
}

static const char *title_of(const importer *in, const char *name) {
    const char *architecture = text_of(in->top, "_name_or_path");
    return architecture[0] ? architecture : name;
}

enum { LAYERS_MAX = 100000 };

cJSON *rc_huggingface_model(const cJSON *config, const char *name, const char *file, rc_problems *problems) {
    importer in = {.top = config, .file = file, .problems = problems};
    find_text(&in);
    const cJSON *linear = rc_json_get(in.text, "linear_attn_config");
    cJSON *model = cJSON_CreateObject();
    rc_json_add_text(model, "schema", "rackcast/model/1");
    rc_json_add_text(model, "name", name);
    rc_json_add_text(model, "title", title_of(&in, name));
    put(model, "hidden", need(&in, KEYS("hidden_size"), "width of the residual stream"));
    put(model, "vocab", need(&in, KEYS("vocab_size"), "tokens in the vocabulary"));
    put(model, "max_context", need(&in, KEYS("max_position_embeddings"), "longest context in tokens"));
    put_flag(model, "tied_embeddings", flag(&in, "tie_word_embeddings"));
    double block = number_or(&in, KEYS("attn_res_block_size"), 0);
    if (block > 0)
        rc_json_add_text(model, "residual", "attention-residual");
    put(model, "residual_block", block);
    put(model, "mtp_layers",
        number_or(&in, KEYS("num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules"), 0));
    double layers = need(&in, KEYS("num_hidden_layers"), "how many layers");
    if (layers > LAYERS_MAX) {
        rc_problem_add(problems, RC_BAD_VALUE, file, "num_hidden_layers", 0, "more than 100,000",
                       "at most 100,000 layers", "not a number of layers");
        in.failed = true;
        layers = 0;
    }
    import_quantization(&in, model);
    cJSON *mixers = rc_json_add_object(model, "mixers"), *ffns = rc_json_add_object(model, "ffns");
    import_layers(&in, model, linear, isnan(layers) ? 0 : layers);
    import_mixers(&in, model, mixers, linear);
    import_ffns(&in, ffns);
    check_order(&in);
    import_vision(&in, model);
    add_source(model, &in);
    note_unknown(&in);
    if (!in.failed)
        return model;
    cJSON_Delete(model);
    return NULL;
}
