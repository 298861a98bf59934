/* SPDX-License-Identifier: GPL-3.0-or-later
 * collective.h - messages between ranks.
 * A group of n ranks on one level, each with B bytes/s out of its GPU and a message of b bytes:
 *   one-shot   latency + (n-1) b / (e B)          every rank reads every other's message
 *   two-shot   latency + 2 (n-1)/n b / (e B)      reduce-scatter, then all-gather
 *   ring       the same bytes, and 2 (n-1) times the link's own latency; half of both in an all-gather or a
 *              reduce-scatter, b the bytes of all ranks together
 *   tree       latency + 2 b / (e B)              and 2 log2 n times the link's own latency: up and down
 *   nvls       latency + (n+1)/n b / (e B)        the switch adds up a shard for each rank and sends it to all
 *   direct     latency + b / (e B)                point to point; all-to-all with b the bytes that leave a rank
 * To each come `hops` times the link's own latency.  The cheapest algorithm the stack has is taken.  In a full mesh a group of n uses n - 1 links of each GPU.
 * On a ring (2 links a GPU) a byte crosses n / 4 links between two ranks, on a torus (4) sqrt(n) / 2: B is divided by that and
 * the link's latency multiplied, but for the ring algorithm, which speaks to neighbours alone.
 * A group over several nodes works hierarchically: an all-reduce inside, and between nodes one of b / n_inside.
 * Known value: 8 ranks, B = 900e9, e = 1, no latency, b = 7 MB: two-shot 13.6 us.
 */
#ifndef RC_COST_COLLECTIVE_H
#define RC_COST_COLLECTIVE_H
#include "kernel.h"

/* A group of ranks and what joins them. */
typedef struct rc_group {
    double inner, outer;   /* ranks inside a domain; domains */
    double bytes_per_s[2]; /* out of one GPU, by level */
    double link_latency_s[2];
    double distance[2];              /* links that a byte crosses between two ranks on average; 1 behind a switch */
    bool rails;                      /* between domains: other places are reached through the inner level */
    const rc_collective *algorithms; /* the stack's */
    size_t algorithms_count;
} rc_group;

/* A group of `ranks` consecutive ranks.  False where the fabric cannot join them. */
bool rc_group_init(rc_group *group, const rc_hardware *hardware, double ranks);
/* `ranks` on the inner level of a fabric, with these algorithms. */
rc_group rc_group_inside(const rc_fabric *fabric, double ranks, const rc_collective *algorithms, size_t count);
/* Seconds of one message of `bytes` on the inner level. */
double rc_collective_seconds(const rc_group *group, rc_operation operation, double bytes);
/* Adds `count` messages of `bytes` that take `seconds` each on a level to a line. */
void rc_message_add(rc_cost_line *line, int level, double seconds, double bytes, double count);
/* Adds `count` messages of `bytes`, priced, to a line. */
void rc_all_reduce_add(const rc_group *group, double bytes, double count, rc_cost_line *line);
/* `bytes` leave each rank, spread evenly over the others. */
void rc_all_to_all_add(const rc_group *group, double bytes, double count, rc_cost_line *line);
/* Latency and bytes a second of a message from one GPU to another on a level. */
void rc_point_to_point(const rc_group *group, int level, double *latency_s, double *bytes_per_s);
/* One hand-off from stage to stage over the outermost level of `group`. */
void rc_hand_off_add(const rc_group *group, double bytes, double count, rc_cost_line *line);
#endif
