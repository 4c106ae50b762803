// As specs/memory/lastzero.maz: a searcher looks for the last zero of an array while N writers overwrite an element each.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 2
#endif

atomic_int a[N + 1];
int number[N + 1];

void *searcher(void *unused) {
    int i = N;
    while (atomic_load(&a[i]) != 0) i--;
    return 0;
}

void *writer(void *number) {
    int j = *(int *)number;
    int before = atomic_load(&a[j - 1]);
    atomic_store(&a[j], before + 1);
    return 0;
}

int main(void) {
    pthread_t search, writers[N + 1];
    pthread_create(&search, 0, searcher, 0);
    for (int j = 1; j <= N; j++) {
        number[j] = j;
        pthread_create(&writers[j], 0, writer, &number[j]);
    }
    pthread_join(search, 0);
    for (int j = 1; j <= N; j++) pthread_join(writers[j], 0);
}
