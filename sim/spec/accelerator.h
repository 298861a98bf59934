/* SPDX-License-Identifier: GPL-3.0-or-later
 * accelerator.h - one GPU: what its data sheet says.  Dense peaks, never sparse ones.
 */
#ifndef RC_ACCELERATOR_H
#define RC_ACCELERATOR_H
#include "fields.h"

typedef enum rc_peak { RC_PEAK_BF16, RC_PEAK_FP8, RC_PEAK_FP4, RC_PEAK_COUNT } rc_peak;
extern const char *const rc_peak_names[]; /* "bf16", "fp8", "fp4", NULL */

typedef struct rc_peaks {
    double bf16_flops_per_s, fp8_flops_per_s, fp4_flops_per_s; /* NaN: no such hardware */
} rc_peaks;

typedef struct rc_accelerator {
    const char *name, *title, *vendor;
    double memory_nameplate_bytes; /* the label */
    double memory_usable_bytes;    /* what the driver shows */
    double memory_bytes_per_s;     /* data sheet */
    double last_level_cache_bytes; /* NaN: not known */
    double compute_units;          /* SMs, CUs, cores */
    rc_peaks peak;
    double host_link_bytes_per_s; /* to host memory, one direction */
    double power_w;
    double node; /* GPUs of a usual server or tray */
} rc_accelerator;

extern const rc_table rc_accelerator_table;
extern const rc_table rc_source_table; /* an entry of "sources", shared by all data files */

/* The peak of a number format, or of the next wider one where the hardware has none. */
double rc_peak_flops(const rc_accelerator *accelerator, rc_peak peak);
#endif
