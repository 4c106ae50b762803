// Topologies that are graphs, and exchanges with neighbours.
// 1, 2, 8: right, 4 ranks
// 3: right, 2 ranks
// 4, 5, 11, 12: right, 3 ranks
// 6: invalid argument, 3 ranks
// 7: invalid communicator, 3 ranks
// 9: truncation, 3 ranks
// 10: call order, 3 ranks
// 13: count mismatch, 3 ranks
#include "cases.h"
#include <assert.h>
#include <string.h>

static MPI_Comm ring(int *before, int *behind) {
  MPI_Comm made;
  *before = (rank + size - 1) % size;
  *behind = (rank + 1) % size;
  MPI_Dist_graph_create_adjacent(world, 1, before, MPI_UNWEIGHTED, 1, behind, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made);
  return made;
}

static void grids(void) {
  int dims[2] = {2, 2}, periods[2] = {0, 0}, got[4] = {-1, -1, -1, -1}, given[4], counts[4] = {1, 1, 1, 1}, places[4] = {3, 2, 1, 0};
  MPI_Aint bytes[4] = {12, 8, 4, 0};
  MPI_Datatype types[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
  MPI_Comm grid;
  MPI_Request request;
  int around[4];
  switch (which) {
    case 1: // Beyond the edge there is nobody, and nothing is written.
      MPI_Cart_create(world, 2, dims, periods, 0, &grid);
      MPI_Neighbor_allgather(&rank, 1, MPI_INT, got, 1, MPI_INT, grid);
      MPI_Cart_shift(grid, 0, 1, &around[0], &around[1]);
      MPI_Cart_shift(grid, 1, 1, &around[2], &around[3]);
      for (int i = 0; i < 4; i++) assert(got[i] == (around[i] == MPI_PROC_NULL ? -1 : around[i]));
      MPI_Comm_free(&grid);
      break;
    case 2: // In each direction its own.
      MPI_Cart_create(world, 2, dims, periods, 0, &grid);
      for (int i = 0; i < 4; i++) given[i] = 10 * rank + i;
      MPI_Ineighbor_alltoallv(given, counts, places, MPI_INT, got, counts, places, MPI_INT, grid, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Cart_shift(grid, 0, 1, &around[0], &around[1]);
      MPI_Cart_shift(grid, 1, 1, &around[2], &around[3]);
      /* Part i lies at 3 - i. The neighbour behind has sent what it has for the one before, and the
       * other way round. */
      for (int i = 0; i < 4; i++) assert(got[3 - i] == (around[i] < 0 ? -1 : 10 * around[i] + (3 - (i ^ 1))));
      memset(got, -1, sizeof got);
      MPI_Neighbor_alltoallw(given, counts, bytes, types, got, counts, bytes, types, grid);
      for (int i = 0; i < 4; i++) assert(got[3 - i] == (around[i] < 0 ? -1 : 10 * around[i] + (3 - (i ^ 1))));
      MPI_Comm_free(&grid);
      break;
    case 3: // Round a ring of two, the other one is on both sides.
      periods[0] = 1;
      MPI_Cart_create(world, 1, dims, periods, 0, &grid);
      given[0] = 10 * rank, given[1] = 10 * rank + 1;
      MPI_Neighbor_alltoall(given, 1, MPI_INT, got, 1, MPI_INT, grid);
      assert(got[0] == 10 * (1 - rank) + 1 && got[1] == 10 * (1 - rank));
      MPI_Comm_free(&grid);
      break;
  }
}

static void graphs(void) {
  int before, behind, got[4] = {-1, -1, -1, -1}, in, out, is_weighted, given[2] = {rank, rank + 100};
  MPI_Comm made, other;
  MPI_Request request;
  switch (which) {
    case 4: // Round a ring, twice.
      made = ring(&before, &behind);
      MPI_Comm_dup(made, &other);
      MPI_Neighbor_alltoall_init(given, 1, MPI_INT, got, 1, MPI_INT, other, MPI_INFO_NULL, &request);
      for (int round = 0; round < 2; round++) {
        given[0] = rank + round;
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        assert(got[0] == before + round);
      }
      MPI_Request_free(&request);
      MPI_Dist_graph_neighbors_count(made, &in, &out, &is_weighted);
      assert(in == 1 && out == 1 && !is_weighted);
      MPI_Topo_test(other, &out);
      assert(out == MPI_DIST_GRAPH);
      MPI_Comm_free(&made);
      MPI_Comm_free(&other);
      break;
    case 5: { // Rank 0 tells of all edges: two from each other rank to itself, with weights.
      int sources[2] = {1, 2}, degrees[2] = {2, 2}, destinations[4] = {0}, weights[4] = {5, 6, 7, 8}, from[4], told[4];
      MPI_Dist_graph_create(world, rank ? 0 : 2, sources, degrees, destinations, weights, MPI_INFO_NULL, 0, &made);
      MPI_Dist_graph_neighbors_count(made, &in, &out, &is_weighted);
      assert(in == (rank ? 0 : 4) && out == (rank ? 2 : 0) && is_weighted);
      MPI_Dist_graph_neighbors(made, 4, from, told, 4, destinations, weights);
      assert(rank || (from[0] == 1 && from[3] == 2 && told[1] == 6));
      MPI_Neighbor_alltoall(given, 1, MPI_INT, got, 1, MPI_INT, made);
      assert(rank || (got[0] == 1 && got[1] == 101 && got[2] == 2 && got[3] == 102));
      MPI_Comm_free(&made);
      break;
    }
    case 6: // Rank 0 does not know of the edge that rank 1 has to it.
      before = behind = 0;
      MPI_Dist_graph_create_adjacent(world, 0, &before, MPI_UNWEIGHTED, rank == 1, &behind, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made); // wrong 6
      MPI_Comm_free(&made);
      break;
    case 7:
      MPI_Neighbor_allgather(&rank, 1, MPI_INT, got, 1, MPI_INT, world); // wrong 7
      break;
    case 9: // Only the neighbours have to agree.
      made = ring(&before, &behind);
      MPI_Neighbor_allgather(given, rank == 2 ? 2 : 1, MPI_INT, got, 1, MPI_INT, made); // wrong 9
      MPI_Comm_free(&made);
      break;
    case 10: // All have to come, neighbours or not.
      made = ring(&before, &behind);
      if (rank != 1) MPI_Neighbor_allgather(given, 1, MPI_INT, got, 1, MPI_INT, made); // wrong 10
      MPI_Comm_free(&made);
      break;
    case 11: { // Each has its own count.
      int count = rank + 1, expected = (rank + 2) % 3 + 1, place = 0;
      int all[3] = {rank, rank, rank};
      made = ring(&before, &behind);
      MPI_Neighbor_allgatherv(all, count, MPI_INT, got, &expected, &place, MPI_INT, made);
      assert(got[0] == before && got[expected - 1] == before && got[expected] == -1);
      MPI_Comm_free(&made);
      break;
    }
    case 13: // What is sent must not be shorter, either.
      made = ring(&before, &behind);
      MPI_Neighbor_allgather(given, 1, MPI_INT, got, rank == 2 ? 2 : 1, MPI_INT, made); // wrong 13
      MPI_Comm_free(&made);
      break;
    case 12: { // Displacements are addresses.
      MPI_Aint from, to;
      MPI_Datatype type = MPI_INT;
      MPI_Get_address(&rank, &from), MPI_Get_address(&got[1], &to);
      made = ring(&before, &behind);
      int one = 1;
      MPI_Neighbor_alltoallw(MPI_BOTTOM, &one, &from, &type, MPI_BOTTOM, &one, &to, &type, made);
      assert(got[1] == before && got[0] == -1);
      MPI_Comm_free(&made);
      break;
    }
  }
}

static void run(void) {
  int index[4] = {2, 3, 4, 6}, edges[6] = {1, 3, 0, 3, 0, 2}, count, ranks[2], got[2] = {-1, -1};
  MPI_Comm made;
  grids();
  graphs();
  if (which != 8) return;
  MPI_Graph_create(world, 4, index, edges, 0, &made);
  MPI_Graph_neighbors_count(made, rank, &count);
  assert(count == (rank == 0 || rank == 3 ? 2 : 1));
  MPI_Graph_neighbors(made, rank, 2, ranks);
  MPI_Neighbor_allgather(&rank, 1, MPI_INT, got, 1, MPI_INT, made);
  for (int i = 0; i < count; i++) assert(got[i] == ranks[i]);
  MPI_Comm_free(&made);
}
