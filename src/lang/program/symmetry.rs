//! What the analysis of symmetry ([`crate::lang::symmetry`]) says of states of a program.

use crate::lang::code::Instr;
use crate::lang::objects::ObjectKind;
use crate::lang::program::{Local, Program};
use crate::lang::symmetry::{Array, Found, find};
use crate::model::{Group, IndexKind, Member, Object, ProcessId, Symmetry, Term, Value, Values};

impl Program {
    /// What is known of its symmetry. Found when it is first asked for.
    pub(crate) fn found_symmetry(&self) -> &Found {
        self.symmetry.get_or_init(|| find(self))
    }

    fn array(&self, object: Object) -> Option<(&Array, u32)> {
        let (kind, number) = match object {
            Object::Mailbox(id) => (ObjectKind::Mailbox, id.0),
            Object::Mutex(id) => (ObjectKind::Mutex, id.0),
            Object::RwLock(id) => (ObjectKind::RwLock, id.0),
            Object::Semaphore(id) => (ObjectKind::Semaphore, id.0),
            Object::Barrier(id) => (ObjectKind::Barrier, id.0),
            Object::Latch(id) => (ObjectKind::Latch, id.0),
            Object::Cell(id) => (ObjectKind::Cell, id.0),
            Object::Condvar(_) | Object::Collective(_) => return None,
        };
        let mut arrays = self.found_symmetry().arrays.iter();
        let found = arrays
            .find(|one| one.kind == kind && (one.base..one.base + one.count).contains(&number));
        found.map(|one| (one, number))
    }

    /// The declaration of a process that exists from the start, and its place there.
    fn declaration_of(&self, process: ProcessId) -> Option<(usize, u32)> {
        let mut all = self.processes.iter().enumerate();
        all.find_map(|(declaration, template)| {
            let place = process.0.checked_sub(template.first)?;
            (place < template.kind.instances()).then_some((declaration, place))
        })
    }
}

impl Symmetry<Local> for Program {
    fn groups(&self) -> &[Group] {
        &self.found_symmetry().groups
    }

    fn process(&self, process: ProcessId) -> Option<Member> {
        let (declaration, place) = self.declaration_of(process)?;
        let group = self.found_symmetry().of_process[declaration]?;
        Some(Member { group, place })
    }

    fn object(&self, object: Object) -> Option<Member> {
        let (&Array { index, base, .. }, number) = self.array(object)?;
        let group = index?;
        let place = self.groups()[group as usize].place(i64::from(number - base))?;
        Some(Member { group, place })
    }

    fn family_of(&self, process: ProcessId) -> u32 {
        self.declaration_of(process).map_or(process.0, |(at, _)| self.processes[at].first)
    }

    fn array_of(&self, object: Object) -> u32 {
        self.array(object).map_or(u32::MAX, |(array, _)| array.base)
    }

    fn carried(&self, object: Object) -> [&IndexKind; 3] {
        match self.array(object) {
            Some((array, _)) => array.carried.each_ref(),
            None => [&IndexKind::Fixed; 3],
        }
    }

    fn local(&self, local: &Local, pool: &mut Values) -> Option<Term> {
        if local.failure.is_some() {
            return None;
        }
        let found = self.found_symmetry();
        let kinds = found.stacks.get(&local.pc).filter(|kinds| kinds.len() == local.stack.len());
        let kinds = kinds.unwrap_or_else(|| {
            let instr: &Instr = self.instr(local);
            panic!("a process rests at {instr:?}, where the analysis of symmetry has not been")
        });
        let mut parts = vec![Term::Word(local.pc)];
        for (value, kind) in local.stack.iter().zip(&kinds[..]) {
            parts.push(Term::of(value, kind, &found.groups, pool));
        }
        parts.push(self.books_of(local, pool));
        Some(Term::Row(parts.into()))
    }
}

impl Program {
    /// What the process remembers of objects, in no order.
    fn books_of(&self, local: &Local, pool: &mut Values) -> Term {
        let mut word = |text: String| {
            let text = text.bytes().map(|byte| Value::Int(byte.into())).collect::<Vec<_>>();
            Term::Word(pool.intern(Value::Tuple(text.into())).0)
        };
        let about = local.books.about();
        Term::bag(about.map(|(of, what)| {
            let object = of.map(|(kind, number)| {
                let mut arrays = self.found_symmetry().arrays.iter();
                let array = arrays.find(|one| {
                    one.kind == kind && (one.base..one.base + one.count).contains(&number)
                });
                let array = array.expect("an object that is declared");
                let group = array.index;
                let place = group.and_then(|group| {
                    let place = i64::from(number - array.base);
                    let place = self.groups()[group as usize].place(place)?;
                    Some(Term::Member(Member { group, place }))
                });
                let name = [Term::Word(kind as u32), Term::Word(array.base)];
                Term::row(name.into_iter().chain([place.unwrap_or(Term::Word(number))]))
            });
            Term::row(object.into_iter().chain([word(what)]))
        }))
    }
}
