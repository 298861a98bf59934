/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "length_draw.h"
#include <math.h>

uint32_t rc_length_draw(rc_random *random, const rc_length *length) {
    switch (length->kind) {
    case RC_LENGTH_UNIFORM: return (uint32_t)rc_random_between(random, (uint64_t)length->low, (uint64_t)length->high);
    case RC_LENGTH_LOGNORMAL: {
        const double longest = 1e9;
        double drawn = round(rc_random_lognormal(random, length->median, length->sigma));
        return (uint32_t)fmax(1, fmin(drawn, fmin(length->max, longest)));
    }
    case RC_LENGTH_EMPIRICAL: return (uint32_t)length->values[rc_random_between(random, 0, length->values_count - 1)];
    default: return (uint32_t)length->low;
    }
}
