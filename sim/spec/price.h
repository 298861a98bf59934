/* SPDX-License-Identifier: GPL-3.0-or-later
 * price.h - price books: dollars per GPU-hour by accelerator.
 */
#ifndef RC_PRICE_H
#define RC_PRICE_H
#include "fields.h"

typedef struct rc_price {
    const char *accelerator;
    double usd_per_gpu_hour;
    const char *seller, *kind, *note;
} rc_price;

typedef struct rc_price_book {
    const char *name, *title, *source, *date, *note;
    rc_price *prices;
    size_t prices_count;
} rc_price_book;

typedef struct rc_price_books {
    const char *schema;
    rc_price_book *books;
    size_t books_count;
} rc_price_books;

extern const rc_table rc_price_books_table;
const rc_price_book *rc_price_book_find(const rc_price_books *books, const char *name); /* NULL: none */
double rc_price_find(const rc_price_book *book, const char *accelerator);               /* NaN: none */
#endif
