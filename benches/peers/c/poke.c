// As specs/mutex/poke.maz: N workers set a flag each; in K rounds a poker clears the flag at which it sees the count of a
// chooser.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 2
#endif
#ifndef K
#define K 2
#endif

pthread_mutex_t a[N], m;
int flag[N], number[N], at, poked;

void *work(void *number) {
    int x = *(int *)number;
    pthread_mutex_lock(&a[x]);
    flag[x] = 1;
    pthread_mutex_unlock(&a[x]);
    return 0;
}

void *choose(void *unused) {
    for (int x = 1; x < N; x++) {
        pthread_mutex_lock(&m);
        at = x;
        pthread_mutex_unlock(&m);
    }
    return 0;
}

void *poke(void *unused) {
    pthread_mutex_lock(&m);
    int k = at;
    pthread_mutex_unlock(&m);
    pthread_mutex_lock(&a[k]);
    if (flag[k] == 1) {
        poked++;
        flag[k] = 0;
    }
    pthread_mutex_unlock(&a[k]);
    return 0;
}

int main(void) {
    pthread_t workers[N];
    pthread_mutex_init(&m, 0);
    for (int x = 0; x < N; x++) {
        number[x] = x;
        pthread_mutex_init(&a[x], 0);
    }
    for (int x = 0; x < N; x++) pthread_create(&workers[x], 0, work, &number[x]);
    for (int round = 0; round < K; round++) {
        pthread_t chooser, poker;
        pthread_create(&chooser, 0, choose, 0);
        pthread_create(&poker, 0, poke, 0);
        pthread_join(chooser, 0);
        pthread_join(poker, 0);
    }
    for (int x = 0; x < N; x++) pthread_join(workers[x], 0);
    assert(poked <= N);
}
