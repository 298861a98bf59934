/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "draft.h"
#include "accelerator.h"
#include "problems.h"
#include "text.h"
#include <math.h>
#include <string.h>

/* ---------- drafts */

static bool read_model(const cJSON *json, void *target, const char *path, rc_reader *reader) {
    return rc_read_kept(&rc_model_table, json, target, sizeof(rc_model), path, reader) &&
           rc_model_finish(target, path, reader);
}

RC_LOCAL_TABLE(acceptance_table, rc_acceptance, "acceptance", "How many drafts are accepted, on a kind of content.",
               {"content", RC_FIELD_TEXT, offsetof(rc_acceptance, content), "what the text is", .required = true},
               {"lengths", RC_FIELD_NUMBERS, offsetof(rc_acceptance, lengths), "tokens of a step with 1, 2, ... drafts",
                .count_offset = offsetof(rc_acceptance, lengths_count)},
               {"tokens", RC_FIELD_COUNT, offsetof(rc_acceptance, tokens), "drafts with which one length was measured",
                .low = 1, .high = RC_DRAFT_TOKENS_MAX},
               {"length", RC_FIELD_NUMBER, offsetof(rc_acceptance, length), "tokens of a step then", .low = 1,
                .high = RC_DRAFT_TOKENS_MAX + 1});

typedef struct draft_file {
    rc_draft draft;
    const char *schema;
    void *sources;
    size_t sources_count;
} draft_file;

#define FIELD(member) offsetof(draft_file, draft.member)
RC_TABLE(rc_draft_table, draft_file, "draft", "A small model that drafts tokens for a large one.",
         {"schema", RC_FIELD_TEXT, offsetof(draft_file, schema), "rackcast/draft/1"},
         {"name", RC_FIELD_TEXT, FIELD(name), "the name used in scenarios"},
         {"title", RC_FIELD_TEXT, FIELD(title), "the name people say"},
         {"model", RC_FIELD_CUSTOM, FIELD(model), "its layers, as a model file tells them", .required = true,
          .custom = read_model, .custom_schema = "{\"type\":\"object\"}"},
         {"block", RC_FIELD_BOOL, FIELD(block), "all drafts in one pass, not a pass for each"},
         {"replicated", RC_FIELD_BOOL, FIELD(replicated), "every rank holds its weights whole"},
         {"taps", RC_FIELD_COUNT, FIELD(taps), "layers of the target whose outputs it reads, joined by a matrix",
          .low = 0, .high = 64},
         {"extra_values", RC_FIELD_COUNT, FIELD(extra_values), "weights beside the layers", .low = 0, .high = 1e12},
         {"acceptance", RC_FIELD_LIST, FIELD(acceptances), "how many drafts are accepted, by content",
          .table = &acceptance_table, .count_offset = FIELD(acceptances_count)},
         {"sources", RC_FIELD_LIST, offsetof(draft_file, sources), "where the numbers come from",
          .table = &rc_source_table, .count_offset = offsetof(draft_file, sources_count)});
#undef FIELD

static bool read_draft(const cJSON *json, void *target, const char *path, rc_reader *reader) {
    return rc_read_kept(&rc_draft_table, json, target, sizeof(rc_draft), path, reader);
}

/* ---------- speculation */

typedef struct speculation_file {
    rc_speculation speculation;
    const cJSON *acceptance; /* read when the draft is known */
} speculation_file;

static bool keep_acceptance(const cJSON *json, void *target, const char *path, rc_reader *reader) {
    (void)path;
    (void)reader;
    *(const cJSON **)target = json;
    return true;
}

#define FIELD(member) offsetof(speculation_file, speculation.member)
RC_LOCAL_TABLE(inner_table, speculation_file, "speculation", "Drafts of tokens, verified many at once.",
               {"draft", RC_FIELD_CUSTOM, FIELD(draft), "name, path or object of a draft", .required = true,
                .custom = read_draft, .custom_schema = "{\"type\":[\"string\",\"object\"]}"},
               {"tokens", RC_FIELD_COUNT, FIELD(tokens), "drafts of a step", .required = true, .low = 1,
                .high = RC_DRAFT_TOKENS_MAX},
               {"acceptance", RC_FIELD_CUSTOM, offsetof(speculation_file, acceptance),
                "a content the draft was measured on, tokens of a step, or {\"per_position\": [...]}", .required = true,
                .custom = keep_acceptance, .custom_schema = "{\"type\":[\"string\",\"number\",\"object\"]}"});
#undef FIELD

static double geometric_length(double chance, double tokens) {
    double length = 1, term = 1;
    for (double j = 1; j <= tokens; j++)
        length += term *= chance;
    return length;
}

/* The chance with which each draft is accepted once those before were, by bisection: the length grows with it. */
static double chance_of(double length, double tokens) {
    double low = 0, high = 1;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        *(geometric_length(middle, tokens) < length ? &low : &high) = middle;
    }
    return (low + high) / 2;
}

static void survive_evenly(rc_speculation *s, double length, double measured_with) {
    double chance = chance_of(length, measured_with), term = 1;
    for (int j = 0; j < (int)s->tokens; j++)
        s->survival[j] = term *= chance;
}

static bool use_number(rc_speculation *s, const cJSON *json, const char *path, rc_reader *reader) {
    char expected[64];
    snprintf(expected, sizeof expected, "1 to %.0f, one more than the drafts", s->tokens + 1);
    if (!(json->valuedouble >= 1) || json->valuedouble > s->tokens + 1)
        return rc_complain_value(reader, RC_BAD_VALUE, path, json, expected, "no length that drafts could bring");
    survive_evenly(s, json->valuedouble, s->tokens);
    s->pinned = true;
    s->acceptance = rc_arena_format(reader->arena, "pinned at %.4g tokens a step", json->valuedouble);
    return true;
}

static bool use_lengths(rc_speculation *s, const rc_acceptance *a, const char *path, rc_reader *reader) {
    if (s->tokens > (double)a->lengths_count) {
        char found[48], expected[80];
        snprintf(found, sizeof found, "%.0f drafts", s->tokens);
        snprintf(expected, sizeof expected, "at most %zu, as measured; or a number for acceptance", a->lengths_count);
        return rc_complain(reader, RC_BAD_VALUE, path, found, expected, "acceptance is not known for so many drafts");
    }
    for (int j = 0; j < (int)s->tokens; j++) {
        double before = j ? a->lengths[j - 1] : 1, most = j ? s->survival[j - 1] : 1;
        s->survival[j] = fmin(fmax(a->lengths[j] - before, 0), most);
    }
    return true;
}

static bool use_content(rc_speculation *s, const char *content, const char *path, rc_reader *reader) {
    const rc_draft *d = &s->draft;
    const char **names = rc_arena_take(reader->arena, (d->acceptances_count + 1) * sizeof *names);
    for (size_t i = 0; i < d->acceptances_count; i++) {
        const rc_acceptance *a = &d->acceptances[i];
        names[i] = a->content;
        if (strcmp(a->content, content) != 0)
            continue;
        s->acceptance = rc_arena_format(reader->arena, "%s, as measured with %s", content, d->name ? d->name : "it");
        if (a->lengths)
            return use_lengths(s, a, path, reader);
        survive_evenly(s, a->length, a->tokens);
        return true;
    }
    char words[300];
    rc_choices_text(words, sizeof words, content, names, d->acceptances_count);
    return rc_complain(reader, RC_UNKNOWN_NAME, path, content, words, "the draft was not measured on such content");
}

static bool use_positions(rc_speculation *s, const cJSON *json, const char *path, rc_reader *reader) {
    const cJSON *list = rc_json_get(json, "per_position");
    static const char expected[] = "{\"per_position\": [a chance for each draft, none above the one before]}";
    if (!cJSON_IsArray(list) || json->child->next || cJSON_GetArraySize(list) != (int)s->tokens)
        return rc_complain_value(reader, RC_BAD_VALUE, path, json, expected, "not as many chances as drafts");
    for (int j = 0; j < (int)s->tokens; j++) {
        const cJSON *chance = cJSON_GetArrayItem(list, j);
        double most = j ? s->survival[j - 1] : 1;
        if (!cJSON_IsNumber(chance) || !(chance->valuedouble >= 0) || chance->valuedouble > most)
            return rc_complain_value(reader, RC_BAD_VALUE, path, json, expected, "not chances of acceptance");
        s->survival[j] = chance->valuedouble;
    }
    s->acceptance = "by position, as given";
    return true;
}

bool rc_speculation_read(const cJSON *json, void *target, const char *path, rc_reader *reader) {
    speculation_file file;
    if (!rc_read(&inner_table, json, &file, path, reader))
        return false;
    rc_speculation *s = target;
    *s = file.speculation;
    const char *inner = rc_arena_format(reader->arena, "%s.acceptance", path);
    if (cJSON_IsNumber(file.acceptance))
        return use_number(s, file.acceptance, inner, reader);
    if (cJSON_IsString(file.acceptance))
        return use_content(s, file.acceptance->valuestring, inner, reader);
    return use_positions(s, file.acceptance, inner, reader);
}

bool rc_speculation_finish(rc_speculation *s, const rc_model *target, rc_reader *reader) {
    if (s->tokens == 0 || s->draft.model.hidden == target->hidden || !target->name)
        return true;
    char found[64], expected[96];
    snprintf(found, sizeof found, "a draft of width %.0f", s->draft.model.hidden);
    snprintf(expected, sizeof expected, "one of width %.0f, made for %s", target->hidden, target->name);
    return rc_complain(reader, RC_BAD_VALUE, "speculation.draft", found, expected,
                       "the draft does not go with the model: it reads its states");
}

double rc_speculation_length(const rc_speculation *s) {
    double length = 1;
    for (int j = 0; j < (int)s->tokens; j++)
        length += s->survival[j];
    return length;
}

/* E[N^2] - E[N]^2 of the accepted ones: E[N^2] = sum over j of (2 j - 1) P(N >= j). */
double rc_speculation_variance(const rc_speculation *s) {
    double mean = 0, square = 0;
    if (s->pinned)
        return 0;
    for (int j = 0; j < (int)s->tokens; j++) {
        mean += s->survival[j];
        square += (2 * j + 1) * s->survival[j];
    }
    return fmax(square - mean * mean, 0);
}
