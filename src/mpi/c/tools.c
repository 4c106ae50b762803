/* The interface for tools (MPI 4.1, chapter 15). There are no variables, no categories of them and no
 * events: each number of them is 0, and whatever names one is an error, which a program sees as the
 * result of its call (15.3.10). */
#include "rank.h"

/* How often the interface was initialised more than finalised. */
static int opened;

/* These functions may be called before MPI_Init and after MPI_Finalize. */
#define TOOL(function)                                  \
  HERE("MPI_" function);                                \
  if (opened == 0) return MPI_T_ERR_NOT_INITIALIZED

FUNCTION(T_init_thread, (int required, int *provided)) {
  HERE("MPI_T_init_thread");
  *OUT(provided) = required;
  opened++;
  return MPI_SUCCESS;
}

FUNCTION(T_finalize, (void)) {
  TOOL("T_finalize");
  opened--;
  return MPI_SUCCESS;
}

#define NUMBER(name)                \
  FUNCTION(name, (int *count)) {    \
    TOOL(#name);                    \
    *OUT(count) = 0;                \
    return MPI_SUCCESS;             \
  }
NUMBER(T_category_get_num)
NUMBER(T_cvar_get_num)
NUMBER(T_pvar_get_num)
NUMBER(T_event_get_num)
NUMBER(T_source_get_num)
NUMBER(T_category_changed)

#define UNKNOWN_NAME(name, parameters)            \
  FUNCTION(name, parameters) {                    \
    TOOL(#name);                                  \
    text_in(named, "the name");                   \
    return MPI_T_ERR_INVALID_NAME;                \
  }
UNKNOWN_NAME(T_category_get_index, (const char *named, int *category))
UNKNOWN_NAME(T_cvar_get_index, (const char *named, int *index))
UNKNOWN_NAME(T_pvar_get_index, (const char *named, int var_class, int *index))
UNKNOWN_NAME(T_event_get_index, (const char *named, int *index))

FUNCTION(T_pvar_session_create, (MPI_T_pvar_session *session)) {
  TOOL("T_pvar_session_create");
  static int made;
  *OUT(session) = (MPI_T_pvar_session)(intptr_t)++made;
  return MPI_SUCCESS;
}

FUNCTION(T_pvar_session_free, (MPI_T_pvar_session *session)) {
  TOOL("T_pvar_session_free");
  *OUT(session) = MPI_T_PVAR_SESSION_NULL;
  return MPI_SUCCESS;
}

/* With MPI_T_PVAR_ALL_HANDLES, there is nothing to be done. */
#define FOR_ALL(name)                                                                             \
  FUNCTION(name, (MPI_T_pvar_session session, MPI_T_pvar_handle handle)) {                        \
    TOOL(#name);                                                                                  \
    (void)session;                                                                                \
    return handle == MPI_T_PVAR_ALL_HANDLES ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE;             \
  }
FOR_ALL(T_pvar_start)
FOR_ALL(T_pvar_stop)
FOR_ALL(T_pvar_reset)

#define WRONG(name, code, parameters) \
  FUNCTION(name, parameters) {        \
    TOOL(#name);                      \
    return code;                      \
  }
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define NO_INDEX(name, parameters) WRONG(name, MPI_T_ERR_INVALID_INDEX, parameters)
#define NO_HANDLE(name, parameters) WRONG(name, MPI_T_ERR_INVALID_HANDLE, parameters)
NO_INDEX(T_category_get_categories, (int category, int len, int indices[]))
NO_INDEX(T_category_get_cvars, (int category, int len, int indices[]))
NO_INDEX(T_category_get_events, (int category, int len, int indices[]))
NO_INDEX(T_category_get_info, (int category, char *name, int *name_length, char *text, int *text_length, int *cvars,
         int *pvars, int *categories))
NO_INDEX(T_category_get_num_events, (int category, int *count))
NO_INDEX(T_category_get_pvars, (int category, int len, int indices[]))
NO_INDEX(T_cvar_get_info, (int index, char *name, int *name_length, int *level, MPI_Datatype *type, MPI_T_enum *kind,
         char *text, int *text_length, int *bind, int *scope))
NO_INDEX(T_cvar_handle_alloc, (int index, void *object, MPI_T_cvar_handle *handle, int *count))
NO_INDEX(T_event_get_info, (int index, char *name, int *name_length, int *level, MPI_Datatype types[],
         MPI_Aint places[], int *elements, MPI_T_enum *kind, MPI_Info *info, char *text, int *text_length,
         int *bind))
NO_INDEX(T_event_handle_alloc, (int index, void *object, MPI_Info info, MPI_T_event_registration *registration))
NO_INDEX(T_pvar_get_info, (int index, char *name, int *name_length, int *level, int *var_class, MPI_Datatype *type,
         MPI_T_enum *kind, char *text, int *text_length, int *bind, int *readonly, int *continuous, int *atomic))
NO_INDEX(T_pvar_handle_alloc, (MPI_T_pvar_session session, int index, void *object, MPI_T_pvar_handle *handle,
         int *count))
NO_INDEX(T_source_get_info, (int source, char *name, int *name_length, char *text, int *text_length,
         MPI_T_source_order *ordering, MPI_Count *frequency, MPI_Count *most, MPI_Info *info))
NO_INDEX(T_source_get_timestamp, (int source, MPI_Count *time))
NO_HANDLE(T_cvar_handle_free, (MPI_T_cvar_handle *handle))
NO_HANDLE(T_cvar_read, (MPI_T_cvar_handle handle, void *buf))
NO_HANDLE(T_cvar_write, (MPI_T_cvar_handle handle, const void *buf))
NO_HANDLE(T_enum_get_info, (MPI_T_enum kind, int *num, char *name, int *name_length))
NO_HANDLE(T_enum_get_item, (MPI_T_enum kind, int index, int *value, char *name, int *name_length))
NO_HANDLE(T_event_callback_get_info, (MPI_T_event_registration registration, MPI_T_cb_safety safety,
         MPI_Info *info))
NO_HANDLE(T_event_callback_set_info, (MPI_T_event_registration registration, MPI_T_cb_safety safety, MPI_Info info))
NO_HANDLE(T_event_copy, (MPI_T_event_instance event, void *buffer))
NO_HANDLE(T_event_get_source, (MPI_T_event_instance event, int *source))
NO_HANDLE(T_event_get_timestamp, (MPI_T_event_instance event, MPI_Count *time))
NO_HANDLE(T_event_handle_free, (MPI_T_event_registration registration, void *with,
         MPI_T_event_free_cb_function function))
NO_HANDLE(T_event_handle_get_info, (MPI_T_event_registration registration, MPI_Info *info))
NO_HANDLE(T_event_handle_set_info, (MPI_T_event_registration registration, MPI_Info info))
NO_HANDLE(T_event_read, (MPI_T_event_instance event, int element, void *buffer))
NO_HANDLE(T_event_register_callback, (MPI_T_event_registration registration, MPI_T_cb_safety safety, MPI_Info info,
         void *with, MPI_T_event_cb_function function))
NO_HANDLE(T_event_set_dropped_handler, (MPI_T_event_registration registration,
         MPI_T_event_dropped_cb_function function))
NO_HANDLE(T_pvar_handle_free, (MPI_T_pvar_session session, MPI_T_pvar_handle *handle))
NO_HANDLE(T_pvar_read, (MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf))
NO_HANDLE(T_pvar_readreset, (MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf))
NO_HANDLE(T_pvar_write, (MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void *buf))
