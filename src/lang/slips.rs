//! Advice for newcomers: words and signs of other languages, and how to write them here.
//!
//! None of these is a part of the language. A word is looked up only if it is unknown, so a program
//! may use it as a name of its own.

/// Advice for a function that does not exist.
pub(crate) fn function(name: &str) -> Option<&'static str> {
    Some(match name {
        "print" | "printf" | "println" | "echo" | "log" | "puts" | "cout" | "write" => {
            "nothing is printed: `local(\"…\")` leaves a label in the execution, and reports show all variables"
        }
        "range" => "a range is written `0..n`",
        "rand" | "random" | "randint" | "nondet" | "any" => {
            "`choose(lo..hi)` tries every value of a range"
        }
        "length" | "size" | "count" => "the length of a list is `len(list)`",
        "append" | "push_back" => "`list = push(list, item)` adds an item at the end",
        "add" | "insert" => {
            "`list = push(list, item)` adds an item at the end; `s union {x}` is a set with one more"
        }
        "put" => "a map gets a value by `m[k] = v;`",
        "pop" | "delete" | "erase" => {
            "`list = remove(list, index)` takes an item out; `s minus {x}` is a set without one"
        }
        "contains" | "has" | "member" | "elem" | "has_key" | "contains_key" => {
            "to look for an element or a key, write `x in s`"
        }
        "union" | "minus" | "intersect" | "subset" => "it stands between two sets: `s union t`",
        "intersection" => "what is in two sets is `s intersect t`",
        "difference" => "what is in one of two sets only is `s minus t`",
        "all" | "every" => "a condition of all elements: `forall x in s: x > 0`",
        "some" => "a condition of some element: `exists x in s: x > 0`",
        "set" | "map" | "dict" | "Set" | "Map" => {
            "a set is written `{1, 2}`, a map `{1: true, 2: false}`"
        }
        "sleep" | "delay" | "usleep" | "yield" | "sched_yield" => {
            "there is no time: every order of steps is explored anyway"
        }
        "exit" | "abort" | "panic" | "error" | "fail" | "raise" | "throw" => {
            "to report a failure, write `assert(false, \"…\")`; a process ends by `return;`"
        }
        "assume" | "require" => {
            "a process that must not go on can wait for ever, or end by `return;`"
        }
        "await" | "wait_until" => {
            "to wait for a condition, use `cond_wait(condvar, mutex)`, a message, a semaphore, or a loop that reads"
        }
        "min" | "max" | "abs" => {
            "write a function: `fn max(a: int, b: int) -> int { if a > b { a } else { b } }`"
        }
        "switch" | "case" => "to tell values apart, write `match x { 1 => …, _ => … }`",
        "elif" | "elsif" | "elseif" => "write `else if`",
        "not" => "logical not is `!`",
        "int" | "bool" => "there are no conversions: integers and truth values are different types",
        _ => return None,
    })
}

/// Advice for a value that does not exist.
pub(crate) fn value(name: &str) -> Option<&'static str> {
    Some(match name {
        "null" | "nil" | "None" | "NULL" | "nullptr" | "undefined" | "none" => {
            "there is no null: choose a value that stands for nothing, or a variant of an `enum`"
        }
        "True" | "TRUE" => "this is `true`",
        "False" | "FALSE" => "this is `false`",
        "this" => "an actor calls itself `self`",
        "pid" | "_pid" | "my_pid" | "tid" | "rank" | "id" => {
            "a process of a family names its index: `process P[i in 0..3] { … }`"
        }
        "skip" | "pass" | "nop" | "noop" => "a block may be empty: `{ }`",
        "unit" | "void" => "the value of statements is `()`",
        "else" | "otherwise" | "default" => "what matches any value is `_`",
        _ => return None,
    })
}

/// Advice for an unknown word at the start of a declaration.
pub(crate) fn declaration(word: &str) -> Option<&'static str> {
    Some(match word {
        "def" | "func" | "function" | "fun" | "sub" | "method" => {
            "a function is written `fn f(x: int) -> int { … }`; one that acts on objects is a `proc`"
        }
        "procedure" | "void" => "a procedure is written `proc p(x: int) { … }`",
        "thread" | "task" | "proctype" | "active" | "main" | "worker" | "agent" => {
            "what runs is a process: `process P { … }`, or several: `process P[i in 0..3] { … }`"
        }
        "struct" | "record" | "class" | "type" | "typedef" | "union" | "data" => {
            "values are combined in tuples, `(1, true)`; an `enum` declares names for values"
        }
        "import" | "include" | "use" | "module" | "require" | "from" | "using" => {
            "a spec is one file, and includes no others"
        }
        "daemon" | "server" | "service" => {
            "a process that may wait for ever is declared `daemon process P { … }`"
        }
        "assert" | "invariant" | "property" | "ltl" | "spec" | "ensure" => {
            "an assertion stands in a process; what must hold in every state stands in `invariant { … }`, what must hold at \
             the end in `final { … }`"
        }
        "define" => "a constant is written `const N = 3;`",
        _ => return None,
    })
}

/// Advice for a word in front of a block.
pub(crate) fn block(word: &str) -> Option<&'static str> {
    Some(match word {
        "atomic" | "d_step" | "atomically" | "transaction" | "synchronized" | "critical" => {
            "each operation is a step of its own: use `cas`, `fetch_add` or `swap` on one cell, and a mutex around several \
             operations: `lock(m); … unlock(m);`"
        }
        _ => return None,
    })
}

/// Advice for a sign that the language does not have.
pub(crate) fn sign(text: &str) -> Option<&'static str> {
    let first = text.chars().next()?;
    Some(match first {
        '&' => "logical and is `&&`",
        '|' => "logical or is `||`",
        '?' => "there is no `c ? a : b`: write `if c { a } else { b }`",
        '\'' | '`' | '“' | '”' | '„' | '‘' | '’' | '«' | '»' => {
            "texts are written between double quotes: `\"…\"`"
        }
        '#' => "a comment starts with `//`",
        '–' | '—' | '−' => "the minus sign is `-`",
        '≤' => "this is written `<=`",
        '≥' => "this is written `>=`",
        '≠' => "this is written `!=`",
        '∈' | '∉' => "this is written `in`, or `not in`",
        '∪' => "this is written `union`",
        '∩' => "this is written `intersect`",
        '∖' => "this is written `minus`",
        '⊆' | '⊂' => "this is written `subset`",
        '∃' => "this is written `exists x in s: …`",
        '∀' => "this is written `forall x in s: …`",
        '∅' => "this is written `{}`",
        '∧' => "this is written `&&`",
        '∨' => "this is written `||`",
        '¬' => "this is written `!`",
        '→' => "this is written `->`, and `=>` in a `match`",
        '×' | '·' => "this is written `*`",
        '÷' => "this is written `/`",
        '…' => "a range is written `0..n`",
        '^' | '~' => "there are no operations on bits",
        '@' => "the expected results of a spec stand in a comment: `//@ traces 2`",
        '\u{a0}' | '\u{2000}'..='\u{200b}' | '\u{202f}' | '\u{3000}' => {
            "this is a special kind of space: type an ordinary one"
        }
        c if c.is_alphabetic() => "names are made of the letters a to z and A to Z, digits and `_`",
        c if c.is_control() => "this character cannot be seen: delete it",
        _ => return None,
    })
}
