/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fields.h"
#include "text.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BRIEF = 96, WORDS = 400, CHOICES_MAX = 64 };

bool rc_complain(rc_reader *reader, rc_status status, const char *path, const char *found, const char *expected,
                 const char *message) {
    const char *file = reader->file_of ? reader->file_of(reader->context, path) : "";
    rc_problem_add(reader->problems, status, file, path, 0, found, expected, "%s", message);
    return false;
}

bool rc_complain_value(rc_reader *reader, rc_status status, const char *path, const cJSON *json, const char *expected,
                       const char *message) {
    char brief[BRIEF];
    return rc_complain(reader, status, path, rc_json_brief(brief, sizeof brief, json), expected, message);
}

static char *join(rc_arena *arena, const char *path, const char *key) {
    return path[0] ? rc_arena_format(arena, "%s.%s", path, key) : rc_arena_text(arena, key);
}

/* ---------- single values */

static bool read_text(const rc_field *field, const cJSON *json, void *target, const char *path, rc_reader *reader) {
    (void)field;
    if (!cJSON_IsString(json) || !json->valuestring[0])
        return rc_complain_value(reader, RC_BAD_VALUE, path, json, "a text that is not empty", "not a text");
    *(const char **)target = rc_arena_text(reader->arena, json->valuestring);
    return true;
}

static bool read_choice(const rc_field *field, const cJSON *json, void *target, const char *path, rc_reader *reader) {
    size_t count = 0;
    while (field->choices[count])
        count++;
    if (cJSON_IsString(json))
        for (size_t i = 0; i < count; i++)
            if (strcmp(field->choices[i], json->valuestring) == 0) {
                *(int *)target = (int)i;
                return true;
            }
    char words[WORDS];
    rc_choices_text(words, sizeof words, cJSON_IsString(json) ? json->valuestring : "", field->choices, count);
    return rc_complain_value(reader, RC_UNKNOWN_NAME, path, json, words, "not one of the choices");
}

static bool read_bool(const rc_field *field, const cJSON *json, void *target, const char *path, rc_reader *reader) {
    (void)field;
    if (!cJSON_IsBool(json))
        return rc_complain_value(reader, RC_BAD_VALUE, path, json, "true or false", "not true or false");
    *(bool *)target = cJSON_IsTrue(json);
    return true;
}

static bool read_number(const rc_field *field, const cJSON *json, void *target, const char *path, rc_reader *reader) {
    bool whole = field->kind == RC_FIELD_COUNT, bounded = field->low != 0 || field->high != 0;
    double value = cJSON_IsNumber(json) ? json->valuedouble : NAN;
    bool good = isfinite(value) && (!whole || value == floor(value)) &&
                (!bounded || (value >= field->low && value <= field->high));
    if (!good) {
        char expected[WORDS];
        const char *noun = whole ? "a whole number" : "a number";
        if (!bounded)
            snprintf(expected, sizeof expected, "%s", noun);
        else if (isinf(field->high))
            snprintf(expected, sizeof expected, "%s, %g or more", noun, field->low);
        else
            snprintf(expected, sizeof expected, "%s from %.10g to %.10g", noun, field->low, field->high);
        return rc_complain_value(reader, RC_BAD_VALUE, path, json, expected, "not a number that would do");
    }
    *(double *)target = value;
    return true;
}

static bool read_quantity(const rc_field *field, const cJSON *json, void *target, const char *path, rc_reader *reader) {
    const char *example = rc_quantity_example(field->unit);
    if (cJSON_IsNumber(json))
        return rc_complain_value(reader, RC_BAD_UNIT, path, json, example, "the number has no unit");
    if (!cJSON_IsString(json) || !rc_quantity_parse(json->valuestring, field->unit, target))
        return rc_complain_value(reader, RC_BAD_UNIT, path, json, example, "not a quantity of the right unit");
    if (field->positive && !(*(double *)target > 0))
        return rc_complain_value(reader, RC_BAD_VALUE, path, json, "a quantity above 0",
                                 "nothing works with none of it");
    return true;
}

/* ---------- several */

static int compare_keys(const void *a, const void *b) {
    return strcmp((*(const cJSON *const *)a)->string, (*(const cJSON *const *)b)->string);
}

/* The entries of a list in their order, of a map by key: the order of keys in a file means nothing. */
static const cJSON **entries_of(const cJSON *json, size_t count, rc_arena *arena) {
    const cJSON **entries = rc_arena_take(arena, (count + 1) * sizeof *entries);
    size_t index = 0;
    for (const cJSON *child = json->child; child; child = child->next)
        entries[index++] = child;
    if (cJSON_IsObject(json) && count)
        qsort(entries, count, sizeof *entries, compare_keys);
    return entries;
}

static bool read_list(const rc_field *field, const cJSON *json, void *target, char *base, const char *path,
                      rc_reader *reader) {
    bool map = field->kind == RC_FIELD_MAP, good = true;
    if (map ? !cJSON_IsObject(json) : !cJSON_IsArray(json))
        return rc_complain_value(reader, RC_BAD_VALUE, path, json, map ? "an object of named entries" : "a list",
                                 "wrong kind of value");
    size_t count = (size_t)cJSON_GetArraySize(json);
    const cJSON **entries = entries_of(json, count, reader->arena);
    char *items = rc_arena_take(reader->arena, count * field->table->size);
    for (size_t index = 0; index < count; index++) {
        char *item = items + index * field->table->size;
        char *child_path = map ? join(reader->arena, path, entries[index]->string)
                               : rc_arena_format(reader->arena, "%s[%zu]", path, index);
        good = rc_read(field->table, entries[index], item, child_path, reader) && good;
        if (map)
            *(const char **)(void *)item = rc_arena_text(reader->arena, entries[index]->string);
    }
    *(void **)target = items;
    *(size_t *)(void *)(base + field->count_offset) = count;
    return good;
}

static bool read_plain_list(const rc_field *field, const cJSON *json, void *target, char *base, const char *path,
                            rc_reader *reader) {
    bool texts = field->kind == RC_FIELD_TEXTS, good = cJSON_IsArray(json);
    size_t count = good ? (size_t)cJSON_GetArraySize(json) : 0, index = 0;
    for (const cJSON *child = good ? json->child : NULL; child; child = child->next)
        good = good && (texts ? cJSON_IsString(child) : cJSON_IsNumber(child));
    if (!good)
        return rc_complain_value(reader, RC_BAD_VALUE, path, json, texts ? "a list of texts" : "a list of numbers",
                                 "wrong kind of value");
    char *items = rc_arena_take(reader->arena, count * (texts ? sizeof(char *) : sizeof(double)));
    for (const cJSON *child = json->child; child; child = child->next, index++)
        if (texts)
            ((const char **)(void *)items)[index] = rc_arena_text(reader->arena, child->valuestring);
        else
            ((double *)(void *)items)[index] = child->valuedouble;
    *(void **)target = items;
    *(size_t *)(void *)(base + field->count_offset) = count;
    return true;
}

static void set_absent(const rc_field *field, void *target) {
    switch (field->kind) {
    case RC_FIELD_CHOICE: *(int *)target = (int)field->absent; break;
    case RC_FIELD_BOOL: *(bool *)target = field->absent != 0; break;
    case RC_FIELD_COUNT:
    case RC_FIELD_NUMBER:
    case RC_FIELD_QUANTITY: *(double *)target = field->absent; break;
    case RC_FIELD_OBJECT:
        for (size_t i = 0; i < field->table->count; i++)
            set_absent(&field->table->fields[i], (char *)target + field->table->fields[i].offset);
        break;
    default: break;
    }
}

static bool read_field(const rc_field *field, const cJSON *json, char *base, const char *path, rc_reader *reader) {
    void *target = base + field->offset;
    switch (field->kind) {
    case RC_FIELD_TEXT: return read_text(field, json, target, path, reader);
    case RC_FIELD_CHOICE: return read_choice(field, json, target, path, reader);
    case RC_FIELD_BOOL: return read_bool(field, json, target, path, reader);
    case RC_FIELD_COUNT:
    case RC_FIELD_NUMBER: return read_number(field, json, target, path, reader);
    case RC_FIELD_QUANTITY: return read_quantity(field, json, target, path, reader);
    case RC_FIELD_OBJECT: return rc_read(field->table, json, target, path, reader);
    case RC_FIELD_LIST:
    case RC_FIELD_MAP: return read_list(field, json, target, base, path, reader);
    case RC_FIELD_TEXTS:
    case RC_FIELD_NUMBERS: return read_plain_list(field, json, target, base, path, reader);
    case RC_FIELD_CUSTOM: return field->custom(json, target, path, reader);
    }
    return false;
}

static bool check_keys(const rc_table *table, const cJSON *json, const char *path, rc_reader *reader) {
    const char *names[CHOICES_MAX];
    size_t count = 0;
    bool good = true;
    for (; count < table->count && count < CHOICES_MAX; count++)
        names[count] = table->fields[count].name;
    for (const cJSON *child = json->child; child; child = child->next) {
        bool known = false;
        for (size_t i = 0; i < count && !known; i++)
            known = strcmp(names[i], child->string) == 0;
        if (known)
            continue;
        char words[WORDS];
        rc_choices_text(words, sizeof words, child->string, names, count);
        good = rc_complain(reader, RC_UNKNOWN_KEY, join(reader->arena, path, child->string), child->string, words,
                           "unknown key");
    }
    return good;
}

bool rc_read(const rc_table *table, const cJSON *json, void *target, const char *path, rc_reader *reader) {
    memset(target, 0, table->size);
    for (size_t i = 0; i < table->count; i++)
        set_absent(&table->fields[i], (char *)target + table->fields[i].offset);
    if (!cJSON_IsObject(json))
        return rc_complain_value(reader, RC_BAD_VALUE, path, json, "an object", "wrong kind of value");
    bool good = check_keys(table, json, path, reader);
    for (size_t i = 0; i < table->count; i++) {
        const rc_field *field = &table->fields[i];
        const cJSON *value = rc_json_get(json, field->name);
        char *field_path = join(reader->arena, path, field->name);
        if (value && !cJSON_IsNull(value))
            good = read_field(field, value, target, field_path, reader) && good;
        else if (field->required)
            good = rc_complain(reader, RC_MISSING_KEY, field_path, "nothing", field->doc, "a required key is missing");
    }
    return good;
}

bool rc_read_kept(const rc_table *table, const cJSON *json, void *target, size_t kept, const char *path,
                  rc_reader *reader) {
    if (cJSON_IsString(json))
        return false; /* a name that was not found, which was said */
    void *whole = rc_arena_take(reader->arena, table->size);
    bool good = rc_read(table, json, whole, path, reader);
    memcpy(target, whole, kept);
    return good;
}

/* ---------- schema */

static void schema_kind(cJSON *schema, const rc_field *field) {
    switch (field->kind) {
    case RC_FIELD_TEXT: rc_json_add_text(schema, "type", "string"); break;
    case RC_FIELD_CHOICE: {
        cJSON *choices = rc_json_add_array(schema, "enum");
        for (size_t i = 0; field->choices[i]; i++)
            cJSON_AddItemToArray(choices, cJSON_CreateString(field->choices[i]));
        break;
    }
    case RC_FIELD_BOOL: rc_json_add_text(schema, "type", "boolean"); break;
    case RC_FIELD_COUNT:
    case RC_FIELD_NUMBER:
        rc_json_add_text(schema, "type", field->kind == RC_FIELD_COUNT ? "integer" : "number");
        if (field->low != 0 || field->high != 0) {
            rc_json_add_number(schema, "minimum", field->low);
            if (isfinite(field->high))
                rc_json_add_number(schema, "maximum", field->high);
        }
        break;
    case RC_FIELD_QUANTITY:
        rc_json_add_text(schema, "type", "string");
        rc_json_add_text(schema, "pattern", rc_quantity_pattern(field->unit));
        break;
    case RC_FIELD_OBJECT: break;
    case RC_FIELD_LIST:
        rc_json_add_text(schema, "type", "array");
        cJSON_AddItemToObject(schema, "items", rc_table_schema(field->table));
        break;
    case RC_FIELD_MAP:
        rc_json_add_text(schema, "type", "object");
        cJSON_AddItemToObject(schema, "additionalProperties", rc_table_schema(field->table));
        break;
    case RC_FIELD_TEXTS:
    case RC_FIELD_NUMBERS:
        rc_json_add_text(schema, "type", "array");
        rc_json_add_text(rc_json_add_object(schema, "items"), "type",
                         field->kind == RC_FIELD_TEXTS ? "string" : "number");
        break;
    case RC_FIELD_CUSTOM: break;
    }
}

static cJSON *field_schema(const rc_field *field) {
    cJSON *schema = field->kind == RC_FIELD_OBJECT                           ? rc_table_schema(field->table)
                    : field->kind == RC_FIELD_CUSTOM && field->custom_schema ? cJSON_Parse(field->custom_schema)
                                                                             : cJSON_CreateObject();
    schema_kind(schema, field);
    if (!rc_json_get(schema, "description"))
        rc_json_add_text(schema, "description", field->doc);
    return schema;
}

cJSON *rc_table_schema(const rc_table *table) {
    cJSON *schema = cJSON_CreateObject();
    rc_json_add_text(schema, "type", "object");
    rc_json_add_text(schema, "description", table->doc);
    cJSON *properties = rc_json_add_object(schema, "properties");
    cJSON *required = cJSON_CreateArray();
    for (size_t i = 0; i < table->count; i++) {
        cJSON_AddItemToObject(properties, table->fields[i].name, field_schema(&table->fields[i]));
        if (table->fields[i].required)
            cJSON_AddItemToArray(required, cJSON_CreateString(table->fields[i].name));
    }
    if (cJSON_GetArraySize(required))
        cJSON_AddItemToObject(schema, "required", required);
    else
        cJSON_Delete(required);
    rc_json_add_bool(schema, "additionalProperties", false);
    return schema;
}
