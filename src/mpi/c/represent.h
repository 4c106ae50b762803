/* The representation "external32" of data. */
#ifndef MAZURKA_REPRESENT_H
#define MAZURKA_REPRESENT_H

#include "rank.h"

#define external_size mazurka_external_size
#define external_bytes mazurka_external_bytes
#define external_check mazurka_external_check
#define external_convert mazurka_external_convert
#define external_turn mazurka_external_turn

/* The external size of a value of this basic type, and of so many elements of a type. */
size_t external_size(uint32_t basic);
size_t external_bytes(MPI_Count count, const struct type *type);
/* Goes through all values of a type: between memory and external bytes. Returns the number of
 * these. */
size_t external_convert(char *memory, uint8_t *external, size_t count, const struct type *type, bool is_out);
/* Gives up unless all values of the type have the same size in both representations. */
void external_check(const struct type *type);
/* Turns round the bytes of each value in packed data of such a type. An incomplete value at the end stays as it is. */
void external_turn(uint8_t *packed, size_t length, const struct type *type);

#endif
