// Processes that are spawned, ports, and names of ports. Each case is also the program of its children.
// 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14: right, 2 ranks
// 15, 17, 52: right, 3 ranks
// 16: right, 4 ranks
// 20: message race
// 21: call order
// 22: missing finalize
// 23: abort
// 24: warning: communicator leak
// 25: abort
// 26: abort
// 27: call order
// 28: root mismatch
// 29: invalid count
// 30: datatype mismatch
// 31: invalid argument
// 32: abort
// 33: unsupported
// 34: unsupported
// 35: unsupported
// 36: invalid argument
// 37: call order
// 38: call order
// 39, 53, 54: message race, 3 ranks
// 40: unsupported
// 41: invalid argument
// 42: invalid argument
// 43: global concurrency, 3 ranks
// 44: invalid communicator
// 45: invalid root
// 46, 51: call order
// 47: unsupported
// 48: invalid rank
// 49, 50: assertion
#include <assert.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int which, rank, size;
static char *self, number[8];
static MPI_Comm world = MPI_COMM_WORLD, parent, inter, comm;
static MPI_Status status;

/* Starts this program, with the case as its argument. */
static void start(int count, MPI_Comm by) {
  MPI_Comm_spawn(self, (char *[]){number, "child", NULL}, count, MPI_INFO_NULL, 0, by, &inter, MPI_ERRCODES_IGNORE); // wrong 24, 29
}

static int attribute(int key) {
  int *value, flag;
  MPI_Comm_get_attr(world, key, &value, &flag);
  assert(flag);
  return *value;
}

static void send(int value, int to, MPI_Comm in) { MPI_Send(&value, 1, MPI_INT, to, 0, in); } // wrong 27, 30, 44, 48
static int receive(int from, MPI_Comm in) {
  int value;
  MPI_Recv(&value, 1, MPI_INT, from, 0, in, &status); // wrong 20, 37
  return value;
}

/* Processes that were there at the start. */
static void first(void) {
  int code, codes[3] = {7, 7, 7}, got, sum, flag, root;
  char port[MPI_MAX_PORT_NAME] = "", name[MPI_MAX_OBJECT_NAME];
  MPI_Info info;
  MPI_Win win;
  MPI_File file;
  MPI_Group group, others;
  switch (which) {
    case 1: /* messages and collectives in both directions */
      MPI_Comm_spawn(self, (char *[]){number, "child", NULL}, 2, MPI_INFO_NULL, 1, world, &inter, codes);
      MPI_Comm_remote_size(inter, &got);
      assert(got == 2 && codes[0] == MPI_SUCCESS && codes[1] == MPI_SUCCESS && codes[2] == 7);
      MPI_Comm_test_inter(inter, &flag);
      assert(flag);
      send(10 + rank, rank, inter);
      assert(receive(1 - rank, inter) == 20 + 1 - rank);
      MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter);
      assert(sum == 201);
      MPI_Bcast(&rank, 1, MPI_INT, rank == 1 ? MPI_ROOT : MPI_PROC_NULL, inter);
      MPI_Comm_disconnect(&inter);
      break;
    case 2: { /* several programs, and their arguments */
      char *first[] = {number, "child", "a", NULL}, *second[] = {number, "child", "b", "c", NULL};
      MPI_Comm_spawn_multiple(2, (char *[]){self, self}, (char **[]){first, second}, (int[]){1, 2},
                              (MPI_Info[]){MPI_INFO_NULL, MPI_INFO_NULL}, 0, world, &inter, codes);
      assert(codes[0] == MPI_SUCCESS && codes[2] == MPI_SUCCESS);
      if (rank == 0) assert(receive(0, inter) == 13 && receive(1, inter) == 114 && receive(2, inter) == 114);
      MPI_Comm_disconnect(&inter);
      break;
    }
    case 3: /* one group of all; a window and a split among the children */
      start(2, world);
      MPI_Intercomm_merge(inter, 0, &comm);
      MPI_Comm_rank(comm, &got);
      assert(got == rank);
      MPI_Allreduce(&got, &sum, 1, MPI_INT, MPI_SUM, comm);
      assert(sum == 6);
      MPI_Comm_free(&comm);
      MPI_Comm_free(&inter);
      break;
    case 4: /* a child starts a grandchild */
      if (rank == 0) {
        start(1, MPI_COMM_SELF);
        assert(receive(0, inter) == 5);
        MPI_Comm_disconnect(&inter);
      }
      break;
    case 5: /* the same call again makes other processes */
      for (int i = 0; i < 2; i++) {
        start(1, world);
        if (rank == 0) send(i, 0, inter);
        if (rank == 0) assert(receive(0, inter) == i + 1);
        MPI_Comm_disconnect(&inter);
      }
      break;
    case 6: /* a port */
    case 21:
    case 46:
      if (rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
      MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, world);
      if (rank == 0 && which != 21) {
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter); // wrong 46
        MPI_Close_port(port);
        assert(receive(0, inter) == 4);
        MPI_Comm_disconnect(&inter);
      } else if (rank == 1 && which != 46) {
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter); // wrong 21
        send(4, 0, inter);
        MPI_Comm_disconnect(&inter);
      }
      break;
    case 51: { /* one waits at one port, the other one at another */
      char second[MPI_MAX_PORT_NAME] = "";
      if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Open_port(MPI_INFO_NULL, second);
      }
      MPI_Bcast(second, MPI_MAX_PORT_NAME, MPI_CHAR, 0, world);
      if (rank == 0) MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
      else MPI_Comm_connect(second, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter); // wrong 51
      break;
    }
    case 7: /* a name */
      if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Publish_name("ocean", MPI_INFO_NULL, port);
        MPI_Barrier(world);
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
        MPI_Unpublish_name("ocean", MPI_INFO_NULL, port);
        MPI_Barrier(world);
        MPI_Close_port(port);
      } else {
        MPI_Barrier(world);
        MPI_Lookup_name("ocean", MPI_INFO_NULL, port);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
        MPI_Barrier(world);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        assert(MPI_Lookup_name("ocean", MPI_INFO_NULL, port) == MPI_ERR_NAME);
        assert(MPI_Comm_connect("no port", MPI_INFO_NULL, 0, MPI_COMM_SELF, &comm) == MPI_ERR_PORT && comm == MPI_COMM_NULL);
      }
      MPI_Comm_disconnect(&inter);
      break;
    case 8: /* there is no such program */
    case 25:
      if (which == 8) MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
      code = MPI_Comm_spawn("./no-such-program", MPI_ARGV_NULL, 3, MPI_INFO_NULL, 0, world, &inter, codes); // wrong 25
      assert(code == MPI_ERR_SPAWN && codes[2] == MPI_ERR_SPAWN && inter == MPI_COMM_NULL);
      break;
    case 9: /* at other ranks than the root, the arguments do not matter */
      if (rank == 0) start(1, world);
      else MPI_Comm_spawn(NULL, NULL, -1, MPI_INFO_NULL, 0, world, &inter, MPI_ERRCODES_IGNORE);
      MPI_Comm_disconnect(&inter);
      break;
    case 10: /* a folder, and a name that is looked for beside this program */
      MPI_Info_create(&info);
      MPI_Info_set(info, "wdir", "/");
      MPI_Comm_spawn(strrchr(self, '/') + 1, (char *[]){number, "child", NULL}, 1, info, 0, world, &inter, codes);
      MPI_Info_free(&info);
      MPI_Comm_disconnect(&inter);
      break;
    case 11: /* those who were started apart find each other */
      if (rank == 0) {
        MPI_Comm other;
        start(1, MPI_COMM_SELF);
        other = inter;
        start(1, MPI_COMM_SELF);
        send(0, 0, other);
        send(1, 0, inter);
        MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 1, other, &status);
        MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 1, inter);
        MPI_Comm_disconnect(&other);
        MPI_Comm_disconnect(&inter);
      }
      break;
    case 12: /* groups of several worlds */
      start(2, world);
      MPI_Comm_group(world, &group);
      MPI_Comm_remote_group(inter, &others);
      MPI_Group_compare(group, others, &got);
      assert(got == MPI_UNEQUAL);
      MPI_Group_translate_ranks(others, 1, (int[]){1}, group, &got);
      assert(got == MPI_UNDEFINED);
      MPI_Group_free(&group);
      MPI_Group_free(&others);
      MPI_Comm_get_name(inter, name, &got);
      MPI_Comm_dup(inter, &comm);
      if (rank == 0) send(3, 1, comm);
      MPI_Barrier(comm);
      MPI_Comm_free(&comm);
      MPI_Comm_disconnect(&inter);
      break;
    case 13: /* those who came by a port: first the server, then the client */
      if (rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
      MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, world);
      MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
      if (rank == 0) {
        MPI_Close_port(port);
        send(0, 1, world);
      } else {
        receive(0, world);
        assert(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter) == MPI_ERR_PORT);
      }
      break;
    case 14: /* a communicator of two leaders who know each other by a third one */
      if (rank == 0) start(2, MPI_COMM_SELF);
      MPI_Intercomm_create(world, 0, inter, 0, 9, &comm);
      if (rank == 1) send(8, 1, comm);
      MPI_Barrier(comm);
      MPI_Comm_free(&comm);
      if (rank == 0) MPI_Comm_disconnect(&inter);
      break;
    case 15: /* two clients of one port, in any order */
    case 39:
    case 52: /* one of them is rank 0 */
    case 53:
    case 54:
      root = which > 50;
      if (rank == root) MPI_Open_port(MPI_INFO_NULL, port);
      MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, root, world);
      if (rank == root) {
        for (sum = 0, got = 0; got < 2; got++) {
          MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter); // wrong 39, 53, 54
          sum = 10 * sum + receive(0, inter);
          MPI_Comm_disconnect(&inter);
        }
        assert((sum == 12 && which != 54) || (sum == 21 && which != 39 && which != 53));
      } else {
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
        send(root && rank == 0 ? 1 : rank, 0, inter);
        MPI_Comm_disconnect(&inter);
      }
      break;
    case 16: /* groups of two meet at a port */
      MPI_Comm_split(world, rank / 2, rank, &comm);
      if (rank == 1) MPI_Open_port(MPI_INFO_NULL, port);
      MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 1, world);
      if (rank < 2) MPI_Comm_accept(port, MPI_INFO_NULL, 1, comm, &inter);
      else MPI_Comm_connect(port, MPI_INFO_NULL, 0, comm, &inter);
      MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter);
      assert(sum == (rank < 2 ? 5 : 1));
      MPI_Comm_disconnect(&inter);
      MPI_Comm_free(&comm);
      break;
    case 20: /* which of the children is first */
      start(2, world);
      if (rank == 0) {
        got = receive(MPI_ANY_SOURCE, inter);
        receive(MPI_ANY_SOURCE, inter);
        assert(got == 0);
      }
      MPI_Comm_disconnect(&inter);
      break;
    case 22:
    case 23:
    case 44:
    case 49:
      start(2, world);
      MPI_Comm_disconnect(&inter);
      break;
    case 24:
      start(1, world);
      break;
    case 26: /* the name may not be published yet */
      if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Publish_name("ocean", MPI_INFO_NULL, port);
        MPI_Barrier(world);
        MPI_Unpublish_name("ocean", MPI_INFO_NULL, port);
        MPI_Close_port(port);
      } else {
        MPI_Lookup_name("ocean", MPI_INFO_NULL, port); // wrong 26
        MPI_Barrier(world);
      }
      break;
    case 27: /* the child's message is not received */
      start(1, world);
      MPI_Comm_disconnect(&inter);
      break;
    case 28:
      MPI_Comm_spawn(self, (char *[]){number, "child", NULL}, 1, MPI_INFO_NULL, rank, world, &inter, MPI_ERRCODES_IGNORE); // wrong 28
      MPI_Comm_disconnect(&inter);
      break;
    case 29:
      start(0, world);
      break;
    case 30:
      start(1, world);
      if (rank == 0) MPI_Recv(port, 4, MPI_CHAR, 0, 0, inter, &status); // wrong 30
      MPI_Comm_disconnect(&inter);
      break;
    case 31: /* the name is still there when the port is closed */
    case 36: /* ... and at the end */
      if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Publish_name("ocean", MPI_INFO_NULL, port); // wrong 36
        if (which == 31) MPI_Close_port(port); // wrong 31
      }
      break;
    case 32: /* a name is published twice */
      if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Publish_name("ocean", MPI_INFO_NULL, port);
        MPI_Publish_name("ocean", MPI_INFO_NULL, port); // wrong 32
      }
      break;
    case 33: /* a window of processes of both kinds */
      start(1, world);
      MPI_Intercomm_merge(inter, 0, &comm);
      MPI_Win_create(&got, 4, 4, MPI_INFO_NULL, comm, &win);
      break;
    case 34: /* not made for verification */
      MPI_Comm_spawn("/bin/true", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, world, &inter, MPI_ERRCODES_IGNORE);
      break;
    case 35: /* a file of both kinds */
      start(1, world);
      MPI_File_open(world, "shared", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
      MPI_File_close(&file);
      MPI_Comm_disconnect(&inter);
      break;
    case 37: /* nobody sends */
      start(1, world);
      if (rank == 0) receive(0, inter);
      MPI_Comm_disconnect(&inter);
      break;
    case 38: /* only the child waits for the end */
      start(1, world);
      MPI_Comm_free(&inter);
      break;
    case 40: /* a loop that waits for a name */
      MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
      while (MPI_Lookup_name("ocean", MPI_INFO_NULL, port) != MPI_SUCCESS) {}
      break;
    case 41: /* no such name to be taken back */
      MPI_Unpublish_name("ocean", MPI_INFO_NULL, port); // wrong 41
      break;
    case 42: /* the port is closed */
      if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Close_port(port);
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter); // wrong 42
      }
      break;
    case 17: /* two of three ranks put to one place, ordered by messages of a child */
    case 43: /* ... which do not order them */
      start(1, world);
      got = 0;
      MPI_Win_create(&got, 4, 4, MPI_INFO_NULL, world, &win);
      MPI_Win_lock_all(0, win);
      if (rank == 1) receive(0, inter);
      if (rank < 2) MPI_Put(&rank, 1, MPI_INT, 2, 0, 1, MPI_INT, win); // wrong 43
      if (rank < 2) MPI_Win_flush(2, win);
      if (rank == 0) send(1, 0, inter);
      MPI_Win_unlock_all(win);
      MPI_Win_free(&win);
      MPI_Comm_disconnect(&inter);
      break;
    case 50: /* a child of a child, and of several calls */
      start(1, MPI_COMM_SELF);
      send(rank, 0, inter);
      MPI_Comm_disconnect(&inter);
      if (rank == 0) {
        start(1, MPI_COMM_SELF);
        send(1, 0, inter);
        MPI_Comm_disconnect(&inter);
      }
      MPI_Barrier(world);
      assert(0); // wrong 50
      break;
    case 45:
      MPI_Comm_spawn(self, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 2, world, &inter, MPI_ERRCODES_IGNORE); // wrong 45
      break;
    case 47: /* a port of another rank */
      if (rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
      MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, world);
      if (rank == 1) MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
      break;
    case 48:
      start(1, world);
      send(1, 1, inter);
      break;
  }
}

/* Processes that were spawned. */
static void child(int argc, char **argv) {
  int got, sum, name_length;
  char name[MPI_MAX_OBJECT_NAME], port[MPI_MAX_PORT_NAME], folder[64];
  MPI_Win win;
  MPI_File file;
  switch (which) {
    case 1:
      assert(argc == 3 && strcmp(argv[2], "child") == 0 && size == 2);
      MPI_Comm_get_name(parent, name, &name_length);
      assert(strcmp(name, "MPI_COMM_PARENT") == 0);
      MPI_Comm_remote_size(parent, &got);
      assert(got == 2 && attribute(MPI_APPNUM) == 0 && attribute(MPI_UNIVERSE_SIZE) == 4);
      assert(receive(rank, parent) == 10 + rank);
      send(20 + rank, 1 - rank, parent);
      got = 100 + rank;
      MPI_Allreduce(&got, &sum, 1, MPI_INT, MPI_SUM, parent);
      assert(sum == 1);
      MPI_Bcast(&got, 1, MPI_INT, 1, parent);
      assert(got == 1);
      MPI_Comm_disconnect(&parent);
      MPI_Comm_get_parent(&parent);
      assert(parent == MPI_COMM_NULL);
      break;
    case 2:
      assert(size == 3 && strcmp(argv[3], rank ? "b" : "a") == 0);
      send(100 * attribute(MPI_APPNUM) + 10 + argc - 1, 0, parent);
      MPI_Comm_disconnect(&parent);
      break;
    case 3:
      MPI_Intercomm_merge(parent, 1, &comm);
      MPI_Comm_rank(comm, &got);
      assert(got == 2 + rank);
      MPI_Allreduce(&got, &sum, 1, MPI_INT, MPI_SUM, comm);
      assert(sum == 6);
      MPI_Comm_free(&comm);
      got = 0;
      MPI_Win_create(&got, 4, 4, MPI_INFO_NULL, world, &win);
      MPI_Win_fence(0, win);
      sum = 7 + rank;
      MPI_Put(&sum, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, win);
      MPI_Win_fence(0, win);
      assert(got == 7 + 1 - rank);
      MPI_Win_free(&win);
      MPI_Comm_split(world, rank, 0, &comm);
      MPI_Comm_size(comm, &got);
      assert(got == 1);
      MPI_Comm_free(&comm);
      MPI_Comm_free(&parent);
      break;
    case 4:
      if (argc == 3) {
        MPI_Comm_spawn(self, (char *[]){number, "child", "again", NULL}, 1, MPI_INFO_NULL, 0, world, &inter, MPI_ERRCODES_IGNORE);
        send(receive(0, inter) + 1, 0, parent);
        MPI_Comm_disconnect(&inter);
      } else {
        send(4, 0, parent);
      }
      MPI_Comm_disconnect(&parent);
      break;
    case 5:
      send(receive(0, parent) + 1, 0, parent);
      MPI_Comm_disconnect(&parent);
      break;
    case 10:
      assert(getcwd(folder, sizeof folder) && strcmp(folder, "/") == 0);
      MPI_Comm_disconnect(&parent);
      break;
    case 11:
      if (receive(0, parent) == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 1, parent);
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, world, &inter);
        MPI_Close_port(port);
        assert(receive(0, inter) == 6);
      } else {
        MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 1, parent, &status);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, world, &inter);
        send(6, 0, inter);
      }
      MPI_Comm_disconnect(&inter);
      MPI_Comm_disconnect(&parent);
      break;
    case 12:
      MPI_Comm_dup(parent, &comm);
      if (rank == 1) assert(receive(0, comm) == 3);
      MPI_Barrier(comm);
      MPI_Comm_free(&comm);
      MPI_Comm_disconnect(&parent);
      break;
    case 14:
      MPI_Intercomm_create(world, 0, parent, 0, 9, &comm);
      if (rank == 1) assert(receive(1, comm) == 8);
      MPI_Barrier(comm);
      MPI_Comm_free(&comm);
      MPI_Comm_disconnect(&parent);
      break;
    case 20:
      send(rank, 0, parent);
      MPI_Comm_disconnect(&parent);
      break;
    case 22:
      MPI_Comm_disconnect(&parent);
      exit(0);
    case 23:
      if (rank == 1) MPI_Abort(world, 3); // wrong 23
      MPI_Comm_disconnect(&parent);
      break;
    case 24: break;
    case 27:
      send(1, 0, parent);
      MPI_Comm_disconnect(&parent);
      break;
    case 30:
      send(1, 0, parent);
      MPI_Comm_disconnect(&parent);
      break;
    case 33:
      MPI_Intercomm_merge(parent, 1, &comm);
      MPI_Win_create(&got, 4, 4, MPI_INFO_NULL, comm, &win);
      break;
    case 35:
      MPI_File_open(world, "shared", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
      MPI_File_close(&file);
      MPI_Comm_disconnect(&parent);
      break;
    case 38:
      MPI_Comm_disconnect(&parent); // wrong 38
      break;
    case 17:
    case 43:
      if (which == 17) receive(0, parent);
      send(1, 1, parent);
      if (which == 43) receive(0, parent);
      MPI_Comm_disconnect(&parent);
      break;
    case 44:
      MPI_Comm_disconnect(&parent);
      send(1, 0, parent);
      break;
    case 50:
      if (argc == 3 && receive(0, parent) == 0) {
        MPI_Comm_spawn(self, (char *[]){number, "child", "again", NULL}, 1, MPI_INFO_NULL, 0, world, &inter, MPI_ERRCODES_IGNORE);
        MPI_Comm_disconnect(&inter);
      }
      MPI_Comm_disconnect(&parent);
      break;
    case 49:
      assert(rank == 0); // wrong 49
      MPI_Comm_disconnect(&parent);
      break;
    default: MPI_Comm_disconnect(&parent);
  }
}

int main(int argc, char **argv) {
  self = argv[0];
  which = argc > 1 ? atoi(argv[1]) : 0;
  snprintf(number, sizeof number, "%d", which);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &size);
  MPI_Comm_get_parent(&parent);
  if (parent == MPI_COMM_NULL) first();
  else child(argc, argv);
  MPI_Finalize();
  return 0;
}
