/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workload.h"
#include "accelerator.h"
#include "csv.h"
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DAY_S  86400.
#define YEAR_S (365 * DAY_S)

static const char *const arrival_names[] = {"closed",    "poisson", "gamma", "constant",
                                            "modulated", "daily",   "trace", NULL};
static const char *const routing_names[] = {"uniform", "lognormal", "zipf", "histogram", NULL};
static const char *const time_unit_names[] = {"s", "ms", "us", "ns", NULL};

/* ---------- rates */

/* "rate": 2 (a second), or "2/s", "120/min". */
static bool read_rate(const cJSON *json, void *target, const char *path, rc_reader *reader) {
    double *rate = target;
    if (cJSON_IsNumber(json))
        *rate = json->valuedouble;
    else if (!cJSON_IsString(json) || !rc_quantity_parse(json->valuestring, RC_PER_SECOND, rate))
        return rc_complain_value(reader, RC_BAD_UNIT, path, json, "requests a second, as 2 or \"120/min\"",
                                 "not a rate");
    if (!(*rate > 0) || !isfinite(*rate))
        return rc_complain_value(reader, RC_BAD_VALUE, path, json, "a rate above 0", "not a rate that would do");
    return true;
}

static bool read_time_unit(const cJSON *json, void *target, const char *path, rc_reader *reader) {
    for (size_t i = 0; cJSON_IsString(json) && time_unit_names[i]; i++)
        if (strcmp(json->valuestring, time_unit_names[i]) == 0) {
            *(const char **)target = time_unit_names[i];
            return true;
        }
    return rc_complain_value(reader, RC_BAD_UNIT, path, json, "s, ms, us or ns", "not a unit of time");
}

/* ---------- lengths */

typedef struct lognormal {
    double median, mean, sigma, max;
} lognormal;

RC_LOCAL_TABLE(lognormal_table, lognormal, "lognormal", "A log-normal length.",
               {"median", RC_FIELD_NUMBER, offsetof(lognormal, median), "tokens", .absent = NAN, .low = 1, .high = 1e9},
               {"mean", RC_FIELD_NUMBER, offsetof(lognormal, mean), "tokens; instead of the median", .absent = NAN,
                .low = 1, .high = 1e9},
               {"sigma", RC_FIELD_NUMBER, offsetof(lognormal, sigma), "standard deviation of the logarithm",
                .required = true, .low = 0, .high = 10},
               {"max", RC_FIELD_COUNT, offsetof(lognormal, max), "longest", .absent = INFINITY, .low = 1, .high = 1e9});

static bool read_lognormal(const cJSON *json, rc_length *length, const char *path, rc_reader *reader) {
    lognormal read;
    if (!rc_read(&lognormal_table, json, &read, path, reader))
        return false;
    if (isnan(read.median) == isnan(read.mean))
        return rc_complain(reader, RC_BAD_VALUE, path, isnan(read.mean) ? "neither" : "both", "median or mean",
                           "one of median and mean is needed");
    *length = (rc_length){.kind = RC_LENGTH_LOGNORMAL, .sigma = read.sigma, .max = read.max};
    length->median = isnan(read.mean) ? read.median : read.mean * exp(-read.sigma * read.sigma / 2);
    return true;
}

static bool read_uniform(const cJSON *json, rc_length *length, const char *path, rc_reader *reader) {
    const cJSON *low = cJSON_GetArrayItem(json, 0), *high = cJSON_GetArrayItem(json, 1);
    *length = (rc_length){.kind = RC_LENGTH_UNIFORM};
    bool good = cJSON_IsArray(json) && cJSON_GetArraySize(json) == 2 && cJSON_IsNumber(low) && cJSON_IsNumber(high);
    if (good) {
        length->low = low->valuedouble;
        length->high = high->valuedouble;
        good = length->low >= 1 && length->high >= length->low && length->low == floor(length->low) &&
               length->high == floor(length->high) && length->high <= 1e9;
    }
    return good || rc_complain_value(reader, RC_BAD_VALUE, path, json, "[shortest, longest] in whole tokens, 1 or more",
                                     "not a range of lengths");
}

/* One length a row, in the first column; a header is skipped. */
static bool read_length_file(const cJSON *json, rc_length *length, const char *path, rc_reader *reader) {
    if (!cJSON_IsString(json))
        return rc_complain_value(reader, RC_BAD_VALUE, path, json, "a file of one length a line", "not a file name");
    rc_csv *csv = rc_csv_open(json->valuestring, reader->problems);
    if (!csv)
        return false;
    size_t capacity = 0;
    double *values = NULL;
    *length = (rc_length){.kind = RC_LENGTH_EMPIRICAL};
    while (rc_csv_next(csv)) {
        char *end;
        const char *cell = rc_csv_cell(csv, 0);
        double value = strtod(cell, &end);
        if (end == cell && length->values_count == 0)
            continue;
        if (*end || end == cell || value < 1 || value > 1e9 || value != floor(value)) {
            rc_problem_add(reader->problems, RC_BAD_TRACE, json->valuestring, path, rc_csv_line(csv), cell,
                           "a whole number of tokens, 1 or more", "not a length");
            break;
        }
        values = rc_grow(values, length->values_count, &capacity, sizeof *values);
        values[length->values_count++] = value;
    }
    rc_csv_close(csv);
    length->values = rc_arena_take(reader->arena, (length->values_count + 1) * sizeof *values);
    if (values)
        memcpy(length->values, values, length->values_count * sizeof *values);
    free(values);
    return rc_problems_count(reader->problems) == 0 &&
           (length->values_count > 0 ||
            rc_complain(reader, RC_BAD_TRACE, path, "no length", "at least one line with a number", "an empty file"));
}

static bool read_length(const cJSON *json, void *target, const char *path, rc_reader *reader) {
    rc_length *length = target;
    if (cJSON_IsNumber(json)) {
        *length = (rc_length){.kind = RC_LENGTH_FIXED, .low = json->valuedouble, .high = json->valuedouble};
        bool good = length->low >= 1 && length->low <= 1e9 && length->low == floor(length->low);
        return good || rc_complain_value(reader, RC_BAD_VALUE, path, json, "a whole number of tokens, 1 or more",
                                         "not a length");
    }
    const cJSON *only = cJSON_IsObject(json) ? json->child : NULL;
    const char *key = only && !only->next ? only->string : "";
    char *inner = rc_arena_format(reader->arena, "%s.%s", path, key);
    if (strcmp(key, "uniform") == 0)
        return read_uniform(only, length, inner, reader);
    if (strcmp(key, "lognormal") == 0)
        return read_lognormal(only, length, inner, reader);
    if (strcmp(key, "file") == 0)
        return read_length_file(only, length, inner, reader);
    return rc_complain_value(reader, RC_BAD_VALUE, path, json,
                             "a number, {\"uniform\": [a, b]}, {\"lognormal\": {...}} or {\"file\": \"...\"}",
                             "not a length");
}

/* E[min(X, max)] of a log-normal X. */
static double capped_lognormal_mean(double median, double sigma, double max) {
    double mean = median * exp(sigma * sigma / 2);
    if (isinf(max) || sigma == 0)
        return fmin(mean, max);
    double z = log(max / median) / sigma;
    return mean * gsl_cdf_ugaussian_P(z - sigma) + max * gsl_cdf_ugaussian_Q(z);
}

double rc_length_mean(const rc_length *length) {
    if (length->kind == RC_LENGTH_LOGNORMAL)
        return capped_lognormal_mean(length->median, length->sigma, length->max);
    if (length->kind != RC_LENGTH_EMPIRICAL)
        return (length->low + length->high) / 2;
    double sum = 0;
    for (size_t i = 0; i < length->values_count; i++)
        sum += length->values[i];
    return sum / (double)length->values_count;
}

double rc_length_longest(const rc_length *length) {
    if (length->kind == RC_LENGTH_LOGNORMAL)
        return length->max;
    double longest = length->high;
    for (size_t i = 0; i < length->values_count; i++)
        longest = fmax(longest, length->values[i]);
    return longest;
}

double rc_workload_prompt_mean(const rc_workload *w) {
    const rc_session_shape *shape = &w->sessions;
    double input = rc_length_mean(&w->input);
    if (!w->has_sessions)
        return input;
    double begins =
        shape->system_tokens + (shape->context.kind == RC_LENGTH_NONE ? 0 : rc_length_mean(&shape->context));
    double turns = rc_length_mean(&shape->turns);
    double prompt = begins + input * (turns + 1) / 2 + rc_length_mean(&w->output) * (turns - 1) / 2;
    return fmin(prompt, shape->compact_at);
}

double rc_workload_longest(const rc_workload *w) {
    const rc_session_shape *shape = &w->sessions;
    double input = rc_length_longest(&w->input), output = rc_length_longest(&w->output);
    if (!w->has_sessions)
        return input + output;
    double begins =
        shape->system_tokens + (shape->context.kind == RC_LENGTH_NONE ? 0 : rc_length_longest(&shape->context));
    double grown = begins + rc_length_longest(&shape->turns) * (input + output);
    return fmin(grown, fmax(shape->compact_at, begins + input) + output);
}

/* ---------- tables */

#define LENGTH_SCHEMA                                                                                                  \
    "{\"oneOf\":[{\"type\":\"integer\",\"minimum\":1},{\"type\":\"object\",\"properties\":{\"uniform\":{\"type\":"     \
    "\"array\"},\"lognormal\":{\"type\":\"object\"},\"file\":{\"type\":\"string\"}},\"additionalProperties\":false}]}"

RC_LOCAL_TABLE(arrival_table, rc_arrival, "arrival", "When requests come.",
               {"kind", RC_FIELD_CHOICE, offsetof(rc_arrival, kind),
                "closed, poisson, gamma, constant, modulated, daily or trace", .required = true,
                .choices = arrival_names},
               {"clients", RC_FIELD_COUNT, offsetof(rc_arrival, clients), "closed: clients that wait for their answers",
                .low = 1, .high = 1e7},
               {"think_time", RC_FIELD_QUANTITY, offsetof(rc_arrival, think_time_s),
                "closed: mean pause between answer and next question, exponential", .unit = RC_SECONDS},
               {"rate", RC_FIELD_CUSTOM, offsetof(rc_arrival, rate_per_s), "open: requests a second, or \"120/min\"",
                .custom = read_rate, .custom_schema = "{\"type\":[\"number\",\"string\"]}"},
               {"cv", RC_FIELD_NUMBER, offsetof(rc_arrival, cv), "gamma: standard deviation / mean of the intervals",
                .low = 0.01, .high = 100},
               {"burst_factor", RC_FIELD_NUMBER, offsetof(rc_arrival, burst_factor),
                "modulated: rate in a burst / rate over all time, above 1", .low = 1, .high = 1e6},
               {"burst_share", RC_FIELD_NUMBER, offsetof(rc_arrival, burst_share),
                "modulated: share of time in bursts, at most 1 / burst_factor", .low = 1e-6, .high = 0.999999},
               {"burst_length", RC_FIELD_QUANTITY, offsetof(rc_arrival, burst_length_s),
                "modulated: mean length of a burst, exponential", .unit = RC_SECONDS, .positive = true},
               {"curve", RC_FIELD_NUMBERS, offsetof(rc_arrival, curve),
                "daily: relative rates of 2 to 288 equal slots of a period",
                .count_offset = offsetof(rc_arrival, curve_count)},
               {"period", RC_FIELD_QUANTITY, offsetof(rc_arrival, period_s), "daily: what the curve covers; a day",
                .absent = DAY_S, .unit = RC_SECONDS, .positive = true},
               {"file", RC_FIELD_TEXT, offsetof(rc_arrival, file), "trace: a CSV file or the name of a shipped trace"},
               {"scale", RC_FIELD_NUMBER, offsetof(rc_arrival, scale), "trace: how much faster it is played",
                .absent = 1, .low = 1e-6, .high = 1e6},
               {"window", RC_FIELD_NUMBERS, offsetof(rc_arrival, window),
                "trace: [from, to) in seconds since its first row", .count_offset = offsetof(rc_arrival, window_count)},
               {"time_unit", RC_FIELD_CUSTOM, offsetof(rc_arrival, time_unit),
                "trace: s, ms, us or ns where the column's name does not say", .custom = read_time_unit,
                .custom_schema = "{\"enum\":[\"s\",\"ms\",\"us\",\"ns\"]}"},
               {"jitter", RC_FIELD_QUANTITY, offsetof(rc_arrival, jitter_s),
                "trace: each arrival comes up to so much later, where a clock ticks coarsely", .unit = RC_SECONDS});

/* Tokens that follow each other in a text choose alike.  Drafts of 8 tokens behind the published K3 steps of one sequence touch
 * about 85 experts of a layer with the token before them; independent ones of the assumed popularity would 107. */
#define ASSUMED_LIKENESS 0.29

RC_LOCAL_TABLE(routing_table, rc_routing, "routing", "How popular experts are with this traffic.",
               {"kind", RC_FIELD_CHOICE, offsetof(rc_routing, kind), "uniform, lognormal, zipf or histogram",
                .required = true, .choices = routing_names},
               {"sigma", RC_FIELD_NUMBER, offsetof(rc_routing, sigma), "lognormal: of the logarithm of popularity",
                .low = 0, .high = 5},
               {"exponent", RC_FIELD_NUMBER, offsetof(rc_routing, exponent),
                "zipf: the n-th expert is chosen n^-exponent as often as the first", .low = 0, .high = 5},
               {"counts", RC_FIELD_NUMBERS, offsetof(rc_routing, counts),
                "histogram: tokens that chose each expert, as many numbers as the model has experts",
                .count_offset = offsetof(rc_routing, counts_count)},
               {"draft_likeness", RC_FIELD_NUMBER, offsetof(rc_routing, draft_likeness),
                "share of a draft token's experts that the token before it chose as well; 0.29 is assumed",
                .absent = ASSUMED_LIKENESS, .low = 0, .high = 1},
               {"drift", RC_FIELD_NUMBER, offsetof(rc_routing, drift),
                "sigma of the change of popularity since experts were placed by it", .low = 0, .high = 5});

RC_LOCAL_TABLE(session_table, rc_session_shape, "sessions", "Conversations of several turns.",
               {"turns", RC_FIELD_CUSTOM, offsetof(rc_session_shape, turns), "requests of a session", .required = true,
                .custom = read_length, .custom_schema = LENGTH_SCHEMA},
               {"system_tokens", RC_FIELD_COUNT, offsetof(rc_session_shape, system_tokens),
                "what every prompt of every session begins with", .low = 0, .high = 1e7},
               {"context_tokens", RC_FIELD_CUSTOM, offsetof(rc_session_shape, context),
                "what a session begins with, its own", .custom = read_length, .custom_schema = LENGTH_SCHEMA},
               {"pause", RC_FIELD_QUANTITY, offsetof(rc_session_shape, pause_s),
                "mean between an answer and the next turn, exponential", .unit = RC_SECONDS},
               {"compact_at", RC_FIELD_COUNT, offsetof(rc_session_shape, compact_at),
                "a prompt that would be longer begins anew with a summary", .absent = INFINITY, .low = 1, .high = 1e9},
               {"compact_to", RC_FIELD_COUNT, offsetof(rc_session_shape, compact_to), "tokens of the summary", .low = 0,
                .high = 1e9});

static bool read_sessions(const cJSON *json, void *target, const char *path, rc_reader *reader) {
    rc_workload *workload = (rc_workload *)(void *)((char *)target - offsetof(rc_workload, sessions));
    rc_session_shape *shape = target;
    workload->has_sessions = true;
    shape->context.kind = RC_LENGTH_NONE;
    if (!rc_read(&session_table, json, target, path, reader))
        return false;
    bool given = shape->context.low > 0 || shape->context.median > 0 || shape->context.values;
    if (!given)
        shape->context.kind = RC_LENGTH_NONE;
    if (shape->compact_to + shape->system_tokens >= shape->compact_at)
        return rc_complain(reader, RC_BAD_VALUE, rc_arena_format(reader->arena, "%s.compact_at", path),
                           "no more than the system prompt and the summary", "more tokens than both together",
                           "a prompt would be too long as soon as it has been made shorter");
    return true;
}

static bool read_routing(const cJSON *json, void *target, const char *path, rc_reader *reader) {
    rc_workload *workload = (rc_workload *)(void *)((char *)target - offsetof(rc_workload, routing));
    rc_routing *routing = target;
    workload->routing_given = true;
    if (!rc_read(&routing_table, json, target, path, reader))
        return false;
    if (routing->kind == RC_ROUTING_HISTOGRAM && routing->counts_count == 0)
        return rc_complain(reader, RC_MISSING_KEY, path, "no counts", "counts, a number for each expert",
                           "a histogram needs counts");
    if (routing->kind == RC_ROUTING_ZIPF && routing->exponent == 0)
        return rc_complain(reader, RC_MISSING_KEY, path, "no exponent", "exponent, as 0.8; of 0 it is uniform",
                           "Zipf's law needs an exponent");
    for (size_t e = 0; e < routing->counts_count; e++)
        if (!(routing->counts[e] >= 0))
            return rc_complain(reader, RC_BAD_VALUE, path, "a negative count", "counts of 0 or more",
                               "not a histogram");
    return true;
}

typedef struct workload_file {
    rc_workload workload;
    const char *schema;
    void *sources;
    size_t sources_count;
} workload_file;

#define FIELD(member) offsetof(workload_file, workload.member)
RC_TABLE(rc_workload_table, workload_file, "mix", "A load: when requests come and how long they are.",
         {"schema", RC_FIELD_TEXT, offsetof(workload_file, schema), "rackcast/mix/1"},
         {"name", RC_FIELD_TEXT, FIELD(name), "the name used in scenarios"},
         {"title", RC_FIELD_TEXT, FIELD(title), "the name people say"},
         {"arrival", RC_FIELD_OBJECT, FIELD(arrival), "when requests come", .required = true, .table = &arrival_table},
         {"input_tokens", RC_FIELD_CUSTOM, FIELD(input), "tokens of a prompt", .custom = read_length,
          .custom_schema = LENGTH_SCHEMA},
         {"output_tokens", RC_FIELD_CUSTOM, FIELD(output), "tokens of an answer", .custom = read_length,
          .custom_schema = LENGTH_SCHEMA},
         {"requests", RC_FIELD_COUNT, FIELD(requests), "how many come; all of a trace where left out", .low = 1,
          .high = 1e9},
         {"duration", RC_FIELD_QUANTITY, FIELD(duration_s), "the run is cut off then", .absent = INFINITY,
          .unit = RC_SECONDS, .positive = true},
         {"sessions", RC_FIELD_CUSTOM, FIELD(sessions), "conversations of several turns", .custom = read_sessions,
          .custom_schema = "{\"type\":\"object\",\"required\":[\"turns\"]}"},
         {"routing", RC_FIELD_CUSTOM, FIELD(routing), "how popular experts are with this traffic",
          .custom = read_routing, .custom_schema = "{\"type\":\"object\",\"required\":[\"kind\"]}"},
         {"sources", RC_FIELD_LIST, offsetof(workload_file, sources), "where the numbers come from",
          .table = &rc_source_table, .count_offset = offsetof(workload_file, sources_count)});
#undef FIELD

/* ---------- checks */

static bool need(bool there, const char *path, const char *key, const char *expected, rc_reader *reader) {
    return there || rc_complain(reader, RC_MISSING_KEY, rc_arena_format(reader->arena, "%s.%s", path, key), "nothing",
                                expected, "this kind of arrival needs it");
}

/* Keys that this kind of arrival does not look at: most likely the kind is not the one that was meant. */
static void note_unused(const rc_arrival *a, const char *path, rc_reader *reader) {
    bool closed = a->kind == RC_ARRIVAL_CLOSED, trace = a->kind == RC_ARRIVAL_TRACE;
    bool modulated = a->kind == RC_ARRIVAL_MODULATED, daily = a->kind == RC_ARRIVAL_DAILY;
    const struct {
        const char *key;
        bool given, used;
    } keys[] = {{"clients", a->clients > 0, closed},
                {"think_time", a->think_time_s > 0, closed},
                {"rate", a->rate_per_s > 0, !closed && !trace},
                {"cv", a->cv > 0, a->kind == RC_ARRIVAL_GAMMA},
                {"burst_factor", a->burst_factor > 0, modulated},
                {"burst_share", a->burst_share > 0, modulated},
                {"burst_length", a->burst_length_s > 0, modulated},
                {"curve", a->curve != NULL, daily},
                {"period", a->period_s != DAY_S, daily},
                {"file", a->file != NULL, trace},
                {"scale", a->scale != 1, trace},
                {"window", a->window_count > 0, trace},
                {"time_unit", a->time_unit != NULL, trace},
                {"jitter", a->jitter_s > 0, trace}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i].given && !keys[i].used)
            rc_note_add(reader->problems, "%s.arrival.%s is not used: the arrival is of kind %s", path, keys[i].key,
                        arrival_names[a->kind]);
}

double rc_arrival_burst_rate(const rc_arrival *a) {
    return a->rate_per_s * a->burst_factor;
}

double rc_arrival_calm_rate(const rc_arrival *a) {
    return a->rate_per_s * fmax(0, 1 - a->burst_factor * a->burst_share) / (1 - a->burst_share);
}

static bool refuse(const char *path, const char *key, const char *found, const char *expected, const char *message,
                   rc_reader *reader) {
    return rc_complain(reader, RC_BAD_VALUE, rc_arena_format(reader->arena, "%s.arrival.%s", path, key), found,
                       expected, message);
}

/* Bursts that come and go many times between two arrivals leave no trace in them, and take long to draw. */
static bool check_bursts(const rc_arrival *a, const char *path, rc_reader *reader) {
    const double changes_max = 1000, rounding = 1e-9;
    bool good = need(a->burst_factor > 0, path, "arrival.burst_factor", "rate in a burst / rate", reader);
    good = need(a->burst_share > 0, path, "arrival.burst_share", "the share of time in bursts", reader) && good;
    good = need(a->burst_length_s > 0, path, "arrival.burst_length", "a time, as \"30s\"", reader) && good;
    if (!good || !(a->rate_per_s > 0))
        return good;
    char found[80], expected[80];
    if (a->burst_factor == 1)
        return refuse(path, "burst_factor", "1", "a number above 1", "that is a poisson load, without bursts", reader);
    if (a->burst_factor * a->burst_share > 1 + rounding) {
        snprintf(found, sizeof found, "%.6g of the time at %.6g times the rate", a->burst_share, a->burst_factor);
        snprintf(expected, sizeof expected, "at most %.6g, or a smaller burst_factor", 1 / a->burst_factor);
        return refuse(path, "burst_share", found, expected, "bursts alone are more than the rate", reader);
    }
    snprintf(found, sizeof found, "%.3g days", a->burst_length_s / DAY_S);
    if (a->burst_length_s > YEAR_S)
        return refuse(path, "burst_length", found, "at most 365d", "bursts longer than any run", reader);
    double changes = 2 * a->burst_share / (a->rate_per_s * a->burst_length_s);
    if (changes <= changes_max)
        return true;
    snprintf(found, sizeof found, "%.3g changes of rate from one arrival to the next", changes);
    snprintf(expected, sizeof expected, "at most %g: %.3g s or more", changes_max,
             a->burst_length_s * changes / changes_max);
    return refuse(path, "burst_length", found, expected, "so short, bursts are as good as a poisson load", reader);
}

static bool check_curve(const rc_arrival *a, const char *path, rc_reader *reader) {
    const size_t slots_max = 288;
    const double period_min_s = 1, rate_max = 1e12;
    char found[48], key[48];
    double sum = 0;
    if (!need(a->curve != NULL, path, "arrival.curve", "2 to 288 relative rates, as [1, 3, 2]", reader))
        return false;
    snprintf(found, sizeof found, a->curve_count == 1 ? "%zu number" : "%zu numbers", a->curve_count);
    if (a->curve_count < 2 || a->curve_count > slots_max)
        return refuse(path, "curve", found, "2 to 288 relative rates", "not a curve", reader);
    for (size_t i = 0; i < a->curve_count; i++) {
        snprintf(found, sizeof found, "%g", a->curve[i]);
        snprintf(key, sizeof key, "curve[%zu]", i);
        if (!(a->curve[i] >= 0 && a->curve[i] <= rate_max))
            return refuse(path, key, found, "a number from 0 to 1e12", "not a relative rate", reader);
        sum += a->curve[i];
    }
    if (sum == 0)
        return refuse(path, "curve", "nothing but 0", "at least one number above 0", "nobody ever comes", reader);
    snprintf(found, sizeof found, "%.3g s", a->period_s);
    return (a->period_s >= period_min_s && a->period_s <= YEAR_S) ||
           refuse(path, "period", found, "from 1s to 365d", "not a period that would do", reader);
}

static bool check_trace(const rc_arrival *a, const char *path, rc_reader *reader) {
    char found[48];
    bool good = need(a->file != NULL, path, "arrival.file", "a CSV file", reader);
    snprintf(found, sizeof found, "%.3g days", a->jitter_s / DAY_S);
    return (a->jitter_s <= DAY_S || refuse(path, "jitter", found, "at most a day: what the trace's clock rounds to",
                                           "that would shuffle the trace", reader)) &&
           good;
}

static bool check_window(const rc_arrival *a, const char *path, rc_reader *reader) {
    if (a->window_count == 0 || (a->window_count == 2 && a->window[0] >= 0 && a->window[1] > a->window[0]))
        return true;
    return refuse(path, "window", a->window_count == 2 ? "two numbers in the wrong order" : "not two numbers",
                  "[from, to] in seconds, to after from", "not a window", reader);
}

static bool check_arrival(const rc_arrival *a, const char *path, rc_reader *reader) {
    bool good = check_window(a, path, reader);
    if (a->kind == RC_ARRIVAL_CLOSED)
        return need(a->clients > 0, path, "arrival.clients", "how many clients", reader) && good;
    if (a->kind == RC_ARRIVAL_TRACE)
        return check_trace(a, path, reader) && good;
    good = need(a->rate_per_s > 0, path, "arrival.rate", "requests a second", reader) && good;
    if (a->kind == RC_ARRIVAL_GAMMA)
        return need(a->cv > 0, path, "arrival.cv", "standard deviation / mean of the intervals", reader) && good;
    if (a->kind == RC_ARRIVAL_MODULATED)
        return check_bursts(a, path, reader) && good;
    return (a->kind != RC_ARRIVAL_DAILY || check_curve(a, path, reader)) && good;
}

/* A load that ends before its changes of rate average out has another mean rate than the one asked for. */
static void note_cut_short(const rc_workload *workload, const char *path, rc_reader *reader) {
    enum { BURSTS_MIN = 10 };
    const rc_arrival *a = &workload->arrival;
    double lasts_s = fmin(workload->requests > 0 ? workload->requests / a->rate_per_s : INFINITY, workload->duration_s);
    if (a->kind == RC_ARRIVAL_DAILY && lasts_s < a->period_s)
        rc_note_add(reader->problems,
                    "%s: the load ends within the first period of the curve; the mean rate is not %g/s", path,
                    a->rate_per_s);
    double bursts = lasts_s * a->burst_share / a->burst_length_s;
    if (a->kind == RC_ARRIVAL_MODULATED && bursts < BURSTS_MIN)
        rc_note_add(reader->problems, "%s: the load has about %.2g bursts; another seed may give quite another load",
                    path, bursts);
}

/* Where no sigma is given: benchmark traffic touches far fewer experts than uniform routing would.  A log-normal
 * popularity with sigma 1.5 reproduces the step times behind the published K3 figures on 8 x B300 (1.2 is 3 % slow at
 * 16 in flight and 10 % at 64, uniform routing 12 % and 38 %).  Stated with every forecast. */
static const rc_routing assumed_routing = {
    .kind = RC_ROUTING_LOGNORMAL, .sigma = 1.5, .draft_likeness = ASSUMED_LIKENESS};

bool rc_workload_finish(rc_workload *workload, const char *path, rc_reader *reader) {
    const rc_arrival *a = &workload->arrival;
    note_unused(a, path, reader);
    if (!workload->routing_given)
        workload->routing = assumed_routing;
    bool good = check_arrival(a, path, reader);
    if (a->kind == RC_ARRIVAL_TRACE && workload->has_sessions)
        good = rc_complain(reader, RC_BAD_VALUE, rc_arena_format(reader->arena, "%s.sessions", path), "a trace",
                           "sessions without a trace, or a trace with a column for sessions",
                           "a trace says itself who asks what");
    if (a->kind == RC_ARRIVAL_TRACE) {
        workload->input.kind = workload->output.kind = RC_LENGTH_NONE;
        return good;
    }
    good = need(workload->input.low > 0 || workload->input.median > 0 || workload->input.values, path, "input_tokens",
                "tokens of a prompt", reader) &&
           good;
    good = need(workload->output.low > 0 || workload->output.median > 0 || workload->output.values, path,
                "output_tokens", "tokens of an answer", reader) &&
           good;
    good = need(workload->requests > 0 || isfinite(workload->duration_s), path, "requests",
                "how many requests come (or a duration)", reader) &&
           good;
    if (good)
        note_cut_short(workload, path, reader);
    return good;
}
