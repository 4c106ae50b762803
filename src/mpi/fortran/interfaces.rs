//! `mpif.h`, and the modules `mpi` and `mpi_f08`, as text in Fortran.

use std::fmt::Write;

use super::values::{Value, values};
use super::{Argument, Function, HANDLES, OLD, Parameter, all, parameters};

/// The numbers that only Fortran has.
const OWN: [(&str, &str); 8] = [
    ("MPI_STATUS_SIZE", "8"),
    ("MPI_SOURCE", "1"),
    ("MPI_TAG", "2"),
    ("MPI_ERROR", "3"),
    ("MPI_ADDRESS_KIND", "8"),
    ("MPI_OFFSET_KIND", "8"),
    ("MPI_COUNT_KIND", "8"),
    ("MPI_INTEGER_KIND", "4"),
];

/// What the compiler guarantees: sections of arrays may be copied.
const TRUTHS: [&str; 2] = ["MPI_SUBARRAYS_SUPPORTED", "MPI_ASYNC_PROTECTS_NONBLOCKING"];

/// The variables whose addresses have a meaning, each in a common block of its own: the name, its
/// block in `c/fortran.c`, its type, and its dimensions.
const PLACES: [(&str, &str, &str, &str); 10] = [
    ("MPI_BOTTOM", "bottom", "integer", ""),
    ("MPI_IN_PLACE", "in_place", "integer", ""),
    ("MPI_BUFFER_AUTOMATIC", "automatic", "integer", ""),
    ("MPI_STATUS_IGNORE", "status_ignore", "integer", "(8)"),
    ("MPI_STATUSES_IGNORE", "statuses_ignore", "integer", "(8,1)"),
    ("MPI_ERRCODES_IGNORE", "errcodes_ignore", "integer", "(1)"),
    ("MPI_UNWEIGHTED", "unweighted", "integer", "(1)"),
    ("MPI_WEIGHTS_EMPTY", "weights_empty", "integer", "(1)"),
    ("MPI_ARGV_NULL", "argv_null", "character*1", "(1)"),
    ("MPI_ARGVS_NULL", "argvs_null", "character*1", "(1,1)"),
];

/// Procedures that are passed to functions of MPI.
const PROCEDURES: [&str; 13] = [
    "MPI_NULL_COPY_FN",
    "MPI_NULL_DELETE_FN",
    "MPI_DUP_FN",
    "MPI_COMM_NULL_COPY_FN",
    "MPI_COMM_NULL_DELETE_FN",
    "MPI_COMM_DUP_FN",
    "MPI_TYPE_NULL_COPY_FN",
    "MPI_TYPE_NULL_DELETE_FN",
    "MPI_TYPE_DUP_FN",
    "MPI_WIN_NULL_COPY_FN",
    "MPI_WIN_NULL_DELETE_FN",
    "MPI_WIN_DUP_FN",
    "MPI_CONVERSION_FN_NULL",
];

/// `mpif.h`: valid in fixed form and in free form, so each line has at most 72 columns.
pub(in crate::mpi) fn header() -> String {
    let mut text =
        String::from("!     mpif.h of `mazurka mpif90`: MPI 5.0, with the values of its ABI\n");
    let mut constant = |name: &str, kind: &str, value: &str| {
        let _ = writeln!(text, "      {kind} {name}\n      parameter ({name}={value})");
    };
    for Value { name, number, .. } in values() {
        let kind = if name == "MPI_DISPLACEMENT_CURRENT" { "integer*8" } else { "integer" };
        constant(name, kind, &number.to_string());
    }
    for (name, value) in OWN {
        constant(name, "integer", value);
    }
    for name in TRUTHS {
        constant(name, "logical", ".false.");
    }
    for (name, block, kind, dimensions) in PLACES {
        let _ = writeln!(
            text,
            "      {kind} {name}{dimensions}\n      common /mazurka_{block}/ {name}"
        );
    }
    for (kind, names) in [
        ("double precision", ["MPI_WTIME", "MPI_WTICK", "PMPI_WTIME", "PMPI_WTICK"]),
        ("integer*8", ["MPI_AINT_ADD", "MPI_AINT_DIFF", "PMPI_AINT_ADD", "PMPI_AINT_DIFF"]),
    ] {
        for name in names {
            let _ = writeln!(text, "      {kind} {name}\n      external {name}");
        }
    }
    for name in PROCEDURES {
        let _ = writeln!(text, "      external {name}");
    }
    text
}

/// The module: `mpi`, or `mpi_f08`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Module {
    Plain,
    F08,
}
use Module::{F08, Plain};

/// The parameters that are numbers in C and truth values in Fortran.
fn is_logical(function: &str, name: &str) -> bool {
    let always = ["flag", "periods", "reorder", "remain", "commute", "high", "weighted"];
    always.contains(&name) || (name == "complete" && function == "Grequest_start")
}

/// The name of a parameter in the standard, where it is another one.
fn name_of(parameter: &Parameter) -> &str {
    match (parameter.kind, parameter.name.as_str()) {
        (Argument::Handle("Datatype", false), "type") => "datatype",
        (Argument::Handle("Datatype", false), "old") => "oldtype",
        (Argument::Handle("Datatype", true), "made") => "newtype",
        (Argument::Handle("Datatype", true), "type") => "datatype",
        (Argument::Handle("Comm", true), "made") => "newcomm",
        (Argument::Handle("Group", true), "made") => "newgroup",
        (Argument::Handles("Request"), _) => "array_of_requests",
        (Argument::Handles("Datatype"), "types") => "array_of_types",
        (Argument::Statuses, _) => "array_of_statuses",
        (Argument::Handle("Errhandler", _), _) => "errhandler",
        (Argument::Handle("File", _), _) => "fh",
        (Argument::Number(4), "code") => "errorcode",
        (Argument::Numbers(_), "lengths") => "array_of_blocklengths",
        (Argument::Numbers(_), "displs") => "array_of_displacements",
        (Argument::Text, "form") => "datarep",
        (_, name) => name,
    }
}

fn declared(function: &str, parameter: &Parameter, module: Module) -> String {
    let Parameter { kind, name, is_const } = parameter;
    let reads = if *is_const { ", intent(in)" } else { "" };
    let number = |size: u32| match (is_logical(function, name), size) {
        (true, _) => "logical",
        (false, 4) => "integer",
        (false, _) => "integer(8)",
    };
    let handle = |of: &str| match module {
        Plain => "integer".to_owned(),
        F08 => format!("type(MPI_{of})"),
    };
    let name = name_of(parameter);
    match *kind {
        Argument::Handle(of, false) => format!("{}, intent(in) :: {name}", handle(of)),
        Argument::Handle(of, true) => format!("{} :: {name}", handle(of)),
        Argument::Handles(of) => format!("{}{reads} :: {name}(*)", handle(of)),
        Argument::Number(size) => format!("{}, intent(in) :: {name}", number(size)),
        Argument::Result(size) => format!("{}{reads} :: {name}", number(size)),
        Argument::Numbers(size) => format!("{}{reads} :: {name}(*)", number(size)),
        Argument::Ranges => format!("integer, intent(in) :: {name}(3,*)"),
        Argument::Buffer => {
            format!("type(*), dimension(*) :: {name}\n!GCC$ ATTRIBUTES NO_ARG_CHECK :: {name}")
        }
        Argument::Status if module == F08 => format!("type(MPI_Status){reads} :: {name}"),
        Argument::Status | Argument::OldStatus => {
            format!("integer{reads} :: {name}(MPI_STATUS_SIZE)")
        }
        Argument::Statuses if module == F08 => format!("type(MPI_Status){reads} :: {name}(*)"),
        Argument::Statuses => format!("integer{reads} :: {name}(MPI_STATUS_SIZE,*)"),
        Argument::Text => format!("character(len=*), intent(in) :: {name}"),
        Argument::TextResult => format!("character(len=*) :: {name}"),
        Argument::Callback(of) if module == F08 => format!("procedure(MPI_{of}) :: {name}"),
        Argument::Callback(_) => format!("external :: {name}"),
    }
}

/// The names and declarations of the parameters of a function, without `ierror`. `None` if it is
/// left out.
fn declarations(function: &Function, module: Module) -> Option<Vec<(String, String)>> {
    let own = |all: &[(&str, &str)]| {
        let own = |(name, kind): &(&str, &str)| ((*name).into(), format!("{kind} :: {name}"));
        Some(all.iter().map(own).collect())
    };
    let handle = |kind: &str| match module {
        Plain => "integer, intent(in)".to_owned(),
        F08 => format!("type(MPI_{kind}), intent(in)"),
    };
    let (large, number) = ("integer(8), intent(in)", "integer, intent(in)");
    let of = function.name.split('_').next().unwrap_or_default();
    let object = match of {
        "Type" => ("datatype", handle("Datatype")),
        "Win" => ("win", handle("Win")),
        _ => ("comm", handle("Comm")),
    };
    let object = (object.0, &*object.1);
    match &*function.name {
        "Init" => Some(Vec::new()),
        "Init_thread" => own(&[("required", number), ("provided", "integer")]),
        "Pcontrol" => own(&[("level", number)]),
        "Info_create_env" if module == F08 => own(&[("info", "type(MPI_Info)")]),
        "Info_create_env" => own(&[("info", "integer")]),
        "Attr_get" => {
            own(&[object, ("keyval", number), ("attribute_val", "integer"), ("flag", "logical")])
        }
        "Attr_put" => own(&[object, ("keyval", number), ("attribute_val", number)]),
        name if name.ends_with("_get_attr") => {
            own(&[object, ("keyval", number), ("attribute_val", "integer(8)"), ("flag", "logical")])
        }
        name if name.ends_with("_set_attr") => {
            own(&[object, ("keyval", number), ("attribute_val", large)])
        }
        _ => {
            let mut all = parameters(function)?;
            // What functions of the program get is a number. Before MPI-2, addresses were small.
            for Parameter { kind, name, .. } in &mut all {
                let is_old = OLD.contains(&&*function.name);
                match (&*function.name, &*kind, &**name) {
                    ("Keyval_create", Argument::Buffer, "extra") => *kind = Argument::Number(4),
                    (_, Argument::Buffer, "extra") => *kind = Argument::Number(8),
                    (_, Argument::Number(_), _) if is_old => *kind = Argument::Number(4),
                    (_, Argument::Result(_), _) if is_old => *kind = Argument::Result(4),
                    (_, Argument::Numbers(_), _) if is_old => *kind = Argument::Numbers(4),
                    _ => {}
                }
            }
            let declared = |parameter: &Parameter| {
                (name_of(parameter).to_owned(), declared(&function.name, parameter, module))
            };
            Some(all.iter().map(declared).collect())
        }
    }
}

/// Functions with arrays of texts.
fn spawning(function: &str, module: Module) -> Option<Vec<(String, String)>> {
    let (info, comm) = match module {
        Plain => ("integer", "integer"),
        F08 => ("type(MPI_Info)", "type(MPI_Comm)"),
    };
    let rest = [
        ("root", "integer, intent(in) :: root".to_owned()),
        ("comm", format!("{comm}, intent(in) :: comm")),
        ("intercomm", format!("{comm} :: intercomm")),
        ("array_of_errcodes", "integer :: array_of_errcodes(*)".to_owned()),
    ];
    let first = match function {
        "Comm_spawn" => vec![
            ("command", "character(len=*), intent(in) :: command".to_owned()),
            ("argv", "character(len=*), intent(in) :: argv(*)".to_owned()),
            ("maxprocs", "integer, intent(in) :: maxprocs".to_owned()),
            ("info", format!("{info}, intent(in) :: info")),
        ],
        "Comm_spawn_multiple" => vec![
            ("count", "integer, intent(in) :: count".to_owned()),
            (
                "array_of_commands",
                "character(len=*), intent(in) :: array_of_commands(*)".to_owned(),
            ),
            ("array_of_argv", "character(len=*), intent(in) :: array_of_argv(count,*)".to_owned()),
            ("array_of_maxprocs", "integer, intent(in) :: array_of_maxprocs(*)".to_owned()),
            ("array_of_info", format!("{info}, intent(in) :: array_of_info(*)")),
        ],
        _ => return None,
    };
    let all = first.into_iter().chain(rest);
    Some(all.map(|(name, declared)| (name.to_owned(), declared)).collect())
}

/// The interface of a function under a name that begins with `MPI_` or `PMPI_`.
fn interface(function: &Function, start: &str, module: Module) -> Option<String> {
    let name = format!("{start}{}", function.name);
    let result = match &*function.result {
        "double" => Some("double precision"),
        "MPI_Aint" => Some("integer(8)"),
        _ => None,
    };
    let mut all = spawning(&function.name, module).or_else(|| declarations(function, module))?;
    let is_detached =
        function.name.contains("etach_buffer") || function.name.starts_with("Buffer_detach");
    let mut binding = String::new();
    if is_detached && module == F08 {
        for (name, declared) in &mut all {
            if name == "buffer" {
                *declared = "type(c_ptr) :: buffer".into();
            }
        }
        binding = format!(" bind(C, name=\"{}_ptr_\")", name.to_lowercase());
    }
    if result.is_none() && function.name != "Pcontrol" {
        let optional = if module == F08 { ", optional" } else { "" };
        all.push(("ierror".into(), format!("integer{optional} :: ierror")));
    }
    let names: Vec<_> = all.iter().map(|(name, _)| name.as_str()).collect();
    let head = match result {
        Some(_) => "function",
        None => "subroutine",
    };
    let mut text = format!("    {head} {name}({}){binding}\n      import\n", names.join(", "));
    if let Some(kind) = result {
        let _ = writeln!(text, "      {kind} :: {name}");
    }
    for (_, declared) in &all {
        let _ = writeln!(text, "      {declared}");
    }
    let _ = writeln!(text, "    end {head}");
    Some(text)
}

/// Everything that both modules begin with.
fn head(module: Module) -> String {
    let name = if module == F08 { "mpi_f08" } else { "mpi" };
    let mut text = format!(
        "module {name}\n  use, intrinsic :: iso_c_binding, only: c_ptr, c_int\n  implicit none\n  private :: c_ptr, c_int\n"
    );
    let mut numbers = Vec::new();
    let mut handles = Vec::new();
    for Value { name, handle, number } in values() {
        match handle.filter(|_| module == F08) {
            Some(of) => handles
                .push(format!("  type(MPI_{of}), parameter :: {name} = MPI_{of}({number})\n")),
            None if name == "MPI_DISPLACEMENT_CURRENT" => {
                numbers.push(format!("  integer(8), parameter :: {name} = {number}_8\n"));
            }
            None => numbers.push(format!("  integer, parameter :: {name} = {number}\n")),
        }
    }
    for (name, value) in OWN {
        numbers.push(format!("  integer, parameter :: {name} = {value}\n"));
    }
    for name in TRUTHS {
        numbers.push(format!("  logical, parameter :: {name} = .false.\n"));
    }
    text += &numbers.concat();
    if module == F08 {
        for handle in HANDLES {
            let _ = writeln!(
                text,
                "  type, bind(C) :: MPI_{handle}\n    integer(c_int) :: MPI_VAL\n  end type"
            );
        }
        text += STATUS;
        text += &handles.concat();
    }
    for (name, block, kind, dimensions) in PLACES {
        let (kind, dimensions) = match (module, name) {
            (F08, "MPI_STATUS_IGNORE") => ("type(MPI_Status)", ""),
            (F08, "MPI_STATUSES_IGNORE") => ("type(MPI_Status)", "(1)"),
            _ => (kind, dimensions),
        };
        let _ = writeln!(text, "  {kind} :: {name}{dimensions}\n  common /mazurka_{block}/ {name}");
    }
    text
}

const STATUS: &str = "\
  type, bind(C) :: MPI_Status
    integer(c_int) :: MPI_SOURCE, MPI_TAG, MPI_ERROR
    integer(c_int) :: MPI_internal(5)
  end type
";

/// Sizes of values of any type.
fn sizes() -> (String, String) {
    let kinds = [
        ("integer", [1, 2, 4, 8].as_slice()),
        ("real", &[4, 8, 10, 16]),
        ("complex", &[4, 8, 10, 16]),
        ("logical", &[1, 2, 4, 8]),
        ("character", &[1]),
    ];
    let (mut names, mut procedures) = (Vec::new(), String::new());
    for (kind, sizes) in kinds {
        for size in sizes {
            let name = format!("size_of_{kind}{size}");
            let typed = match kind {
                "character" => "character(len=*)".to_owned(),
                _ => format!("{kind}({size})"),
            };
            let _ = write!(
                procedures,
                "  subroutine {name}(x, size, ierror)
    {typed}, intent(in) :: x(..)
    integer, intent(out) :: size
    integer, optional, intent(out) :: ierror
    size = int(storage_size(x) / 8)
    if (present(ierror)) ierror = MPI_SUCCESS
  end subroutine
"
            );
            names.push(name);
        }
    }
    let all = names.join(", ");
    let text = format!(
        "  interface MPI_Sizeof\n    module procedure {all}\n  end interface\n  private :: {all}\n"
    );
    (text, procedures)
}

/// The procedures of MPI that are passed to functions.
fn procedures(module: Module) -> String {
    let mut text = String::new();
    for name in PROCEDURES {
        let kind = match name.split_once("_COPY_FN").or_else(|| name.split_once("_DUP_FN")) {
            Some(_) => "copy",
            None if name.contains("DELETE") => "delete",
            None => "",
        };
        let of = match name.split('_').nth(1) {
            Some("COMM") => Some("Comm"),
            Some("TYPE") => Some("Type"),
            Some("WIN") => Some("Win"),
            _ => None,
        };
        let _ = match of.filter(|_| module == F08) {
            Some(of) => writeln!(text, "  procedure(MPI_{of}_{kind}_attr_function) :: {name}"),
            None => writeln!(text, "  external :: {name}"),
        };
    }
    text
}

/// The interfaces of functions of the program, in `mpi_f08`.
fn callbacks() -> String {
    let mut text = String::from("  abstract interface\n");
    let mut add = |name: &str, all: &[(&str, &str)]| {
        let names: Vec<_> = all.iter().map(|(name, _)| *name).collect();
        let _ = writeln!(text, "    subroutine {name}({})\n      import", names.join(", "));
        for (name, kind) in all {
            let _ = writeln!(text, "      {kind} :: {name}");
        }
        text += "    end subroutine\n";
    };
    for (name, count) in [("MPI_User_function", "integer"), ("MPI_User_function_c", "integer(8)")] {
        let vector = "type(c_ptr), value";
        let all = [
            ("invec", vector),
            ("inoutvec", vector),
            ("len", count),
            ("datatype", "type(MPI_Datatype)"),
        ];
        add(name, &all);
    }
    for (of, handle) in [("Comm", "Comm"), ("Type", "Datatype"), ("Win", "Win")] {
        let handle = format!("type(MPI_{handle})");
        let copied = [
            ("object", &*handle),
            ("keyval", "integer"),
            ("extra_state", "integer(8)"),
            ("attribute_val_in", "integer(8)"),
            ("attribute_val_out", "integer(8)"),
            ("flag", "logical"),
            ("ierror", "integer"),
        ];
        add(&format!("MPI_{of}_copy_attr_function"), &copied);
        let deleted = [
            ("object", &*handle),
            ("keyval", "integer"),
            ("attribute_val", "integer(8)"),
            ("extra_state", "integer(8)"),
            ("ierror", "integer"),
        ];
        add(&format!("MPI_{of}_delete_attr_function"), &deleted);
    }
    for of in ["Comm", "Win", "File", "Session"] {
        let handle = format!("type(MPI_{of})");
        let all = [("object", &*handle), ("error_code", "integer")];
        add(&format!("MPI_{of}_errhandler_function"), &all);
    }
    let extra = ("extra_state", "integer(8)");
    let ierror = ("ierror", "integer");
    add("MPI_Grequest_query_function", &[extra, ("status", "type(MPI_Status)"), ierror]);
    add("MPI_Grequest_free_function", &[extra, ierror]);
    add("MPI_Grequest_cancel_function", &[extra, ("complete", "logical"), ierror]);
    text + "  end interface\n"
}

/// Comparisons of handles, in `mpi_f08`.
fn comparisons() -> (String, String) {
    let (mut text, mut procedures) = (String::new(), String::new());
    for (operator, word) in [("==", "same"), ("/=", "other")] {
        let names: Vec<_> = HANDLES.iter().map(|of| format!("{word}_{of}")).collect();
        let all = names.join(", ");
        let _ = writeln!(
            text,
            "  interface operator({operator})\n    module procedure {all}\n  end interface\n  private :: {all}"
        );
        for (of, name) in HANDLES.iter().zip(&names) {
            let _ = write!(
                procedures,
                "  elemental logical function {name}(one, another)
    type(MPI_{of}), intent(in) :: one, another
    {name} = one%MPI_VAL {operator} another%MPI_VAL
  end function
"
            );
        }
    }
    (text, procedures)
}

/// The functions that a module does not have: what they need is in the other one, or they are
/// refused in any case.
fn is_left_out(function: &Function, module: Module) -> bool {
    let is_old = ["Keyval_create", "Errhandler_create"].contains(&&*function.name);
    let is_new = ["Status_f2f08", "Status_f082f"].contains(&&*function.name);
    is_old && module == F08
        || is_new && module == Plain
        || function.name.starts_with("Register_datarep")
}

fn text_of(module: Module) -> String {
    let mut text = head(module);
    let (sizes, mut bodies) = sizes();
    if module == F08 {
        text += &callbacks();
    }
    text += &procedures(module);
    text += &sizes;
    for start in ["MPI_", "PMPI_"] {
        let all: Vec<_> =
            all().into_iter().filter(|function| !is_left_out(function, module)).collect();
        for function in &all {
            let is_twin = function.name.ends_with("_c");
            if is_twin && module == Plain {
                continue;
            }
            let Some(own) = interface(function, start, module) else { continue };
            // The kinds of numbers distinguish a function from its twin, if they differ.
            let name = format!("{}_c", function.name);
            let twin = all.iter().find(|other| other.name == name).filter(|_| module == F08);
            let kinds = |function: &Function| -> Option<Vec<Argument>> {
                let kinds = parameters(function)?.into_iter().map(|one| one.kind);
                Some(kinds.filter(|kind| !matches!(kind, Argument::Callback(_))).collect())
            };
            let is_distinct = |twin: &&Function| {
                kinds(twin) != kinds(function) && has_same_length(twin, function)
            };
            let base = function.name.strip_suffix("_c").filter(|_| is_twin);
            let is_done = base.is_some_and(|base| {
                let base = all.iter().find(|other| other.name == base);
                base.is_some_and(|base| {
                    kinds(base) != kinds(function) && has_same_length(base, function)
                })
            });
            match twin.filter(is_distinct) {
                _ if is_done => {}
                Some(twin) => {
                    let other = interface(twin, start, module).unwrap_or_default();
                    let _ = writeln!(
                        text,
                        "  interface {start}{}\n{own}{other}  end interface",
                        function.name
                    );
                }
                None => {
                    let _ = writeln!(text, "  interface\n{own}  end interface");
                }
            }
        }
    }
    text += "  interface\n    subroutine MPI_F_sync_reg(buf)\n      type(*), dimension(*) :: buf\n!GCC$ ATTRIBUTES NO_ARG_CHECK :: buf\n    end subroutine\n  end interface\n";
    if module == F08 {
        let (operators, more) = comparisons();
        text += &operators;
        bodies += &more;
    }
    let name = if module == F08 { "mpi_f08" } else { "mpi" };
    text + "contains\n" + &bodies + "end module " + name + "\n"
}

fn has_same_length(one: &Function, other: &Function) -> bool {
    one.parameters.matches(',').count() == other.parameters.matches(',').count()
}

/// The module `mpi`.
pub(in crate::mpi) fn module() -> String {
    text_of(Plain)
}

/// The module `mpi_f08`.
pub(in crate::mpi) fn module_f08() -> String {
    text_of(F08)
}
