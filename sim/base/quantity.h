/* SPDX-License-Identifier: GPL-3.0-or-later
 * quantity.h - numbers with their unit.
 * A physical quantity in a file is a string: a decimal number, an optional prefix, the unit.  Prefixes k M G T P E are
 * powers of 1000, Ki Mi Gi Ti Pi powers of 1024 (bytes and bits only).  B is bytes, b is bits.
 *   bytes        "288GB" "268.2GiB" "274658MiB"      bytes a second  "7.75TB/s" "195Gb/s"
 *   operations   "2.25PFLOP/s"                       time            "5us" "2s" "10min" "1h" "2d"
 *   money        "$2.50/h"                           power           "1100W" "1.1kW"
 *   rate         "2/s" "120/min" "7200/h"
 * Values come out in SI: bytes, bytes/s, FLOP/s, seconds, dollars per hour, watts, per second.
 */
#ifndef RC_QUANTITY_H
#define RC_QUANTITY_H
#include <stdbool.h>
#include <stddef.h>

typedef enum rc_unit {
    RC_BYTES,
    RC_BYTES_PER_S,
    RC_FLOPS_PER_S,
    RC_SECONDS,
    RC_USD_PER_HOUR,
    RC_WATTS,
    RC_PER_SECOND,
    RC_UNIT_COUNT
} rc_unit;

/* False where the text is not a quantity of that unit; *value is untouched then. */
bool rc_quantity_parse(const char *text, rc_unit unit, double *value);
/* What would do: "bytes with a unit, as \"288GB\" or \"268.2GiB\"". */
const char *rc_quantity_example(rc_unit unit);
/* A regular expression for JSON Schema. */
const char *rc_quantity_pattern(rc_unit unit);
/* Three digits and a prefix: "7.75 TB/s", "378 ms", "$2.50/h". */
const char *rc_quantity_text(char *text, size_t size, double value, rc_unit unit);
#endif
