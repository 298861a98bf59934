/* SPDX-License-Identifier: GPL-3.0-or-later
 * huggingface.h - a model file from a Hugging Face config.json.
 *
 * What a layer is follows from the fields that are there, not from a list of model names: a kv_lora_rank makes latent
 * attention, linear_attn_config Kimi delta attention, linear_num_value_heads a gated delta net, layer_types the order,
 * an expert count a mixture of experts.  The few rules a config cannot tell (which tensors a checkpoint leaves in BF16,
 * what lies in F32) are named in huggingface.c.
 *
 * Numbers may lie one level down (text_config, llm_config, language_config, thinker_config.text_config); what lies there
 * wins over the top level, whose numbers may be the vision tower's.  A field that is not understood becomes a note, a
 * field that is needed and missing a problem.  Nothing is guessed.
 */
#ifndef RC_HUGGINGFACE_H
#define RC_HUGGINGFACE_H
#include "json.h"

/* The model file as JSON, or NULL and problems.  `file` is for messages and the source entry; caller deletes. */
cJSON *rc_huggingface_model(const cJSON *config, const char *name, const char *file, rc_problems *problems);
#endif
