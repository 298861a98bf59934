/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel.h"
#include <math.h>
#include <stdio.h>

const char *const rc_family_names[] = {
#define RC_X(name, text) text,
    RC_FAMILY_LIST(RC_X)
#undef RC_X
};

bool rc_rate_find(const rc_stack *stack, const rc_accelerator *accelerator, const char *const *names, rc_rate *rate) {
    for (; *names; names++) {
        const rc_kernel *kernel = rc_stack_kernel(stack, *names);
        if (!kernel)
            continue;
        *rate = (rc_rate){
            .launch_s = kernel->launch_s,
            .unit_s = kernel->unit_time_s,
            .group_s = kernel->group_time_s,
            .depth_s = kernel->depth_time_s,
            .s_per_byte = 1 / (kernel->memory_efficiency * accelerator->memory_bytes_per_s),
            .s_per_flop = 1 / (kernel->compute_efficiency * rc_peak_flops(accelerator, (rc_peak)kernel->peak)),
            .sharpness = kernel->sharpness,
            .column_tile = kernel->column_tile,
            .token_tile = kernel->token_tile,
            .head_tile = kernel->head_tile,
            .query_tile = kernel->query_tile,
            .packs_heads = kernel->packs_heads,
            .curves = kernel->curves,
            .curves_count = kernel->curves_count,
            .provenance = (rc_provenance)kernel->provenance,
        };
        return true;
    }
    return false;
}

bool rc_rate_first(const rc_scenario *scenario, const char *name, const char *otherwise, rc_rate *rate) {
    const char *const names[] = {name, otherwise, NULL};
    return rc_rate_find(&scenario->hardware.stack, &scenario->hardware.accelerator, names, rate);
}

bool rc_rate_for_heads(const rc_scenario *s, double heads, const char *name, const char *otherwise, rc_rate *rate) {
    char fallback[64];
    const rc_kernel *kernel = rc_stack_kernel(&s->hardware.stack, name);
    bool padded = kernel && kernel->head_tile > 1;
    bool fast = !kernel || kernel->fast_heads <= 1 || fmod(heads, kernel->fast_heads) == 0 ||
                fmod(kernel->fast_heads, heads) == 0;
    snprintf(fallback, sizeof fallback, "%s-fallback", name);
    const char *const names[] = {fast || padded ? name : fallback, name, otherwise, NULL};
    return rc_rate_find(&s->hardware.stack, &s->hardware.accelerator, names, rate);
}

double rc_work_axis(const rc_work *work, rc_axis axis) {
    switch (axis) {
    case RC_AXIS_DEPTH: return work->depth;
    case RC_AXIS_BYTES: return work->bytes;
    case RC_AXIS_INTENSITY: return work->bytes > 0 ? work->flops / work->bytes : 0;
    default: return work->shape[axis];
    }
}

/* Where the axis has a value, as a multiple of what grows. */
static double where_axis_is(rc_axis axis, double value, const rc_work *none, const rc_work *one) {
    double bytes = one->bytes - none->bytes, flops = one->flops - none->flops;
    switch (axis) {
    case RC_AXIS_DEPTH: return (value - none->depth) / (one->depth - none->depth);
    case RC_AXIS_BYTES: return (value - none->bytes) / bytes;
    case RC_AXIS_INTENSITY: return (value * none->bytes - none->flops) / (flops - value * bytes);
    default: return INFINITY; /* the others do not grow */
    }
}

double rc_rate_next_bend(const rc_rate *rate, const rc_work *none, const rc_work *one, double at) {
    const double further = 1 + 1e-9; /* a bend that was just reached lies behind */
    double next = INFINITY;
    for (size_t i = 0; i < rate->curves_count; i++)
        for (size_t p = 0; p < rate->curves[i].count; p++) {
            double bend = where_axis_is((rc_axis)rate->curves[i].axis, rate->curves[i].points[p].at, none, one);
            if (bend > at * further)
                next = fmin(next, bend);
        }
    return next;
}

void rc_rate_add(const rc_rate *rate, rc_work work, double count, rc_cost_line *line) {
    double memory = work.bytes * rate->s_per_byte, compute = work.flops * rate->s_per_flop;
    double larger = fmax(memory, compute), smaller = fmin(memory, compute);
    double ratio = larger > 0 ? pow(smaller / larger, rate->sharpness) : 0;
    double body = rate->sharpness == 1 ? larger + smaller : larger * pow(1 + ratio, 1 / rate->sharpness);
    double major = body / (1 + ratio), minor = body - major;
    bool memory_bound = memory >= compute;
    double runs = count;
    for (size_t i = 0; i < rate->curves_count; i++)
        runs *= rc_shape_curve_at(&rate->curves[i], rc_work_axis(&work, (rc_axis)rate->curves[i].axis));
    double waits = runs * (memory_bound ? major : minor),
           computes = runs * ((memory_bound ? minor : major) + rate->unit_s * work.units + rate->group_s * work.groups +
                              rate->depth_s * work.depth);
    line->seconds[rate->on_host ? RC_HOST_MEMORY : RC_HBM] += waits;
    line->seconds[rate->on_host ? RC_HOST : RC_COMPUTE] += computes;
    line->seconds[RC_LAUNCH] += runs * rate->launch_s;
    if (rate->link_s_per_weight_byte > 0) {
        line->seconds[RC_LINK_HOST] +=
            fmax(count * work.weight_bytes * rate->link_s_per_weight_byte - waits - computes, 0);
        line->host_link_bytes += count * work.weight_bytes;
    }
    line->bytes += count * work.bytes;
    line->flops += count * work.flops;
    line->launches += count;
}

double rc_line_seconds(const rc_cost_line *line) {
    double sum = 0;
    for (int where = 0; where < RC_WHERE_COUNT; where++)
        sum += line->seconds[where];
    return sum;
}

double rc_step_seconds(const rc_step_cost *cost, double by_where[RC_WHERE_COUNT]) {
    double sum = 0;
    for (int where = 0; where < RC_WHERE_COUNT; where++) {
        by_where[where] = 0;
        for (int family = 0; family < RC_FAMILY_COUNT; family++)
            by_where[where] += cost->lines[family].seconds[where];
        sum += by_where[where];
    }
    return sum;
}

double rc_round_up(double value, double tile) {
    return tile > 1 ? ceil(value / tile) * tile : value;
}

static void line_add(rc_cost_line *line, const rc_cost_line *more, double times) {
    for (int where = 0; where < RC_WHERE_COUNT; where++)
        line->seconds[where] += times * more->seconds[where];
    line->bytes += times * more->bytes;
    line->flops += times * more->flops;
    line->launches += times * more->launches;
    line->host_link_bytes += times * more->host_link_bytes;
    line->outer_wire_s += times * more->outer_wire_s;
}

void rc_step_cost_add(rc_step_cost *into, const rc_step_cost *from) {
    for (int family = 0; family < RC_FAMILY_COUNT; family++)
        line_add(&into->lines[family], &from->lines[family], 1);
}

void rc_line_add_cost(rc_cost_line *line, const rc_step_cost *cost, double times) {
    for (int family = 0; family < RC_FAMILY_COUNT; family++)
        line_add(line, &cost->lines[family], times);
}

double rc_step_outer_wire_s(const rc_step_cost *cost) {
    double sum = 0;
    for (int family = 0; family < RC_FAMILY_COUNT; family++)
        sum += cost->lines[family].outer_wire_s;
    return sum;
}
