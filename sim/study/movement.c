/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "movement.h"
#include "quantity.h"
#include "text.h"
#include <math.h>
#include <stdarg.h>
#include <string.h>

static const double still = 0.005;     /* a relative change that is none worth a word */
static const double part_of_it = 0.15; /* of all change: parts below it are not named */
enum { NAMED = 3 };

/* The same family before and after; seconds 0 where it is not there. */
typedef struct moved_part {
    const char *family;
    double before, after;
} moved_part;

/* A step or a prompt, part by part. */
typedef struct moved {
    moved_part parts[RC_PARTS_MAX];
    size_t count;
    double before, after;
} moved;

static void append(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void append(char *text, size_t size, const char *format, ...) {
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

static moved_part *part_named(moved *m, const char *family) {
    for (size_t i = 0; i < m->count; i++)
        if (strcmp(m->parts[i].family, family) == 0)
            return &m->parts[i];
    if (m->count == RC_PARTS_MAX)
        return NULL;
    m->parts[m->count] = (moved_part){.family = family};
    return &m->parts[m->count++];
}

static moved moved_between(const rc_part *before, size_t before_count, const rc_part *after, size_t after_count) {
    moved m = {.count = 0};
    for (size_t i = 0; i < before_count; i++) {
        moved_part *part = part_named(&m, before[i].family);
        if (part)
            part->before += before[i].seconds;
        m.before += before[i].seconds;
    }
    for (size_t i = 0; i < after_count; i++) {
        moved_part *part = part_named(&m, after[i].family);
        if (part)
            part->after += after[i].seconds;
        m.after += after[i].seconds;
    }
    return m;
}

static double change(double before, double after) {
    return before > 0 ? after / before - 1 : after > 0 ? INFINITY : 0;
}

static bool stays(double before, double after) {
    return fabs(change(before, after)) < still;
}

/* The part that changed most in the direction of the whole, of those below a size; NULL: none worth a word. */
static const moved_part *next_part(const moved *m, double below) {
    const moved_part *most = NULL;
    double whole = m->after - m->before, size = part_of_it * fabs(whole);
    for (size_t i = 0; i < m->count; i++) {
        double by = (m->parts[i].after - m->parts[i].before) * (whole < 0 ? -1 : 1);
        if (by >= size && by < below) {
            most = &m->parts[i];
            size = by;
        }
    }
    return most;
}

static void append_parts(char *text, size_t size, const moved *m) {
    double below = INFINITY;
    for (int named = 0; named < NAMED; named++) {
        const moved_part *part = next_part(m, below);
        char before[40], after[40];
        if (!part)
            return;
        append(text, size, "%s%s (%s to %s)", named ? ", " : " through ", part->family,
               rc_quantity_text(before, sizeof before, part->before, RC_SECONDS),
               rc_quantity_text(after, sizeof after, part->after, RC_SECONDS));
        below = fabs(part->after - part->before);
    }
}

/* What moved most against the whole: a host that is waited for again, for one. */
static void append_counter(char *text, size_t size, const moved *m) {
    const moved_part *most = NULL;
    double whole = m->after - m->before, largest = part_of_it * fabs(whole);
    for (size_t i = 0; i < m->count; i++) {
        double by = (m->parts[i].after - m->parts[i].before) * (whole < 0 ? 1 : -1);
        if (by >= largest) {
            most = &m->parts[i];
            largest = by;
        }
    }
    char before[40], after[40];
    if (most)
        append(text, size, ", against %s (%s to %s)", most->family,
               rc_quantity_text(before, sizeof before, most->before, RC_SECONDS),
               rc_quantity_text(after, sizeof after, most->after, RC_SECONDS));
}

/* "; 34 % of it stays: all-reduce, host, kda" */
static void append_still(char *text, size_t size, const moved *m) {
    double share = 0, below = INFINITY;
    for (size_t i = 0; i < m->count; i++)
        share += stays(m->parts[i].before, m->parts[i].after) ? m->parts[i].before / m->before : 0;
    if (share < still)
        return;
    append(text, size, "; %.0f %% of it stays:", 100 * share);
    for (int named = 0; named < NAMED; named++) {
        const moved_part *largest = NULL;
        for (size_t i = 0; i < m->count; i++) {
            const moved_part *p = &m->parts[i];
            if (p->before > 0 && p->before < below && stays(p->before, p->after) &&
                (!largest || p->before > largest->before))
                largest = p;
        }
        if (!largest)
            return;
        append(text, size, "%s %s", named ? "," : "", largest->family);
        below = largest->before;
    }
}

static void append_whole(char *text, size_t size, const char *what, const moved *m) {
    char before[40], after[40];
    rc_quantity_text(before, sizeof before, m->before, RC_SECONDS);
    rc_quantity_text(after, sizeof after, m->after, RC_SECONDS);
    if (stays(m->before, m->after))
        append(text, size, "; %s stays at %s", what, before);
    else {
        append(text, size, "; %s takes %s instead of %s,", what, after, before);
        append_parts(text, size, m);
        append_counter(text, size, m);
        append_still(text, size, m);
    }
}

void rc_movement_text(char *text, size_t size, const rc_whatif_row *from, const rc_whatif_row *to) {
    const rc_run_result *a = &from->run, *b = &to->run;
    char before[40], after[40], what[80];
    text[0] = 0;
    append(text, size, "From %s to %s output goes from %s to %s tokens/s (%+.1f %%)", from->value.text, to->value.text,
           rc_number_text(before, sizeof before, a->output_tokens_per_s),
           rc_number_text(after, sizeof after, b->output_tokens_per_s),
           100 * change(a->output_tokens_per_s, b->output_tokens_per_s));
    moved step = moved_between(from->why.parts, from->why.parts_count, to->why.parts, to->why.parts_count);
    moved prompt = moved_between(from->why.prefill_parts, from->why.prefill_parts_count, to->why.prefill_parts,
                                 to->why.prefill_parts_count);
    if (from->why.batch == to->why.batch)
        snprintf(what, sizeof what, "a decode step of %.0f", from->why.batch);
    else
        snprintf(what, sizeof what, "a decode step, of %.0f instead of %.0f sequences,", to->why.batch,
                 from->why.batch);
    append_whole(text, size, what, &step);
    snprintf(what, sizeof what, "a prompt of %s", rc_count_text(after, sizeof after, to->why.prompt));
    append_whole(text, size, what, &prompt);
    if (fabs(change(a->concurrency_mean, b->concurrency_mean)) > 0.02)
        append(text, size, "; %s instead of %s requests run at a time",
               rc_number_text(after, sizeof after, b->concurrency_mean),
               rc_number_text(before, sizeof before, a->concurrency_mean));
    append(text, size, ".");
}
