//! Collectives: the operation of a rank that enters, and the result that it computes from the
//! values of the others.
//!
//! The model gives a process the values of the ranks that it had to wait for, in the order of
//! ranks. The process computes the result from them here. So an overflow is a violation of this
//! process, at the place where it waits.

use crate::lang::ast::BinaryOp;
use crate::lang::code::Visible;
use crate::lang::hir::Operator;
use crate::lang::interpret::apply;
use crate::lang::objects::number;
use crate::lang::operators;
use crate::lang::program::{Local, Program};
use crate::model::{Call, CollectiveId, CollectiveKind, Op, Value, Values};

impl Program {
    /// The operation of a rank that enters.
    ///
    /// # Errors
    /// If its root, rank or list does not fit the collective.
    pub(super) fn enter(
        &self,
        visible: Visible,
        local: &Local,
        args: &[Value],
        values: &mut Values,
    ) -> Result<Op, String> {
        let Visible::Enter { kind, operator, root, value, rank, completion, partners } = visible
        else {
            unreachable!("{visible:?} enters nothing")
        };
        let collective = CollectiveId(number(&args[0]));
        let name = self.code.objects.collectives.name(collective.0);
        let size = *self.code.objects.collectives.start(collective.0);
        let mut rest = args[1..].iter();
        let mut next = |is_there: bool| is_there.then(|| rest.next().expect("an argument"));
        let in_range = |number: i64, what: &str| {
            u32::try_from(number).ok().filter(|&number| number < size).ok_or_else(|| {
                format!(
                    "{what} {number} in the collective `{name}`, which has the ranks 0 to {}",
                    size - 1
                )
            })
        };
        let root = next(root).map(|root| in_range(root.int(), "names the root")).transpose()?;
        let value = next(value).cloned().unwrap_or(Value::Unit);
        let rank = next(rank).map_or_else(|| self.index_of(local), Value::int);
        let rank = in_range(rank, "enters as rank")?;
        let gives_list = match kind {
            CollectiveKind::Scatter => root == Some(rank),
            CollectiveKind::Alltoall | CollectiveKind::ReduceScatter => true,
            _ => false,
        };
        if gives_list && !self.code.adds_up && operators::items(&value).len() != size as usize {
            let (kind, found) = (kind.name(), operators::items(&value).len());
            return Err(format!(
                "gives `{kind}` a list of {found} for the {size} ranks of `{name}`"
            ));
        }
        let call = Call { kind, root, operator };
        let leaving = self.code.semantics.leaving;
        let completion = completion.unwrap_or_else(|| leaving.completion());
        let partners = partners.map(|index| self.code.partners[index as usize].clone());
        Ok(Op::Enter { collective, rank, call, value: values.intern(value), completion, partners })
    }

    /// The result of a rank that contributed `own`; `given` are the values of the ranks that it
    /// waited for.
    ///
    /// # Errors
    /// If an operator fails.
    pub(super) fn conclude(
        &self,
        call: Call,
        rank: u32,
        own: &Value,
        given: &[Value],
    ) -> Result<Value, String> {
        use CollectiveKind::*;
        if self.code.adds_up {
            let add = |sum, value: &Value| self.combine(Operator::Sum, sum, value.clone());
            return given.iter().try_fold(Value::Int(0), add);
        }
        let rank = rank as usize;
        let is_root = call.root == Some(rank as u32);
        // `given` has the value of the root only, or of all ranks.
        let of_root = || match given {
            [only] => only,
            all => &all[call.root.expect("it has a root") as usize],
        };
        let list = |values: &mut dyn Iterator<Item = Value>| Value::List(values.collect());
        let part = |value: &Value| operators::items(value)[rank].clone();
        let fold = |values: &mut dyn Iterator<Item = Value>| self.fold(call, values);
        Ok(match call.kind {
            Barrier => Value::Unit,
            Bcast => of_root().clone(),
            Scatter => part(of_root()),
            Gather if is_root => list(&mut given.iter().cloned()),
            Gather => Value::List(Vec::new().into()),
            Reduce if is_root => fold(&mut given.iter().cloned())?,
            Reduce => own.clone(),
            Allreduce => fold(&mut given.iter().cloned())?,
            Allgather => list(&mut given.iter().cloned()),
            Alltoall => list(&mut given.iter().map(part)),
            Scan => fold(&mut given[..=rank].iter().cloned())?,
            Exscan if rank == 0 => own.clone(),
            Exscan => fold(&mut given[..rank].iter().cloned())?,
            ReduceScatter => fold(&mut given.iter().map(part))?,
        })
    }

    fn fold(&self, call: Call, values: &mut dyn Iterator<Item = Value>) -> Result<Value, String> {
        let operator = Operator::numbered(call.operator.expect("it has an operator"));
        let mut all = values.next().expect("at least one rank gave something");
        for value in values {
            all = self.combine(operator, all, value)?;
        }
        Ok(all)
    }

    fn combine(&self, operator: Operator, left: Value, right: Value) -> Result<Value, String> {
        Ok(match operator {
            Operator::Sum => operators::binary(BinaryOp::Add, &left, &right)?,
            Operator::Prod => operators::binary(BinaryOp::Mul, &left, &right)?,
            Operator::Min => Value::Int(left.int().min(right.int())),
            Operator::Max => Value::Int(left.int().max(right.int())),
            Operator::And => Value::Bool(left == Value::Bool(true) && right == Value::Bool(true)),
            Operator::Or => Value::Bool(left == Value::Bool(true) || right == Value::Bool(true)),
            Operator::Function(function) => {
                apply(&self.code, function, vec![left, right]).map_err(|failure| failure.message)?
            }
        })
    }
}
