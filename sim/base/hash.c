/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "hash.h"
#include <string.h>

static const uint64_t prime = UINT64_C(1099511628211);

uint64_t rc_hash_bytes(uint64_t hash, const void *bytes, size_t count) {
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ byte[i]) * prime;
    return hash;
}

uint64_t rc_hash_text(uint64_t hash, const char *text) {
    return rc_hash_bytes(hash, text, strlen(text) + 1);
}
