// Intercommunicators: two groups, each of which communicates with the other.
// 1, 2, 4: right, 4 ranks
// 3, 5: right, 3 ranks
// 6: root mismatch, 4 ranks
// 7: call order, 3 ranks
// 8: invalid communicator, 2 ranks
// 9: invalid group, 3 ranks
// 10: invalid communicator, 2 ranks
// 11: call order, 3 ranks
// 12: tag mismatch, 2 ranks
// 13: invalid rank, 3 ranks
// 14: truncation, 3 ranks
// 15: invalid communicator, 2 ranks
// 16: right, 3 ranks
// 17: right, 4 ranks
// 18: right, 3 ranks
// 19: right, 3 ranks
// 20: invalid group, 2 ranks
#include "cases.h"

#define CHECK(condition)                                                  \
  if (!(condition)) {                                                     \
    fprintf(stderr, "rank %d: %s is false\n", rank, #condition);          \
    abort();                                                              \
  }

/* The first `many` ranks of the world face the others. */
static MPI_Comm own, both;
static int is_first, others, mine, me;

static void split(int many) {
  is_first = rank < many;
  MPI_Comm_split(world, is_first, 0, &own);
  MPI_Intercomm_create(own, 0, world, is_first ? many : 0, 7, &both); // wrong 12
  MPI_Comm_remote_size(both, &others);
  MPI_Comm_size(both, &mine);
  MPI_Comm_rank(both, &me);
}

static void end(void) {
  MPI_Comm_free(&both);
  MPI_Comm_free(&own);
}

/* The number of a rank, which says its group. */
static int number(int first, int place) { return first ? 10 + place : 20 + place; }

static int root_of(int in_first, int place) {
  if (in_first != is_first) return place;
  return me == place ? MPI_ROOT : MPI_PROC_NULL;
}

/* Each collective, in both directions. */
static void collectives(int root) {
  int given = number(is_first, me), all[8], parts[8], sum;
  for (int way = 0; way < 2; way++) {
    int with_root = way == is_first, is_root = with_root && me == root;
    int from = is_root || !with_root ? root_of(way, root) : MPI_PROC_NULL, got = given;
    MPI_Bcast(&got, 1, MPI_INT, from, both);
    CHECK(got == (with_root ? given : number(way, root)));
    for (int i = 0; i < 8; i++) all[i] = parts[i] = -1;
    MPI_Gather(with_root ? NULL : &given, 1, with_root ? MPI_DATATYPE_NULL : MPI_INT, all, 1,
               with_root && !is_root ? MPI_DATATYPE_NULL : MPI_INT, from, both);
    for (int i = 0; i < 8; i++) CHECK(all[i] == (is_root && i < others ? number(!way, i) : -1));
    for (int i = 0; i < 8; i++) parts[i] = 100 * way + i;
    MPI_Scatter(is_root ? parts : NULL, 1, MPI_INT, &got, 1, MPI_INT, from, both);
    if (!with_root) CHECK(got == 100 * way + me);
    sum = -1;
    MPI_Reduce(&given, &sum, 1, MPI_INT, MPI_SUM, from, both);
    int wanted = 0;
    for (int i = 0; i < others; i++) wanted += number(!is_first, i);
    CHECK(sum == (is_root ? wanted : -1));
  }
  for (int i = 0; i < 8; i++) all[i] = parts[i] = -1;
  MPI_Allgather(&given, 1, MPI_INT, all, 1, MPI_INT, both);
  for (int i = 0; i < 8; i++) CHECK(all[i] == (i < others ? number(!is_first, i) : -1));
  for (int i = 0; i < others; i++) parts[i] = 100 * given + i;
  MPI_Alltoall(parts, 1, MPI_INT, all, 1, MPI_INT, both);
  for (int i = 0; i < others; i++) CHECK(all[i] == 100 * number(!is_first, i) + me);
  int wanted = 0;
  for (int i = 0; i < others; i++) wanted += number(!is_first, i);
  MPI_Allreduce(&given, &sum, 1, MPI_INT, MPI_SUM, both);
  CHECK(sum == wanted);
  /* Two values for each pair of ranks, so that both groups get equally many. */
  int counts[8], values[8], length = mine * others, scattered[8];
  for (int i = 0; i < mine; i++) counts[i] = others;
  for (int i = 0; i < length; i++) values[i] = given * i;
  MPI_Reduce_scatter(values, scattered, counts, MPI_INT, MPI_SUM, both);
  for (int i = 0; i < others; i++) CHECK(scattered[i] == wanted * (others * me + i));
  MPI_Barrier(both);
}

static void run(void) {
  int got, value = rank, high;
  MPI_Status status;
  MPI_Comm made, merged;
  MPI_Group group;
  MPI_Request request;
  switch (which) {
    case 1:
      split(2);
      CHECK(mine == 2 && others == 2 && me == rank % 2);
      MPI_Comm_test_inter(both, &got);
      CHECK(got);
      MPI_Comm_test_inter(own, &got);
      CHECK(!got);
      MPI_Isend(&value, 1, MPI_INT, 1 - me, 3, both, &request);
      MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 3, both, &status);
      CHECK(status.MPI_SOURCE == 1 - me && got == (is_first ? 3 - me : 1 - me));
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      end();
      break;
    case 2:
      split(2);
      collectives(1);
      end();
      break;
    case 3:
      split(1);
      collectives(0);
      end();
      break;
    case 4:
      split(1);
      for (int turn = 0; turn < 3; turn++) {
        high = turn == 0 ? is_first : turn == 1 ? !is_first : 0;
        MPI_Intercomm_merge(both, high, &merged);
        int place, many;
        MPI_Comm_rank(merged, &place);
        MPI_Comm_size(merged, &many);
        CHECK(many == 4 && place == (turn == 0 ? (rank + 3) % 4 : rank));
        MPI_Allreduce(&value, &got, 1, MPI_INT, MPI_SUM, merged);
        CHECK(got == 6);
        MPI_Comm_free(&merged);
      }
      end();
      break;
    case 5: {
      split(1);
      MPI_Comm_dup(both, &made);
      MPI_Comm_compare(both, made, &got);
      CHECK(got == MPI_CONGRUENT);
      MPI_Comm_compare(both, own, &got);
      CHECK(got == MPI_UNEQUAL);
      MPI_Comm_remote_group(made, &group);
      MPI_Group_size(group, &got);
      CHECK(got == others);
      MPI_Group_free(&group);
      MPI_Comm_free(&made);
      /* Rank 1 of the second group is left alone. */
      MPI_Comm_split(both, !is_first && me == 1, 0, &made);
      CHECK((made == MPI_COMM_NULL) == (!is_first && me == 1));
      if (made != MPI_COMM_NULL) {
        MPI_Comm_remote_size(made, &got);
        CHECK(got == 1);
        MPI_Allreduce(&value, &got, 1, MPI_INT, MPI_SUM, made);
        CHECK(got == 1 - rank);
        MPI_Comm_free(&made);
      }
      MPI_Comm_group(both, &group);
      MPI_Group some;
      MPI_Group_incl(group, 1, &(int){mine - 1}, &some);
      MPI_Comm_create(both, some, &made);
      CHECK((made != MPI_COMM_NULL) == (me == mine - 1));
      if (made != MPI_COMM_NULL) {
        MPI_Sendrecv(&value, 1, MPI_INT, 0, 0, &got, 1, MPI_INT, 0, 0, made, &status);
        CHECK(got == (rank == 0 ? 2 : 0));
        MPI_Comm_free(&made);
      }
      MPI_Group_free(&some);
      MPI_Group_free(&group);
      end();
      break;
    }
    case 6:
      split(2);
      MPI_Bcast(&value, 1, MPI_INT, is_first ? root_of(1, 0) : me, both); // wrong 6
      end();
      break;
    case 7:
      split(1);
      MPI_Recv(&got, 1, MPI_INT, 0, 0, both, &status); // wrong 7
      MPI_Send(&value, 1, MPI_INT, 0, 0, both);
      end();
      break;
    case 8:
      split(1);
      MPI_Cart_create(both, 1, &(int){1}, &(int){0}, 0, &made); // wrong 8
      break;
    case 9:
      MPI_Comm_split(world, rank == 2, 0, &own);
      MPI_Intercomm_create(rank == 2 ? own : world, 0, world, rank == 2 ? 0 : 2, 0, &both); // wrong 9
      break;
    case 10:
      split(1);
      MPI_Scan(&value, &got, 1, MPI_INT, MPI_SUM, both); // wrong 10
      break;
    case 11:
      split(1);
      if (is_first) MPI_Barrier(both); // wrong 11
      else MPI_Allreduce(&value, &got, 1, MPI_INT, MPI_SUM, both); // wrong 11
      break;
    case 12:
      MPI_Comm_split(world, rank, 0, &own);
      MPI_Intercomm_create(own, 0, world, 1 - rank, rank, &both); // wrong 12
      break;
    case 13:
      split(1);
      MPI_Send(&value, 1, MPI_INT, 1, 0, both); // wrong 13
      break;
    case 14: {
      split(1);
      int two[2] = {0};
      if (is_first) MPI_Bcast(two, 2, MPI_INT, MPI_ROOT, both); // wrong 14
      else MPI_Bcast(&value, 1, MPI_INT, 0, both); // wrong 14
      end();
      break;
    }
    case 15:
      MPI_Comm_remote_size(world, &got); // wrong 15
      break;
    case 16:
      /* A rank beside the root does not wait for it. */
      split(2);
      MPI_Ibcast(&value, 1, MPI_INT, is_first ? root_of(1, 0) : 0, both, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Ireduce(&value, &got, 1, MPI_INT, MPI_MAX, is_first ? root_of(1, 1) : 1, both, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      if (rank == 1) CHECK(got == 0);
      end();
      break;
    case 17:
      /* Two pairs at the same time, with leaders who meet in another communicator. */
      MPI_Comm_split(world, rank % 2, 0, &made);
      own = MPI_COMM_SELF;
      MPI_Intercomm_create(MPI_COMM_SELF, 0, made, rank < 2, 1, &both);
      MPI_Sendrecv(&value, 1, MPI_INT, 0, 0, &got, 1, MPI_INT, 0, 0, both, &status);
      CHECK(got == (rank + 2) % 4);
      MPI_Comm_free(&both);
      MPI_Comm_free(&made);
      break;
    case 18:
      /* Each message is for one of two groups; the numbers of their ranks are the same. */
      split(1);
      if (is_first) {
        for (int i = 0; i < 2; i++) MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 0, both, &status);
        MPI_Send(&value, 1, MPI_INT, 0, 1, both);
      } else {
        MPI_Send(&value, 1, MPI_INT, 0, 0, both);
        if (me == 0) MPI_Recv(&got, 1, MPI_INT, 0, MPI_ANY_TAG, both, &status);
      }
      end();
      break;
    case 19: case 20: {
      MPI_Session session;
      MPI_Group all, here, there;
      MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
      MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
      MPI_Group_incl(all, 1, &(int){0}, &here);
      MPI_Group_excl(all, 1, &(int){0}, &there);
      if (which == 20) there = here; // wrong 20
      if (rank == 0) MPI_Intercomm_create_from_groups(here, 0, there, 0, "text", MPI_INFO_NULL, MPI_ERRORS_RETURN, &both); // wrong 20
      else MPI_Intercomm_create_from_groups(there, 0, here, 0, "text", MPI_INFO_NULL, MPI_ERRORS_RETURN, &both); // wrong 20
      MPI_Comm_remote_size(both, &others);
      CHECK(others == (rank ? 1 : 2));
      MPI_Allreduce(&value, &got, 1, MPI_INT, MPI_SUM, both);
      CHECK(got == (rank ? 0 : 3));
      MPI_Comm_free(&both);
      MPI_Group_free(&here);
      MPI_Group_free(&there);
      MPI_Group_free(&all);
      MPI_Session_finalize(&session);
      break;
    }
  }
}
