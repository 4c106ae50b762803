// The number of a rank, the signals that it sends, and the processes that it starts.
// 1, 2, 3, 4, 5: right
// 6, 7, 18, 19: crash
// 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 20, 21: unsupported
#define _GNU_SOURCE
#include "cases.h"
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t signals;
static void count(int number) {
  (void)number;
  signals++;
}

static void run(void) {
  int status = 0, both[2], got = 0;
  pid_t child;
  switch (which) {
    case 1: // A process that a rank starts is no rank.
      child = fork();
      if (child == 0) printf("it prints\n");
      if (child == 0) exit(getppid() > 1 << 22 && getpid() != getppid() ? 7 : 1);
      assert(child > getpid() && waitpid(child, &status, 0) == child);
      assert(WIFEXITED(status) && WEXITSTATUS(status) == 7);
      assert(wait(&status) == -1 && errno == ECHILD && waitpid(4711, &status, 0) == -1);
      break;
    case 2: // It may compute for the rank.
      assert(pipe(both) == 0);
      if (fork() == 0) {
        int number = 42;
        _exit(write(both[1], &number, sizeof number) != sizeof number);
      }
      assert(read(both[0], &got, sizeof got) == sizeof got && got == 42);
      break;
    case 3: // It crashes for itself.
      child = fork();
      if (child == 0) abort();
      assert(wait(&status) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
      child = fork();
      if (child == 0) raise(SIGTERM);
      siginfo_t told;
      assert(waitid(P_ALL, 0, &told, WEXITED) == 0 && told.si_pid == child && told.si_status == SIGTERM);
      break;
    case 4: // Signals to oneself.
      signal(SIGUSR1, count);
      assert(raise(SIGUSR1) == 0 && kill(getpid(), SIGUSR1) == 0 && signals == 2);
      assert(pthread_kill(pthread_self(), SIGUSR1) == 0 && signals == 3);
      assert(sigqueue(getpid(), SIGUSR1, (union sigval){0}) == 0 && signals == 4);
      assert(syscall(SYS_tgkill, getpid(), gettid(), SIGUSR1) == 0 && signals == 5);
      assert(kill(getpid(), 0) == 0 && signals == 5);
      break;
    case 5: // The connection to the verifier is not there.
      for (int fd = 3; fd < 2000; fd++) assert(close(fd) == -1 && errno == EBADF);
      assert(close_range(3, ~0u, 0) == 0);
      break;
    case 6: kill(getpid(), SIGTERM); break;
    case 7: kill(getpid(), SIGSEGV); break; // wrong 7
    case 8: kill(getppid(), 0); break; // wrong 8
    case 9: kill(0, SIGCONT); break; // wrong 9
    case 10: syscall(SYS_kill, 4711, SIGCONT); break; // wrong 10
    case 11: killpg(getpgrp(), SIGCONT); break; // wrong 11
    case 12: sigqueue(getpid() + 1, SIGCONT, (union sigval){0}); break; // wrong 12
    case 13:
      child = fork();
      if (child == 0) MPI_Barrier(world); // wrong 13
      wait(NULL);
      break;
    case 14:
      if (fork() == 0) kill(getppid(), SIGTERM); // wrong 14
      break;
    case 15:
      if (fork() == 0) setsid(); // wrong 15
      break;
    case 16:
      if (fork() == 0)
        for (;;) {}
      break;
    case 17:
      for (;;) fork(); // wrong 17
    case 18: kill(getpid(), SIGKILL); break; // wrong 18
    case 19: raise(SIGKILL); break; // wrong 19
    case 20:
      for (char *piece; (piece = malloc(1 << 28)); world = MPI_COMM_WORLD) piece[0] = 1; // wrong 20
      break;
    case 21: free(calloc(10, 1l << 32)); break; // wrong 21
  }
}
