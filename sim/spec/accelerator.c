/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "accelerator.h"
#include <math.h>

const char *const rc_peak_names[] = {"bf16", "fp8", "fp4", NULL};

typedef struct source {
    const char **of;
    size_t of_count;
    const char *url, *date, *note;
} source;

RC_TABLE(rc_source_table, source, "source", "Where numbers of this file come from.",
         {"of", RC_FIELD_TEXTS, offsetof(source, of), "the fields it speaks of, with dots for nested ones",
          .required = true, .count_offset = offsetof(source, of_count)},
         {"url", RC_FIELD_TEXT, offsetof(source, url), "public address or name of the source", .required = true},
         {"date", RC_FIELD_TEXT, offsetof(source, date), "when it was published or read, as 2026-09-19",
          .required = true},
         {"note", RC_FIELD_TEXT, offsetof(source, note), "a remark"});

/* Fields that people read and the program only checks. */
typedef struct accelerator_file {
    rc_accelerator accelerator;
    const char *schema;
    source *sources;
    size_t sources_count;
} accelerator_file;

RC_LOCAL_TABLE(peaks_table, rc_peaks, "peaks", "Dense peaks of matrix work, never sparse ones.",
               {"bf16", RC_FIELD_QUANTITY, offsetof(rc_peaks, bf16_flops_per_s), "BF16 with FP32 accumulation",
                .required = true, .unit = RC_FLOPS_PER_S, .positive = true},
               {"fp8", RC_FIELD_QUANTITY, offsetof(rc_peaks, fp8_flops_per_s), "FP8; left out where there is none",
                .absent = NAN, .unit = RC_FLOPS_PER_S, .positive = true},
               {"fp4", RC_FIELD_QUANTITY, offsetof(rc_peaks, fp4_flops_per_s), "FP4; left out where there is none",
                .absent = NAN, .unit = RC_FLOPS_PER_S, .positive = true});

#define FIELD(member) offsetof(accelerator_file, accelerator.member)
RC_TABLE(rc_accelerator_table, accelerator_file, "accelerator", "One accelerator: what its data sheet says.",
         {"schema", RC_FIELD_TEXT, offsetof(accelerator_file, schema), "rackcast/accelerator/1", .required = true},
         {"name", RC_FIELD_TEXT, FIELD(name), "the name used in scenarios", .required = true},
         {"title", RC_FIELD_TEXT, FIELD(title), "the name people say", .required = true},
         {"vendor", RC_FIELD_TEXT, FIELD(vendor), "who makes it", .required = true},
         {"memory_nameplate", RC_FIELD_QUANTITY, FIELD(memory_nameplate_bytes), "the label", .required = true,
          .unit = RC_BYTES, .positive = true},
         {"memory_usable", RC_FIELD_QUANTITY, FIELD(memory_usable_bytes), "what the driver shows", .required = true,
          .unit = RC_BYTES, .positive = true},
         {"memory_bandwidth", RC_FIELD_QUANTITY, FIELD(memory_bytes_per_s), "of the data sheet", .required = true,
          .unit = RC_BYTES_PER_S, .positive = true},
         {"last_level_cache", RC_FIELD_QUANTITY, FIELD(last_level_cache_bytes), "cache in front of the memory",
          .absent = NAN, .unit = RC_BYTES, .positive = true},
         {"compute_units", RC_FIELD_COUNT, FIELD(compute_units), "SMs, CUs or cores", .required = true, .low = 1,
          .high = 1e5},
         {"peak", RC_FIELD_OBJECT, FIELD(peak), "dense peaks", .required = true, .table = &peaks_table},
         {"host_link", RC_FIELD_QUANTITY, FIELD(host_link_bytes_per_s), "to host memory, one direction",
          .required = true, .unit = RC_BYTES_PER_S, .positive = true},
         {"power", RC_FIELD_QUANTITY, FIELD(power_w), "board power", .required = true, .unit = RC_WATTS,
          .positive = true},
         {"node", RC_FIELD_COUNT, FIELD(node), "how many a usual server or tray holds", .required = true, .low = 1,
          .high = 1024},
         {"sources", RC_FIELD_LIST, offsetof(accelerator_file, sources), "where the numbers come from",
          .table = &rc_source_table, .count_offset = offsetof(accelerator_file, sources_count)});
#undef FIELD

double rc_peak_flops(const rc_accelerator *accelerator, rc_peak peak) {
    const rc_peaks *p = &accelerator->peak;
    if (peak == RC_PEAK_FP4 && !isnan(p->fp4_flops_per_s))
        return p->fp4_flops_per_s;
    if (peak != RC_PEAK_BF16 && !isnan(p->fp8_flops_per_s))
        return p->fp8_flops_per_s;
    return p->bf16_flops_per_s;
}
