/* SPDX-License-Identifier: GPL-3.0-or-later
 * shape_curve.h - by how much a kernel's time departs from its formula along one axis of its shape.
 *
 * A library has variants for head widths and groups, tiles that some widths fill and others do not, and switches between
 * them as the work grows.  Four numbers for a family cannot know that; a table of measured calls can.  A curve is a
 * factor on the whole time at some values of an axis, straight lines between them, its ends beyond them.  The factors of
 * several curves are multiplied.
 * Known value: the curve (64: 1), (128: 2) gives 1 at 10, 1.5 at 96, 2 at 1000.
 */
#ifndef RC_SHAPE_CURVE_H
#define RC_SHAPE_CURVE_H
#include "fields.h"

/* Name in a stack file, and what it measures. */
#define RC_AXIS_LIST(X)                                                                                                \
    X(TOKENS, "tokens")           /* of a product or a prefill; sequences that decode */                               \
    X(CHUNK, "chunk")             /* tokens of one prompt in a prefill */                                              \
    X(WIDTH, "width")             /* outputs of a product, inner width of an expert, width of a head or its key */     \
    X(HEADS, "heads")             /* of the rank */                                                                    \
    X(GROUP, "group")             /* query heads that share a KV head */                                               \
    X(BLOCKS, "blocks")           /* pieces that run side by side: tokens x outputs, sequences or tokens x heads */    \
    X(EXPERTS, "experts")         /* of the rank */                                                                    \
    X(TOP_K, "top_k")             /* experts of a token */                                                             \
    X(RANKS, "ranks")             /* that share the experts */                                                         \
    X(TOKENS_EACH, "tokens_each") /* tokens of an expert, on average */                                                \
    X(DEPTH, "depth")             /* of the longest chain: columns summed over, keys of the longest sequence */        \
    X(BYTES, "bytes")             /* read and written */                                                               \
    X(INTENSITY, "intensity")     /* FLOP a byte */
typedef enum rc_axis {
#define RC_X(name, text) RC_AXIS_##name,
    RC_AXIS_LIST(RC_X)
#undef RC_X
        RC_AXIS_COUNT
} rc_axis;
extern const char *const rc_axis_names[]; /* ends with NULL */

typedef struct rc_curve_point {
    double at, factor; /* value of the axis, rising from point to point; measured time over the formula's, above 0 */
} rc_curve_point;

typedef struct rc_shape_curve {
    int axis; /* rc_axis */
    rc_curve_point *points;
    size_t count; /* 2 at least */
} rc_shape_curve;

extern const rc_table rc_shape_curve_table;
double rc_shape_curve_at(const rc_shape_curve *curve, double value);
#endif
