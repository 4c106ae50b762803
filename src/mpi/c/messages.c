/* The functions of MPI for messages from one rank to another. */
#include "p2p.h"
#include "partitioned.h"
#include "sessions.h"
#include "twins.h"

#define SEND_WAITS const void *buf, Count count, MPI_Datatype type, int peer, int tag, MPI_Comm comm
#define SEND_REQUEST SEND_WAITS, MPI_Request *request
#define RECEIVE_REQUEST void *buf, Count count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request *request

#define BLOCKING(name, parameters, what, mode, status)                                      \
  FUNCTION(TWIN(name), (parameters)) {                                                      \
    CALL_IN_STEPS(NAMED(name));                                                                      \
    MPI_Request request = message_prepare(what, buf, count, type, peer, tag, comm, mode);   \
    message_start(request_get(request));                                                    \
    request_wait(&request, status);                                                         \
    return MPI_SUCCESS;                                                                     \
  }
#define STARTED(name, parameters, what, mode)                                               \
  FUNCTION(TWIN(name), (parameters)) {                                                      \
    CALL_IN_STEPS(NAMED(name));                                                                      \
    *OUT(request) = message_prepare(what, buf, count, type, peer, tag, comm, mode);         \
    message_start(request_get(*request));                                                   \
    return MPI_SUCCESS;                                                                     \
  }
#define PERSISTENT(name, parameters, what, mode)                                            \
  FUNCTION(TWIN(name), (parameters)) {                                                      \
    CALL_IN_STEPS(NAMED(name));                                                                      \
    *OUT(request) = message_prepare(what, buf, count, type, peer, tag, comm, mode);         \
    request_get(*request)->is_persistent = true;                                            \
    request_get(*request)->is_started = false;                                              \
    return MPI_SUCCESS;                                                                     \
  }
#define ARGUMENTS(...) __VA_ARGS__

BLOCKING(Send, ARGUMENTS(SEND_WAITS), 's', STANDARD, NULL)
BLOCKING(Ssend, ARGUMENTS(SEND_WAITS), 's', SYNCHRONOUS, NULL)
BLOCKING(Bsend, ARGUMENTS(SEND_WAITS), 's', BUFFERED, NULL)
BLOCKING(Rsend, ARGUMENTS(SEND_WAITS), 's', READY, NULL)
BLOCKING(Recv, ARGUMENTS(void *buf, Count count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Status *status), 'r',
         STANDARD, status)
STARTED(Isend, ARGUMENTS(SEND_REQUEST), 's', STANDARD)
STARTED(Issend, ARGUMENTS(SEND_REQUEST), 's', SYNCHRONOUS)
STARTED(Ibsend, ARGUMENTS(SEND_REQUEST), 's', BUFFERED)
STARTED(Irsend, ARGUMENTS(SEND_REQUEST), 's', READY)
STARTED(Irecv, ARGUMENTS(RECEIVE_REQUEST), 'r', STANDARD)
PERSISTENT(Send_init, ARGUMENTS(SEND_REQUEST), 's', STANDARD)
PERSISTENT(Ssend_init, ARGUMENTS(SEND_REQUEST), 's', SYNCHRONOUS)
PERSISTENT(Bsend_init, ARGUMENTS(SEND_REQUEST), 's', BUFFERED)
PERSISTENT(Rsend_init, ARGUMENTS(SEND_REQUEST), 's', READY)
PERSISTENT(Recv_init, ARGUMENTS(RECEIVE_REQUEST), 'r', STANDARD)

/* Starts a send and a receive, and returns a request for both. They proceed at the same time (MPI
 * 4.1, 3.10): the receiver of the message cannot conclude that the receive is posted. With one
 * buffer, it belongs to the receive alone as soon as the send has copied it. */
static MPI_Request start_both(MPI_Request send, MPI_Request receive, bool is_one_buffer) {
  struct request *sent = request_get(send);
  message_start(sent);
  if (is_one_buffer) {
    memory_release(sent->owned);
    sent->owned = 0;
  }
  message_start(request_get(receive));
  struct request *received = request_get(receive);
  received->part = allocate(sizeof *received->part);
  received->part[received->parts++] = sent;
  return receive;
}

static void check_differ(const void *sendbuf, Count sendcount, int dest, const void *recvbuf, Count recvcount, int source) {
  if (sendbuf == recvbuf && sendcount > 0 && recvcount > 0 && dest != MPI_PROC_NULL && source != MPI_PROC_NULL)
    fail("invalid buffer", "the send buffer and the receive buffer are the same");
}

FUNCTION(TWIN(Sendrecv), (const void *sendbuf, Count sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
                          Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status)) {
  CALL_IN_STEPS(NAMED(Sendrecv));
  check_differ(sendbuf, sendcount, dest, recvbuf, recvcount, source);
  MPI_Request receive = message_prepare('r', recvbuf, recvcount, recvtype, source, recvtag, comm, STANDARD);
  MPI_Request both = start_both(message_prepare('s', sendbuf, sendcount, sendtype, dest, sendtag, comm, STANDARD), receive, false);
  request_wait(&both, status);
  return MPI_SUCCESS;
}

FUNCTION(TWIN(Isendrecv), (const void *sendbuf, Count sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
                           Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Request *request)) {
  CALL_IN_STEPS(NAMED(Isendrecv));
  OUT(request);
  check_differ(sendbuf, sendcount, dest, recvbuf, recvcount, source);
  *request = start_both(message_prepare('s', sendbuf, sendcount, sendtype, dest, sendtag, comm, STANDARD),
                        message_prepare('r', recvbuf, recvcount, recvtype, source, recvtag, comm, STANDARD), false);
  return MPI_SUCCESS;
}

FUNCTION(TWIN(Isendrecv_replace), (void *buf, Count count, MPI_Datatype type, int dest, int sendtag, int source, int recvtag,
                                   MPI_Comm comm, MPI_Request *request)) {
  CALL_IN_STEPS(NAMED(Isendrecv_replace));
  OUT(request);
  *request = start_both(message_prepare('s', buf, count, type, dest, sendtag, comm, STANDARD),
                        message_prepare('r', buf, count, type, source, recvtag, comm, STANDARD), true);
  return MPI_SUCCESS;
}

FUNCTION(TWIN(Sendrecv_replace), (void *buf, Count count, MPI_Datatype type, int dest, int sendtag, int source, int recvtag,
                                  MPI_Comm comm, MPI_Status *status)) {
  CALL_IN_STEPS(NAMED(Sendrecv_replace));
  MPI_Request send = message_prepare('s', buf, count, type, dest, sendtag, comm, STANDARD);
  MPI_Request both = start_both(send, message_prepare('r', buf, count, type, source, recvtag, comm, STANDARD), true);
  request_wait(&both, status);
  return MPI_SUCCESS;
}

FUNCTION(TWIN(Mrecv), (void *buf, Count count, MPI_Datatype type, MPI_Message *message, MPI_Status *status)) {
  CALL_IN_STEPS(NAMED(Mrecv));
  MPI_Request request = message_receive(buf, count, type, message);
  request_wait(&request, status);
  return MPI_SUCCESS;
}

FUNCTION(TWIN(Imrecv), (void *buf, Count count, MPI_Datatype type, MPI_Message *message, MPI_Request *request)) {
  CALL_IN_STEPS(NAMED(Imrecv));
  OUT(request);
  *request = message_receive(buf, count, type, message);
  return MPI_SUCCESS;
}

#define BUFFERS(attach, detach, of, object)                        \
  FUNCTION(TWIN(attach), (of void *at, Count size)) {              \
    CALL_IN_STEPS(NAMED(attach));                                           \
    buffer_attach(object, at, size);                               \
    return MPI_SUCCESS;                                            \
  }                                                                \
  FUNCTION(TWIN(detach), (of void *at, Count *size)) {             \
    CALL_IN_STEPS(NAMED(detach));                                           \
    MPI_Count detached = buffer_detach(object, at);                \
    *OUT(size) = (Count)detached;                                  \
    return MPI_SUCCESS;                                            \
  }
BUFFERS(Buffer_attach, Buffer_detach, , NULL)
BUFFERS(Comm_attach_buffer, Comm_detach_buffer, ARGUMENTS(MPI_Comm comm, ), &comm_get(comm)->object)
BUFFERS(Session_attach_buffer, Session_detach_buffer, ARGUMENTS(MPI_Session session, ), session_get(session))

FUNCTION(TWIN(Psend_init), (const void *buf, int partitions, Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                            MPI_Info info, MPI_Request *request)) {
  CALL_IN_STEPS(NAMED(Psend_init));
  (void)info;
  OUT(request);
  *request = partitioned_init('s', buf, partitions, count, type, dest, tag, comm);
  return MPI_SUCCESS;
}

FUNCTION(TWIN(Precv_init), (void *buf, int partitions, Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                            MPI_Info info, MPI_Request *request)) {
  CALL_IN_STEPS(NAMED(Precv_init));
  (void)info;
  OUT(request);
  *request = partitioned_init('r', buf, partitions, count, type, source, tag, comm);
  return MPI_SUCCESS;
}
