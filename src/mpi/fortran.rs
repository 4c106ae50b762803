//! Fortran: what is made from the table of functions for it.
//!
//! Each function has one entry in the library, which all three interfaces call: `mpif.h`, the
//! module `mpi` and the module `mpi_f08`. That is possible because a handle of `mpi_f08` is a type
//! with one integer, its statuses have the layout of those in C, an absent `ierror` is a null
//! pointer, and buffers are passed by their address in all of them.
//!
//! What cannot be derived from a prototype in C is written by hand, in `c/fortran.c` for the
//! entries ([`is_by_hand`]), and in [`interfaces`] for the modules.

mod entries;
mod interfaces;
mod values;

use super::functions::{Function, functions};

pub(super) use entries::entries;
pub(super) use interfaces::{header, module, module_f08};

/// The kinds of handles.
const HANDLES: [&str; 11] = [
    "Comm",
    "Group",
    "Datatype",
    "Op",
    "Request",
    "Win",
    "Info",
    "Message",
    "Errhandler",
    "File",
    "Session",
];

/// The functions whose entries are in `c/fortran.c`, but those of MPI-1.
const BY_HAND: [&str; 37] = [
    "Init",
    "Init_thread",
    "Pcontrol",
    "Waitany",
    "Waitsome",
    "Testany",
    "Testsome",
    "Request_get_status_any",
    "Request_get_status_some",
    "Buffer_detach",
    "Buffer_detach_c",
    "Comm_detach_buffer",
    "Comm_detach_buffer_c",
    "Session_detach_buffer",
    "Session_detach_buffer_c",
    "Comm_spawn",
    "Comm_spawn_multiple",
    "Comm_create_keyval",
    "Win_create_keyval",
    "Type_create_keyval",
    "Keyval_create",
    "Comm_get_attr",
    "Win_get_attr",
    "Type_get_attr",
    "Attr_get",
    "Comm_set_attr",
    "Win_set_attr",
    "Type_set_attr",
    "Attr_put",
    "Grequest_start",
    "Info_create_env",
    "Info_get_string",
    "Session_get_nth_pset",
    "Register_datarep",
    "Register_datarep_c",
    "Wtime",
    "Wtick",
];

/// Those of MPI-1, whose addresses are default integers. Their entries are there, too.
const OLD: [&str; 7] = [
    "Address",
    "Type_extent",
    "Type_lb",
    "Type_ub",
    "Type_hvector",
    "Type_hindexed",
    "Type_struct",
];

/// Whether the entry of this function is in `c/fortran.c`.
fn is_by_hand(name: &str) -> bool {
    BY_HAND.contains(&name) || OLD.contains(&name)
}

/// The type of a parameter in C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Argument {
    /// A handle of this kind; whether it is a pointer to one, which is changed.
    Handle(&'static str, bool),
    /// Handles of this kind.
    Handles(&'static str),
    /// A number of this many bytes.
    Number(u32),
    /// One such number, which is changed.
    Result(u32),
    /// Such numbers one after the other.
    Numbers(u32),
    /// Triples of numbers.
    Ranges,
    Buffer,
    Status,
    /// A status of `mpif.h`, where that is not the usual one.
    OldStatus,
    Statuses,
    /// A text that is read.
    Text,
    /// A text that is written.
    TextResult,
    /// A function of the program.
    Callback(&'static str),
}

/// A parameter of a function.
#[derive(Clone, Debug)]
struct Parameter {
    kind: Argument,
    name: String,
    is_const: bool,
}

/// The types of functions of the program, without `MPI_`.
const CALLBACKS: [&str; 18] = [
    "User_function",
    "User_function_c",
    "Grequest_query_function",
    "Grequest_free_function",
    "Grequest_cancel_function",
    "Datarep_extent_function",
    "Datarep_conversion_function",
    "Datarep_conversion_function_c",
    "Comm_copy_attr_function",
    "Comm_delete_attr_function",
    "Comm_errhandler_function",
    "Win_errhandler_function",
    "File_errhandler_function",
    "Session_errhandler_function",
    "Type_copy_attr_function",
    "Type_delete_attr_function",
    "Win_copy_attr_function",
    "Win_delete_attr_function",
];

/// The parameter with this text in C; `None` if it is unknown here.
fn parameter(text: &str) -> Option<Parameter> {
    let (text, array) = match text.split_once('[') {
        Some((before, dimensions)) => (before, Some(dimensions)),
        None => (text, None),
    };
    let is_const = text.starts_with("const ");
    let text = text.trim_start_matches("const ");
    let (kind, name) = text.split_at(text.rfind([' ', '*'])? + 1);
    let stars = kind.matches('*').count();
    let kind = kind.trim_end_matches(['*', ' ']);
    let of_mpi = kind.strip_prefix("MPI_");
    let among = |all: &[&'static str]| all.iter().copied().find(|known| Some(*known) == of_mpi);
    let size = match kind {
        "int" | "MPI_Fint" => Some(4),
        "MPI_Aint" | "MPI_Count" | "MPI_Offset" => Some(8),
        _ => None,
    };
    let kind = match (kind, stars, array) {
        ("int", 0, Some("][3]")) => Argument::Ranges,
        ("void", 1, None) => Argument::Buffer,
        ("char", 1, None) if is_const => Argument::Text,
        ("char", 1, None) => Argument::TextResult,
        ("MPI_Status" | "MPI_F08_status", 1, None) if name == "statuses" => Argument::Statuses,
        ("MPI_Status" | "MPI_F08_status", 1, None) => Argument::Status,
        ("MPI_Fint", 1, None) => Argument::OldStatus,
        _ if let Some(size) = size => match (stars, array) {
            (0, None) => Argument::Number(size),
            (1, None) if name.ends_with("weights") => Argument::Numbers(size),
            (1, None) => Argument::Result(size),
            (0, Some("]")) => Argument::Numbers(size),
            _ => return None,
        },
        _ if let Some(handle) = among(&HANDLES) => match (stars, array) {
            (0, None) => Argument::Handle(handle, false),
            (1, None) => Argument::Handle(handle, true),
            (0, Some("]")) => Argument::Handles(handle),
            _ => return None,
        },
        (_, 1, None) => Argument::Callback(among(&CALLBACKS)?),
        _ => return None,
    };
    Some(Parameter { kind, name: name.into(), is_const })
}

/// The parameters of a function; `None` if one of them is unknown here.
fn parameters(function: &Function) -> Option<Vec<Parameter>> {
    match &*function.parameters {
        "void" => Some(Vec::new()),
        parameters => parameters.split(", ").map(parameter).collect(),
    }
}

/// Whether Fortran has the function: not those of the interface for tools, and not those that
/// convert what only C has.
fn is_in_fortran(function: &Function) -> bool {
    match function.kind {
        "tools" => false,
        "handles as numbers" => ["Status_f2f08", "Status_f082f", "Abi_get_version", "Abi_get_info"]
            .contains(&&*function.name),
        _ => true,
    }
}

/// All functions that Fortran has.
fn all() -> Vec<Function> {
    functions().into_iter().filter(is_in_fortran).collect()
}

/// The names of the functions that Fortran has, without `MPI_`.
pub fn names() -> Vec<String> {
    all().into_iter().map(|function| function.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A function has one entry: a test of the command line links a program with all of them, and
    /// here none is made that is also written by hand.
    #[test]
    fn an_entry_is_made_or_written_by_hand() {
        let made = entries();
        let all = all();
        for function in &all {
            let name = function.name.to_lowercase();
            let heads = ["ENTRY(", "ENTRY_OF(MPI_Aint, "].map(|start| format!("{start}{name}, ("));
            let is_made = heads.iter().any(|head| made.contains(head));
            assert_eq!(is_made, !is_by_hand(&function.name), "{name}");
        }
        for name in BY_HAND.into_iter().chain(OLD) {
            assert!(all.iter().any(|function| function.name == name), "{name}");
        }
    }

    #[test]
    fn parameters_are_read() {
        let kind = |text| parameter(text).map(|parameter| parameter.kind);
        assert_eq!(kind("MPI_Comm comm"), Some(Argument::Handle("Comm", false)));
        assert_eq!(kind("MPI_Request *request"), Some(Argument::Handle("Request", true)));
        assert_eq!(kind("const MPI_Datatype types[]"), Some(Argument::Handles("Datatype")));
        assert_eq!(kind("int ranges[][3]"), Some(Argument::Ranges));
        assert_eq!(kind("const int *in_weights"), Some(Argument::Numbers(4)));
        assert_eq!(kind("const void *buf"), Some(Argument::Buffer));
        assert_eq!(kind("char *name"), Some(Argument::TextResult));
        assert_eq!(kind("MPI_User_function *function"), Some(Argument::Callback("User_function")));
        assert_eq!(kind("char ***argv"), None);
    }
}
