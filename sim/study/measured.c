/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "measured.h"
#include "catalog.h"
#include "csv.h"
#include "text.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---------- the table */

/* Columns, each with the names it may have. */
typedef struct column {
    const char *names[3];
    size_t offset;
    bool needed;
} column;

static const column columns[] = {
    {{"date"}, offsetof(rc_measured, date), false},
    {{"model"}, offsetof(rc_measured, model), true},
    {{"precision"}, offsetof(rc_measured, precision), false},
    {{"hardware", "gpu"}, offsetof(rc_measured, hardware), true},
    {{"gpus", "n_gpus"}, offsetof(rc_measured, gpus), true},
    {{"engine"}, offsetof(rc_measured, engine), true},
    {{"parallelism"}, offsetof(rc_measured, parallelism), true},
    {{"spec_decode"}, offsetof(rc_measured, speculation), false},
    {{"input_len", "isl"}, offsetof(rc_measured, input), true},
    {{"output_len", "osl"}, offsetof(rc_measured, output), true},
    {{"concurrency_or_rate", "concurrency"}, offsetof(rc_measured, concurrency), true},
    {{"metric"}, offsetof(rc_measured, metric), true},
    {{"unit"}, offsetof(rc_measured, unit), true},
    {{"notes"}, offsetof(rc_measured, notes), false},
    {{"use"}, offsetof(rc_measured, use), false},
};
enum { COLUMNS = sizeof columns / sizeof *columns, NO_COLUMN = -1 };

typedef struct layout {
    int of[COLUMNS];
    int value;
} layout;

static int find_column(const rc_csv *csv, const char *const *names, size_t count) {
    for (size_t n = 0; n < count && names[n]; n++)
        for (size_t i = 0; i < rc_csv_count(csv); i++)
            if (strcasecmp(rc_csv_cell(csv, i), names[n]) == 0)
                return (int)i;
    return NO_COLUMN;
}

static bool read_header(rc_csv *csv, const char *file, layout *l, rc_problems *problems) {
    static const char *const value_names[] = {"value"};
    if (!rc_csv_next(csv)) {
        if (!rc_csv_failed(csv))
            rc_problem_add(problems, RC_BAD_TRACE, file, "", 1, "an empty file", "a header and rows", "no header");
        return false;
    }
    bool good = true;
    for (size_t c = 0; c < COLUMNS; c++) {
        l->of[c] = find_column(csv, columns[c].names, 3);
        if (l->of[c] != NO_COLUMN || !columns[c].needed)
            continue;
        rc_problem_add(problems, RC_BAD_TRACE, file, "", 1, "no such column", columns[c].names[0],
                       "the table lacks the column %s", columns[c].names[0]);
        good = false;
    }
    l->value = find_column(csv, value_names, 1);
    if (l->value == NO_COLUMN)
        rc_problem_add(problems, RC_BAD_TRACE, file, "", 1, "no such column", "value",
                       "the table lacks the column value");
    return good && l->value != NO_COLUMN;
}

static bool read_value(const rc_csv *csv, const layout *l, const char *file, double *value, rc_problems *problems) {
    const char *cell = rc_csv_cell(csv, (size_t)l->value);
    char *end;
    *value = strtod(cell, &end);
    if (end != cell && !*end && isfinite(*value) && *value > 0)
        return true;
    rc_problem_add(problems, RC_BAD_TRACE, file, "", rc_csv_line(csv), cell[0] ? cell : "an empty cell",
                   "a number above 0", "not a measured value");
    return false;
}

rc_measured *rc_measured_read(const char *file, size_t *count, rc_arena *arena, rc_problems *problems) {
    rc_csv *csv = rc_csv_open(file, problems);
    rc_measured *rows = NULL, *kept = NULL;
    size_t capacity = 0;
    layout l;
    *count = 0;
    bool good = csv && read_header(csv, file, &l, problems);
    while (good && rc_csv_next(csv)) {
        rc_measured row = {.line = rc_csv_line(csv)};
        for (size_t c = 0; c < COLUMNS; c++)
            *(const char **)(void *)((char *)&row + columns[c].offset) =
                rc_arena_text(arena, l.of[c] == NO_COLUMN ? "" : rc_csv_cell(csv, (size_t)l.of[c]));
        good = read_value(csv, &l, file, &row.value, problems);
        rows = rc_grow(rows, *count, &capacity, sizeof *rows);
        rows[(*count)++] = row;
    }
    good = good && !rc_csv_failed(csv);
    if (good) {
        kept = rc_arena_take(arena, (*count + 1) * sizeof *kept);
        if (rows)
            memcpy(kept, rows, *count * sizeof *kept);
    }
    free(rows);
    rc_csv_close(csv);
    return kept;
}

/* ---------- from a row to a scenario */

static char *lower(rc_arena *arena, const char *text) {
    char *copy = rc_arena_text(arena, text);
    for (char *c = copy; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return copy;
}

/* The longest name of a kind that the text begins with: "qwen3-32b-nvfp4" is qwen3-32b. */
static const char *catalog_name(rc_catalog_kind kind, const char *text, rc_arena *arena) {
    size_t count, longest = 0;
    const char **names = rc_catalog_names(kind, &count, arena), *best = NULL;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(names[i]);
        if (length > longest && strncmp(text, names[i], length) == 0 && !isalnum((unsigned char)text[length])) {
            best = names[i];
            longest = length;
        }
    }
    return best;
}

static const char *model_name(const rc_measured *row, rc_arena *arena) {
    const char *slash = strrchr(row->model, '/');
    return catalog_name(RC_CATALOG_MODEL, lower(arena, slash ? slash + 1 : row->model), arena);
}

/* "B300-SXM" is b300, "H100" is h100-sxm. */
static const char *accelerator_name(const rc_measured *row, rc_arena *arena) {
    const char *text = lower(arena, row->hardware);
    const char *name = catalog_name(RC_CATALOG_ACCELERATOR, text, arena);
    return name ? name : catalog_name(RC_CATALOG_ACCELERATOR, rc_arena_format(arena, "%s-sxm", text), arena);
}

static void add(rc_playable *p, const char *setting) {
    if (p->settings_count < RC_MEASURED_SETTINGS_MAX)
        p->settings[p->settings_count++] = setting;
}

static void add_format(rc_playable *p, const char *group, const char *format, rc_arena *arena) {
    add(p, rc_arena_format(arena, "model.quantization.%s=%s", group, format));
}

/* How the weights are stored.  Dense models have one FP8 scale a tensor, mixtures of experts one a block.  The FP4
 * checkpoints of mixtures of experts quantise their networks alone; those of dense models attention as well. */
static void add_precision(rc_playable *p, const rc_measured *row, const char *model, rc_arena *arena) {
    static const char *const networks[] = {"routed_experts", "shared_experts", "dense_ffn"};
    bool dense = strncmp(model, "llama", 5) == 0 || strcmp(model, "qwen3-32b") == 0;
    bool as_stored = strncmp(model, "gpt-oss", 7) == 0 || strncasecmp(row->precision, "int4", 4) == 0 ||
                     strncasecmp(row->precision, "mxfp4", 5) == 0;
    bool fp8 = strncasecmp(row->precision, "fp8", 3) == 0;
    bool fp4 = strncasecmp(row->precision, "fp4", 3) == 0 || strncasecmp(row->precision, "nvfp4", 5) == 0;
    if (as_stored)
        return;
    if (fp4 && strcmp(model, "kimi-k3") == 0)
        add_format(p, "routed_experts", "nvfp4", arena);
    else if (fp8 || fp4) {
        const char *format = fp4 ? "nvfp4" : dense ? "fp8-tensor" : "fp8";
        for (size_t i = 0; i < sizeof networks / sizeof *networks; i++)
            add_format(p, networks[i], format, arena);
        add_format(p, "attention", fp8 || dense ? format : "bf16", arena);
        if (dense)
            add(p, "engine.kv_dtype=fp8");
    } else if (strncasecmp(row->precision, "bf16", 4) == 0)
        add(p, "weights=bf16");
}

/* "TP8+DCP8", "TP4 (moe tp2 ep2)", "DP-attn4 EP4": degrees by name, the last of a name wins inside brackets. */
static bool add_parallelism(rc_playable *p, const rc_measured *row, rc_arena *arena) {
    double tp = 1, pp = 1, ep = 1, dp = 1, dcp = 1;
    const char *text = lower(arena, row->parallelism);
    bool in_brackets = false, any = false;
    if (strstr(text, "disagg") || strchr(text, '/'))
        return false;
    while (*text) {
        int degree, length = 0;
        bool word = true;
        if (sscanf(text, "tp%d%n", &degree, &length) == 1 && length)
            tp = in_brackets ? tp : degree; /* tensor parallelism of the experts follows from the rest */
        else if (sscanf(text, "dp-attn%d%n", &degree, &length) == 1 && length)
            dp = degree;
        else if (sscanf(text, "dcp%d%n", &degree, &length) == 1 && length)
            dcp = degree;
        else if (sscanf(text, "pp%d%n", &degree, &length) == 1 && length)
            pp = degree;
        else if (sscanf(text, "ep%d%n", &degree, &length) == 1 && length)
            ep = degree;
        else if (sscanf(text, "dp%d%n", &degree, &length) == 1 && length)
            dp = degree;
        else {
            in_brackets = *text == '(' || (in_brackets && *text != ')');
            length = 1;
            word = false;
        }
        any = any || word;
        text += length;
    }
    add(p, rc_arena_format(arena, "parallel={\"tp\":%.0f,\"pp\":%.0f,\"ep\":%.0f,\"dp\":%.0f,\"dcp\":%.0f}", tp, pp, ep,
                           dp, dcp));
    return any;
}

/* A whole number, or 0. */
static double whole(const char *text) {
    char *end;
    double value = strtod(text, &end);
    return end != text && !*end && value >= 1 && value == floor(value) ? value : 0;
}

/* Lengths are uniform in [0.8x, 1x] where the row says so. */
static const char *length_text(double length, bool spread, rc_arena *arena) {
    return spread ? rc_arena_format(arena, "{\"uniform\":[%.0f,%.0f]}", ceil(0.8 * length), length)
                  : rc_arena_format(arena, "%.0f", length);
}

static void add_load(rc_playable *p, const rc_measured *row, rc_arena *arena) {
    enum { ROUNDS = 10, REQUESTS_MIN = 10 };
    double clients = whole(row->concurrency), requests = fmax(ROUNDS * clients, REQUESTS_MIN);
    bool spread = strstr(row->notes, "[0.8x") != NULL || strstr(row->notes, "range-ratio 0.8") != NULL;
    add(p, rc_arena_format(arena,
                           "workload={\"arrival\":{\"kind\":\"closed\",\"clients\":%.0f},\"input_tokens\":%s,"
                           "\"output_tokens\":%s,\"requests\":%.0f}",
                           clients, length_text(whole(row->input), spread, arena),
                           length_text(whole(row->output), spread, arena), requests));
    add(p, rc_arena_format(arena, "engine.max_running=%.0f", fmax(clients, 1)));
}

static const char *engine_name(const rc_measured *row, rc_arena *arena) {
    char *name = lower(arena, row->engine);
    name[strcspn(name, " ")] = 0;
    return name;
}

rc_playable rc_measured_question(const rc_measured *row, rc_arena *arena) {
    rc_playable p = {.skipped = ""};
    const char *model = model_name(row, arena), *accelerator = accelerator_name(row, arena);
    const char *engine = engine_name(row, arena);
    const char *stack = rc_arena_format(arena, "%s-%s", engine, accelerator ? accelerator : "");
    p.name = rc_arena_format(arena, "%s %sx%s %s %s %s/%s c%s", model ? model : row->model, row->gpus,
                             accelerator ? accelerator : row->hardware, engine, row->parallelism, row->input,
                             row->output, row->concurrency);
    if (!model)
        p.skipped = "a model that is not on file";
    else if (!accelerator)
        p.skipped = "an accelerator that is not on file";
    else if (!rc_catalog_find(RC_CATALOG_STACK, stack, arena))
        p.skipped = rc_arena_format(arena, "no stack for %s on %s", engine, accelerator);
    else if (row->speculation[0] && strncasecmp(row->speculation, "none", 4) != 0)
        p.skipped = "drafts are not simulated yet";
    else if (!whole(row->input) || !whole(row->output))
        p.skipped = "lengths that are no numbers";
    else if (!whole(row->concurrency))
        p.skipped = rc_arena_format(arena, "a load that is no number (%s)", row->concurrency);
    else if (!whole(row->gpus))
        p.skipped = "a count of GPUs that is no number";
    if (p.skipped[0])
        return p;
    add(&p, rc_arena_format(arena, "model=%s", model));
    add(&p, rc_arena_format(arena, "hardware=%.0fx%s", whole(row->gpus), accelerator));
    add(&p, rc_arena_format(arena, "hardware.stack=%s", stack));
    add_precision(&p, row, model, arena);
    if (!add_parallelism(&p, row, arena))
        p.skipped = rc_arena_format(arena, "a layout that is not understood or not simulated (%s)", row->parallelism);
    add_load(&p, row, arena);
    return p;
}
