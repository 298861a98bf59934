/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "text.h"
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

enum { LONGEST_WORD = 63 };

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Levenshtein distance, letter case ignored; words are cut at LONGEST_WORD. */
static size_t edit_distance(const char *a, const char *b) {
    size_t rows = smaller(strlen(a), LONGEST_WORD), columns = smaller(strlen(b), LONGEST_WORD);
    size_t line[LONGEST_WORD + 1];
    for (size_t j = 0; j <= columns; j++)
        line[j] = j;
    for (size_t i = 1; i <= rows; i++) {
        size_t diagonal = line[0];
        line[0] = i;
        for (size_t j = 1; j <= columns; j++) {
            size_t above = line[j];
            bool same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]);
            line[j] = smaller(smaller(above, line[j - 1]) + 1, diagonal + !same);
            diagonal = above;
        }
    }
    return line[columns];
}

const char *rc_did_you_mean(const char *word, const char *const *candidates, size_t count) {
    const char *best = NULL;
    size_t best_distance = 2 + strlen(word) / 4; /* a typing mistake or two, more in long words */
    for (size_t i = 0; i < count; i++) {
        size_t distance = edit_distance(word, candidates[i]);
        if (strlen(word) >= 3 && strncmp(word, candidates[i], strlen(word)) == 0)
            distance = smaller(distance, 1); /* a beginning of the right word */
        if (distance < best_distance) {
            best = candidates[i];
            best_distance = distance;
        }
    }
    return best;
}

void rc_choices_text(char *text, size_t size, const char *word, const char *const *candidates, size_t count) {
    const char *meant = rc_did_you_mean(word, candidates, count);
    size_t used = 0;
    text[0] = 0;
    if (meant)
        used = (size_t)snprintf(text, size, "did you mean \"%s\"? one of ", meant);
    for (size_t i = 0; i < count && used < size; i++) {
        if (used + strlen(candidates[i]) + 8 > size) {
            snprintf(text + used, size - used, ", ...");
            return;
        }
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", candidates[i]);
    }
}

const char *rc_suggest(char *text, size_t size, const char *word, const char *const *candidates, size_t count) {
    rc_choices_text(text, size, word, candidates, count);
    return text;
}

const char *rc_count_text(char *text, size_t size, double value) {
    char digits[64];
    snprintf(digits, sizeof digits, "%.0f", fabs(value));
    size_t length = strlen(digits), used = 0;
    if (value < 0 && size > 1)
        text[used++] = '-';
    for (size_t i = 0; i < length && used + 2 < size; i++) {
        if (i && (length - i) % 3 == 0)
            text[used++] = ',';
        text[used++] = digits[i];
    }
    text[used] = 0;
    return text;
}

const char *rc_number_text(char *text, size_t size, double value) {
    double magnitude = fabs(value);
    if (isnan(value))
        snprintf(text, size, "-");
    else if (magnitude >= 999.5)
        rc_count_text(text, size, value);
    else if (magnitude >= 99.95)
        snprintf(text, size, "%.0f", value);
    else if (magnitude >= 9.995)
        snprintf(text, size, "%.1f", value);
    else if (magnitude >= 0.9995 || magnitude == 0)
        snprintf(text, size, "%.2f", value);
    else
        snprintf(text, size, "%.3g", value);
    return text;
}

bool rc_text_ends(const char *text, const char *ending) {
    size_t length = strlen(text), tail = strlen(ending);
    return length >= tail && strcmp(text + length - tail, ending) == 0;
}

void rc_reason_add(rc_text *reasons, size_t *count, const char *format, ...) {
    if (!reasons || *count >= RC_REASONS_MAX)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reasons[(*count)++].text, RC_TEXT_LENGTH, format, arguments);
    va_end(arguments);
}
