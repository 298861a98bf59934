/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "price.h"
#include <math.h>
#include <string.h>

RC_LOCAL_TABLE(price_entry_table, rc_price, "price", "What one GPU costs an hour.",
               {"price", RC_FIELD_QUANTITY, offsetof(rc_price, usd_per_gpu_hour), "dollars per GPU-hour",
                .required = true, .unit = RC_USD_PER_HOUR},
               {"seller", RC_FIELD_TEXT, offsetof(rc_price, seller), "who sells at it"},
               {"kind", RC_FIELD_TEXT, offsetof(rc_price, kind), "on-demand, reserved, owned"},
               {"note", RC_FIELD_TEXT, offsetof(rc_price, note), "a remark"});

/* {"mi355x": "$2.50/h", "b200": {"price": "$6.00/h", "seller": ...}} */
static bool read_prices(const cJSON *json, void *target, const char *path, rc_reader *reader) {
    rc_price_book *book = (rc_price_book *)(void *)((char *)target - offsetof(rc_price_book, prices));
    if (!cJSON_IsObject(json))
        return rc_complain_value(reader, RC_BAD_VALUE, path, json, "prices by accelerator", "wrong kind of value");
    bool good = true;
    book->prices = rc_arena_take(reader->arena, (size_t)(cJSON_GetArraySize(json) + 1) * sizeof(rc_price));
    for (const cJSON *entry = json->child; entry; entry = entry->next) {
        rc_price *price = &book->prices[book->prices_count++];
        char *entry_path = rc_arena_format(reader->arena, "%s.%s", path, entry->string);
        if (cJSON_IsObject(entry))
            good = rc_read(&price_entry_table, entry, price, entry_path, reader) && good;
        else if (!cJSON_IsString(entry) ||
                 !rc_quantity_parse(entry->valuestring, RC_USD_PER_HOUR, &price->usd_per_gpu_hour))
            good = rc_complain_value(reader, RC_BAD_UNIT, entry_path, entry, rc_quantity_example(RC_USD_PER_HOUR),
                                     "not a price");
        price->accelerator = rc_arena_text(reader->arena, entry->string);
    }
    return good;
}

RC_LOCAL_TABLE(book_table, rc_price_book, "price book", "Prices that belong together.",
               {"title", RC_FIELD_TEXT, offsetof(rc_price_book, title), "what prices these are", .required = true},
               {"source", RC_FIELD_TEXT, offsetof(rc_price_book, source), "where they come from", .required = true},
               {"date", RC_FIELD_TEXT, offsetof(rc_price_book, date), "when they were read", .required = true},
               {"note", RC_FIELD_TEXT, offsetof(rc_price_book, note), "a remark"},
               {"prices", RC_FIELD_CUSTOM, offsetof(rc_price_book, prices), "dollars per GPU-hour by accelerator",
                .required = true, .custom = read_prices,
                .custom_schema = "{\"type\":\"object\",\"additionalProperties\":{\"type\":[\"string\",\"object\"]}}"});

RC_TABLE(rc_price_books_table, rc_price_books, "prices", "Price books by name.",
         {"schema", RC_FIELD_TEXT, offsetof(rc_price_books, schema), "rackcast/prices/1", .required = true},
         {"books", RC_FIELD_MAP, offsetof(rc_price_books, books), "the books by name", .required = true,
          .table = &book_table, .count_offset = offsetof(rc_price_books, books_count)});

const rc_price_book *rc_price_book_find(const rc_price_books *books, const char *name) {
    for (size_t i = 0; i < books->books_count; i++)
        if (strcmp(books->books[i].name, name) == 0)
            return &books->books[i];
    return NULL;
}

double rc_price_find(const rc_price_book *book, const char *accelerator) {
    for (size_t i = 0; i < book->prices_count; i++)
        if (strcmp(book->prices[i].accelerator, accelerator) == 0)
            return book->prices[i].usd_per_gpu_hour;
    return NAN;
}
