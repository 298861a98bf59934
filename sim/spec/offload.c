/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "offload.h"
#include "problems.h"
#include <math.h>

static const char *const by_names[] = {"gpu", "host", NULL};

#define SHARE(name_text, member, doc_text, usual)                                                                      \
    { name_text, RC_FIELD_NUMBER, offsetof(rc_host, member), doc_text, .absent = usual, .low = 0.01, .high = 1 }

RC_TABLE(rc_host_table, rc_host, "host", "The host of a node, for weights that lie in its memory.",
         {"memory", RC_FIELD_QUANTITY, offsetof(rc_host, memory_bytes), "of the node", .absent = NAN, .unit = RC_BYTES,
          .positive = true},
         {"memory_bandwidth", RC_FIELD_QUANTITY, offsetof(rc_host, memory_bytes_per_s), "of all sockets together",
          .absent = NAN, .unit = RC_BYTES_PER_S, .positive = true},
         {"peak", RC_FIELD_QUANTITY, offsetof(rc_host, flops_per_s), "dense BF16, of all sockets together",
          .absent = NAN, .unit = RC_FLOPS_PER_S, .positive = true},
         {"gpus_per_link", RC_FIELD_COUNT, offsetof(rc_host, gpus_per_link), "GPUs that share one link to the host",
          .absent = 1, .low = 1, .high = 64},
         {"link_latency", RC_FIELD_QUANTITY, offsetof(rc_host, link_latency_s),
          "of a copy between card and host; 10 us is assumed", .absent = 10e-6, .unit = RC_SECONDS},
         SHARE("link_efficiency", link_efficiency, "share of the link's bandwidth; 0.85 is assumed", 0.85),
         SHARE("memory_efficiency", memory_efficiency, "share of the memory's bandwidth; 0.8 is assumed", 0.8),
         SHARE("compute_efficiency", compute_efficiency, "share of the peak; 0.5 is assumed", 0.5));

RC_TABLE(rc_offload_table, rc_offload, "offload", "Weights that lie in host memory.",
         {"layers", RC_FIELD_NUMBER, offsetof(rc_offload, layers), "share of the layers, rounded up to whole ones",
          .absent = 0, .low = 0, .high = 1},
         {"experts", RC_FIELD_NUMBER, offsetof(rc_offload, experts),
          "share of the other layers whose routed experts go", .absent = 0, .low = 0, .high = 1},
         {"computed_by", RC_FIELD_CHOICE, offsetof(rc_offload, computed_by),
          "the gpu, which reads them over its link, or the host, where they lie", .choices = by_names});

bool rc_offloads(const rc_offload *o) {
    return o->layers > 0 || o->experts > 0;
}

bool rc_offloads_all(const rc_offload *o) {
    return o->layers == 1 && o->computed_by == RC_BY_HOST;
}

double rc_offload_share(const rc_offload *o, bool routed_experts) {
    return routed_experts ? o->layers + (1 - o->layers) * o->experts : o->layers;
}

static double whole(double share, double layers) {
    const double rounding = 1e-9;
    return layers > 0 ? fmax(ceil(share * layers - rounding), 0) / layers : 0;
}

bool rc_offload_finish(rc_offload *o, const rc_host *host, double layers, bool has_experts, rc_reader *reader) {
    const struct {
        const char *path, *example;
        double value;
        bool needed;
    } facts[] = {{"hardware.host.memory", "a size, as \"256GB\"", host->memory_bytes, true},
                 {"hardware.host.memory_bandwidth", "a bandwidth, as \"90GB/s\"", host->memory_bytes_per_s,
                  o->computed_by == RC_BY_HOST},
                 {"hardware.host.peak", "a peak, as \"3TFLOP/s\"", host->flops_per_s, o->computed_by == RC_BY_HOST}};
    bool good = true;
    if (!rc_offloads(o))
        return true;
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (facts[i].needed && isnan(facts[i].value))
            good = rc_complain(reader, RC_MISSING_KEY, facts[i].path, "nothing", facts[i].example,
                               "weights in host memory need to know the host");
    if (o->experts > 0 && !has_experts)
        good = rc_complain(reader, RC_BAD_VALUE, "offload.experts", "a share", "offload.layers",
                           "the model has no routed experts");
    o->layers = whole(o->layers, layers);
    o->experts = whole(o->experts, layers * (1 - o->layers)); /* 0 where no layer is left */
    return good;
}
