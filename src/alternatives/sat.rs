//! The SAT solver behind a small trait, so that it can be replaced by another one.

use rustc_hash::FxHashSet;
use varisat::{ExtendFormula, Lit, Solver};

/// A variable or its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Literal(pub(crate) i32);

impl Literal {
    /// The opposite literal.
    pub(crate) fn negated(self) -> Literal {
        Literal(-self.0)
    }
}

/// An incremental SAT solver.
///
/// # Contract
/// Clauses are permanent; assumptions hold for one call of `solve`. `solve` is deterministic.
pub trait SatSolver: Default {
    /// A new variable, as its positive literal.
    fn literal(&mut self) -> Literal;

    /// Adds a clause.
    fn clause(&mut self, literals: &[Literal]);

    /// The true literals of a model of all clauses and `assumptions`, if there is one.
    fn solve(&mut self, assumptions: &[Literal]) -> Option<FxHashSet<Literal>>;
}

/// [varisat](https://docs.rs/varisat), a CDCL solver.
pub struct Varisat {
    solver: Solver<'static>,
    variables: i32,
}

impl Default for Varisat {
    fn default() -> Self {
        Varisat { solver: Solver::new(), variables: 0 }
    }
}

fn lit(literal: Literal) -> Lit {
    Lit::from_dimacs(literal.0 as isize)
}

impl SatSolver for Varisat {
    fn literal(&mut self) -> Literal {
        self.variables += 1;
        self.solver.new_lit();
        Literal(self.variables)
    }

    fn clause(&mut self, literals: &[Literal]) {
        let literals: Vec<Lit> = literals.iter().map(|&literal| lit(literal)).collect();
        self.solver.add_clause(&literals);
    }

    fn solve(&mut self, assumptions: &[Literal]) -> Option<FxHashSet<Literal>> {
        let assumptions: Vec<Lit> = assumptions.iter().map(|&literal| lit(literal)).collect();
        self.solver.assume(&assumptions);
        let satisfiable =
            self.solver.solve().expect("no limit and no proof output that could fail");
        let model = satisfiable.then(|| self.solver.model().expect("a satisfiable formula"));
        Some(model?.into_iter().map(|lit| Literal(lit.to_dimacs() as i32)).collect())
    }
}
