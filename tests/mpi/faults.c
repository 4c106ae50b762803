// Faults: anything that ranks may do to the machine that runs them. They are ended within limits,
// and nothing is left.
#define _GNU_SOURCE
#include <mpi.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static void loop(void) {
  for (;;) {}
}

static void close_all(void) {
  for (int fd = 0; fd < 4096; fd++) close(fd);
  close_range(0, ~0u, 0);
  loop();
}

static void exec_another(void) { execl("/bin/sleep", "sleep", "1000", NULL); }

static void stop_parent(void) {
  kill(getppid(), SIGSTOP);
  kill(0, SIGSTOP);
  loop();
}

static void kill_parent(void) {
  syscall(SYS_kill, getppid(), SIGKILL);
  kill(-1, SIGKILL);
  loop();
}

// A frame of a hundred bytes that never comes to its end in time.
static void drip(void) {
  uint32_t length = 1 << 30;
  for (int fd = 3; fd < 1024; fd++) send(fd, &length, sizeof length, MSG_NOSIGNAL | MSG_DONTWAIT);
  for (uint64_t wait = 0;; wait++) {
    if (wait % 10000000 != 0) continue;
    for (int fd = 3; fd < 1024; fd++) send(fd, "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
}

static void ignore_signals(void) {
  for (int number = 1; number < 65; number++) signal(number, SIG_IGN);
  loop();
}

static void fork_for_ever(void) {
  for (;;) fork();
}

static void print_for_ever(void) {
  for (;;) puts("more and more and more and more");
}

static void leave(void) {
  if (fork() == 0) {
    setsid();
    if (fork() == 0) loop();
    _exit(0);
  }
  loop();
}

static void leave_a_child(void) {
  if (fork() == 0) loop();
  loop();
}

static void write_files(void) {
  static char much[1 << 20];
  for (int number = 0;; number++) {
    char name[40];
    snprintf(name, sizeof name, "file-%d", number);
    int file = open(name, O_CREAT | O_WRONLY, 0600);
    if (write(file, much, sizeof much) < 0) loop();
    close(file);
  }
}

static void share_memory(void) {
  int file = shm_open("/mazurka-fault", O_CREAT | O_RDWR, 0600);
  if (file >= 0 && ftruncate(file, 1 << 20) == 0) loop();
}

// Escape sequences of a terminal, and too many of them.
static void escape(void) {
  for (int line = 0; line < 100000; line++) puts("more and more");
  puts("red \033[31m and \007");
  abort();
}

static const struct fault {
  const char *name;
  void (*happens)(void);
} faults[] = {
    {"loop", loop},
    {"close", close_all},
    {"exec", exec_another},
    {"stop", stop_parent},
    {"kill", kill_parent},
    {"drip", drip},
    {"ignore", ignore_signals},
    {"fork", fork_for_ever},
    {"print", print_for_ever},
    {"leave", leave},
    {"child", leave_a_child},
    {"write", write_files},
    {"memory", share_memory},
    {"escape", escape},
};

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
    if (argc > 1 && strcmp(argv[1], faults[i].name) == 0) faults[i].happens();
  MPI_Finalize();
  return 0;
}
