/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fabric.h"
#include "accelerator.h"
#include <math.h>

static const char *const topology_names[] = {"switch", "full-mesh", "ring", "torus", "rails", NULL};
static const char *const owner_names[] = {"gpu", "node", "nic", NULL};

typedef struct fabric_file {
    rc_fabric fabric;
    const char *schema;
    void *sources;
    size_t sources_count;
} fabric_file;

RC_LOCAL_TABLE(level_table, rc_fabric_level, "level", "One level of links.",
               {"name", RC_FIELD_TEXT, offsetof(rc_fabric_level, name), "the link's name in breakdowns",
                .required = true},
               {"topology", RC_FIELD_CHOICE, offsetof(rc_fabric_level, topology), "how the GPUs are joined",
                .required = true, .choices = topology_names},
               {"reach", RC_FIELD_COUNT, offsetof(rc_fabric_level, reach),
                "GPUs one domain joins; left out on an open outer level", .absent = INFINITY, .low = 1, .high = 1e6},
               {"bandwidth", RC_FIELD_QUANTITY, offsetof(rc_fabric_level, bytes_per_s),
                "one direction; of one link in a full mesh, ring or torus", .required = true, .unit = RC_BYTES_PER_S,
                .positive = true},
               {"bandwidth_of", RC_FIELD_CHOICE, offsetof(rc_fabric_level, bandwidth_of),
                "whose bandwidth it is: a GPU's, a node's or one of its NICs'", .choices = owner_names},
               {"nics", RC_FIELD_COUNT, offsetof(rc_fabric_level, nics),
                "of a node, where the bandwidth is that of one", .absent = NAN, .low = 1, .high = 1024},
               {"latency", RC_FIELD_QUANTITY, offsetof(rc_fabric_level, latency_s), "of a small message, one way",
                .required = true, .unit = RC_SECONDS});

RC_TABLE(rc_fabric_table, fabric_file, "fabric", "What joins the accelerators, from the inside out.",
         {"schema", RC_FIELD_TEXT, offsetof(fabric_file, schema), "rackcast/fabric/1", .required = true},
         {"name", RC_FIELD_TEXT, offsetof(fabric_file, fabric.name), "the name used in scenarios", .required = true},
         {"title", RC_FIELD_TEXT, offsetof(fabric_file, fabric.title), "the name people say", .required = true},
         {"levels", RC_FIELD_LIST, offsetof(fabric_file, fabric.levels), "one or two levels, inner first",
          .required = true, .table = &level_table, .count_offset = offsetof(fabric_file, fabric.levels_count)},
         {"sources", RC_FIELD_LIST, offsetof(fabric_file, sources), "where the numbers come from",
          .table = &rc_source_table, .count_offset = offsetof(fabric_file, sources_count)});
