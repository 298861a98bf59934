/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "hash.h"
#include <stdio.h>
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

uint64_t rc_hash_file(const char *file) {
    FILE *in = fopen(file, "rb");
    uint64_t hash = RC_HASH_START;
    char piece[1 << 14];
    if (!in)
        return 0;
    for (size_t got; (got = fread(piece, 1, sizeof piece, in)) > 0;)
        hash = rc_hash_bytes(hash, piece, got);
    fclose(in);
    return hash;
}
