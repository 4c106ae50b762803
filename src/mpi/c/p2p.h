/* Messages from one rank to another: what the functions of MPI start. */
#ifndef MAZURKA_P2P_H
#define MAZURKA_P2P_H

#include "rank.h"

#define buffer_attach mazurka_buffer_attach
#define buffer_check mazurka_buffer_check
#define buffer_detach mazurka_buffer_detach
#define buffer_keep mazurka_buffer_keep
#define message_new mazurka_message_new
#define message_prepare mazurka_message_prepare
#define message_receive mazurka_message_receive
#define message_start mazurka_message_start

/* Modes of sends. Nobody waits for an early one. */
enum mode { STANDARD, SYNCHRONOUS, BUFFERED, READY, EARLY };

/* Checks the arguments, and makes a request that is not started. */
MPI_Request message_prepare(char what, const void *buffer, MPI_Count count, MPI_Datatype type, int peer, int tag,
                            MPI_Comm comm, enum mode mode);
MPI_Request message_new(char what, const void *buffer, MPI_Count count, MPI_Datatype type, int peer, int tag,
                        struct comm *comm, enum mode mode);
void message_start(struct request *request);
/* The receive of a message that a probe has taken. */
MPI_Request message_receive(void *buf, MPI_Count count, MPI_Datatype type, MPI_Message *message);

/* buffers.c: the space for buffered sends of an object; NULL: of all communicators. Fails unless a
 * message of this size fits in the space for this communicator. */
void buffer_check(const struct comm *comm, size_t needed);
void buffer_attach(const struct object *to, void *at, MPI_Count size);
/* The message of this send is in the buffer for its communicator. */
void buffer_keep(const struct request *sent);
/* Waits until the buffer is empty, and returns its size. */
MPI_Count buffer_detach(const struct object *from, void *at);

#endif
