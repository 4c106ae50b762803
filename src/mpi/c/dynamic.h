/* Processes that were not there at the start, and those that find each other by ports and names.
 *
 * A process has a number that no other process of the execution has: its rank, if it was there at
 * the start; otherwise the number of the first process that was spawned with it (`world_base`), and
 * its rank among these. That number is a hash of all that led to the call. */
#ifndef MAZURKA_DYNAMIC_H
#define MAZURKA_DYNAMIC_H

#include "rank.h"

#define application_number mazurka_application_number
#define intercomm_between mazurka_intercomm_between
#define mail_receive mazurka_mail_receive
#define mail_send mazurka_mail_send
#define ports_check_end mazurka_ports_check_end
#define root_is_here mazurka_root_is_here
#define root_told mazurka_root_told
#define side_put mazurka_side_put
#define spawn_join mazurka_spawn_join
#define spawn_parent mazurka_spawn_parent
#define spawn_read mazurka_spawn_read
#define universe_size mazurka_universe_size

/* spawn.c */
extern int application_number, universe_size;
/* Reads what the verifier tells a process that was spawned: see spawn.c. */
void spawn_read(const char *told);
/* In MPI_Init: meets the processes that have spawned this one, if there are any. */
void spawn_join(void);
/* The communicator with them. NULL if there are none. */
const struct comm *spawn_parent(void);

/* Whether this rank is the root of a call; what the root has told the others, who must name the same
 * one first. */
bool root_is_here(MPI_Comm handle, int root);
struct reader root_told(const struct contributions *said, const struct comm *comm, int root);

/* intercomm.c: what the leader of a group tells of it; the communicator of this group and another
 * one, which was told so. */
void side_put(struct bytes *to, const struct comm *local);
struct comm *intercomm_between(struct comm *own, struct reader *told);

/* The same file: sends to and receives from a mailbox that is apart from the program's messages:
 * `place` is the member that receives, and `number` its process. */
void mail_send(const char *mailbox, int place, int number, int from, int tag, const struct bytes *told);
struct reader mail_receive(const char *mailbox, int place, int from, int tag);

/* ports.c: at the end of the rank */
void ports_check_end(void);

#endif
