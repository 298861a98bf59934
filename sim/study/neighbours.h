/* SPDX-License-Identifier: GPL-3.0-or-later
 * neighbours.h - how well a call can be told from the calls next to it.
 *
 * The floor of a fit: a call's residual taken from the six nearest known calls, weighted by 1 / distance^2, the distance in
 * the logarithm of every number of the shape.  A table whose neighbouring shapes differ by a third cannot be fitted better
 * by anything smooth; where a fit is far above the floor, it is the fit that lacks something.
 */
#ifndef RC_NEIGHBOURS_H
#define RC_NEIGHBOURS_H
#include "kernel_sample.h"

typedef struct rc_neighbour {
    double place[RC_SAMPLE_SHAPES]; /* log2(1 + number of the shape) */
    double residual;                /* log(measured / formula) */
} rc_neighbour;

rc_neighbour rc_neighbour_of(const rc_sample *sample, double residual);
/* Median and 90th percentile of the errors with which known calls tell the unknown ones; NaN of none. */
void rc_neighbours_floor(const rc_neighbour *known, size_t known_count, const rc_neighbour *unknown,
                         size_t unknown_count, double *median, double *p90);
#endif
