/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "shape_curve.h"

const char *const rc_axis_names[] = {
#define RC_X(name, text) text,
    RC_AXIS_LIST(RC_X)
#undef RC_X
        NULL};

double rc_shape_curve_at(const rc_shape_curve *curve, double value) {
    const rc_curve_point *p = curve->points, *last = p + curve->count - 1;
    if (!(value > p->at))
        return p->factor;
    while (p < last && p[1].at <= value)
        p++;
    return p == last ? last->factor : p->factor + (p[1].factor - p->factor) * (value - p->at) / (p[1].at - p->at);
}

static double number_at(const cJSON *pair, int index) {
    const cJSON *item = cJSON_GetArrayItem(pair, index);
    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

static bool complain_of_point(const cJSON *pair, size_t index, const char *path, rc_reader *reader) {
    char *text = cJSON_PrintUnformatted(pair);
    bool complained = rc_complain(reader, RC_BAD_VALUE, rc_arena_format(reader->arena, "%s[%zu]", path, index), text,
                                  "[value, factor], the factor above 0, values that rise from pair to pair",
                                  "not a point of a curve");
    cJSON_free(text);
    return complained;
}

static bool read_points(const cJSON *json, void *target, const char *path, rc_reader *reader) {
    rc_shape_curve *curve = (rc_shape_curve *)(void *)((char *)target - offsetof(rc_shape_curve, points));
    int count = cJSON_GetArraySize(json);
    if (!cJSON_IsArray(json) || count < 2)
        return rc_complain_value(reader, RC_BAD_VALUE, path, json, "two or more pairs [value, factor]",
                                 "a curve needs points");
    curve->points = rc_arena_take(reader->arena, (size_t)count * sizeof *curve->points);
    curve->count = (size_t)count;
    const cJSON *pair;
    size_t i = 0;
    cJSON_ArrayForEach(pair, json) {
        rc_curve_point point = {number_at(pair, 0), number_at(pair, 1)};
        bool rises = i == 0 || point.at > curve->points[i - 1].at;
        if (!cJSON_IsArray(pair) || cJSON_GetArraySize(pair) != 2 || point.at < 0 || point.factor <= 0 || !rises)
            return complain_of_point(pair, i, path, reader);
        curve->points[i++] = point;
    }
    return true;
}

RC_TABLE(rc_shape_curve_table, rc_shape_curve, "curve",
         "By how much a kernel's time departs from its formula along one axis of its shape.",
         {"axis", RC_FIELD_CHOICE, offsetof(rc_shape_curve, axis), "what of its shape", .required = true,
          .choices = rc_axis_names},
         {"points", RC_FIELD_CUSTOM, offsetof(rc_shape_curve, points),
          "pairs [value, factor]; straight lines between them, the ends beyond", .required = true,
          .custom = read_points,
          .custom_schema = "{\"type\":\"array\",\"minItems\":2,\"items\":{\"type\":\"array\",\"items\":{\"type\":"
                           "\"number\"},\"minItems\":2,\"maxItems\":2}}"});
