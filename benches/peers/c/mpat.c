// As specs/mutex/mpat.maz: K writers with a mutex each; each reader takes a common mutex and then that of its writer.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef K
#define K 2
#endif

pthread_mutex_t a[K], m;
int number[K];

void *writer(void *number) {
    int i = *(int *)number;
    pthread_mutex_lock(&a[i]);
    pthread_mutex_unlock(&a[i]);
    return 0;
}

void *reader(void *number) {
    int i = *(int *)number;
    pthread_mutex_lock(&m);
    pthread_mutex_lock(&a[i]);
    pthread_mutex_unlock(&a[i]);
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t writers[K], readers[K];
    pthread_mutex_init(&m, 0);
    for (int i = 0; i < K; i++) {
        number[i] = i;
        pthread_mutex_init(&a[i], 0);
    }
    for (int i = 0; i < K; i++) pthread_create(&writers[i], 0, writer, &number[i]);
    for (int i = 0; i < K; i++) pthread_create(&readers[i], 0, reader, &number[i]);
    for (int i = 0; i < K; i++) pthread_join(writers[i], 0);
    for (int i = 0; i < K; i++) pthread_join(readers[i], 0);
}
