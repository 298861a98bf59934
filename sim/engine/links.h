/* SPDX-License-Identifier: GPL-3.0-or-later
 * links.h - transfers under way at the same time: who gets how many bytes a second, and until when.
 *
 * Concept.  A flow carries bytes over the links of its route, all at once, at one rate.  Flows share links max-min fair: no
 * flow can get more without taking from one that has no more than it.  Found by filling: the link that offers its flows
 * least (what is left of it, over the flows that still share it) fixes their rate; it is taken off the other links of their
 * routes; and so on (Bertsekas and Gallager, Data Networks, 1992, section 6.5.2).  Rates are solved anew when a flow comes or
 * goes, for all that it could matter to, and hold between: only these are events.
 *
 * Flows are told apart by the caller's `owner`.  Times are those of the event queue and never run back; a flow that is done
 * within a picosecond is done.  Nothing is allocated once the table has grown to the most flows at a time.
 * Known values: two flows over one link of 10 GB/s get 5 each.  Three flows, A over links 1 and 2, B over 1, C over 2, with
 * capacities 10 and 6: A and C get 3 each, B gets 7.
 */
#ifndef RC_LINKS_H
#define RC_LINKS_H
#include "event_queue.h"

enum { RC_ROUTE_MAX = 4 };

typedef struct rc_links rc_links;

/* Links with these capacities, above 0, numbered from 0. */
rc_links *rc_links_new(const double *bytes_per_s, size_t count);
void rc_links_free(rc_links *links);
/* A flow of `bytes` > 0 begins at `now` over 1 to RC_ROUTE_MAX different links. */
void rc_links_start(rc_links *links, rc_time now, double bytes, const uint32_t *route, size_t route_count,
                    uint32_t owner);
/* When the next flow is done, if none comes before; false where none is under way. */
bool rc_links_next(const rc_links *links, rc_time *time);
/* Takes one flow that is done at `now`, those that came first before others; false: none is. */
bool rc_links_take(rc_links *links, rc_time now, uint32_t *owner);
size_t rc_links_under_way(const rc_links *links);
double rc_links_rate(const rc_links *links, uint32_t owner); /* bytes a second of its flow; 0: it has none */
/* Bytes of flows that are done, and of those under way up to the last change of their rates. */
double rc_links_carried(const rc_links *links, uint32_t link);
#endif
