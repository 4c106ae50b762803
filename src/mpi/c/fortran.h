/* What the entries for Fortran share. Most entries are made from the table of functions
 * (src/mpi/fortran/entries.rs), the others are in fortran.c.
 *
 * An entry has the name that compilers of Fortran give to a procedure: mpi_send_. Its arguments are
 * addresses, and behind them come the lengths of texts. Handles are numbers (numbers.c). */
#ifndef MAZURKA_FORTRAN_H
#define MAZURKA_FORTRAN_H

#include "rank.h"

#define buffer_in mazurka_buffer_in
#define status_in mazurka_status_in
#define weights_in mazurka_weights_in
#define handles_in mazurka_handles_in
#define numbers_out mazurka_numbers_out
#define neighbors_of mazurka_neighbors_of
#define peers_of mazurka_peers_of
#define text_from mazurka_text_from
#define text_within mazurka_text_within
#define text_to mazurka_text_to

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "functions of the program get addresses of handles, whose first bytes are the number"
#endif

/* The entries are in a section of their own: the place of a call that comes from there is the place
 * of the call of the entry (call_from). A program may have its own mpi_send_, and call pmpi_send_. */
#define ENTRY_OF(result, name, parameters)                                                 \
  result pmpi_##name##_ parameters __attribute__((section("mazurka_fortran"), noinline)); \
  result mpi_##name##_ parameters __attribute__((weak, alias("pmpi_" #name "_")));       \
  result pmpi_##name##_ parameters
/* Not by ENTRY_OF, which would get the name that rank.h gives to `comm_size`. */
#define ENTRY(name, parameters)                                                          \
  void pmpi_##name##_ parameters __attribute__((section("mazurka_fortran"), noinline)); \
  void mpi_##name##_ parameters __attribute__((weak, alias("pmpi_" #name "_")));       \
  void pmpi_##name##_ parameters

/* The beginning of an entry of this function, and its end. `ierror` may be absent. */
#define BEGIN(function) call = call_from(function, __builtin_return_address(0))
#define END if (ierror) *OUT(ierror) = outcome

#define HANDLE(type, number) ((type)(intptr_t)*(number))
#define NUMBER(number, handle) (*OUT(number) = (MPI_Fint)(intptr_t)(handle))
/* A copy of `count` numbers as handles, which is to be released. */
#define HANDLES(numbers, count, is_written) handles_in(numbers, count, is_written, "`" #numbers "`")
#define numbers_set(numbers, handles, count) numbers_out(numbers, (void *const *)(handles), count)
void *handles_in(const MPI_Fint *numbers, MPI_Count count, bool is_written, const char *parameter);
void numbers_out(MPI_Fint *numbers, void *const *handles, MPI_Count count);

/* The values of C behind the variables that Fortran has for them: MPI_BOTTOM, MPI_IN_PLACE, .. */
void *buffer_in(const void *at);
void *status_in(const void *at);
int *weights_in(const int *at);

/* The number of types that MPI_Alltoallw and MPI_Neighbor_alltoallw get. */
MPI_Count neighbors_of(const MPI_Fint *comm, bool is_out);
MPI_Count peers_of(const MPI_Fint *comm, const void *sendbuf);

/* A text without the blanks at its end, which is to be released; without those at its beginning,
 * too; and a text with blanks behind it. */
char *text_from(const char *text, size_t length);
char *text_within(const char *text, size_t length);
void text_to(char *to, size_t length, const char *text);
enum { LONGEST = MPI_MAX_LIBRARY_VERSION_STRING + 1 };

#endif
