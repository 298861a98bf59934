/* SPDX-License-Identifier: GPL-3.0-or-later
 * hash.h - FNV-1a, 64 bits: fingerprints of files and results.  Not for secrets.
 * Known value: the hash of "a" is af63dc4c8601ec8c (Fowler, Noll, Vo; http://www.isthe.com/chongo/tech/comp/fnv/).
 */
#ifndef RC_HASH_H
#define RC_HASH_H
#include <stddef.h>
#include <stdint.h>

#define RC_HASH_START UINT64_C(14695981039346656037)
uint64_t rc_hash_bytes(uint64_t hash, const void *bytes, size_t count);
uint64_t rc_hash_text(uint64_t hash, const char *text);
uint64_t rc_hash_file(const char *file); /* 0 where it cannot be read */
#endif
