/* Generalised requests, as other requests see them. */
#ifndef MAZURKA_GENERALIZED_H
#define MAZURKA_GENERALIZED_H

#include "rank.h"

#define generalized_cancel mazurka_generalized_cancel
#define generalized_free mazurka_generalized_free
#define generalized_is_over mazurka_generalized_is_over
#define generalized_query mazurka_generalized_query

/* Whether the program has completed it. */
bool generalized_is_over(const struct request *request);
/* Calls the function of the program that fills its status, frees it, or cancels it. */
void generalized_query(struct request *request);
void generalized_free(struct request *request);
void generalized_cancel(struct request *request);

#endif
