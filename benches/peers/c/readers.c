// As specs/memory/readers.maz: one write and N reads of a cell.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 2
#endif

atomic_int x;
int number[N], seen[N]; // what is read is kept, so that no read is left out as useless

void *writer(void *unused) {
    atomic_store(&x, 1);
    return 0;
}

void *reader(void *number) {
    int i = *(int *)number;
    seen[i] = atomic_load(&x);
    return 0;
}

int main(void) {
    pthread_t first, readers[N];
    pthread_create(&first, 0, writer, 0);
    for (int i = 0; i < N; i++) {
        number[i] = i;
        pthread_create(&readers[i], 0, reader, &number[i]);
    }
    pthread_join(first, 0);
    for (int i = 0; i < N; i++) pthread_join(readers[i], 0);
}
