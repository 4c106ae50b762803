// What programs attach to communicators, datatypes and windows.
// 1, 2, 3, 4, 5, 6, 7, 8: right
// 9: abort
// 10: abort
// 11: invalid argument
// 12: invalid argument
// 13: invalid argument
// 14: assertion
// 15: assertion
// 16: invalid communicator
// 17: call order
#include "cases.h"
#include <assert.h>
#include <string.h>

static int copies, deletes, order[4];

static int copy(MPI_Comm comm, int key, void *extra, void *value, void *made, int *flag) {
  assert(comm == world && extra == &copies);
  copies++;
  *(void **)made = (char *)value + 1;
  *flag = 1;
  return MPI_SUCCESS;
}
static int forget(MPI_Comm comm, int key, void *value, void *extra) {
  void *still;
  int flag;
  MPI_Comm_get_attr(comm, key, &still, &flag); // It is there while this is called.
  assert(flag && still == value);
  order[deletes++ % 4] = (int)(size_t)value;
  return MPI_SUCCESS;
}
static int copy_type(MPI_Datatype type, int key, void *extra, void *value, void *made, int *flag) {
  *(void **)made = value;
  return *flag = 1, copies++, MPI_SUCCESS;
}
static int forget_any(MPI_Datatype type, int key, void *value, void *extra) { return deletes++, MPI_SUCCESS; }
static int forget_window(MPI_Win win, int key, void *value, void *extra) { return deletes++, MPI_SUCCESS; }
static int fail_to_copy(MPI_Comm comm, int key, void *extra, void *value, void *made, int *flag) { return MPI_ERR_OTHER; }
static int fail_to_delete(MPI_Comm comm, int key, void *value, void *extra) { return *(int *)extra; }

static int at_end(MPI_Comm comm, int key, void *value, void *extra) {
  int flag, result;
  MPI_Finalized(&flag);
  MPI_Comm_compare(comm, MPI_COMM_SELF, &result); // MPI is still there.
  assert(!flag && result == MPI_IDENT);
  assert((int)(size_t)value == 2 - deletes);
  deletes++;
  assert(which != 14); // wrong 14
  return MPI_SUCCESS;
}

static void *attached(MPI_Comm comm, int key) {
  void *value = NULL;
  int flag;
  MPI_Comm_get_attr(comm, key, &value, &flag);
  return flag ? value : NULL;
}

static void run(void) {
  static int result = MPI_ERR_OTHER;
  int key, plain, none, flag, memory[2] = {0}, *last, codes[2];
  void *value;
  MPI_Comm made = MPI_COMM_NULL, again;
  MPI_Datatype type, twin;
  MPI_Win win;
  MPI_Request request;
  switch (which) {
    case 1: // A communicator like another one has what the copy functions say.
      MPI_Comm_create_keyval(copy, forget, &key, &copies);
      MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &plain, NULL);
      MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &none, NULL);
      MPI_Comm_set_attr(world, key, (void *)5);
      MPI_Comm_set_attr(world, plain, (void *)7);
      MPI_Comm_set_attr(world, none, (void *)9);
      MPI_Comm_dup(world, &made);
      assert(copies == 1 && attached(made, key) == (void *)6 && attached(made, plain) == (void *)7 && !attached(made, none));
      MPI_Comm_split(world, 0, rank, &again);
      assert(!attached(again, plain) && copies == 1);
      MPI_Comm_free(&again);
      MPI_Comm_free(&made);
      assert(deletes == 1 && order[0] == 6);
      // A new value takes the place of the old one, which goes first.
      MPI_Comm_set_attr(world, key, (void *)8);
      assert(deletes == 2 && order[1] == 5 && attached(world, key) == (void *)8);
      MPI_Comm_delete_attr(world, key);
      MPI_Comm_delete_attr(world, key);
      assert(deletes == 3 && order[2] == 8 && !attached(world, key));
      break;
    case 2: // So the program goes where it goes under MPI.
      MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
      MPI_Comm_set_attr(world, key, memory);
      MPI_Comm_dup_with_info(world, MPI_INFO_NULL, &made);
      if (attached(made, key) == memory) MPI_Barrier(world);
      else MPI_Abort(world, 1);
      MPI_Comm_free(&made);
      break;
    case 3: // A freed key stays while in use; MPI_Finalize frees backwards (MPI_COMM_SELF).
    case 14:
      MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &key, NULL);
      MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &plain, NULL);
      MPI_Comm_set_attr(MPI_COMM_SELF, key, (void *)1);
      MPI_Comm_set_attr(MPI_COMM_SELF, plain, (void *)2);
      MPI_Comm_free_keyval(&plain);
      assert(plain == MPI_KEYVAL_INVALID);
      break;
    case 4: // The duplicate of a datatype.
      MPI_Type_create_keyval(copy_type, forget_any, &key, NULL);
      MPI_Type_contiguous(2, MPI_INT, &type);
      MPI_Type_set_attr(type, key, memory);
      MPI_Type_dup(type, &twin);
      MPI_Type_get_attr(twin, key, &value, &flag);
      assert(flag && value == memory && copies == 1);
      MPI_Type_free(&twin);
      MPI_Type_delete_attr(type, key);
      MPI_Type_free(&type);
      assert(deletes == 2);
      MPI_Type_set_attr(MPI_INT, key, NULL); // A basic one may have some as well.
      break;
    case 5:
      MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, forget_window, &key, NULL);
      MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, world, &win);
      MPI_Win_set_attr(win, key, memory);
      MPI_Win_get_attr(win, key, &value, &flag);
      assert(flag && value == memory);
      MPI_Win_free(&win);
      assert(deletes == 1);
      break;
    case 6: // A function that fails makes the call fail, if errors return.
      MPI_Comm_dup(world, &again);
      MPI_Comm_set_errhandler(again, MPI_ERRORS_RETURN);
      MPI_Comm_create_keyval(fail_to_copy, fail_to_delete, &key, &result);
      MPI_Comm_set_attr(again, key, (void *)1);
      assert(MPI_Comm_dup(again, &made) == MPI_ERR_OTHER && made == MPI_COMM_NULL);
      assert(MPI_Comm_set_attr(again, key, (void *)2) == MPI_ERR_OTHER && attached(again, key) == (void *)1);
      MPI_Comm made_of = again;
      assert(MPI_Comm_free(&again) == MPI_ERR_OTHER && again == made_of);
      result = MPI_SUCCESS;
      MPI_Comm_free(&again);
      break;
    case 7: // It takes what is attached when it is called, and is used when it is there.
      MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
      MPI_Comm_set_attr(world, key, (void *)1);
      MPI_Comm_idup(world, &made, &request);
      MPI_Comm_set_attr(world, key, (void *)2);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      assert(attached(made, key) == (void *)1);
      MPI_Barrier(made);
      MPI_Comm_free(&made);
      break;
    case 8: // What MPI attaches itself.
      MPI_Comm_get_attr(world, MPI_LASTUSEDCODE, &last, &flag);
      assert(flag && *last == MPI_ERR_LASTCODE);
      MPI_Add_error_class(&codes[0]);
      MPI_Add_error_code(MPI_ERR_ARG, &codes[1]);
      MPI_Comm_get_attr(world, MPI_LASTUSEDCODE, &last, &flag);
      assert(flag && *last >= codes[1] && codes[1] > codes[0]);
      break;
    case 9: // By default such an error ends the program.
      MPI_Comm_create_keyval(fail_to_copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
      MPI_Comm_set_attr(world, key, NULL);
      MPI_Comm_dup(world, &made); // wrong 9
      break;
    case 10: // Errors of datatypes belong to MPI_COMM_SELF.
      MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
      MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, (MPI_Type_delete_attr_function *)fail_to_delete, &key, &result);
      MPI_Type_contiguous(2, MPI_INT, &type);
      MPI_Type_set_attr(type, key, NULL);
      MPI_Type_free(&type); // wrong 10
      break;
    case 11:
      MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
      plain = key;
      MPI_Comm_free_keyval(&key);
      MPI_Comm_set_attr(world, plain, NULL); // wrong 11
      break;
    case 12:
      MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &key, NULL);
      MPI_Comm_set_attr(world, key, NULL); // wrong 12
      break;
    case 13: MPI_Comm_get_attr(world, 77, &value, &flag); break; // wrong 13
    case 15: // As case 2, but a copy function says that nothing is copied.
      MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
      MPI_Comm_set_attr(world, key, memory);
      MPI_Comm_dup(world, &made);
      assert(attached(made, key) == memory); // wrong 15
      break;
    case 16:
      MPI_Comm_idup(world, &made, &request); // wrong 16
      MPI_Barrier(made);                     // wrong 16
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    case 17: // It is a collective like others.
      if (rank == 0) MPI_Comm_idup(world, &made, &request); // wrong 17
      else MPI_Ibarrier(world, &request);                   // wrong 17
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
  }
}
