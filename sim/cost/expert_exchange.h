/* SPDX-License-Identifier: GPL-3.0-or-later
 * expert_exchange.h - tokens go to the ranks of their experts (dispatch) and their results come back (combine).
 *
 * T tokens of a rank, h values of w bytes each, k of E experts a token, n ranks in N domains.  Of a token so many copies
 * leave its rank, where experts lie on ranks without regard to each other:
 *                       inside a domain              between domains
 *   a copy per expert   k (n / N - 1) / n            k (1 - 1 / N)
 *   a copy per rank     n (1 - (1 - 1/n)^k) (1 - N / n)    N (1 - (1 - 1/N)^k) (1 - 1 / N)
 * (between domains a copy goes once to each, and is handed on inside; ranks that split an expert by columns each get one).
 *   t = latency + hops L + T token_time + E expert_time + T copies h w / (e B)
 * on each level.  Both work at the same time, so the slower counts.  Of the algorithms of the stack the fastest is taken;
 * a stack that has none sends a copy per rank in BF16 with its all-to-all.
 * Where every rank has a part of every expert, all tokens are gathered by all ranks, and results reduced and scattered.
 * Known values: 8 ranks, k = 8: 7 copies per expert, 4.595 per rank; 2 nodes of 8: 4 and 1 between them (0.996 exactly).
 * Source of the two algorithms: DeepEP, https://github.com/deepseek-ai/DeepEP (low-latency and normal kernels).
 */
#ifndef RC_COST_EXPERT_EXCHANGE_H
#define RC_COST_EXPERT_EXCHANGE_H
#include "collective.h"

/* One way. */
typedef struct rc_exchange {
    double tokens; /* that a rank sends */
    double width, top_k, experts;
    double ranks, domains;
    double splits;  /* ranks that split one expert by columns */
    double busiest; /* pairs of the busiest rank over the mean */
} rc_exchange;

/* Copies of a token that leave a rank on a level. */
double rc_exchange_copies(rc_algorithm algorithm, const rc_exchange *exchange, int level);
/* Seconds of one way by one algorithm; infinite where the stack lacks it on a level that the group spans. */
double rc_exchange_seconds(const rc_group *group, rc_operation operation, rc_algorithm algorithm,
                           const rc_exchange *exchange);
/* The stack has an algorithm for both ways on all levels that the group spans. */
bool rc_exchange_is_known(const rc_group *group);
/* Seconds in which the ranks of a group exchange `bytes` of weights each, all at once, when experts are placed anew as if where
 * they were before did not matter; the level that takes longer goes to *level. */
double rc_exchange_weights_s(const rc_group *group, double bytes, int *level);
/* Adds `count` dispatches and combines to a line. */
void rc_expert_exchange_add(const rc_group *group, const rc_exchange *exchange, double count, rc_cost_line *line);
#endif
