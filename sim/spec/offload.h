/* SPDX-License-Identifier: GPL-3.0-or-later
 * offload.h - weights that lie in the memory of the host instead of a card's, and the host itself.
 * Whole layers go, or the routed experts of whole layers; a share is rounded up to layers.  Either the GPU reads them over
 * its link whenever it needs them, or the host's processors compute with them where they lie.
 */
#ifndef RC_OFFLOAD_H
#define RC_OFFLOAD_H
#include "fields.h"

/* The host of a node; NaN: not told. */
typedef struct rc_host {
    double memory_bytes;
    double memory_bytes_per_s; /* all channels of all sockets */
    double flops_per_s;        /* dense BF16 peak of all sockets */
    double gpus_per_link;      /* GPUs that share one link to the host */
    double link_latency_s;     /* of a copy between card and host */
    /* Shares that software reaches; what they are by default is an assumption. */
    double link_efficiency, memory_efficiency, compute_efficiency;
} rc_host;

typedef enum rc_offload_by { RC_BY_GPU, RC_BY_HOST } rc_offload_by;

typedef struct rc_offload {
    double layers;   /* share of the layers whose weights lie in host memory, whole layers */
    double experts;  /* of the other layers: share whose routed experts do */
    int computed_by; /* rc_offload_by */
} rc_offload;

extern const rc_table rc_host_table, rc_offload_table;

bool rc_offloads(const rc_offload *offload);
bool rc_offloads_all(const rc_offload *offload); /* the host computes every layer */
/* Shares of the layers whose routed experts, or whose other weights, lie in host memory. */
double rc_offload_share(const rc_offload *offload, bool routed_experts);
/* Shares become whole layers of so many; complains of what the host lacks.  False where something is wrong. */
bool rc_offload_finish(rc_offload *offload, const rc_host *host, double layers, bool has_experts, rc_reader *reader);
#endif
