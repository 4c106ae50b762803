//! What reports say of a compiled program: names, places, variables, calls of procedures.

use super::{Local, MAX_LINKS, OwnWorld, Program};
use crate::lang::books::Books;
use crate::lang::code::Instr;
use crate::lang::interpret::Machine;
use crate::model::{
    Choice, Describe, Incident, Mark, Names, Response, Site, Stimulus, Value, Values,
};

impl Describe<Local> for Program {
    fn handler_site(&self, local: &Local, stimulus: Stimulus, values: &Values) -> Option<Site> {
        self.site_of_handler(local, stimulus, values)
    }

    fn process_name(&self, local: &Local) -> String {
        let qualified = self.processes[local.declaration() as usize].qualified;
        let most = if qualified { MAX_LINKS } else { 1 };
        let mut links = local.path.upwards();
        let mut names: Vec<_> =
            links.by_ref().take(most).map(|link| self.link_name(link)).collect();
        if qualified && links.next().is_some() {
            names.push("..".into());
        }
        names.reverse();
        names.join("/")
    }

    fn incident(&self, local: &Local, choice: Choice) -> Option<Incident> {
        self.incident(local, choice)
    }

    fn handler_incident(
        &self,
        local: &Local,
        stimulus: Stimulus,
        values: &Values,
    ) -> Option<Incident> {
        self.handler(local, stimulus, values)?.incident
    }

    fn chosen(&self, local: &Local, place: i64) -> Option<Value> {
        self.chosen_element(local, place)
    }

    fn site(&self, local: &Local) -> Option<Site> {
        match (&local.failure, self.instr(local)) {
            (Some(failure), _) => failure.site.clone(),
            (None, Instr::Visible(_) | Instr::Handle(_)) => Some(self.code.site(local.pc).clone()),
            _ => None,
        }
    }

    fn variables(&self, local: &Local, names: Names<'_>) -> Vec<(String, String)> {
        let shown = |value| self.show(value, names);
        // The program cannot write the names of hidden variables.
        let written = self.in_scope(local).filter(|(name, ..)| !name.starts_with('('));
        written.map(|(name, value, _)| (name.to_owned(), shown(value))).collect()
    }

    fn marks(&self, local: &Local, response: Option<Response>, values: &Values) -> Vec<Mark> {
        let template = &self.processes[local.declaration() as usize];
        let has_calls = !self.code.routines.is_empty();
        if !has_calls || template.is_actor || response == Some(Response::Overflow) {
            return Vec::new();
        }
        let (stack, books, pc) = match response {
            Some(response) => {
                let Ok((stack, books)) = self.after_response(local, response, values) else {
                    return Vec::new();
                };
                (stack, books, local.pc + 1)
            }
            None => {
                let args = local.stack[..template.params as usize].to_vec();
                (args, Books::default(), self.code.processes[local.declaration() as usize])
            }
        };
        let mut machine = Machine::new(&self.code, OwnWorld(&books), stack, pc);
        machine.journal = Some(Vec::new());
        machine.run();
        machine.journal.unwrap_or_default()
    }

    fn show_value(&self, value: &Value, names: Names<'_>) -> String {
        self.show(value, names)
    }
}
