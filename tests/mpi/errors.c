// Error handlers and codes.
// 1, 2, 3, 4, 5, 6: right
// 7: abort
// 8: abort
// 9: invalid tag
// 10: truncation
// 11: invalid argument
// 12: invalid argument
// 13: invalid argument
// 14: invalid argument
// 15: invalid argument
// 16: assertion
#include "cases.h"
#include <assert.h>
#include <string.h>

static int calls, last;
static MPI_Comm of;

static void handle(MPI_Comm *comm, int *code, ...) {
  int same;
  MPI_Comm_compare(*comm, of, &same);
  assert(same == MPI_IDENT);
  calls++;
  last = *code;
}
static void handle_window(MPI_Win *win, int *code, ...) { calls++, last = *code; }
static int fail_to_copy(MPI_Comm comm, int key, void *extra, void *value, void *made, int *flag) { return MPI_ERR_OTHER; }

static void run(void) {
  int key, own_class, code, found, length, mine[2] = {1, 2};
  char text[MPI_MAX_ERROR_STRING];
  MPI_Errhandler handler, same;
  MPI_Comm made, again;
  MPI_Win win;
  switch (which) {
    case 1: // What is called for an error of the program's own is called, also of a duplicate.
      MPI_Comm_create_errhandler(handle, &handler);
      MPI_Comm_dup(world, &made);
      MPI_Comm_set_errhandler(made, handler);
      MPI_Errhandler_free(&handler);
      assert(handler == MPI_ERRHANDLER_NULL);
      of = made;
      MPI_Comm_call_errhandler(made, MPI_ERR_OTHER);
      assert(calls == 1 && last == MPI_ERR_OTHER);
      MPI_Comm_dup(made, &again);
      of = again;
      MPI_Comm_call_errhandler(again, MPI_ERR_ARG);
      assert(calls == 2 && last == MPI_ERR_ARG);
      MPI_Comm_free(&again);
      MPI_Comm_free(&made);
      break;
    case 2: // The handler that is told is one more handle.
      MPI_Comm_get_errhandler(world, &handler);
      assert(handler == MPI_ERRORS_ARE_FATAL);
      MPI_Comm_create_errhandler(handle, &handler);
      MPI_Comm_set_errhandler(world, handler);
      MPI_Comm_get_errhandler(world, &same);
      assert(same == handler);
      MPI_Errhandler_free(&handler);
      MPI_Comm_set_errhandler(MPI_COMM_SELF, same);
      MPI_Errhandler_free(&same);
      of = world;
      MPI_Comm_call_errhandler(world, MPI_ERR_OTHER);
      assert(calls == 1);
      break;
    case 3: // A copy function that fails is an error of the communicator.
    case 16:
      MPI_Comm_create_errhandler(handle, &handler);
      MPI_Comm_set_errhandler(world, handler);
      MPI_Errhandler_free(&handler);
      MPI_Comm_create_keyval(fail_to_copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
      MPI_Comm_set_attr(world, key, NULL);
      of = world;
      code = MPI_Comm_dup(world, &made);
      assert(calls == 1 && code == MPI_ERR_OTHER && made == MPI_COMM_NULL);
      assert(which == 3 || calls == 0); // wrong 16
      break;
    case 4:
      MPI_Win_create(mine, sizeof mine, 1, MPI_INFO_NULL, world, &win);
      MPI_Win_create_errhandler(handle_window, &handler);
      MPI_Win_set_errhandler(win, handler);
      MPI_Win_call_errhandler(win, MPI_ERR_SIZE);
      MPI_Errhandler_free(&handler);
      assert(calls == 1 && last == MPI_ERR_SIZE);
      MPI_Win_get_errhandler(win, &handler);
      MPI_Errhandler_free(&handler);
      MPI_Win_free(&win);
      MPI_File_get_errhandler(MPI_FILE_NULL, &handler);
      assert(handler == MPI_ERRORS_RETURN);
      MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
      break;
    case 5: // Codes of the program.
      MPI_Add_error_class(&own_class);
      MPI_Error_string(own_class, text, &length);
      assert(own_class > MPI_ERR_LASTCODE && length == 0 && text[0] == 0);
      MPI_Add_error_code(own_class, &code);
      MPI_Add_error_string(code, "it is too late");
      MPI_Error_string(code, text, &length);
      assert(strcmp(text, "it is too late") == 0 && length == 14);
      MPI_Error_class(code, &found);
      assert(found == own_class);
      MPI_Remove_error_string(code);
      MPI_Remove_error_code(code);
      MPI_Remove_error_class(own_class);
      MPI_Error_class(MPI_ERR_TRUNCATE, &found);
      MPI_Error_string(MPI_ERR_TRUNCATE, text, &length);
      assert(found == MPI_ERR_TRUNCATE && strstr(text, "MPI_ERR_TRUNCATE"));
      break;
    case 6: // Nothing happens if errors return.
      MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
      assert(MPI_Comm_call_errhandler(world, MPI_ERR_OTHER) == MPI_SUCCESS);
      break;
    case 7: MPI_Comm_call_errhandler(world, MPI_ERR_OTHER); break; // wrong 7
    case 8:
      MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
      MPI_Comm_set_errhandler(world, MPI_ERRORS_ABORT);
      MPI_Comm_call_errhandler(world, MPI_ERR_ARG); // wrong 8
      break;
    case 9: // A mistake stays one, whatever the handler is.
      MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
      if (MPI_Send(mine, 1, MPI_INT, 1 - rank, -7, world) != MPI_SUCCESS) return; // wrong 9
      break;
    case 10:
      MPI_Comm_create_errhandler(handle, &handler);
      MPI_Comm_set_errhandler(world, handler);
      if (rank == 0) MPI_Send(mine, 2, MPI_INT, 1, 0, world); // wrong 10
      else MPI_Recv(mine, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE); // wrong 10
      break;
    case 11:
      MPI_Comm_create_errhandler(handle, &handler);
      same = handler;
      MPI_Errhandler_free(&handler);
      MPI_Comm_set_errhandler(world, same); // wrong 11
      break;
    case 12:
      MPI_Win_create_errhandler(handle_window, &handler);
      MPI_Comm_set_errhandler(world, handler); // wrong 12
      break;
    case 13: MPI_Error_class(123456, &found); break; // wrong 13
    case 14:
      MPI_Add_error_class(&own_class);
      MPI_Add_error_code(own_class, &code);
      MPI_Remove_error_class(own_class); // wrong 14
      break;
    case 15: MPI_Comm_set_errhandler(world, MPI_ERRHANDLER_NULL); break; // wrong 15
  }
}
