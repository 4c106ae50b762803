// As specs/memory/writers.maz: N blind writes of a cell, each of its own value.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 3
#endif

atomic_int x;
int number[N];

void *writer(void *i) {
    atomic_store(&x, *(int *)i + 1);
    return 0;
}

int main(void) {
    pthread_t writers[N];
    for (int i = 0; i < N; i++) {
        number[i] = i;
        pthread_create(&writers[i], 0, writer, &number[i]);
    }
    for (int i = 0; i < N; i++) pthread_join(writers[i], 0);
    int last = atomic_load(&x);
    assert(1 <= last && last <= N);
}
