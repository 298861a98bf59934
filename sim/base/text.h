/* SPDX-License-Identifier: GPL-3.0-or-later
 * text.h - words for people: "did you mean", numbers with three digits and thousands apart.
 */
#ifndef RC_TEXT_H
#define RC_TEXT_H
#include "rackcast.h"

/* The candidate nearest to `word` by edit distance, or NULL where none is near enough to be meant. */
const char *rc_did_you_mean(const char *word, const char *const *candidates, size_t count);
/* Writes the candidates as "a, b, c" (shortened with "..." where `size` is too small), with "did you mean" in front. */
void rc_choices_text(char *text, size_t size, const char *word, const char *const *candidates, size_t count);
/* 1234567.8 -> "1,234,568"; values below 1000 get three significant digits: 12.3, 0.123. */
const char *rc_number_text(char *text, size_t size, double value);
/* Whole numbers with thousands apart. */
const char *rc_count_text(char *text, size_t size, double value);
/* Adds a line to a list of RC_REASONS_MAX texts; nothing where the list is NULL or full. */
void rc_reason_add(rc_text *reasons, size_t *count, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool rc_text_ends(const char *text, const char *ending);
#endif
