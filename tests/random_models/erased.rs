//! A system whose type is forgotten ([`AnySystem`]), since each type costs time to compile; and what is known of it.

use std::sync::Arc;

use mazurka::model::{
    Actors, AnySystem, Describe, Finale, Foresight, Invariants, Next, Objects, Opaque, Response,
    System, Values,
};

/// What a random program is made of, as far as explorers ask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features {
    /// All its processes are actors.
    pub actors: bool,
    /// Some actor may refuse a message.
    pub guards: bool,
    /// Some actor has internal handlers.
    pub internals: bool,
    /// Its mailboxes are p2p and bag ones, most of them.
    pub network: bool,
    /// It may spawn processes.
    pub spawns: bool,
    /// It means just what its text means.
    pub is_its_text: bool,
}

/// A system of any type.
#[derive(Clone)]
pub struct Erased<'s> {
    system: AnySystem<'s>,
    is_foreseen: bool,
    /// Of a random program: what it is.
    about: Option<Arc<(String, Features)>>,
}

impl<'s> Erased<'s> {
    /// This system.
    pub fn new<S: System + Send + 's>(system: S) -> Self {
        Erased { system: AnySystem::new(system), is_foreseen: true, about: None }
    }

    /// The same, a random program with this text and these features.
    pub fn told(self, text: String, features: Features) -> Self {
        Erased { about: Some(Arc::new((text, features))), ..self }
    }

    /// What it is, if it was told.
    pub fn about(&self) -> &(String, Features) {
        self.about.as_ref().expect("a random program")
    }

    /// This system, which stays where it is.
    pub fn of<S: System>(system: &'s S) -> Self {
        Erased { system: AnySystem::of(system), is_foreseen: true, about: None }
    }

    /// The same system, but nothing is known of it before it runs.
    pub fn unforeseen(&self) -> Self {
        Erased { is_foreseen: false, ..self.clone() }
    }
}

struct NoForesight;

impl Foresight<Opaque> for NoForesight {}

impl System for Erased<'_> {
    type Local = Opaque;

    fn objects(&self) -> &Objects {
        self.system.objects()
    }

    fn initial(&self, values: &mut Values) -> Vec<Opaque> {
        self.system.initial(values)
    }

    fn next(&self, local: &Opaque, values: &mut Values) -> Next<Opaque> {
        self.system.next(local, values)
    }

    fn resume(&self, local: &Opaque, response: Response, values: &Values) -> Opaque {
        self.system.resume(local, response, values)
    }

    fn is_daemon(&self, local: &Opaque) -> bool {
        self.system.is_daemon(local)
    }

    fn excuses(&self, local: &Opaque) -> bool {
        self.system.excuses(local)
    }

    fn release(&self, local: &Opaque) {
        self.system.release(local);
    }

    fn actors(&self) -> &dyn Actors<Opaque> {
        self.system.actors()
    }

    fn finale(&self) -> Option<&dyn Finale<Opaque>> {
        self.system.finale()
    }

    fn invariants(&self) -> Option<&dyn Invariants<Opaque>> {
        self.system.invariants()
    }

    fn foresight(&self) -> &dyn Foresight<Opaque> {
        if self.is_foreseen { self.system.foresight() } else { &NoForesight }
    }

    fn describe(&self) -> &dyn Describe<Opaque> {
        self.system.describe()
    }
}
