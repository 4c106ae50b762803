//! Every function of MPI is called with a pointer to memory that a receive still uses, and with a
//! null pointer.
//!
//! The functions come from the table that the header is made from, and a case is generated for each
//! pointer parameter. So a new function has its cases, too. A twin with large counts is compiled
//! from the same text: it has cases only for what has another type there.

use std::fmt::Write;

use mazurka::mpi::Function;

/// A parameter of a function.
struct Parameter {
    kind: String,
    name: String,
    is_array: bool,
}

/// A call with one parameter that is a pointer to `busy`, or null.
pub struct Call {
    pub function: String,
    pub parameter: String,
    /// Whether it is a mistake if an operation uses the memory there.
    pub is_used: bool,
    /// Whether it may be a null pointer.
    pub is_optional: bool,
}

/// Whether nothing is read or written there before the function returns. Then an operation may use
/// the memory.
fn is_used_later(function: &str, parameter: &Parameter) -> bool {
    let Parameter { kind, .. } = parameter;
    let is_data = kind.ends_with("void *");
    // An address or a value, not what is there.
    is_free(function, parameter)
        || ["Free_mem", "Buffer_attach", "Win_create", "Win_attach", "Win_detach"].contains(&function) && is_data
        // Persistent operations use it when they are started.
        || (function.ends_with("_init") && is_data)
        // It was used since the first half.
        || (function.ends_with("_end") && is_data)
        || kind.contains("_function")
        // Texts are read as far as they go.
        || kind == "const char *"
}

/// Whether MPI does not use what is at this pointer: it is only stored, or passed to the
/// environment.
fn is_free(function: &str, parameter: &Parameter) -> bool {
    let name = parameter.name.as_str();
    ["argc", "argv"].contains(&name)
        || ["extra", "location", "logical_true", "logical_false"].contains(&name)
        || (name == "value" && (function.ends_with("set_attr") || function == "Attr_put"))
        // At the first rank, which is the only one here.
        || (name == "recvbuf" && ["Exscan", "Iexscan", "Exscan_init"].contains(&function))
}

/// Whether a null pointer is allowed: no status is wanted, or there is nothing to call or to free.
fn is_optional(function: &str, parameter: &Parameter) -> bool {
    let Parameter { kind, name, .. } = parameter;
    is_free(function, parameter)
        || name.starts_with("status")
            && !function.starts_with("Get_")
            && !function.starts_with("Status_")
            && !["Test_cancelled", "Topo_test"].contains(&function)
        || kind.contains("attr_function")
        || function == "Free_mem"
        || function.starts_with("Comm_spawn") && ["argvs", "codes"].contains(&name.as_str())
}

fn parameters(text: &str) -> Vec<Parameter> {
    let parts = text.split(',').map(str::trim).filter(|part| *part != "void" && *part != "...");
    parts
        .map(|part| {
            let (part, is_array) = match part.split_once('[') {
                Some((before, _)) => (before, true),
                None => (part, false),
            };
            let at = part.rfind([' ', '*']).expect("a type and a name") + 1;
            let kind = part[..at].trim().to_owned();
            Parameter { kind, name: part[at..].to_owned(), is_array }
        })
        .collect()
}

/// The functions that are verified. Those for tools find nothing, and so write nothing.
fn functions() -> Vec<(String, Vec<Parameter>)> {
    let is_meant = |function: &Function| !function.is_refused && function.kind != "tools";
    let verified = mazurka::mpi::functions().into_iter().filter(is_meant);
    let named = |Function { name, parameters: all, .. }| (name, parameters(&all));
    verified.map(named).collect()
}

/// The function that it is a twin of, or itself.
fn base(function: &str) -> &str {
    function.strip_suffix("_c").unwrap_or(function)
}

/// A valid argument.
fn argument(called: &str, parameter: &Parameter, index: usize) -> String {
    let function = base(called);
    let Parameter { kind, name, is_array } = parameter;
    let is_const = kind.starts_with("const");
    let is_new = ["Graph_create", "Graph_map", "Cart_create", "Cart_map"].contains(&function);
    let is_around = function.to_lowercase().contains("neighbor_")
        || function.starts_with("Dist_graph_neighbors");
    let known = match (kind.trim_start_matches("const "), is_array) {
        ("MPI_Comm", _) if is_around => "around",
        ("MPI_Comm", _) if function.starts_with("Cart") && !is_new => "grid",
        ("MPI_Comm", _) if function.starts_with("Graph") && !is_new => "graph",
        ("MPI_Comm", _) => "world",
        ("MPI_Datatype", false) if called == "Type_get_contents_c" => "vast",
        ("MPI_Datatype", false) if function.starts_with("Type_get_") => "derived",
        ("MPI_Datatype", false) => "MPI_INT",
        ("MPI_Datatype", true) if is_const => "types",
        ("MPI_Op", _) => "MPI_SUM",
        ("MPI_Group", _) => "group",
        ("MPI_Info", true) => "&info",
        ("MPI_Info", _) => "info",
        ("MPI_Win", _) if ["Win_attach", "Win_detach"].contains(&function) => "dynamic",
        ("MPI_Win", _) => "win",
        ("MPI_Request", false) => "other",
        ("MPI_Request *", _) | ("MPI_Request", true) => "&other",
        ("MPI_Message *", _) => "&message",
        ("MPI_Errhandler", _) => "MPI_ERRORS_RETURN",
        ("MPI_Aint", false) if name == "disp" => "0",
        ("MPI_Aint", false) => "4",
        ("MPI_Aint", true) if is_const => "far",
        ("MPI_User_function *", _) => "add",
        ("MPI_User_function_c *", _) => "(void *)add",
        (other, _) if other.contains("errhandler_function") => "(void *)add",
        (other, _) if other.contains("Grequest") => "(void *)add",
        (other, _) if other.contains("_function") => "NULL",
        ("MPI_File", _) if function.contains("errhandler") => "MPI_FILE_NULL",
        ("MPI_File", _) => "file",
        ("MPI_Offset", _) => "0",
        ("void *", _) if function.ends_with("_end") => "memory",
        ("MPI_Session", _) => "session",
        ("char *", _) if function == "File_set_view" => "\"native\"",
        ("char *", _) if name == "form" => "\"external32\"",
        ("char *", _) if name == "name" && function.contains("pset") => "\"mpi://SELF\"",
        ("char *", true) if name == "commands" => "texts",
        ("char *", _) if is_const => "\"key\"",
        ("MPI_Count" | "int", false) => number(function, name),
        ("MPI_Count", true) if is_const => match name.as_str() {
            "recvcounts" | "sendcounts" | "lengths" | "sizes" | "subsizes" => "counts",
            _ => "far",
        },
        ("MPI_Count *", _) if name == "position" => "&place",
        ("int", true) if name == "ranges" => "ranges",
        ("int", true) if is_const => match name.as_str() {
            "distributions" | "arguments" => "none",
            "recvcounts" | "sendcounts" | "lengths" | "dims" | "sizes" | "subsizes" | "degrees"
            | "parts" | "index" => "ones",
            "counts" if function == "Comm_spawn_multiple" => "ones",
            _ => "zeros",
        },
        ("int *", _) if is_const => "ones",
        ("int *", _) if name == "position" => "&position",
        ("int *", _)
            if ["Info_get_string", "Session_get_nth_pset"].contains(&function)
                && name == "length" =>
        {
            "ones"
        }
        _ => return format!("(void *)room[{index}]"),
    };
    known.to_owned()
}

/// A number that is valid.
fn number(function: &str, name: &str) -> &'static str {
    match (function, name) {
        ("Info_get_nthkey" | "Session_get_nth_pset", "n") => "0",
        (
            _,
            "root" | "rank" | "dest" | "source" | "target" | "color" | "direction" | "disp"
            | "assertion",
        ) => "0",
        (_, "tag" | "sendtag" | "recvtag") => "0",
        ("Pack" | "Unpack" | "Pack_external" | "Unpack_external", "size") => "64",
        ("Type_get_contents", "integers") => "2",
        ("Type_get_contents", "counts") => "3",
        ("Type_match_size", "size") => "4",
        ("Info_get", "length") => "8",
        ("Win_set_attr" | "Win_delete_attr" | "Win_get_attr", "key") => "attributes[1]",
        ("Type_set_attr" | "Type_delete_attr" | "Type_get_attr", "key") => "attributes[2]",
        (_, "key") if function.to_lowercase().contains("attr") => "attributes[0]",
        (_, "order") => "MPI_ORDER_C",
        ("File_open", "mode") => "MPI_MODE_RDWR",
        (_, "whence") => "MPI_SEEK_SET",
        (_, "type") => "MPI_COMM_TYPE_SHARED",
        (_, "kind") => "MPI_TYPECLASS_INTEGER",
        _ => "1",
    }
}

/// The contents of a pointer before the call, as statements: handles that the function reads there.
fn content(function: &str, parameter: &Parameter) -> Option<&'static str> {
    let starts = ["Start", "Startall"].contains(&function);
    Some(match (function, parameter.kind.as_str()) {
        _ if starts => "persistent",
        (_, "MPI_Request *" | "MPI_Request" | "const MPI_Request")
            if !function.starts_with('I') || !function.contains('_') =>
        {
            "other"
        }
        ("Comm_free" | "Comm_disconnect", _) => "grid",
        ("Group_free", _) => "group",
        ("Op_free", _) => "operator",
        ("Type_free" | "Type_commit", _) => "derived",
        ("Info_free", _) => "info",
        ("Session_finalize", _) => "session",
        ("Win_free", _) => "win",
        ("File_close", _) => "file",
        ("Comm_free_keyval" | "Keyval_free", _) => "attributes[0]",
        ("Win_free_keyval", _) => "attributes[1]",
        ("Type_free_keyval", _) => "attributes[2]",
        ("Errhandler_free", _) => "handler",
        ("Mrecv" | "Imrecv", "MPI_Message *") => "message",
        _ => return None,
    })
}

/// The program with a case for each pointer of each function, and a description of the cases. Case
/// `2 * k` is call `k` with memory that is in use, and `2 * k + 1` with a null pointer.
pub fn program() -> (String, Vec<Call>) {
    let mut text = String::from(PRELUDE);
    let mut calls = Vec::new();
    for (function, all) in functions() {
        let base = base(&function);
        for (at, pointer) in all.iter().enumerate() {
            let is_pointer = pointer.is_array || pointer.kind.ends_with('*');
            let is_large = pointer.kind.contains("MPI_Count") || pointer.kind.contains("MPI_Aint");
            // It is made with large counts, so it has no addresses.
            let is_empty = function == "Type_get_contents_c" && pointer.name == "address";
            if !is_pointer || is_empty || base != function && !is_large {
                continue;
            }
            let number = calls.len();
            let with = |pointed: &str| {
                let arguments =
                    all.iter().enumerate().map(|(index, parameter)| match index == at {
                        true => pointed.to_owned(),
                        false => argument(&function, parameter, index),
                    });
                arguments.collect::<Vec<_>>().join(", ")
            };
            let is_ready = content(base, pointer)
                .map_or(String::new(), |what| format!("memcpy(busy, &{what}, sizeof {what}); "));
            let (used, null) = (with("(void *)busy"), with("NULL"));
            let first = base.strip_suffix("_end").map_or(String::new(), |what| {
                let place = if what.contains("_at_") { "0, " } else { "" };
                format!("MPI_{what}_begin(file, {place}memory, 1, MPI_INT); ")
            });
            writeln!(
                text,
                "    case {}: {is_ready}{first}use(); MPI_{function}({used}); break;",
                2 * number
            )
            .unwrap();
            writeln!(text, "    case {}: {first}MPI_{function}({null}); break;", 2 * number + 1)
                .unwrap();
            calls.push(Call {
                function: function.clone(),
                parameter: pointer.name.clone(),
                is_used: !is_used_later(base, pointer),
                is_optional: is_optional(base, pointer),
            });
        }
    }
    text.push_str("  }\n  return 0;\n}\n");
    (text, calls)
}

/// Declarations that the functions need. `busy` contains zeros, so it is a valid array of anything.
const PRELUDE: &str = r#"#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static char busy[512], room[16][512], *texts[2] = {"key"};
static int zeros[8], ones[8] = {1, 1, 1, 1, 1, 1, 1, 1}, none[8], ranges[1][3] = {{0, 0, 1}}, position, attributes[3];
static MPI_Aint far[8];
static MPI_Count counts[8] = {1, 1, 1, 1, 1, 1, 1, 1}, place;
static MPI_Datatype types[2], derived, vast;
static MPI_Comm world, grid, graph, around;
static MPI_Group group;
static MPI_Session session;
static MPI_Info info;
static MPI_Win win, dynamic;
static MPI_File file;
static MPI_Op operator;
static MPI_Errhandler handler = MPI_ERRORS_RETURN;
static MPI_Request pending, other, persistent;
static MPI_Message message;
static int memory[16];

static void add(void *in, void *inout, int *length, MPI_Datatype *type) { (void)in, (void)inout, (void)length, (void)type; }
static void use(void) { MPI_Irecv(busy, sizeof busy, MPI_BYTE, 0, 99, MPI_COMM_SELF, &pending); }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int which = atoi(argv[1]), itself = 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &world);
  MPI_Cart_create(world, 1, ones, zeros, 0, &grid);
  MPI_Graph_create(world, 1, ones, zeros, 0, &graph);
  MPI_Dist_graph_create_adjacent(world, 1, &itself, ones, 1, &itself, ones, MPI_INFO_NULL, 0, &around);
  MPI_Comm_group(world, &group);
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Info_create(&info);
  MPI_Info_set(info, "key", "value");
  types[0] = types[1] = MPI_INT;
  MPI_Type_create_struct(1, ones, far, types, &derived);
  MPI_Type_commit(&derived);
  MPI_Type_create_struct_c(1, counts, (MPI_Count *)far, types, &vast);
  for (int i = 0; i < 8; i++) none[i] = MPI_DISTRIBUTE_DFLT_DARG;
  none[0] = MPI_DISTRIBUTE_NONE;
  MPI_Op_create(add, 1, &operator);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &attributes[0], NULL);
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &attributes[1], NULL);
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &attributes[2], NULL);
  MPI_Comm_set_attr(world, attributes[0], NULL);
  MPI_Buffer_attach(malloc(4096), 4096);
  MPI_Irecv(room[15], 64, MPI_BYTE, 0, 98, MPI_COMM_SELF, &other);
  MPI_Recv_init(room[14], 64, MPI_BYTE, 0, 97, MPI_COMM_SELF, &persistent);
  MPI_Bsend(zeros, 1, MPI_INT, 0, 0, world);
  MPI_Bsend(zeros, 1, MPI_INT, 0, 0, world);
  MPI_Mprobe(0, 0, world, &message, MPI_STATUS_IGNORE);
  MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, world, &win);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  MPI_Win_create_dynamic(MPI_INFO_NULL, world, &dynamic);
  MPI_File_open(world, "every.dat", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  switch (which) {
"#;
