/* The functions that read and write files of MPI. */
#include "collectives.h"
#include "io.h"
#include "twins.h"

/* The functions: each way of naming a place, which may need a parameter `at`, with each way of
 * ending, which has a parameter `after`. A collective one needs the other ranks only for being
 * called by all. */
#define ACCESS(name, way, parameters, ending)                    \
  FUNCTION(TWIN(name), parameters) {                             \
    CALL(NAMED(name));                                           \
    struct file *of = file_get(file);                            \
    struct transfer transfer = file_prepare(of, way, buf, count, type); \
    return ending;                                               \
  }
#define BOTH(reading, writing, before, place, after, ending)                                                            \
  ACCESS(reading, READ, (MPI_File file, before void *buf, Count count, MPI_Datatype type after), ending(place))            \
  ACCESS(writing, WRITE, (MPI_File file, before const void *buf, Count count, MPI_Datatype type after), ending(place))
#define NOTHING
#define AT MPI_Offset at,
#define STATUS , MPI_Status *status
#define REQUEST , MPI_Request *request
#define ONCE(place) file_at_once(of, place, &transfer, status)
#define LATER(place) file_with_request(of, place, &transfer, request)
#define HALF(place) file_begin(of, place, &transfer)
#define AMONG_ALL(place) (collective_meet(of->comm, call.name), place)
#define OF_ALL(place) (collective_pass(of->comm, call.name), place)

BOTH(File_read_at, File_write_at, AT, file_at_place(of, at), STATUS, ONCE)
BOTH(File_read_at_all, File_write_at_all, AT, AMONG_ALL(file_at_place(of, at)), STATUS, ONCE)
BOTH(File_iread_at, File_iwrite_at, AT, file_at_place(of, at), REQUEST, LATER)
BOTH(File_iread_at_all, File_iwrite_at_all, AT, OF_ALL(file_at_place(of, at)), REQUEST, LATER)
BOTH(File_read_at_all_begin, File_write_at_all_begin, AT, AMONG_ALL(file_at_place(of, at)), NOTHING, HALF)
BOTH(File_read, File_write, NOTHING, file_at_own(of, &transfer), STATUS, ONCE)
BOTH(File_read_all, File_write_all, NOTHING, AMONG_ALL(file_at_own(of, &transfer)), STATUS, ONCE)
BOTH(File_iread, File_iwrite, NOTHING, file_at_own(of, &transfer), REQUEST, LATER)
BOTH(File_iread_all, File_iwrite_all, NOTHING, OF_ALL(file_at_own(of, &transfer)), REQUEST, LATER)
BOTH(File_read_all_begin, File_write_all_begin, NOTHING, AMONG_ALL(file_at_own(of, &transfer)), NOTHING, HALF)
BOTH(File_read_shared, File_write_shared, NOTHING, file_at_shared(of, &transfer), STATUS, ONCE)
BOTH(File_iread_shared, File_iwrite_shared, NOTHING, file_at_shared(of, &transfer), REQUEST, LATER)
BOTH(File_read_ordered, File_write_ordered, NOTHING, file_in_order(of, &transfer), STATUS, ONCE)
BOTH(File_read_ordered_begin, File_write_ordered_begin, NOTHING, file_in_order(of, &transfer), NOTHING, HALF)

FUNCTION(TWIN(File_get_type_extent), (MPI_File file, MPI_Datatype type, Far *extent)) {
  CALL(NAMED(File_get_type_extent));
  OUT(extent);
  file_get(file);
  *extent = type_get(type)->extent;
  return MPI_SUCCESS;
}
