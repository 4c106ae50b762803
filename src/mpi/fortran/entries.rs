//! The entries of the library that programs in Fortran call, as text in C.

use std::fmt::Write;

use super::{Argument, Function, Parameter, all, is_by_hand, parameters};

/// How a parameter is passed on: what is done before the call, the argument, what is done after it,
/// and the hidden parameter.
#[derive(Default)]
struct Passed {
    declared: String,
    before: String,
    argument: String,
    after: String,
    hidden: String,
}

/// The number of handles in an array, in terms of the parameters in Fortran.
fn number_of(function: &str, name: &str) -> &'static str {
    let is_around = function.to_lowercase().contains("neighbor_");
    match name {
        "sendtypes" if is_around => "neighbors_of(comm, true)",
        "recvtypes" if is_around => "neighbors_of(comm, false)",
        "sendtypes" => "peers_of(comm, sendbuf)",
        "recvtypes" => "peers_of(comm, NULL)",
        "made" => "*types",
        _ => "*count",
    }
}

fn passed(function: &str, parameter: &Parameter, has_flag: bool) -> Passed {
    let Parameter { kind, name, is_const } = parameter;
    let constant = if *is_const { "const " } else { "" };
    let number = |size: u32| if size == 4 { "int" } else { "MPI_Count" };
    match *kind {
        Argument::Handle(of, false) => Passed {
            declared: format!("const MPI_Fint *{name}"),
            argument: format!("HANDLE(MPI_{of}, {name})"),
            ..Passed::default()
        },
        Argument::Handle(of, true) => Passed {
            declared: format!("MPI_Fint *{name}"),
            before: format!("  MPI_{of} own_{name} = HANDLE(MPI_{of}, {name});\n"),
            argument: format!("&own_{name}"),
            after: format!("  NUMBER({name}, own_{name});\n"),
            ..Passed::default()
        },
        Argument::Handles(of) => {
            let count = number_of(function, name);
            let copied = format!("numbers_set({name}, own_{name}, {count})");
            let back = if *is_const { String::new() } else { format!("  {copied};\n") };
            Passed {
                declared: format!("{constant}MPI_Fint *{name}"),
                before: format!(
                    "  MPI_{of} *own_{name} = HANDLES({name}, {count}, {});\n",
                    !is_const
                ),
                argument: format!("own_{name}"),
                after: format!("{back}  release(own_{name});\n"),
                ..Passed::default()
            }
        }
        Argument::Number(size) => Passed {
            declared: format!("const {} *{name}", number(size)),
            argument: format!("*{name}"),
            ..Passed::default()
        },
        Argument::Numbers(4) if name.ends_with("weights") => Passed {
            declared: format!("{constant}int *{name}"),
            argument: format!("weights_in({name})"),
            ..Passed::default()
        },
        Argument::Result(4) | Argument::Numbers(4) => Passed {
            declared: format!("{constant}int *{name}"),
            argument: name.clone(),
            ..Passed::default()
        },
        Argument::Result(_) | Argument::Numbers(_) => Passed {
            declared: format!("{constant}MPI_Count *{name}"),
            argument: format!("(void *){name}"),
            ..Passed::default()
        },
        Argument::Ranges => Passed {
            declared: format!("int {name}[][3]"),
            argument: name.clone(),
            ..Passed::default()
        },
        Argument::Buffer => Passed {
            declared: format!("{constant}void *{name}"),
            argument: format!("buffer_in({name})"),
            ..Passed::default()
        },
        Argument::Status | Argument::OldStatus | Argument::Statuses => Passed {
            declared: format!("{constant}void *{name}"),
            argument: format!("status_in({name})"),
            ..Passed::default()
        },
        Argument::Text => {
            // MPI 4.1, 10: blanks around keys and values of an info are stripped.
            let is_info = ["key", "value"].contains(&&**name);
            let text = if is_info { "text_within" } else { "text_from" };
            Passed {
                declared: format!("const char *{name}"),
                before: format!("  char *own_{name} = {text}({name}, length_of_{name});\n"),
                argument: format!("own_{name}"),
                after: format!("  release(own_{name});\n"),
                hidden: format!("size_t length_of_{name}"),
            }
        }
        Argument::TextResult => {
            let condition =
                if has_flag { "outcome == MPI_SUCCESS && *flag" } else { "outcome == MPI_SUCCESS" };
            Passed {
                declared: format!("char *{name}"),
                before: format!("  char own_{name}[LONGEST] = \"\";\n"),
                argument: format!("own_{name}"),
                after: format!(
                    "  if ({condition}) text_to({name}, length_of_{name}, own_{name});\n"
                ),
                hidden: format!("size_t length_of_{name}"),
            }
        }
        Argument::Callback(of) => Passed {
            declared: format!("void *{name}"),
            argument: format!("(MPI_{of} *){name}"),
            ..Passed::default()
        },
    }
}

fn entry(function: &Function) -> Option<String> {
    let Function { name, result, .. } = function;
    let all = parameters(function)?;
    let has_flag = all.iter().any(|parameter| parameter.name == "flag");
    let passed: Vec<_> = all.iter().map(|parameter| passed(name, parameter, has_flag)).collect();
    let part = |of: fn(&Passed) -> &String| -> Vec<&str> {
        passed.iter().map(|one| of(one).as_str()).filter(|text| !text.is_empty()).collect()
    };
    let arguments = part(|one| &one.argument).join(", ");
    let lower = name.to_lowercase();
    if result != "int" {
        let declared = part(|one| &one.declared).join(", ");
        return Some(format!(
            "ENTRY_OF({result}, {lower}, ({declared})) {{ return PMPI_{name}({arguments}); }}\n"
        ));
    }
    let mut declared = part(|one| &one.declared);
    declared.push("MPI_Fint *ierror");
    declared.extend(part(|one| &one.hidden));
    let mut text = format!("ENTRY({lower}, ({})) {{\n", declared.join(", "));
    let _ = writeln!(text, "  BEGIN(\"MPI_{name}\");");
    text += &part(|one| &one.before).concat();
    let _ = writeln!(text, "  int outcome = PMPI_{name}({arguments});");
    text += &part(|one| &one.after).concat();
    text += "  END;\n}\n";
    Some(text)
}

/// The entries that follow from the table.
pub(in crate::mpi) fn entries() -> String {
    let derived = all().into_iter().filter(|function| !is_by_hand(&function.name));
    let entries = derived.filter_map(|function| entry(&function));
    ["#include \"fortran.h\"\n".to_owned()].into_iter().chain(entries).collect()
}
