// A rank does everything that can be done with files, after an observation that differs between
// executions. In each execution it must see what a real run sees, and change no existing file.
//
// If it has a name as argument, `main` compares what it has seen with the content of that file.
// Without MPI it prints what it has seen.
#define _GNU_SOURCE
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static FILE *seen;

static void note(const char *what, long result) {
  fprintf(seen, "%s: %ld %s\n", what, result, result < 0 ? strerror(errno) : "");
}

static void show(const char *path) {
  char text[200] = "";
  int file = open(path, O_RDONLY);
  if (file < 0) {
    fprintf(seen, "%s: %s\n", path, strerror(errno));
    return;
  }
  ssize_t length = read(file, text, sizeof text - 1);
  struct stat is;
  fstat(file, &is);
  fprintf(seen, "%s: %zd of %ld bytes, mode %o, %ld names: %s\n", path, length, (long)is.st_size, is.st_mode & 07777, (long)is.st_nlink, text);
  close(file);
}

static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

static void list(const char *path) {
  struct dirent **names;
  int count = scandir(path, &names, NULL, by_name);
  note(path, count);
  for (int i = 0; i < count; free(names[i++])) fprintf(seen, "  %s %d\n", names[i]->d_name, names[i]->d_type);
  if (count >= 0) free(names);
}

static void write_file(const char *path, const char *mode, const char *text) {
  FILE *file = fopen(path, mode);
  note(path, file ? fputs(text, file) >= 0 ? 0 : -1 : -1);
  if (file) fclose(file);
}

static void contents(void) {
  write_file("log", "a", "one\n");
  write_file("log", "a", "two\n");
  show("log");
  FILE *file = fopen("log", "a");
  fputs("three", file);
  fprintf(seen, "at %ld\n", ftell(file));
  fclose(file);
  write_file("deep/er/old", "r+", "XX");
  show("deep/er/old");
  write_file("fresh", "wx", "fresh");
  write_file("fresh", "wx", "again");
  write_file("no/such/folder", "w", "");
  file = fopen("fresh", "r");
  note("freopen", freopen("deep/other", "w", file) ? 0 : -1);
  fputs("reopened", file);
  fclose(file);
  show("deep/other");
  int made = creat("created", 0640);
  note("write", write(made, "12345", 5));
  note("ftruncate", ftruncate(made, 2));
  close(made);
  show("created");
  note("truncate", truncate("cut", 3));
  note("truncate", truncate("no-such", 3));
  show("cut");
  note("size", truncate("deep", 3));
}

static void names(void) {
  note("rename", rename("log", "deep/log"));
  note("rename", rename("log", "deep/log"));
  show("log");
  show("deep/log");
  note("rename over", rename("fresh", "victim"));
  show("victim");
  note("rename a folder to a file", rename("deep", "victim"));
  note("remove", remove("gone"));
  note("remove", remove("gone"));
  note("unlink a folder", unlink("deep"));
  show("gone");
  note("access", access("gone", F_OK));
  write_file("gone", "w", "back");
  show("gone");
  note("unlink", unlink("gone"));
  note("rmdir", rmdir("deep"));
  note("rmdir", rmdir("empty"));
  note("rmdir", rmdir("empty"));
  note("mkdir", mkdir("empty", 0750));
  note("mkdir", mkdir("deep", 0777));
  note("mkdir", mkdir("made", 0755));
  note("mkdir", mkdir("made/inner", 0700));
  write_file("made/inner/file", "w", "inner");
  note("rename a folder", rename("made", "moved"));
  show("made/inner/file");
  show("moved/inner/file");
  note("rmdir", rmdir("moved"));
  note("symlink", symlink("inner/file", "moved/link"));
  char text[100] = "";
  note("readlink", readlink("moved/link", text, sizeof text));
  show("moved/link");
  show("link");
  write_file("link", "a", " more");
  show("deep/er/old");
  note("unlink", unlink("link"));
  show("deep/er/old");
  note("link", link("deep/er/old", "second"));
  write_file("second", "a", "!");
  show("deep/er/old");
  note("open a link", open("moved/link", O_RDONLY | O_NOFOLLOW));
  list(".");
  list("deep");
  list("moved");
  list("empty");
}

static void others(void) {
  char text[400] = "", *found;
  note("chmod", chmod("cut", 0600));
  show("cut");
  int file = open("plain", O_RDONLY);
  note("read", read(file, text, 3));
  write_file("plain", "w", "PLAINER");
  note("fchmod", fchmod(file, 0604));
  note("read", read(file, text, 10));
  fprintf(seen, "%.4s\n", text);
  close(file);
  show("plain");
  note("chdir", chdir("moved/inner"));
  found = getcwd(text, sizeof text);
  fprintf(seen, "in %s\n", found ? strrchr(found, '/') : "?");
  show("../../cut");
  show("file");
  note("chdir", chdir("../.."));
  int folder = open("moved", O_RDONLY | O_DIRECTORY);
  file = openat(folder, "at", O_CREAT | O_RDWR, 0600);
  note("openat", file < 0 ? -1 : 0);
  note("pwrite", pwrite(file, "mapped", 6, 0));
  char *memory = mmap(NULL, 6, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  memory[0] = 'M';
  note("mkdirat", mkdirat(folder, "below", 0700));
  note("unlinkat", unlinkat(folder, "below", AT_REMOVEDIR));
  note("renameat", renameat(folder, "at", AT_FDCWD, "at"));
  note("lock", flock(file, LOCK_EX));
  note("lockf", lockf(file, F_LOCK, 0));
  munmap(memory, 6);
  close(file);
  close(folder);
  show("at");
  char name[] = "tempXXXXXX";
  file = mkstemp(name);
  note("mkstemp", write(file, "t", 1));
  show(name + strlen(name));
  close(file);
  note("unlink", unlink(name));
  FILE *unnamed = tmpfile();
  fputs("unnamed", unnamed);
  rewind(unnamed);
  note("tmpfile", (long)fread(text, 1, sizeof text, unnamed));
  fclose(unnamed);
  found = realpath("moved/link", NULL);
  fprintf(seen, "%s\n", found ? strrchr(found, '/') : strerror(errno));
  free(found);
  struct stat is;
  note("stat", stat("moved/link", &is));
  note("lstat", lstat("moved/link", &is));
  fprintf(seen, "%s %ld\n", S_ISLNK(is.st_mode) ? "link" : "no link", (long)is.st_size);
  note("stat", stat("log", &is));
  note("null", open("/dev/null", O_WRONLY) < 0 ? -1 : 0);
  list(".");
}

static char *observed(void) {
  char *text;
  size_t length;
  seen = open_memstream(&text, &length);
  umask(022);
  contents();
  names();
  others();
  fclose(seen);
  return text;
}

#ifdef REAL
int main(void) {
  fputs(observed(), stdout);
  return 0;
}
#else
#include <mpi.h>

int main(int argc, char **argv) {
  int rank, size, from[2] = {-1, -1};
  static char expected[20000];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank > 0) {
    MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  } else {
    for (int i = 1; i < size; i++) MPI_Recv(&from[i - 1], 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    char *text = observed();
    FILE *file = fopen(argv[1], "r");
    fread(expected, 1, sizeof expected - 1, file);
    fclose(file);
    for (size_t i = 0; i < strlen(text); i++)
      if (text[i] != expected[i]) {
        fprintf(stderr, "seen ..%.60s but expected ..%.60s\n", text + (i > 20 ? i - 20 : 0), expected + (i > 20 ? i - 20 : 0));
        abort();
      }
    assert(strcmp(text, expected) == 0);
    free(text);
  }
  MPI_Finalize();
  return 0;
}
#endif
