// MPI without MPI_Init.
// 1, 2, 3, 4: right
// 5: missing finalize
// 6: invalid communicator
// 7: missing init
// 8: warning: communicator leak
// 9: invalid argument
// 10: invalid argument
// 11: communicator mismatch
// 12: missing finalize
// 13: invalid group
// 14: right
// 15: threads
#include <assert.h>
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void *ask(void *session) {
  int count;
  MPI_Session_get_num_psets(*(MPI_Session *)session, MPI_INFO_NULL, &count); // wrong 15
  return NULL;
}

/* Ends the program without any call of a function that meets others. */
static MPI_Comm of(MPI_Session session, const char *set, const char *tag) {
  MPI_Group group;
  MPI_Comm comm;
  MPI_Group_from_session_pset(session, set, &group);
  MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  MPI_Group_free(&group);
  return comm;
}

int main(int argc, char **argv) {
  int which = argc > 1 ? atoi(argv[1]) : 0, rank, size, sum, count, length = 0, flag;
  char name[32], value[32];
  MPI_Session session, other;
  MPI_Comm comm, second;
  MPI_Info info;
  pthread_t thread;
  if (which == 7) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank); // wrong 7
    return 0;
  }
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session); // wrong 10
  switch (which) {
    case 1:
      comm = of(session, "mpi://WORLD", "a");
      MPI_Comm_rank(comm, &rank);
      MPI_Comm_size(comm, &size);
      MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
      assert(size == 2 && sum == 1);
      MPI_Comm_free(&comm);
      comm = of(session, "mpi://self", "a");
      MPI_Comm_size(comm, &size);
      assert(size == 1);
      MPI_Comm_free(&comm);
      break;
    case 2:
      MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count);
      MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, NULL);
      assert(count == 2 && length == 12);
      MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, name);
      assert(strcmp(name, "mpi://WORLD") == 0);
      MPI_Session_get_pset_info(session, name, &info);
      MPI_Info_get(info, "mpi_size", 7, value, &flag);
      assert(flag && strcmp(value, "2") == 0);
      MPI_Info_free(&info);
      break;
    case 3: // One in the other, then both again; with MPI_Init beside them.
      MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &other);
      comm = of(session, "mpi://WORLD", "same");
      second = of(other, "mpi://WORLD", "same");
      MPI_Barrier(second);
      MPI_Comm_free(&second);
      MPI_Session_finalize(&other);
      MPI_Init(&argc, &argv);
      MPI_Barrier(comm);
      MPI_Finalize();
      MPI_Barrier(comm);
      MPI_Comm_free(&comm);
      break;
    case 4: // A buffer of the session.
      comm = of(session, "mpi://WORLD", "a");
      MPI_Comm_rank(comm, &rank);
      MPI_Session_attach_buffer(session, MPI_BUFFER_AUTOMATIC, 0);
      MPI_Bsend(&rank, 1, MPI_INT, 1 - rank, 0, comm);
      MPI_Recv(&sum, 1, MPI_INT, 1 - rank, 0, comm, MPI_STATUS_IGNORE);
      MPI_Session_detach_buffer(session, &info, &count);
      assert(sum == 1 - rank);
      MPI_Comm_free(&comm);
      break;
    case 5: return 0;
    case 6: MPI_Barrier(MPI_COMM_WORLD); break; // wrong 6
    case 8: of(session, "mpi://WORLD", "a"); break;
    case 9: of(session, "mpi://NOBODY", "a"); break;
    case 10:
      other = session;
      MPI_Session_finalize(&other);
      MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &other);
      MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count);
      break;
    case 11: // Who waits for the other.
      comm = of(session, "mpi://WORLD", "a");
      MPI_Comm_rank(comm, &rank);
      if (rank == 0) second = of(session, "mpi://WORLD", "b");
      else second = of(session, "mpi://WORLD", "c");
      break;
    case 12:
      MPI_Session_finalize(&session);
      MPI_Init(&argc, &argv);
      return 0;
    case 13: {
      MPI_Group group;
      MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
      MPI_Intercomm_create_from_groups(group, 0, group, 0, "a", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm); // wrong 13
      break;
    }
    case 14: // A session with another level of threads.
      MPI_Info_create(&info);
      MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
      MPI_Session_init(info, MPI_ERRORS_RETURN, &other);
      MPI_Info_free(&info);
      MPI_Session_get_info(other, &info);
      MPI_Info_get(info, "thread_level", 31, value, &flag);
      assert(flag && strcmp(value, "MPI_THREAD_MULTIPLE") == 0);
      MPI_Info_free(&info);
      pthread_create(&thread, NULL, ask, &other);
      pthread_join(thread, NULL);
      MPI_Session_finalize(&other);
      break;
    case 15:
      pthread_create(&thread, NULL, ask, &session);
      pthread_join(thread, NULL);
      break;
  }
  MPI_Session_finalize(&session);
  return 0;
}
