//! The functions of MPI: one table, in `functions.txt`, and what is made from it: the declarations
//! for `mpi.h`, and the functions of the library that refuse a call.

/// The table. Its head says how to read it.
const TABLE: &str = include_str!("functions.txt");

/// What stands behind the name of a section whose functions exist in three forms.
const IN_THREE_FORMS: &str = ", in three forms";

/// A function of MPI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name without `MPI_`.
    pub name: String,
    /// The section of the table that it is in.
    pub kind: &'static str,
    /// Its result in C.
    pub result: String,
    /// Its parameters in C.
    pub parameters: String,
    /// Whether a program that calls it is not verified.
    pub is_refused: bool,
}

/// All functions of the table, with their forms and twins.
pub fn functions() -> Vec<Function> {
    let mut all = Vec::new();
    for section in TABLE.split("\n[").skip(1) {
        let (heading, text) = section.split_once("]\n").expect("the end of a heading");
        let lines = text.replace("\n    ", " ");
        for line in lines.lines().filter(|line| !line.is_empty()) {
            let function = function(line, heading.trim_end_matches(IN_THREE_FORMS));
            if heading.ends_with(IN_THREE_FORMS) {
                let (first, rest) = function.name.split_at(1);
                let starts = format!("I{}{rest}", first.to_lowercase());
                let persists = format!("{}_init", function.name);
                let more = ["MPI_Request *request", "MPI_Info info, MPI_Request *request"];
                all.extend(twins(function.form(starts, more[0])));
                all.extend(twins(function.form(persists, more[1])));
            }
            all.extend(twins(function));
        }
    }
    all
}

/// The function in a line.
fn function(line: &str, kind: &'static str) -> Function {
    let (head, parameters) = line.split_once('(').expect("parameters");
    let parameters = parameters.strip_suffix(')').expect("the end of the parameters").into();
    let wanted = head.strip_prefix("refused ");
    let (result, name) =
        wanted.unwrap_or(head).split_once(' ').unwrap_or(("int", wanted.unwrap_or(head)));
    Function {
        name: name.into(),
        kind,
        result: result.into(),
        parameters,
        is_refused: wanted.is_some(),
    }
}

impl Function {
    fn form(&self, name: String, more: &str) -> Function {
        Function { name, parameters: format!("{}, {more}", self.parameters), ..self.clone() }
    }

    /// Its declaration as `MPI_F` and as `PMPI_F`.
    fn declarations(&self) -> String {
        let Function { name, result, parameters, .. } = self;
        format!("{result} MPI_{name}({parameters});\n{result} PMPI_{name}({parameters});\n")
    }
}

/// The function with the types of C, and its twin with large counts, if it has one.
fn twins(function: Function) -> Vec<Function> {
    let of = |types: [&str; 3]| in_c(&function.parameters, types);
    let (small, large) =
        (of(["int", "int", "MPI_Aint"]), of(["MPI_Count", "MPI_Aint", "MPI_Count"]));
    let has_twin = small != large;
    let twin =
        Function { name: format!("{}_c", function.name), parameters: large, ..function.clone() };
    let own = Function { parameters: small, ..function };
    [own].into_iter().chain(has_twin.then_some(twin)).collect()
}

/// The parameters with these types for `Count`, `Place` and `Far`.
fn in_c(parameters: &str, types: [&str; 3]) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let word = |word: &str| {
        let (name, behind) = word.split_at(word.find(|c| !is_part(c)).unwrap_or(word.len()));
        let known = ["Count", "Place", "Far"].iter().position(|known| *known == name);
        format!("{}{behind}", known.map_or(name, |known| types[known]))
    };
    parameters.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// The declarations, which `mpi.h` includes.
pub(super) fn declarations() -> String {
    functions().iter().map(Function::declarations).collect()
}

/// The functions of the library that refuse a call.
pub(super) fn refusals() -> String {
    let refused = functions().into_iter().filter(|function| function.is_refused);
    let texts = refused.map(|Function { name, kind, result, parameters, .. }| {
        format!("FUNCTION_OF({result}, {name}, ({parameters})) {{ REFUSE(\"MPI_{name}\", \"{kind}\"); }}\n")
    });
    [r#"#include "rank.h""#, "\n"].into_iter().map(String::from).chain(texts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters(name: &str) -> String {
        let all = functions();
        let found = all.iter().find(|function| function.name == name);
        found.unwrap_or_else(|| panic!("{name}")).parameters.clone()
    }

    #[test]
    fn a_collective_has_three_forms_and_each_has_a_twin() {
        let all = functions();
        let forms = all.iter().map(|function| function.name.as_str());
        let forms: Vec<_> =
            forms.filter(|name| name.to_lowercase().contains("allgatherv")).collect();
        let own = [
            "Iallgatherv",
            "Iallgatherv_c",
            "Allgatherv_init",
            "Allgatherv_init_c",
            "Allgatherv",
            "Allgatherv_c",
        ];
        assert_eq!(forms[..6], own);
        assert_eq!(forms.len(), 12, "those of neighbours, too: {forms:?}");
        assert_eq!(parameters("Ibarrier"), "MPI_Comm comm, MPI_Request *request");
        assert!(!forms.contains(&"Barrier_c"));
    }

    #[test]
    fn a_twin_has_larger_types() {
        assert_eq!(
            parameters("Get_count"),
            "const MPI_Status *status, MPI_Datatype type, int *count"
        );
        assert_eq!(
            parameters("Get_count_c"),
            "const MPI_Status *status, MPI_Datatype type, MPI_Count *count"
        );
        assert!(
            parameters("Alltoallv_c")
                .contains("const MPI_Count recvcounts[], const MPI_Aint rdispls[]")
        );
        assert!(parameters("Type_create_hvector").contains("MPI_Aint stride"));
        assert!(parameters("Type_create_hvector_c").contains("MPI_Count stride"));
    }

    #[test]
    fn no_function_is_there_twice() {
        let all = functions();
        let names: std::collections::BTreeSet<_> =
            all.iter().map(|function| &function.name).collect();
        assert_eq!(names.len(), all.len());
    }
}
