/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "quantity.h"
#include "text.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct suffix {
    const char *text;
    double factor;
    bool prefixes; /* SI prefixes may stand before it */
    bool binary;   /* Ki, Mi, ... too */
} suffix;

enum { SUFFIXES_MAX = 8 };
#define NUMBER "[0-9]+(\\.[0-9]+)?([eE][-+]?[0-9]+)? ?"

static const struct {
    const char *example, *pattern;
    suffix suffixes[SUFFIXES_MAX];
} units[RC_UNIT_COUNT] = {
    [RC_BYTES] = {"bytes with a unit, as \"288GB\", \"268.2GiB\" or \"274658MiB\"",
                  "^" NUMBER "([kKMGTPE]i?)?[Bb]$",
                  {{"B", 1, true, true}, {"b", 0.125, true, true}}},
    [RC_BYTES_PER_S] = {"bytes or bits a second with a unit, as \"7.75TB/s\" or \"195Gb/s\"",
                        "^" NUMBER "([kKMGTPE]i?)?[Bb]/s$",
                        {{"B/s", 1, true, true}, {"b/s", 0.125, true, true}}},
    [RC_FLOPS_PER_S] = {"operations a second with a unit, as \"2.25PFLOP/s\"",
                        "^" NUMBER "[kKMGTPE]?FLOP(/s|S)$",
                        {{"FLOP/s", 1, true, false}, {"FLOPS", 1, true, false}}},
    [RC_SECONDS] = {"a time with a unit, as \"5us\", \"250ms\", \"2s\" or \"1h\"",
                    "^" NUMBER "(ps|ns|us|ms|s|min|h|d)$",
                    {{"ps", 1e-12, false, false},
                     {"ns", 1e-9, false, false},
                     {"us", 1e-6, false, false},
                     {"ms", 1e-3, false, false},
                     {"min", 60, false, false},
                     {"h", 3600, false, false},
                     {"d", 86400, false, false},
                     {"s", 1, false, false}}},
    [RC_USD_PER_HOUR] = {"a price, as \"$2.50/h\"", "^\\$" NUMBER "/h$", {{"/h", 1, false, false}}},
    [RC_WATTS] = {"a power with a unit, as \"1100W\" or \"1.1kW\"", "^" NUMBER "[kKM]?W$", {{"W", 1, true, false}}},
    [RC_PER_SECOND] = {"a rate with a unit, as \"2/s\", \"120/min\" or \"7200/h\"",
                       "^" NUMBER "/(s|min|h)$",
                       {{"/s", 1, false, false}, {"/min", 1. / 60, false, false}, {"/h", 1. / 3600, false, false}}},
};

static const char prefix_letters[] = "kMGTPE";

/* The factor of what stands between number and unit: "", "G", "Gi".  0 where it is no prefix. */
static double prefix_factor(const char *text, size_t length, const suffix *s) {
    if (length == 0)
        return 1;
    const char *letter = strchr(prefix_letters, text[0] == 'K' ? 'k' : text[0]);
    if (!letter || !s->prefixes)
        return 0;
    int power = (int)(letter - prefix_letters) + 1;
    double factor = 1;
    bool binary = length == 2 && text[1] == 'i' && s->binary;
    if (length > 1 && !binary)
        return 0;
    for (int i = 0; i < power; i++)
        factor *= binary ? 1024. : 1000.;
    return factor;
}

/* A plain decimal number: no hexadecimal, no "inf", no sign. */
static const char *number_end(const char *text, double *number) {
    if (!isdigit((unsigned char)text[0]) || (text[0] == '0' && tolower((unsigned char)text[1]) == 'x'))
        return NULL;
    char *end;
    *number = strtod(text, &end);
    return isfinite(*number) ? end : NULL;
}

bool rc_quantity_parse(const char *text, rc_unit unit, double *value) {
    if (unit == RC_USD_PER_HOUR && *text++ != '$')
        return false;
    double number;
    const char *rest = number_end(text, &number);
    if (!rest)
        return false;
    while (*rest == ' ')
        rest++;
    for (const suffix *s = units[unit].suffixes; s < units[unit].suffixes + SUFFIXES_MAX && s->text; s++) {
        if (!rc_text_ends(rest, s->text))
            continue;
        double factor = prefix_factor(rest, strlen(rest) - strlen(s->text), s);
        if (factor > 0) {
            *value = number * factor * s->factor;
            return true;
        }
    }
    return false;
}

const char *rc_quantity_example(rc_unit unit) {
    return units[unit].example;
}

const char *rc_quantity_pattern(rc_unit unit) {
    return units[unit].pattern;
}

static const char *with_prefix(char *text, size_t size, double value, const char *unit) {
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
    size_t i = 0;
    while (fabs(value) >= 999.5 && i + 1 < sizeof prefixes / sizeof *prefixes) {
        value /= 1000;
        i++;
    }
    char number[32];
    snprintf(text, size, "%s %s%s", rc_number_text(number, sizeof number, value), prefixes[i], unit);
    return text;
}

static const char *time_text(char *text, size_t size, double seconds) {
    char number[32];
    double magnitude = fabs(seconds);
    bool whole = magnitude >= 0.9995 || magnitude == 0;
    const char *unit = whole ? "s" : magnitude >= 0.9995e-3 ? "ms" : magnitude >= 0.9995e-6 ? "us" : "ns";
    double scale = whole ? 1 : magnitude >= 0.9995e-3 ? 1e3 : magnitude >= 0.9995e-6 ? 1e6 : 1e9;
    snprintf(text, size, "%s %s", rc_number_text(number, sizeof number, seconds * scale), unit);
    return text;
}

const char *rc_quantity_text(char *text, size_t size, double value, rc_unit unit) {
    static const char *const names[RC_UNIT_COUNT] = {
        [RC_BYTES] = "B", [RC_BYTES_PER_S] = "B/s", [RC_FLOPS_PER_S] = "FLOP/s", [RC_WATTS] = "W"};
    if (isnan(value))
        snprintf(text, size, "-");
    else if (unit == RC_SECONDS)
        time_text(text, size, value);
    else if (unit == RC_USD_PER_HOUR)
        snprintf(text, size, "$%.2f/h", value);
    else if (unit == RC_PER_SECOND)
        snprintf(text, size, "%.4g/s", value);
    else
        with_prefix(text, size, value, names[unit]);
    return text;
}
