/* SPDX-License-Identifier: GPL-3.0-or-later
 * recipe.h - how a published benchmark launched its engines, where the table of its figures does not say.
 *
 * A recipe is a row of a CSV file.  Every cell but the last two is a condition on a measured row; an empty one holds always:
 *   of          a text that the row's notes hold ("InferenceX")
 *   date        how the row's date begins ("2026-01")
 *   engine      how the row's engine begins ("sglang 0.5.10")
 *   model       a text that the row's model holds, in lower case
 *   precision   how the row's precision begins
 *   hardware    a text that the row's accelerator holds, in lower case
 *   gpus, input, output, clients    a number, or a range: "16-", "-15", "4-8"
 *   settings    settings of a scenario, separated by ";".  $(clients+input+64) is a sum of numbers of the row.
 *               "drafts" alone: the engine ran with drafts, whatever the row says
 *   source      where it was published
 * All recipes that hold are applied, in the order of the file; of two for one setting the later one counts.
 */
#ifndef RC_RECIPE_H
#define RC_RECIPE_H
#include "measured.h"

enum { RC_RECIPE_CELLS = 12 };

typedef struct rc_recipe {
    const char *cells[RC_RECIPE_CELLS]; /* in the order above */
} rc_recipe;

/* Recipes in the arena; NULL and problems where the file cannot be read. */
rc_recipe *rc_recipes_read(const char *file, size_t *count, rc_arena *arena, rc_problems *problems);
/* Adds the settings of the recipes that hold for a row; true where one did. */
bool rc_recipes_apply(const rc_recipe *recipes, size_t count, const rc_measured *row, rc_playable *playable,
                      rc_arena *arena);
#endif
