; Later patterns win.

(identifier) @variable

[(line_comment) (block_comment)] @comment
(expectation) @comment.documentation
(string) @string
(number) @number
(boolean) @boolean

(type_name) @type
(type_name (identifier) @type)

(constant name: (identifier) @constant)
(process name: (identifier) @type)
(actor name: (identifier) @type)
(enumeration name: (identifier) @type)
(enumeration (identifier) @constructor)
(enumeration name: (identifier) @type)
(variant enum: (identifier) @type name: (identifier) @constructor)
(function name: (identifier) @function)
(procedure name: (identifier) @function)
(handler name: (identifier) @function)
(parameter name: (identifier) @variable.parameter)
(family index: (identifier) @variable.parameter)
(message_pattern name: (identifier) @constructor)
(spawn name: (identifier) @type)
(call function: (identifier) @function.call)
(labelled label: (identifier) @property)
(field name: (_) @property)

[
  "const" "mailbox" "mutex" "semaphore" "barrier" "rwlock" "condvar" "latch" "collective" "shared" "enum" "fn" "proc"
  "process" "actor" "network" "init" "final" "invariant" "let" "var"
] @keyword

[
  "unfair" "strong" "symmetric" "daemon" "p2p" "bag" "durable" "lossy" "duplicating" "partitioned" "heals" "crashes"
  "restarts" "up" "to" "all" "spurious" "timeout" "when" "stuck" "on" "internal" "eventually" "always" "whenever"
  "leadsto"
] @keyword.modifier

["if" "else" "match"] @keyword.conditional
["while" "loop" "for" "break" "continue"] @keyword.repeat
["return" "spawn"] @keyword
["in" "not" "union" "intersect" "minus" "subset" "exists" "forall"] @keyword.operator

["=" "+=" "-=" "==" "!=" "<" "<=" ">" ">=" "+" "-" "*" "/" "%" "&&" "||" "!" "->" "=>" ".."] @operator
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," ";" ":" "::" "."] @punctuation.delimiter
