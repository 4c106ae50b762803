// OpenMP in ranks, with two threads.
// 2, 3, 4, 5, 7, 9, 10, 11, 12, 13, 14, 17, 18, 19, 20, 23, 25: right, 1 ranks
// 1, 6, 8, 15, 22: data race, 1 ranks
// 16: threads, 1 ranks
// 21: assertion, 1 ranks
// 24: deadlock, 1 ranks
#include <assert.h>
#include <mpi.h>
#include <omp.h>
#include <stdlib.h>

static int x, y, kept, many[8];
#pragma omp threadprivate(kept)

static int fibonacci(int n) {
  int one, other;
  if (n < 2) return n;
#pragma omp task shared(one)
  one = fibonacci(n - 1);
#pragma omp task shared(other)
  other = fibonacci(n - 2);
#pragma omp taskwait
  return one + other;
}

static void regions(int which) {
  int sum = 0;
  double real = 0;
  switch (which) {
    case 1:
#pragma omp parallel
      x++; // wrong 1
      break;
    case 2:
#pragma omp parallel
      {
#pragma omp critical
        x++;
      }
      assert(x == 2);
      break;
    case 3:
#pragma omp parallel for reduction(+ : sum) reduction(+ : real)
      for (int i = 0; i < 10; i++) sum += i, real += i;
      assert(sum == 45 && real == 45);
      break;
    case 4:
#pragma omp parallel for schedule(dynamic)
      for (int i = 7; i > 1; i -= 2) many[i] = i;
      for (int i = 7; i > 1; i -= 2) assert(many[i] == i);
      break;
    case 5:
#pragma omp parallel
      {
#pragma omp single
        x = 7;
        assert(x == 7);
      }
      break;
    case 6:
#pragma omp parallel
      {
#pragma omp single nowait
        x = 7;   // wrong 6
        sum = x; // wrong 6
      }
      break;
    case 7:
#pragma omp parallel
#pragma omp single
      x = fibonacci(5);
      assert(x == 5);
      break;
    case 8:
#pragma omp parallel
#pragma omp single
      {
#pragma omp task
        x = 1; // wrong 8
#pragma omp task
        x = 2; // wrong 8
      }
      break;
    case 9:
#pragma omp parallel
#pragma omp single
      {
#pragma omp task depend(out : x)
        x = 1;
#pragma omp task depend(in : x)
        y = x;
      }
      assert(y == 1);
      break;
    case 10:
#pragma omp parallel for ordered schedule(static, 1)
      for (int i = 0; i < 6; i++) {
#pragma omp ordered
        {
          assert(x == i);
          x++;
        }
      }
      break;
    case 11:
#pragma omp parallel sections
      {
#pragma omp section
        many[0] = 1;
#pragma omp section
        many[1] = 1;
      }
      assert(many[0] + many[1] == 2);
      break;
    case 12: // It is kept from one region to the next.
#pragma omp parallel
      kept = omp_get_thread_num() + 1;
#pragma omp parallel
      assert(kept == omp_get_thread_num() + 1);
      break;
    case 13:
#pragma omp parallel
      {
#pragma omp atomic
        x++;
      }
      assert(x == 2);
      break;
    case 14: {
      omp_lock_t lock;
      omp_init_lock(&lock);
#pragma omp parallel
      {
        omp_set_lock(&lock);
        x++;
        omp_unset_lock(&lock);
      }
      omp_destroy_lock(&lock);
      assert(x == 2);
      break;
    }
    case 15: // After `master` there is no barrier.
#pragma omp parallel
      {
#pragma omp master
        x = 1;      // wrong 15
        many[omp_get_thread_num()] = x; // wrong 15
      }
      break;
    case 16:
#pragma omp parallel num_threads(3)
      if (omp_get_thread_num() == 1) MPI_Barrier(MPI_COMM_WORLD); // wrong 16
      break;
    case 17:
#pragma omp parallel
      {
#pragma omp master
        {
          int one = 1, all;
          MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
          x = all;
        }
#pragma omp barrier
        assert(x == 1);
      }
      break;
    case 18:
#pragma omp parallel
#pragma omp single
#pragma omp taskloop
      for (int i = 0; i < 5; i++) many[i] = i;
      assert(many[4] == 4);
      break;
    case 19:
#pragma omp parallel firstprivate(sum)
      {
#pragma omp single copyprivate(sum)
        sum = 3;
        assert(sum == 3);
      }
      break;
    case 20: // The region within a region has one thread.
#pragma omp parallel
      {
        assert(omp_get_num_threads() == 2 && omp_in_parallel());
#pragma omp parallel
        assert(omp_get_num_threads() == 1 && omp_get_level() == 2 && omp_get_team_size(1) == 2);
      }
      break;
    case 21: // Either thread may be first.
#pragma omp parallel
      {
#pragma omp critical
        {
          if (omp_get_thread_num() == 1) assert(x == 0); // wrong 21
          x++;
        }
      }
      break;
    case 22: // Different names exclude nobody.
#pragma omp parallel
      {
        if (omp_get_thread_num()) {
#pragma omp critical(one)
          x++; // wrong 22
        } else {
#pragma omp critical(other)
          x++; // wrong 22
        }
      }
      break;
    case 23:
#pragma omp parallel for schedule(guided) lastprivate(sum)
      for (int i = 0; i < 6; i++) sum = i;
      assert(sum == 5);
      break;
    case 24: // Not all threads of the team meet the barrier.
#pragma omp parallel
      {
        omp_lock_t *lock = (omp_lock_t *)many;
        if (omp_get_thread_num()) omp_set_lock(lock);
#pragma omp barrier
        omp_set_lock(lock); // wrong 24
      }
      break;
    case 25:
#pragma omp parallel
#pragma omp single
      {
#pragma omp taskgroup
        {
#pragma omp task
          {
#pragma omp task
            x = 4;
          }
        }
        assert(x == 4);
      }
      break;
  }
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  regions(atoi(argv[1]));
  MPI_Finalize();
  return 0;
}
