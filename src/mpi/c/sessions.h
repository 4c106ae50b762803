/* Sessions: MPI without MPI_Init. */
#ifndef MAZURKA_SESSIONS_H
#define MAZURKA_SESSIONS_H

#include "rank.h"

#define comm_of_group mazurka_comm_of_group
#define env_begin mazurka_env_begin
#define env_has_world mazurka_env_has_world
#define errhandler_attach mazurka_errhandler_attach
#define group_publish mazurka_group_publish
#define session_errhandler mazurka_session_errhandler
#define session_get mazurka_session_get
#define sessions_are_open mazurka_sessions_are_open

/* comm.c: a communicator of the members of a group, who all make this call; MPI_COMM_NULL for
 * others. Its name begins like this. */
MPI_Comm comm_of_group(const struct comm *from, const struct group *members, const char *name, struct comm **result);
/* A group of these ranks, for a session. */
MPI_Group group_publish(const struct object *session, const int *ranks, int size);

/* sessions.c */
struct object *session_get(MPI_Session session);
MPI_Errhandler *session_errhandler(MPI_Session session);
bool sessions_are_open(void);

/* env.c: between MPI_Init and MPI_Finalize; at the beginning of all use of MPI */
bool env_has_world(void);
void env_begin(void);

/* errors.c: sets the error handler of an object of this kind */
int errhandler_attach(MPI_Errhandler *to, MPI_Errhandler handler, const char *of);

#endif
