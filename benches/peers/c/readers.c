// As specs/memory/readers.maz: one write and N reads of a cell.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 2
#endif

atomic_int x;

void *writer(void *unused) {
    atomic_store(&x, 1);
    return 0;
}

void *reader(void *unused) {
    int seen = atomic_load(&x);
    (void)seen;
    return 0;
}

int main(void) {
    pthread_t first, readers[N];
    pthread_create(&first, 0, writer, 0);
    for (int i = 0; i < N; i++) pthread_create(&readers[i], 0, reader, 0);
    pthread_join(first, 0);
    for (int i = 0; i < N; i++) pthread_join(readers[i], 0);
}
