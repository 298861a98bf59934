/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "json.h"
#include "arena.h"
#include <errno.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------- reading */

char *rc_file_read(const char *file, rc_problems *problems) {
    FILE *in = fopen(file, "rb");
    if (!in) {
        rc_problem_add(problems, RC_NO_FILE, file, "", 0, strerror(errno), "a file that can be read",
                       "cannot open the file");
        return NULL;
    }
    size_t used = 0, capacity = 1 << 14;
    char *text = rc_allocate(capacity);
    for (size_t got; (got = fread(text + used, 1, capacity - used - 1, in)) > 0;) {
        used += got;
        if (used + 1 == capacity)
            text = rc_resize(text, capacity *= 2);
    }
    bool failed = ferror(in) != 0;
    text[used] = 0;
    fclose(in);
    if (failed || strlen(text) != used) {
        rc_problem_add(problems, RC_BAD_JSON, file, "", 0, failed ? "a folder or an unreadable file" : "a zero byte",
                       "a text file", "cannot read the file as text");
        free(text);
        return NULL;
    }
    return text;
}

static long line_of(const char *text, const char *place) {
    long line = 1;
    for (const char *c = text; c < place && *c; c++)
        line += *c == '\n';
    return line;
}

/* Duplicate keys and numbers that are no numbers, anywhere in the tree. */
static bool check_tree(const cJSON *json, const char *file, rc_problems *problems) {
    bool good = true;
    if (cJSON_IsNumber(json) && !isfinite(json->valuedouble)) {
        rc_problem_add(problems, RC_BAD_VALUE, file, json->string, 0, "a number out of range", "a finite number",
                       "the number cannot be held");
        good = false;
    }
    for (const cJSON *child = json->child; child; child = child->next) {
        if (cJSON_IsObject(json))
            for (const cJSON *other = json->child; other != child; other = other->next)
                if (strcmp(other->string, child->string) == 0) {
                    rc_problem_add(problems, RC_BAD_JSON, file, child->string, 0, "the key twice", "each key once",
                                   "key \"%s\" appears twice in one object", child->string);
                    good = false;
                }
        good = check_tree(child, file, problems) && good;
    }
    return good;
}

cJSON *rc_json_parse(const char *text, const char *file, rc_problems *problems) {
    const char *end = NULL;
    cJSON *json = cJSON_ParseWithOpts(text, &end, true);
    if (!json) {
        char found[24] = "the end of the file";
        if (end)
            end += strspn(end, " \t\r\n");
        if (end && *end)
            snprintf(found, sizeof found, "%.20s", end);
        found[strcspn(found, "\r\n")] = 0;
        rc_problem_add(problems, RC_BAD_JSON, file, "", end ? line_of(text, end) : 0, found,
                       "JSON: keys in double quotes, no trailing comma, nothing after the end",
                       "the text is not valid JSON");
        return NULL;
    }
    if (!check_tree(json, file, problems)) {
        cJSON_Delete(json);
        return NULL;
    }
    return json;
}

cJSON *rc_json_load(const char *file, rc_problems *problems) {
    char *text = rc_file_read(file, problems);
    if (!text)
        return NULL;
    cJSON *json = rc_json_parse(text, file, problems);
    free(text);
    return json;
}

cJSON *rc_json_get(const cJSON *object, const char *key) {
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

size_t rc_json_split_path(char *path, const char *steps[RC_JSON_STEPS_MAX]) {
    size_t count = 0;
    for (char *rest = path, *step; count < RC_JSON_STEPS_MAX && (step = strsep(&rest, ".[]"));)
        if (*step)
            steps[count++] = step;
    return count;
}

cJSON *rc_json_child(const cJSON *node, const char *step) {
    if (cJSON_IsArray(node) && isdigit((unsigned char)step[0]))
        return cJSON_GetArrayItem(node, atoi(step));
    return cJSON_IsObject(node) ? rc_json_get(node, step) : NULL;
}

cJSON *rc_json_at(const cJSON *root, const char *path) {
    char *copy = strdup(path);
    const char *steps[RC_JSON_STEPS_MAX];
    size_t count = copy ? rc_json_split_path(copy, steps) : 0;
    cJSON *node = count > 0 ? (cJSON *)root : NULL;
    for (size_t i = 0; i < count && node; i++)
        node = rc_json_child(node, steps[i]);
    free(copy);
    return node;
}

/* ---------- writing */

typedef struct writer {
    char *text;
    size_t used, capacity;
    bool pretty;
} writer;

static void put(writer *w, const char *text, size_t length) {
    while (w->used + length + 1 > w->capacity)
        w->text = rc_resize(w->text, w->capacity = w->capacity ? w->capacity * 2 : 256);
    memcpy(w->text + w->used, text, length);
    w->used += length;
    w->text[w->used] = 0;
}

static void put_text(writer *w, const char *text) {
    put(w, text, strlen(text));
}

static void put_string(writer *w, const char *text) {
    put_text(w, "\"");
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        char escape[8];
        if (*c == '"' || *c == '\\')
            snprintf(escape, sizeof escape, "\\%c", *c);
        else if (*c == '\n')
            snprintf(escape, sizeof escape, "\\n");
        else if (*c < 0x20)
            snprintf(escape, sizeof escape, "\\u%04x", *c);
        else
            snprintf(escape, sizeof escape, "%c", *c);
        put_text(w, escape);
    }
    put_text(w, "\"");
}

static void put_number(writer *w, double value) {
    char text[40];
    if (!isfinite(value))
        snprintf(text, sizeof text, "null");
    else if (value == floor(value) && fabs(value) < 9.007199254740992e15)
        snprintf(text, sizeof text, "%.0f", value == 0 ? 0. : value);
    else
        for (int digits = 15; digits <= 17; digits++) {
            snprintf(text, sizeof text, "%.*g", digits, value);
            if (strtod(text, NULL) == value)
                break;
        }
    put_text(w, text);
}

static void put_line(writer *w, int depth) {
    if (!w->pretty)
        return;
    put_text(w, "\n");
    for (int i = 0; i < depth; i++)
        put_text(w, "  ");
}

static int compare_keys(const void *a, const void *b) {
    return strcmp((*(const cJSON *const *)a)->string, (*(const cJSON *const *)b)->string);
}

static bool is_leaf(const cJSON *json) {
    return !cJSON_IsObject(json) && !cJSON_IsArray(json);
}

/* A list of plain values, or an object of a few, stays on one line. */
static bool is_short(const cJSON *json) {
    enum { PLAIN_MEMBERS_MAX = 4 };
    int members = 0;
    for (const cJSON *child = json->child; child; child = child->next, members++)
        if (!is_leaf(child))
            return false;
    return cJSON_IsArray(json) || members <= PLAIN_MEMBERS_MAX;
}

static void put_value(writer *w, const cJSON *json, int depth);

static void put_members(writer *w, const cJSON *json, int depth) {
    bool object = cJSON_IsObject(json), one_line = is_short(json) && depth > 0;
    int count = cJSON_GetArraySize(json);
    const cJSON **members = rc_allocate((size_t)(count + 1) * sizeof *members);
    int filled = 0;
    for (const cJSON *child = json->child; child; child = child->next)
        members[filled++] = child;
    if (object && !w->pretty)
        qsort(members, (size_t)count, sizeof *members, compare_keys);
    put_text(w, object ? "{" : "[");
    for (int i = 0; i < count; i++) {
        if (i)
            put_text(w, w->pretty && one_line ? ", " : ",");
        else if (w->pretty && one_line && object)
            put_text(w, " ");
        if (!one_line)
            put_line(w, depth + 1);
        if (object) {
            put_string(w, members[i]->string);
            put_text(w, w->pretty ? ": " : ":");
        }
        put_value(w, members[i], depth + 1);
    }
    if (count && !one_line)
        put_line(w, depth);
    else if (count && w->pretty && object)
        put_text(w, " ");
    put_text(w, object ? "}" : "]");
    free(members);
}

static void put_value(writer *w, const cJSON *json, int depth) {
    if (cJSON_IsString(json))
        put_string(w, json->valuestring);
    else if (cJSON_IsNumber(json))
        put_number(w, json->valuedouble);
    else if (cJSON_IsBool(json))
        put_text(w, cJSON_IsTrue(json) ? "true" : "false");
    else if (cJSON_IsNull(json))
        put_text(w, "null");
    else
        put_members(w, json, depth);
}

char *rc_json_canonical(const cJSON *json) {
    writer w = {0};
    put_value(&w, json, 0);
    return w.text;
}

char *rc_json_pretty(const cJSON *json) {
    writer w = {.pretty = true};
    put_value(&w, json, 0);
    return w.text;
}

void rc_json_print(FILE *out, cJSON *json) {
    char *text = rc_json_pretty(json);
    fprintf(out, "%s\n", text);
    free(text);
    cJSON_Delete(json);
}

const char *rc_json_brief(char *text, size_t size, const cJSON *json) {
    if (!json)
        snprintf(text, size, "nothing");
    else if (cJSON_IsObject(json))
        snprintf(text, size, "an object");
    else if (cJSON_IsArray(json))
        snprintf(text, size, "a list");
    else {
        writer w = {0};
        put_value(&w, json, 0);
        snprintf(text, size, "%s", w.text);
        free(w.text);
    }
    return text;
}

/* ---------- changing */

void rc_json_merge(cJSON *base, const cJSON *over) {
    for (const cJSON *member = over->child; member; member = member->next) {
        cJSON *old = rc_json_get(base, member->string);
        if (old && cJSON_IsObject(old) && cJSON_IsObject(member))
            rc_json_merge(old, member);
        else if (cJSON_IsNull(member))
            cJSON_DeleteItemFromObjectCaseSensitive(base, member->string);
        else if (old)
            cJSON_ReplaceItemInObjectCaseSensitive(base, member->string, cJSON_Duplicate(member, true));
        else
            cJSON_AddItemToObject(base, member->string, cJSON_Duplicate(member, true));
    }
}

void rc_json_add_number(cJSON *object, const char *key, double value) {
    if (isfinite(value))
        cJSON_AddNumberToObject(object, key, value);
    else
        cJSON_AddNullToObject(object, key);
}

void rc_json_add_text(cJSON *object, const char *key, const char *value) {
    cJSON_AddStringToObject(object, key, value);
}

void rc_json_add_bool(cJSON *object, const char *key, bool value) {
    cJSON_AddBoolToObject(object, key, value);
}

cJSON *rc_json_add_object(cJSON *object, const char *key) {
    return cJSON_AddObjectToObject(object, key);
}

cJSON *rc_json_add_array(cJSON *object, const char *key) {
    return cJSON_AddArrayToObject(object, key);
}
