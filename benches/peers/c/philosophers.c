// As specs/mutex/philosophers.maz: everyone takes the left fork first. With -DORDERED as philosophers-ordered.maz: the
// fork with the smaller number first.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 3
#endif

pthread_mutex_t fork_of[N];
int number[N];

void *philosopher(void *number) {
    int first = *(int *)number, second = (first + 1) % N;
#ifdef ORDERED
    if (second < first) {
        first = second;
        second = N - 1;
    }
#endif
    pthread_mutex_lock(&fork_of[first]);
    pthread_mutex_lock(&fork_of[second]);
    pthread_mutex_unlock(&fork_of[second]);
    pthread_mutex_unlock(&fork_of[first]);
    return 0;
}

int main(void) {
    pthread_t philosophers[N];
    for (int i = 0; i < N; i++) {
        number[i] = i;
        pthread_mutex_init(&fork_of[i], 0);
    }
    for (int i = 0; i < N; i++) pthread_create(&philosophers[i], 0, philosopher, &number[i]);
    for (int i = 0; i < N; i++) pthread_join(philosophers[i], 0);
}
