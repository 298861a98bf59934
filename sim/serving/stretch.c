/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stretch.h"
#include <math.h>
#include <string.h>

static const double tolerance = 1e-10;
enum { NODES_MAX = 5 };

static void contexts_at(const rc_stretch *s, double step, double context[RC_REACHES_MAX]) {
    for (int r = 0; r < s->plan->reaches_count; r++)
        context[r] = s->context[r] + s->growth[r] * step;
}

/* Seconds of the growing part of one step, by where they went. */
static double growing(const rc_stretch *s, double step, double by_where[RC_WHERE_COUNT]) {
    double context[RC_REACHES_MAX], sum = 0;
    contexts_at(s, step, context);
    memset(by_where, 0, RC_WHERE_COUNT * sizeof *by_where);
    rc_step_growing(s->plan, s->sequences, context, true, by_where);
    for (int where = 0; where < RC_WHERE_COUNT; where++)
        sum += by_where[where];
    return sum;
}

double rc_stretch_step_s(const rc_stretch *s, double step) {
    double by_where[RC_WHERE_COUNT];
    return s->fixed_s + growing(s, step, by_where);
}

/* Offsets from the middle and weights of the Gauss rule on n equally spaced points. */
static int three_nodes(double n, double *offsets, double *weights) {
    double nn = n * n, b1 = (nn - 1) / 12, b2 = (nn - 4) / 15;
    offsets[0] = 0;
    offsets[1] = sqrt(b1 + b2);
    weights[1] = n * b1 / (2 * (b1 + b2));
    weights[0] = n - 2 * weights[1];
    offsets[2] = -offsets[1];
    weights[2] = weights[1];
    return 3;
}

static int five_nodes(double n, double *offsets, double *weights) {
    double nn = n * n, b1 = (nn - 1) / 12, b2 = (nn - 4) / 15, b3 = 9 * (nn - 9) / 140, b4 = 4 * (nn - 16) / 63;
    double sum = b1 + b2 + b3 + b4, product = b1 * b3 + b1 * b4 + b2 * b4;
    double root = sqrt(fmax(sum * sum - 4 * product, 0)), far = (sum + root) / 2, near = product / far;
    double second = n * b1, fourth = n * b1 * (b1 + b2); /* moments of the measure */
    double far_weight = (fourth - near * second) / (2 * far * (far - near));
    double near_weight = (second - 2 * far_weight * far) / (2 * near);
    const double offset[] = {0, sqrt(near), -sqrt(near), sqrt(far), -sqrt(far)};
    const double weight[] = {n - 2 * near_weight - 2 * far_weight, near_weight, near_weight, far_weight, far_weight};
    memcpy(offsets, offset, sizeof offset);
    memcpy(weights, weight, sizeof weight);
    return NODES_MAX;
}

static double weighted(const rc_stretch *s, double first, double n, int (*rule)(double, double *, double *),
                       double by_where[RC_WHERE_COUNT]) {
    double offsets[NODES_MAX], weights[NODES_MAX], part[RC_WHERE_COUNT], sum = 0;
    int nodes = rule(n, offsets, weights);
    memset(by_where, 0, RC_WHERE_COUNT * sizeof *by_where);
    for (int i = 0; i < nodes; i++) {
        sum += weights[i] * growing(s, first + (n - 1) / 2 + offsets[i], part);
        for (int where = 0; where < RC_WHERE_COUNT; where++)
            by_where[where] += weights[i] * part[where];
    }
    return sum;
}

static double sum_growing(const rc_stretch *s, double first, double n, double by_where[RC_WHERE_COUNT]) {
    double part[RC_WHERE_COUNT], sum = 0;
    if (n <= NODES_MAX) {
        memset(by_where, 0, RC_WHERE_COUNT * sizeof *by_where);
        for (double i = 0; i < n; i++) {
            sum += growing(s, first + i, part);
            for (int where = 0; where < RC_WHERE_COUNT; where++)
                by_where[where] += part[where];
        }
        return sum;
    }
    double coarse = weighted(s, first, n, three_nodes, part), fine = weighted(s, first, n, five_nodes, by_where);
    if (fabs(fine - coarse) <= tolerance * (fine + n * s->fixed_s))
        return fine;
    double half = floor(n / 2);
    sum = sum_growing(s, first, half, by_where);
    sum += sum_growing(s, first + half, n - half, part);
    for (int where = 0; where < RC_WHERE_COUNT; where++)
        by_where[where] += part[where];
    return sum;
}

/* Steps from `first` on, at most n, that no bend lies between; one at a bend belongs to both sides. */
static double smooth_steps(const rc_stretch *s, double first, double n) {
    double context[RC_REACHES_MAX];
    contexts_at(s, first, context);
    return fmin(floor(rc_step_next_bend(s->plan, s->sequences, context, s->growth)) + 1, n);
}

double rc_stretch_sum_s(const rc_stretch *s, double n, double by_where[RC_WHERE_COUNT]) {
    double grown[RC_WHERE_COUNT] = {0}, sum = 0;
    bool grows = s->sequences > 0 && s->plan->attentions_count > 0;
    for (double done = 0, steps; grows && done < n; done += steps) {
        double part[RC_WHERE_COUNT];
        steps = smooth_steps(s, done, n - done);
        sum += sum_growing(s, done, steps, part);
        for (int where = 0; where < RC_WHERE_COUNT; where++)
            grown[where] += part[where];
    }
    if (by_where)
        for (int where = 0; where < RC_WHERE_COUNT; where++)
            by_where[where] = n * s->fixed[where] + grown[where];
    return n * s->fixed_s + sum;
}

double rc_stretch_find(const rc_stretch *s, double n, double seconds) {
    double low = 0, high = n, low_s = 0, high_s = rc_stretch_sum_s(s, n, NULL);
    if (seconds >= high_s)
        return n;
    while (high - low > 1) {
        double guess = ceil(low + (high - low) * (seconds - low_s) / (high_s - low_s));
        guess = fmin(fmax(guess, low + 1), high - 1);
        double guess_s = rc_stretch_sum_s(s, guess, NULL);
        if (guess_s >= seconds) {
            high = guess;
            high_s = guess_s;
        } else {
            low = guess;
            low_s = guess_s;
        }
    }
    return high;
}
