/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "variation.h"
#include "quantity.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

double rc_number_of(const cJSON *value) {
    double number;
    if (cJSON_IsNumber(value))
        return value->valuedouble;
    for (int unit = 0; cJSON_IsString(value) && unit < RC_UNIT_COUNT; unit++)
        if (rc_quantity_parse(value->valuestring, (rc_unit)unit, &number))
            return number;
    return NAN;
}

const cJSON *rc_value_at(const cJSON *resolved, const char *path) {
    static const char engine[] = "engine.", defaults[] = "hardware.stack.defaults.";
    const cJSON *value = rc_json_at(resolved, path);
    char other[256];
    if (value || strncmp(path, engine, strlen(engine)) != 0)
        return value;
    snprintf(other, sizeof other, "%s%s", defaults, path + strlen(engine));
    return rc_json_at(resolved, other);
}

/* "x2", "x0.5": how many times; NaN where it is another value. */
static double multiple_of(const char *text) {
    char *end;
    double times = text[0] == 'x' ? strtod(text + 1, &end) : NAN;
    return text[0] == 'x' && end != text + 1 && !*end && times > 0 ? times : NAN;
}

/* "900GB/s" and 2 -> "1800GB/s": the unit stays. */
static const char *multiplied(const cJSON *value, double times, rc_arena *arena) {
    if (cJSON_IsNumber(value))
        return rc_arena_format(arena, "%.12g", value->valuedouble * times);
    const char *text = value->valuestring, *sign = text[0] == '$' ? "$" : "";
    char *unit;
    double number = strtod(text + strlen(sign), &unit);
    return rc_arena_format(arena, "%s%.12g%s", sign, number * times, unit);
}

static bool complain(rc_problems *problems, const char *path, const char *found, const char *expected,
                     const char *message) {
    rc_problems_report(problems, RC_USAGE, path, found, expected, message);
    return false;
}

static bool add_value(rc_variation *v, const char *text, const cJSON *resolved, rc_arena *arena,
                      rc_problems *problems) {
    const cJSON *there = rc_value_at(resolved, v->path);
    double times = multiple_of(text);
    if (!*text)
        return complain(problems, v->path, "an empty value", "values apart by commas, as 450GB/s,900GB/s",
                        "a value is missing");
    if (v->count == RC_VALUES_MAX)
        return complain(problems, v->path, text, "at most 32 values", "too many values");
    if (!isnan(times) && isnan(rc_number_of(there))) {
        char brief[80];
        return complain(problems, v->path, there ? rc_json_brief(brief, sizeof brief, there) : "nothing",
                        "a number that is there, or a value instead of a multiple", "nothing to multiply");
    }
    v->values[v->count++] = isnan(times) ? text : multiplied(there, times, arena);
    return true;
}

bool rc_variation_read(const char *text, const cJSON *resolved, rc_variation *v, rc_arena *arena,
                       rc_problems *problems) {
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return complain(problems, "--vary", text, "path=a,b,c, as parallel.tp=8,16", "nothing to vary");
    *v = (rc_variation){.path = rc_arena_format(arena, "%.*s", (int)(equals - text), text)};
    char *rest = rc_arena_text(arena, equals + 1), *first = rest;
    int depth = 0;
    bool quoted = false;
    for (char *c = rest;; c++) {
        quoted ^= *c == '"';
        depth += !quoted && (*c == '[' || *c == '{');
        depth -= !quoted && (*c == ']' || *c == '}');
        bool last = *c == 0;
        if (!last && (*c != ',' || depth > 0 || quoted))
            continue;
        *c = 0;
        if (!add_value(v, first, resolved, arena, problems))
            return false;
        if (last)
            return true;
        first = c + 1;
    }
}
