// As specs/mutex/mutex.maz: N threads enter a critical section once.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 2
#endif

pthread_mutex_t m;

void *enter(void *unused) {
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t threads[N];
    pthread_mutex_init(&m, 0);
    for (int i = 0; i < N; i++) pthread_create(&threads[i], 0, enter, 0);
    for (int i = 0; i < N; i++) pthread_join(threads[i], 0);
}
