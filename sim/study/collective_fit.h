/* SPDX-License-Identifier: GPL-3.0-or-later
 * collective_fit.h - messages inside a node, fitted to measured ones.
 *
 * A message takes the cheaper of two algorithms, priced as cost/collective.h prices them.  Of an engine's own all-reduce
 * they are one-shot (every GPU reads all others' data) and two-shot (reduce-scatter, then all-gather); of NCCL its two
 * protocols, one that starts soon and one that fills the link:
 *   all-reduce       bytes on the wire 2 (n - 1) / n     hops of the link 2 (n - 1)
 *   all-gather, reduce-scatter      (n - 1) / n                           n - 1
 *   all-to-all                      (n - 1) / n                           2
 * The software latency and the share of the link's bandwidth of both are found together (message_fit.h).
 */
#ifndef RC_COLLECTIVE_FIT_H
#define RC_COLLECTIVE_FIT_H
#include "message_fit.h"

typedef struct rc_collective_fit {
    double latency_s[2], efficiency[2]; /* of one-shot and two-shot, or of the two protocols */
    double hops[2];                     /* of messages whose hops do not grow with the ranks */
    int operation, algorithms[2];       /* rc_operation, rc_algorithm: the place */
} rc_collective_fit;

/* Fits to samples of one operation and kernel; errors and counts go to `fit`. */
rc_collective_fit rc_collective_fit_messages(const rc_sample *samples, size_t count, const rc_fabric_level *link,
                                             rc_kernel_fit *fit);
#endif
