/* SPDX-License-Identifier: GPL-3.0-or-later
 * Models from Hugging Face configs: the census from the config alone, numbers one level down, what is missing. */
#include "asking.h"
#include "huggingface.h"
#include "memory.h"
#include <unistd.h>

static const char *shared(void) {
    const char *folder = getenv("RACKCAST_SHARED");
    return folder ? folder : "../shared";
}

static cJSON *import_text(const char *text, rc_problems *problems) {
    cJSON *config = rc_json_parse(text, "config.json", problems);
    ck_assert_ptr_nonnull(config);
    cJSON *model = rc_huggingface_model(config, "m", "config.json", problems);
    cJSON_Delete(config);
    return model;
}

#define LLAMA                                                                                                          \
    "\"model_type\":\"llama\",\"hidden_size\":64,\"intermediate_size\":128,\"num_hidden_layers\":2,"                   \
    "\"num_attention_heads\":4,\"num_key_value_heads\":2,\"vocab_size\":100,\"max_position_embeddings\":512"

START_TEST(numbers_may_lie_one_level_down) {
    static const char *const configs[] = {
        "{" LLAMA "}",
        "{\"text_config\":{" LLAMA "},\"vision_config\":{\"depth\":33},\"num_hidden_layers\":33}",
        "{\"llm_config\":{" LLAMA "}}",
        "{\"thinker_config\":{\"text_config\":{" LLAMA "},\"audio_config\":{}}}",
    };
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        rc_problems *problems = rc_problems_new();
        cJSON *model = import_text(configs[i], problems);
        ck_assert_ptr_nonnull(model);
        ck_assert_double_eq(rc_json_get(cJSON_GetArrayItem(rc_json_get(model, "layers"), 0), "count")->valuedouble, 2);
        cJSON *gqa = rc_json_get(rc_json_get(model, "mixers"), "full");
        ck_assert_double_eq(rc_json_get(gqa, "head_dim")->valuedouble, 16);
        ck_assert_double_eq(rc_json_get(gqa, "kv_heads")->valuedouble, 2);
        cJSON_Delete(model);
        rc_problems_free(problems);
    }
}
END_TEST

START_TEST(what_is_needed_and_missing_stops) {
    static const struct {
        const char *config, *path;
    } missing[] = {
        {"{\"model_type\":\"llama\",\"hidden_size\":64,\"intermediate_size\":128,\"num_attention_heads\":4,"
         "\"num_key_value_heads\":2,\"vocab_size\":100,\"max_position_embeddings\":512}",
         "num_hidden_layers"},
        {"{\"text_config\":{\"hidden_size\":64,\"intermediate_size\":128,\"num_hidden_layers\":2,"
         "\"num_attention_heads\":4,\"vocab_size\":100,\"max_position_embeddings\":512}}",
         "text_config.num_key_value_heads"},
        {"{\"hidden_size\":64,\"num_hidden_layers\":2,\"num_attention_heads\":4,\"num_key_value_heads\":2,"
         "\"vocab_size\":100,\"max_position_embeddings\":512}",
         "intermediate_size"},
        {"{\"hidden_size\":64,\"moe_intermediate_size\":128,\"num_experts\":8,\"num_hidden_layers\":2,\"num_attention_"
         "heads\":4,"
         "\"num_key_value_heads\":2,\"vocab_size\":100,\"max_position_embeddings\":512}",
         "num_experts_per_tok"},
    };
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++) {
        rc_problems *problems = rc_problems_new();
        ck_assert_ptr_null(import_text(missing[i].config, problems));
        ck_assert_uint_eq(rc_problems_count(problems), 1);
        ck_assert_str_eq(rc_problems_at(problems, 0)->path, missing[i].path);
        ck_assert_int_eq(rc_problems_at(problems, 0)->status, RC_MISSING_KEY);
        rc_problems_free(problems);
    }
}
END_TEST

START_TEST(what_is_not_understood_is_noted) {
    rc_problems *problems = rc_problems_new();
    cJSON *model = import_text("{" LLAMA ",\"flux_capacitor\":3,\"bos_token_id\":1}", problems);
    ck_assert_ptr_nonnull(model);
    ck_assert_uint_eq(rc_notes_count(problems), 1);
    ck_assert_ptr_nonnull(strstr(rc_notes_at(problems, 0), "flux_capacitor"));
    cJSON_Delete(model);
    model = import_text("{" LLAMA ",\"quantization_config\":{\"quant_method\":\"ternary\"}}", problems);
    ck_assert_ptr_null(model);
    rc_problems_free(problems);
}
END_TEST

/* A shipped model file says what import makes of the config today. */
START_TEST(shipped_models_are_what_import_writes) {
    static const char *const pairs[][2] = {{"kimi-k3", "moonshotai--Kimi-K3"},
                                           {"kimi-k2.5", "moonshotai--Kimi-K2.5"},
                                           {"deepseek-r1", "deepseek-ai--DeepSeek-R1"},
                                           {"llama-3.1-8b", "meta-llama--Meta-Llama-3.1-8B"},
                                           {"qwen3-32b", "Qwen--Qwen3-32B"},
                                           {"qwen3.5-397b-a17b", "Qwen--Qwen3.5-397B-A17B"},
                                           {"gpt-oss-120b", "openai--gpt-oss-120b"},
                                           {"glm-5", "zai-org--GLM-5"},
                                           {"minimax-m2.5", "MiniMaxAI--MiniMax-M2.5"},
                                           {"mixtral-8x7b", "mistralai--Mixtral-8x7B-v0.1"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char config_file[400], model_file[200];
        snprintf(config_file, sizeof config_file, "%s/models/%s.config.json", shared(), pairs[i][1]);
        snprintf(model_file, sizeof model_file, "workloads/models/%s.json", pairs[i][0]);
        if (access(config_file, R_OK) != 0) {
            printf("skipped: %s is not here\n", config_file);
            return;
        }
        rc_problems *problems = rc_problems_new();
        cJSON *config = rc_json_load(config_file, problems), *shipped = rc_json_load(model_file, problems);
        cJSON *model = rc_huggingface_model(config, pairs[i][0], config_file, problems);
        ck_assert_uint_eq(rc_problems_count(problems), 0);
        static const char *const told_by_people[] = {"title", "sources"};
        for (size_t k = 0; k < 2; k++) {
            cJSON_DeleteItemFromObjectCaseSensitive(model, told_by_people[k]);
            cJSON_DeleteItemFromObjectCaseSensitive(shipped, told_by_people[k]);
        }
        char *a = rc_json_canonical(model), *b = rc_json_canonical(shipped);
        ck_assert_str_eq(a, b);
        free(a);
        free(b);
        cJSON_Delete(config);
        cJSON_Delete(shipped);
        cJSON_Delete(model);
        rc_problems_free(problems);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("import");
    add_tests(suite, "import",
              (const TTest *const[]){numbers_may_lie_one_level_down, what_is_needed_and_missing_stops,
                                     what_is_not_understood_is_noted, shipped_models_are_what_import_writes, NULL});
    return run_suite(suite);
}
