/* For files that are compiled twice: for the functions of MPI that take numbers of elements, and
 * for their twins MPI_F_c, which take larger ones. The types are those of functions.txt. */
#ifndef MAZURKA_TWINS_H
#define MAZURKA_TWINS_H

#include "rank.h"

#ifdef MAZURKA_LARGE
typedef MPI_Count Count;
typedef MPI_Aint Place;
typedef MPI_Count Far;
#define TWIN(name) name##_c
#define NAMED(name) "MPI_" #name "_c"
#define ARE_LARGE true
#define contents_add_counts contents_add_large
#define contents_add_far contents_add_large
#else
typedef int Count;
typedef int Place;
typedef MPI_Aint Far;
#define TWIN(name) name
#define NAMED(name) "MPI_" #name
#define ARE_LARGE false
#define contents_add_counts contents_add
#define contents_add_far contents_add_addresses
#endif

#endif
