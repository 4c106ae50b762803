/* Partitioned communication, as other requests see it. */
#ifndef MAZURKA_PARTITIONED_H
#define MAZURKA_PARTITIONED_H

#include "rank.h"

#define partitioned_init mazurka_partitioned_init
#define partitioned_is_over mazurka_partitioned_is_over
#define partitioned_next mazurka_partitioned_next
#define partitioned_start mazurka_partitioned_start

/* A request for a 's'end or 'r'eceive in partitions of `count` elements. */
MPI_Request partitioned_init(char what, const void *buf, int partitions, MPI_Count count, MPI_Datatype type, int peer, int tag,
                             MPI_Comm comm);
void partitioned_start(struct request *request);
/* A partition that is active and not complete, or NULL. */
struct request *partitioned_next(struct request *request);
/* Whether all partitions are complete. */
bool partitioned_is_over(struct request *request);

#endif
