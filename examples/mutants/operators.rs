//! Where a file can be changed, and how.
//!
//! A mutant is written into the text beside what was there, and a number that is asked for when the
//! program runs chooses between the two. Nothing is taken away but operators, and no line is added,
//! so that line numbers stay. Operands are written once: otherwise the text would double with each
//! level of nesting.
//!
//! | text | mutants |
//! |---|---|
//! | `a < b`, `a == b`, .. | another comparison |
//! | `a && b`, `a \|\| b` | the other operator; each operand without effect |
//! | `if a`, `while a`, a guard `if a` | `true`, `false` (no `while true`) |
//! | `a + b`, `a - b` | the other operator; `0` in place of `1` |
//! | `true`, `false` | the other |
//! | `f(a);`, `x = a;`, `x += a;`, `continue;`, `return;` | no such statement |
//! | a function | returns at once: `false`, `true`, `None`, `0`, `1`, an empty vector, nothing |
//!
//! Left out are constants, types, patterns, attributes, tests, and the arguments of macros,
//! assertions among them.

use std::ops::Range;

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Block, Expr, Lit, ReturnType, Signature, Stmt, Type};

/// One change of a file.
pub struct Mutant {
    pub number: u32,
    /// The line in the file, from 1.
    pub line: usize,
    /// What was replaced by what.
    pub what: String,
    /// The text that it surrounds.
    pub around: Range<usize>,
    /// What is put before and after it, and in the place of some operator in it.
    before: String,
    after: String,
    operator: Option<(Range<usize>, String)>,
}

/// All mutants of a file, numbered from `first`.
pub fn mutants(text: &str, first: u32) -> Vec<Mutant> {
    let file = syn::parse_file(text).expect("a file that compiles");
    let mut finder = Finder { text, first, found: Vec::new() };
    finder.visit_file(&file);
    finder.found
}

/// The text with these mutants in it, and where the text of each begins and ends in it.
pub fn rewritten(text: &str, mutants: &[&Mutant]) -> (String, Vec<Range<usize>>) {
    // At one place: ends, the inner ones first; then beginnings, the outer ones first. An outer
    // mutant is in the list before those in it.
    let mut edits: Vec<(usize, i64, Range<usize>, &str, usize)> = Vec::new();
    for (at, mutant) in mutants.iter().enumerate() {
        let order = at as i64 + 1;
        let (start, end) = (mutant.around.start, mutant.around.end);
        edits.push((start, order, start..start, &mutant.before, at));
        edits.push((end, -order, end..end, &mutant.after, at));
        if let Some((range, operator)) = &mutant.operator {
            edits.push((range.start, 0, range.clone(), operator, at));
        }
    }
    edits.sort_by_key(|edit| (edit.0, edit.1));
    let mut out = String::new();
    let mut places: Vec<Option<Range<usize>>> = vec![None; mutants.len()];
    let mut copied = 0;
    for (_, _, range, with, at) in edits {
        out.push_str(&text[copied..range.start]);
        let place = places[at].get_or_insert(out.len()..out.len());
        out.push_str(with);
        place.end = out.len();
        copied = range.end;
    }
    out.push_str(&text[copied..]);
    (out, places.into_iter().map(|place| place.expect("each has an edit")).collect())
}

struct Finder<'a> {
    text: &'a str,
    first: u32,
    found: Vec<Mutant>,
}

/// The name of the question whether a mutant is on.
fn on(number: u32) -> String {
    format!("crate::mutants::on({number})")
}

impl Finder<'_> {
    fn add(
        &mut self,
        around: Range<usize>,
        line: usize,
        what: String,
        make: impl FnOnce(String) -> (String, String),
    ) -> &mut Mutant {
        let number = self.first + self.found.len() as u32;
        let (before, after) = make(on(number));
        self.found.push(Mutant { number, line, what, around, before, after, operator: None });
        self.found.last_mut().expect("it was just added")
    }

    /// The text of some source, on one line and not too long.
    fn said(&self, range: Range<usize>) -> String {
        let said = self.text[range].split_whitespace().collect::<Vec<_>>().join(" ");
        match said.char_indices().nth(70) {
            Some((end, _)) => format!("{}..", &said[..end]),
            None => said,
        }
    }

    /// `a op b` becomes `match (a, b) { (l, r) => if on { l other r } else { l op r } }`.
    fn binary(&mut self, left: &Expr, op: (&str, Span), right: &Expr, other: &str, by_ref: bool) {
        let (start, end) = (left.span().byte_range().start, right.span().byte_range().end);
        let (op, span) = op;
        let said = self.said(start..end);
        let (open, star) = if by_ref { ("&(", "*") } else { ("(", "") };
        let what = format!("`{op}` by `{other}` in `{said}`");
        let mutant = self.add(start..end, span.start().line, what, |on| {
            let (mutated, plain) =
                (format!("__l {other} {star}__r"), format!("__l {op} {star}__r"));
            let choice = format!("if {on} {{ {star}{mutated} }} else {{ {star}{plain} }}");
            (format!("(match ({open}"), format!(")) {{ (__l, __r) => {choice} }})"))
        });
        mutant.operator = Some((span.byte_range(), format!("), {open}")));
    }

    /// A condition becomes `true` or `false`.
    fn constant(&mut self, condition: &Expr, value: bool) {
        let (range, line) = (condition.span().byte_range(), condition.span().start().line);
        let said = self.said(range.clone());
        self.add(range, line, format!("`{said}` by `{value}`"), |on| {
            let before = if value { format!("({on} || (") } else { format!("(!{on} && (") };
            (before, "))".to_owned())
        });
    }

    /// Each condition of a chain with `&&`, where `let` binds, or one condition.
    fn condition(&mut self, condition: &Expr, values: &[bool]) {
        match condition {
            Expr::Let(_) => {}
            // Its operands are replaced where it is visited.
            Expr::Binary(chain) if matches!(chain.op, BinOp::And(_)) => {}
            Expr::Lit(_) => {}
            _ => values.iter().for_each(|&value| self.constant(condition, value)),
        }
    }

    /// A statement is left out.
    fn left_out(&mut self, statement: &Stmt) {
        let (range, line) = (statement.span().byte_range(), statement.span().start().line);
        let said = self.said(range.clone());
        self.add(range, line, format!("without `{said}`"), |on| {
            (format!("if !{on} {{ "), " }".to_owned())
        });
    }

    fn function(&mut self, signature: &Signature, body: &Block) {
        if signature.constness.is_some() {
            return;
        }
        let values: &[&str] = match &signature.output {
            ReturnType::Default => &[""],
            ReturnType::Type(_, of) => returned(of),
        };
        if body.stmts.is_empty() {
            return;
        }
        let at = body.brace_token.span.open().byte_range().end;
        for value in values {
            let what = format!("`{}` returns `{value}` at once", signature.ident);
            let line = signature.ident.span().start().line;
            self.add(at..at, line, what, |on| {
                (format!(" if {on} {{ return {value}; }}"), String::new())
            });
        }
        visit::visit_block(self, body);
    }
}

/// What a function of this type may return instead.
fn returned(of: &Type) -> &'static [&'static str] {
    let Type::Path(path) = of else { return &[] };
    let Some(last) = path.path.segments.last() else { return &[] };
    match last.ident.to_string().as_str() {
        "bool" => &["false", "true"],
        "Option" => &["None"],
        "usize" | "u64" | "u32" | "u16" | "u8" | "i64" | "i32" => &["0", "1"],
        "Vec" => &["Vec::new()"],
        _ => &[],
    }
}

fn has_let(chain: &Expr) -> bool {
    match chain {
        Expr::Let(_) => true,
        Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        _ => false,
    }
}

fn is_one(value: &Expr) -> bool {
    let Expr::Lit(syn::ExprLit { lit: Lit::Int(int), .. }) = value else { return false };
    int.base10_digits() == "1"
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let syn::Meta::List(list) = &attribute.meta else {
            return attribute.path().is_ident("test");
        };
        list.path.is_ident("cfg") && list.tokens.to_string() == "test"
    })
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'ast syn::TraitItemConst) {}
    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
    fn visit_type(&mut self, _: &'ast Type) {}
    fn visit_pat(&mut self, _: &'ast syn::Pat) {}
    fn visit_generic_argument(&mut self, _: &'ast syn::GenericArgument) {}
    fn visit_macro(&mut self, _: &'ast syn::Macro) {}

    fn visit_variant(&mut self, _: &'ast syn::Variant) {}

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_test(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        if !is_test(&function.attrs) {
            self.function(&function.sig, &function.block);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.function(&function.sig, &function.block);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(body) = &function.default {
            self.function(&function.sig, body);
        }
    }

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        if let Stmt::Expr(expr, Some(_)) = statement {
            let inner = match expr {
                Expr::Try(tried) => &*tried.expr,
                other => other,
            };
            let is_assignment = matches!(inner, Expr::Binary(binary) if assigns(&binary.op));
            let is_simple = matches!(
                inner,
                Expr::Call(_) | Expr::MethodCall(_) | Expr::Assign(_) | Expr::Continue(_)
            ) || matches!(inner, Expr::Return(returned) if returned.expr.is_none());
            if is_assignment || is_simple {
                self.left_out(statement);
            }
        }
        visit::visit_stmt(self, statement);
    }

    fn visit_expr_if(&mut self, branch: &'ast syn::ExprIf) {
        self.condition(&branch.cond, &[true, false]);
        visit::visit_expr_if(self, branch);
    }

    fn visit_expr_while(&mut self, repeated: &'ast syn::ExprWhile) {
        self.condition(&repeated.cond, &[false]);
        visit::visit_expr_while(self, repeated);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        if let syn::Pat::Guard(syn::PatGuard { guard, .. }) = &arm.pat {
            self.condition(guard, &[true, false]);
            self.visit_expr(guard);
        }
        self.visit_expr(&arm.body);
    }

    fn visit_expr_lit(&mut self, lit: &'ast syn::ExprLit) {
        if let Lit::Bool(value) = &lit.lit {
            let (range, line) = (lit.span().byte_range(), lit.span().start().line);
            let what = format!("`{}` by `{}`", value.value, !value.value);
            self.add(range, line, what, |on| (format!("({on} != "), ")".to_owned()));
        }
    }

    fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
        let (left, right, op) = (&*binary.left, &*binary.right, &binary.op);
        let span = op.span();
        let around = left.span().byte_range().start..right.span().byte_range().end;
        let line = span.start().line;
        let others: &[&str] = match op {
            BinOp::Eq(_) => &["!="],
            BinOp::Ne(_) => &["=="],
            BinOp::Lt(_) => &["<=", ">="],
            BinOp::Le(_) => &["<", ">"],
            BinOp::Gt(_) => &[">=", "<="],
            BinOp::Ge(_) => &[">", "<"],
            _ => &[],
        };
        let said = &self.text[span.byte_range()];
        // Only one of two can be written around the operator. The other one is the negation.
        if let [other, rest @ ..] = others {
            if !rest.is_empty() {
                let said_all = self.said(around.clone());
                let what = format!("`{said}` by `{}` in `{said_all}`", rest[0]);
                self.add(around.clone(), line, what, |on| (format!("({on} != ("), "))".to_owned()));
            }
            self.binary(left, (said, span), right, other, true);
        }
        match op {
            BinOp::And(_) | BinOp::Or(_) => {
                let is_and = matches!(op, BinOp::And(_));
                let is_let = has_let(left) || has_let(right);
                if !is_let {
                    let said_all = self.said(around.clone());
                    let other = if is_and { "||" } else { "&&" };
                    let what = format!("`{said}` by `{other}` in `{said_all}`");
                    let mutant = self
                        .add(around, line, what, |_| ("(match (".to_owned(), " } })".to_owned()));
                    let equal = if is_and { "==" } else { "!=" };
                    let on = on(mutant.number);
                    mutant.operator = Some((
                        span.byte_range(),
                        format!(") {{ __l => if __l {equal} {on} {{ __l }} else {{ "),
                    ));
                }
                for operand in [left, right] {
                    // Operands of an inner one of the same kind are replaced where that is visited.
                    let is_chain = match operand {
                        Expr::Binary(inner) => match inner.op {
                            BinOp::And(_) => is_and,
                            BinOp::Or(_) => !is_and,
                            _ => false,
                        },
                        _ => false,
                    };
                    if !is_chain && !matches!(operand, Expr::Let(_)) {
                        self.constant(operand, is_and);
                    }
                }
            }
            BinOp::Add(_) | BinOp::Sub(_) if !is_one(right) => {
                let other = if matches!(op, BinOp::Add(_)) { "-" } else { "+" };
                self.binary(left, (said, span), right, other, false);
            }
            _ => {}
        }
        if is_one(right) && (matches!(op, BinOp::Add(_) | BinOp::Sub(_)) || assigns(op)) {
            let range = right.span().byte_range();
            let what =
                format!("`1` by `0` in `{}`", self.said(left.span().byte_range().start..range.end));
            self.add(range, line, what, |on| {
                (format!("(if {on} {{ 0 }} else {{ "), " })".to_owned())
            });
        }
        visit::visit_expr_binary(self, binary);
    }
}

/// Does it change its left side?
fn assigns(op: &BinOp) -> bool {
    use BinOp::*;
    matches!(
        op,
        AddAssign(_)
            | SubAssign(_)
            | MulAssign(_)
            | DivAssign(_)
            | RemAssign(_)
            | BitXorAssign(_)
            | BitAndAssign(_)
            | BitOrAssign(_)
            | ShlAssign(_)
            | ShrAssign(_)
    )
}
