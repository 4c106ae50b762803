// Effects of ranks on each other, or on the system, without MPI: such a program is not decided.
// 1, 2: right
// 3, 4, 5, 6, 7, 9, 10, 11, 12: unsupported
// 8: warning: threads
#define _GNU_SOURCE
#include "cases.h"
#include <arpa/inet.h>
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void *add(void *number) {
  ++*(int *)number;
  return NULL;
}

static void run(void) {
  int number = 0, both[2];
  pthread_t thread;
  sigset_t all;
  sigfillset(&all);
  switch (which) {
    case 1: // Within the rank all is well.
      assert(socketpair(AF_UNIX, SOCK_STREAM, 0, both) == 0 && pipe(both) == 0);
      assert(mmap(NULL, 10, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
      assert(getpwuid(0));
      break;
    case 2: // Signals that are blocked do not block what stands for system calls.
      sigprocmask(SIG_BLOCK, &all, NULL);
      assert(access("/tmp", F_OK) == 0);
      sigprocmask(SIG_SETMASK, NULL, &all);
      assert(sigismember(&all, SIGUSR1) && !sigismember(&all, SIGSYS));
      break;
    case 3:
      socket(AF_INET, SOCK_STREAM, 0); // wrong 3
      break;
    case 4:
      shmget(4711, 100, IPC_CREAT | 0600); // wrong 4
      break;
    case 5:
      if (system("true")) abort(); // wrong 5
      break;
    case 6:
      execl("/bin/true", "true", NULL); // wrong 6
      break;
    case 7:
      mkfifo("/tmp/mazurka-test-pipe", 0600); // wrong 7
      break;
    case 8:
      pthread_create(&thread, NULL, add, &number); // wrong 8
      pthread_join(thread, NULL);
      assert(number == 1);
      break;
    case 9: // The C library is not asked.
      syscall(SYS_socket, AF_INET6, SOCK_DGRAM, 0); // wrong 9
      break;
    case 10:
      if (fork() == 0) {
        access("/tmp", F_OK); // wrong 10
        _exit(0);
      }
      wait(NULL);
      break;
    case 11:
      pclose(popen("true", "r")); // wrong 11
      break;
    case 12:
      fopen("/dev/tty", "r"); // wrong 12
      break;
  }
}
