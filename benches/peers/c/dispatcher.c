// As specs/mutex/dispatcher.maz: R requests, each to the server at which the count of a picker is seen.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef S
#define S 2
#endif
#ifndef R
#define R 2
#endif

pthread_mutex_t s[S], m;
int server, number[S];

void *serve(void *number) {
    int x = *(int *)number;
    pthread_mutex_lock(&s[x]);
    pthread_mutex_unlock(&s[x]);
    return 0;
}

void *pick(void *unused) {
    for (int x = 0; x < S; x++) {
        pthread_mutex_lock(&m);
        server = x;
        pthread_mutex_unlock(&m);
    }
    return 0;
}

int main(void) {
    pthread_t servers[S];
    pthread_mutex_init(&m, 0);
    for (int x = 0; x < S; x++) {
        number[x] = x;
        pthread_mutex_init(&s[x], 0);
    }
    for (int x = 0; x < S; x++) pthread_create(&servers[x], 0, serve, &number[x]);
    for (int r = 0; r < R; r++) {
        pthread_t picker;
        pthread_create(&picker, 0, pick, 0);
        pthread_mutex_lock(&m);
        int j = server;
        pthread_mutex_unlock(&m);
        pthread_mutex_lock(&s[j]);
        pthread_mutex_unlock(&s[j]);
        pthread_join(picker, 0);
    }
    for (int x = 0; x < S; x++) pthread_join(servers[x], 0);
}
