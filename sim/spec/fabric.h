/* SPDX-License-Identifier: GPL-3.0-or-later
 * fabric.h - what joins the accelerators: levels from the inside out (inside the node, between nodes).
 * Bandwidths are one direction.  A switched level gives each GPU its bandwidth.  Where GPUs are joined pair by pair it is that
 * of ONE link: in a full mesh reach - 1 links leave a GPU, on a ring 2, on a torus 4 (two dimensions), and what is not for a
 * neighbour passes through others.  Rails join the GPUs of the same place in each node: what is for another place goes there
 * inside the node first.
 */
#ifndef RC_FABRIC_H
#define RC_FABRIC_H
#include "fields.h"

typedef enum rc_topology { RC_SWITCH, RC_FULL_MESH, RC_RING_OF_LINKS, RC_TORUS, RC_RAILS } rc_topology;
typedef enum rc_bandwidth_of { RC_OF_GPU, RC_OF_NODE, RC_OF_NIC } rc_bandwidth_of;

typedef struct rc_fabric_level {
    const char *name;   /* "nvlink", "roce": the link's name in breakdowns */
    int topology;       /* rc_topology */
    double reach;       /* GPUs that one domain of this level joins; infinite on an open outer level */
    double bytes_per_s; /* see above */
    int bandwidth_of;   /* rc_bandwidth_of */
    double nics;        /* of a node, where the bandwidth is that of one */
    double latency_s;   /* of a small message, one way */
} rc_fabric_level;

typedef struct rc_fabric {
    const char *name, *title;
    rc_fabric_level *levels;
    size_t levels_count; /* 1 or 2 */
} rc_fabric;

extern const rc_table rc_fabric_table;
#endif
