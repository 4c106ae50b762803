// Counts the classes of executions of a program of this folder, to show that it means what its spec means:
//     cc -include classes.h -DN=3 writers.c -o writers && ./writers
// prints "6 classes, 0 deadlocked". All interleavings are run, without any reduction, each in a process of its own, so
// this is for small parameters. A class says for each mutex in which order threads own it, and for each atomic cell in
// which order it is written and which of its writes each read sees.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { THREADS = 32, OBJECTS = 64, STEPS = 512, NAME = 4096, CLASSES = 100000 };

// An execution leaves here what was chosen, among how many, and its class.
struct {
    int chosen[STEPS], among[STEPS], steps, deadlocked;
    char name[NAME];
} *run;

// A thread, and what it waits for before its next step: a mutex, the end of another thread, or nothing. A silent step (its
// start, or a join) commutes with all that others do, so it is no choice.
struct {
    ucontext_t context;
    void *(*body)(void *), *argument;
    const void *mutex;
    int joined, silent, ended;
} thread[THREADS];
int threads, current;
ucontext_t scheduler;

// A mutex or a cell: who owns it, and what was done, in order. Reads between two writes are a set of threads.
struct {
    const void *address;
    int owner;
    char done[NAME / 8];
    int reads[THREADS];
} object[OBJECTS];
int objects;

int find(const void *address) {
    int o = 0;
    while (o < objects && object[o].address != address) o++;
    assert(o < OBJECTS);
    if (o == objects) {
        object[objects].address = address;
        object[objects++].owner = -1;
    }
    return o;
}

void close_reads(int o) {
    for (int t = 0; t < THREADS; t++) {
        for (; object[o].reads[t] > 0; object[o].reads[t]--) {
            sprintf(object[o].done + strlen(object[o].done), "r%d", t);
        }
    }
}

void wrote(const void *address, const char *what) {
    int o = find(address);
    close_reads(o);
    assert(strlen(object[o].done) + 8 < sizeof object[o].done);
    sprintf(object[o].done + strlen(object[o].done), "%s%d", what, current);
}

// Lets others take steps first, and waits.
void step(const void *mutex, int joined) {
    thread[current].mutex = mutex;
    thread[current].joined = joined;
    thread[current].silent = joined >= 0;
    swapcontext(&thread[current].context, &scheduler);
}

int may_move(int t) {
    if (thread[t].ended) return 0;
    if (thread[t].mutex && object[find(thread[t].mutex)].owner >= 0) return 0;
    return thread[t].joined < 0 || thread[thread[t].joined].ended;
}

void body(void) {
    thread[current].body(thread[current].argument);
    thread[current].ended = 1;
}

int start(pthread_t *handle, const void *attributes, void *(*function)(void *), void *argument) {
    assert(threads < THREADS);
    int t = threads++;
    thread[t].body = function;
    thread[t].argument = argument;
    thread[t].joined = -1;
    thread[t].silent = 1;
    getcontext(&thread[t].context);
    thread[t].context.uc_stack.ss_sp = malloc(1 << 16);
    thread[t].context.uc_stack.ss_size = 1 << 16;
    thread[t].context.uc_link = &scheduler;
    makecontext(&thread[t].context, body, 0);
    *handle = t;
    return 0;
}

int take(pthread_mutex_t *mutex) {
    step(mutex, -1);
    object[find(mutex)].owner = current;
    wrote(mutex, "l");
    return 0;
}

// Is no step of its own: it commutes with all that others can do before they own the mutex.
int release(pthread_mutex_t *mutex) {
    object[find(mutex)].owner = -1;
    return 0;
}

int join(pthread_t handle) {
    step(0, handle);
    return 0;
}

int load(atomic_int *cell) {
    step(0, -1);
    object[find(cell)].reads[current]++;
    return *(volatile int *)cell;
}

void store(atomic_int *cell, int value) {
    step(0, -1);
    wrote(cell, "w");
    *(volatile int *)cell = value;
}

int program(void);

void *root(void *unused) {
    program();
    return unused;
}

int by_address(const void *a, const void *b) {
    const char *x = object[*(const int *)a].address, *y = object[*(const int *)b].address;
    return (x > y) - (x < y);
}

// Runs the program once: the first choices are given, and then the first thread moves that may.
void execute(int given) {
    pthread_t main_thread;
    start(&main_thread, 0, root, 0);
    run->steps = run->deadlocked = 0;
    for (;;) {
        int movable[THREADS], among = 0;
        for (int t = 0; t < threads; t++) {
            if (may_move(t)) movable[among++] = t;
        }
        for (int m = 0; m < among; m++) {
            if (thread[movable[m]].silent) {
                movable[0] = movable[m];
                among = 1;
            }
        }
        if (among == 0) break;
        assert(run->steps < STEPS);
        if (run->steps >= given) run->chosen[run->steps] = 0;
        run->among[run->steps] = among;
        current = movable[run->chosen[run->steps++]];
        swapcontext(&scheduler, &thread[current].context);
    }
    for (int t = 0; t < threads; t++) run->deadlocked |= !thread[t].ended;
    int order[OBJECTS];
    for (int o = 0; o < objects; o++) order[o] = o;
    qsort(order, objects, sizeof *order, by_address);
    run->name[0] = 0;
    for (int i = 0; i < objects; i++) {
        close_reads(order[i]);
        assert(strlen(run->name) + strlen(object[order[i]].done) + 2 < NAME);
        strcat(strcat(run->name, object[order[i]].done), "|");
    }
}

int main(void) {
    static char *names[CLASSES];
    int classes = 0, deadlocked = 0, given = 0;
    long executions = 0;
    run = mmap(0, sizeof *run, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (;;) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            execute(given);
            _exit(0);
        }
        waitpid(child, &status, 0);
        if (status != 0) {
            puts("an execution fails");
            return 1;
        }
        executions++;
        int c = 0;
        while (c < classes && strcmp(names[c], run->name) != 0) c++;
        if (c == classes) {
            assert(classes < CLASSES);
            names[classes++] = strdup(run->name);
            deadlocked += run->deadlocked;
        }
        given = run->steps;
        while (given > 0 && run->chosen[given - 1] + 1 == run->among[given - 1]) given--;
        if (given == 0) break;
        run->chosen[given - 1]++;
    }
    printf("%d classes, %d deadlocked\n", classes, deadlocked);
}

#define main program
#define pthread_create start
#define pthread_join(handle, result) join(handle)
#define pthread_mutex_init(mutex, attributes) ((void)0)
#define pthread_mutex_lock take
#define pthread_mutex_unlock release
#undef atomic_load
#undef atomic_store
#define atomic_load load
#define atomic_store store
