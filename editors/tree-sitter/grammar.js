// A grammar of specs (.maz) for tree-sitter. It follows src/lang/parser, and is wider where that is easier: what a name
// means, and whether a comparison is chained, is for `mazurka check` to say.

// From weak to strong. Operators of one strength go from left to right.
const STRENGTH = { range: 1, or: 2, and: 3, compare: 4, add: 5, multiply: 6, unary: 7, postfix: 8 };

const list = (item) => seq(item, repeat(seq(",", item)), optional(","));

module.exports = grammar({
  name: "mazurka",

  word: ($) => $.identifier,

  extras: ($) => [/[ \t\r\n\f\uFEFF]/, $.line_comment, $.expectation, $.block_comment],

  conflicts: ($) => [
    // A brace begins a block, a set or a map: what is inside tells.
    [$.block, $.set],
    // A comma is between two faults of a mailbox, or between two mailboxes.
    [$.mailbox],
    [$.fault],
    // A brace after `=>` is a block.
    [$._block_like, $.arm],
    // A statement that ends with a block needs no `;`, and may also begin an expression.
    [$._statement, $._expression],
  ],

  rules: {
    source_file: ($) => repeat($._item),

    line_comment: (_) => token(prec(1, /\/\/[^\n]*/)),
    expectation: (_) => token(prec(2, /\/\/@[^\n]*/)),
    // Comments nest.
    block_comment: ($) =>
      seq("/*", repeat(choice($.block_comment, token.immediate(prec(-1, /[^*\/]+|[*\/]/)))), token.immediate("*/")),

    // Declarations

    _item: ($) =>
      choice(
        $.constant,
        $.mailboxes,
        $.objects,
        $.cell,
        $.enumeration,
        $.function,
        $.procedure,
        $.process,
        $.actor,
        $.network,
        $.demand,
        $.init,
        $.final,
        $.invariant,
      ),

    constant: ($) =>
      seq("const", field("name", $.identifier), optional(seq(":", $._type)), "=", field("value", $._expression), ";"),

    _fairness: (_) => choice("unfair", "strong"),
    size: ($) => seq("[", $._expression, "]"),

    mailboxes: ($) =>
      seq(optional($._fairness), optional(choice("p2p", "bag")), "mailbox", $.mailbox, repeat(seq(",", $.mailbox)), ";"),
    mailbox: ($) =>
      seq(
        field("name", $.identifier),
        optional($.size),
        optional(seq(":", $._type)),
        optional(seq($.fault, repeat(seq(optional(","), $.fault)))),
      ),
    fault: ($) =>
      prec.dynamic(
        1,
        choice(
          seq(choice("lossy", "duplicating"), optional($.limit)),
          seq("partitioned", optional($.limit)),
          prec.dynamic(2, seq("partitioned", optional($.limit), optional(","), "heals")),
        ),
      ),
    limit: ($) => prec.right(seq("up", "to", $._expression, optional(seq("in", "all")))),

    objects: ($) =>
      seq(
        optional($._fairness),
        choice("mutex", "semaphore", "barrier", "rwlock", "condvar", "latch", "collective"),
        $.object,
        repeat(seq(",", $.object)),
        ";",
      ),
    object: ($) =>
      seq(
        field("name", $.identifier),
        optional($.size),
        optional(choice(seq("=", $._expression), seq("(", $._expression, ")"), seq("spurious", $._expression))),
      ),

    cell: ($) =>
      seq(optional($._fairness), "shared", field("name", $.identifier), ":", $._type, "=", $._expression, ";"),

    enumeration: ($) => seq("enum", field("name", $.identifier), "{", optional(list($.identifier)), "}"),

    function: ($) =>
      seq("fn", field("name", $.identifier), $.parameters, optional(seq("->", $._type)), field("body", $.block)),
    procedure: ($) =>
      seq("proc", field("name", $.identifier), $.parameters, optional(seq("->", $._type)), field("body", $.block)),
    parameters: ($) => seq("(", optional(list($.parameter)), ")"),
    parameter: ($) => seq(field("name", $.identifier), ":", $._type),

    process: ($) =>
      seq(
        optional($._fairness),
        optional("symmetric"),
        optional("daemon"),
        "process",
        field("name", $.identifier),
        optional(choice($.parameters, $.family)),
        optional($.crashes),
        field("body", $.block),
      ),
    family: ($) =>
      seq("[", field("index", $.identifier), "in", $._expression, "..", $._expression, "]"),
    crashes: ($) => seq("crashes", $.limit, optional(","), optional("restarts")),

    actor: ($) =>
      seq(
        optional($._fairness),
        "actor",
        field("name", $.identifier),
        optional(choice($.parameters, $.family)),
        optional($.crashes),
        "{",
        repeat(choice(";", seq($.binding, ";"), $.handler)),
        "}",
      ),
    handler: ($) =>
      seq(
        optional("strong"),
        choice(
          seq("on", field("name", $.identifier), $.parameters),
          seq("internal", field("name", $.identifier), optional(seq("(", ")"))),
        ),
        optional(seq("when", field("guard", $._expression))),
        field("body", $.block),
      ),

    network: ($) => seq("network", $.fault, repeat(seq(optional(","), $.fault)), ";"),

    demand: ($) =>
      choice(
        seq(optional("always"), "eventually", optional($.family), optional($.string), $.block),
        seq("whenever", optional($.family), optional($.string), $.block, "leadsto", $.block),
      ),

    init: ($) => seq("init", $.block),
    final: ($) => seq("final", $.block),
    invariant: ($) => seq("invariant", $.block),

    // Types

    _type: ($) => choice($.type_name, $.tuple_type, $.list_type, $.set_type),
    type_name: ($) => choice($.identifier, "process", "actor"),
    tuple_type: ($) => seq("(", optional(list($._type)), ")"),
    list_type: ($) => seq("[", $._type, optional(seq(";", $._expression)), "]"),
    set_type: ($) => seq("{", $._type, optional(seq(":", $._type)), "}"),

    // Statements

    block: ($) => seq("{", repeat($._statement), optional($._expression), "}"),

    _statement: ($) =>
      choice(
        ";",
        seq($.binding, ";"),
        seq($.assignment, ";"),
        seq($._expression, ";"),
        prec.dynamic(1, $._block_like),
      ),
    binding: ($) =>
      seq(
        optional("durable"),
        choice("let", "var"),
        field("pattern", $._pattern),
        optional(seq(":", $._type)),
        "=",
        field("value", $._value),
      ),
    assignment: ($) => seq(field("place", $._expression), choice("=", "+=", "-="), field("value", $._expression)),

    // Patterns

    _pattern: ($) => choice($.identifier, $.boolean, $.number, $.negative, $.variant, $.message_pattern, $.tuple_pattern),
    negative: ($) => seq("-", $.number),
    message_pattern: ($) => seq(field("name", $.identifier), "(", optional(list($._pattern)), ")"),
    tuple_pattern: ($) => seq("(", optional(list($._pattern)), ")"),

    // Expressions

    // Where a range may stand.
    _value: ($) => choice($._expression, $.range),
    range: ($) => prec(STRENGTH.range, seq($._expression, "..", $._expression)),

    _expression: ($) =>
      choice(
        $.identifier,
        $.number,
        $.boolean,
        $.string,
        $.variant,
        $.call,
        $.spawn,
        $.parenthesised,
        $.list,
        $.set,
        $.map,
        $.comprehension,
        $.quantified,
        $.index,
        $.field,
        $.timeout,
        $.unary,
        $.binary,
        $._block_like,
        "break",
        "continue",
        $.return,
      ),
    _block_like: ($) => choice($.block, $.if, $.match, $.while, $.loop, $.for),

    variant: ($) => seq(field("enum", $.identifier), "::", field("name", $.identifier)),
    call: ($) => prec(STRENGTH.postfix, seq(field("function", $.identifier), $.arguments)),
    spawn: ($) => seq("spawn", field("name", $.identifier), $.arguments),
    arguments: ($) => seq("(", optional(list($._argument)), ")"),
    _argument: ($) => choice($._value, $.labelled),
    labelled: ($) => seq(field("label", $.identifier), ":", $._value),

    parenthesised: ($) => seq("(", optional(list($._expression)), ")"),
    list: ($) => seq("[", optional(choice(list($._expression), seq($._expression, ";", $._expression))), "]"),
    set: ($) => seq("{", optional(list($._expression)), "}"),
    map: ($) => seq("{", list($.entry), "}"),
    entry: ($) => seq(field("key", $._expression), ":", field("value", $._expression)),
    comprehension: ($) =>
      choice(
        seq("[", $._expression, $._generators, "]"),
        seq("{", choice($._expression, $.entry), $._generators, "}"),
      ),
    _generators: ($) => seq(repeat1(seq("for", $.generator)), optional(seq("if", $._expression))),
    generator: ($) => seq($._pattern, "in", $._value),
    quantified: ($) =>
      prec.right(seq(choice("exists", "forall"), $.generator, repeat(seq(",", $.generator)), ":", $._expression)),

    index: ($) => prec(STRENGTH.postfix, seq($._expression, "[", $._expression, "]")),
    field: ($) => prec(STRENGTH.postfix, seq($._expression, ".", field("name", choice($.identifier, $.number)))),
    timeout: ($) => prec(STRENGTH.postfix, seq($.call, "timeout", optional(seq("when", "stuck")), $.block)),

    unary: ($) => prec(STRENGTH.unary, seq(choice("-", "!"), $._expression)),
    binary: ($) => {
      const table = [
        [STRENGTH.or, "||"],
        [STRENGTH.and, "&&"],
        [STRENGTH.compare, choice("==", "!=", "<", "<=", ">", ">=", "subset")],
        [STRENGTH.add, choice("+", "-", "union", "minus")],
        [STRENGTH.multiply, choice("*", "/", "%", "intersect")],
      ];
      const member = choice("in", seq("not", "in"));
      return choice(
        ...table.map(([strength, sign]) =>
          prec.left(strength, seq(field("left", $._expression), field("operator", sign), field("right", $._expression))),
        ),
        prec.left(STRENGTH.compare, seq($._expression, member, choice($._expression, $.range))),
      );
    },

    if: ($) =>
      prec.right(
        seq("if", field("condition", $._expression), $.block, optional(seq("else", choice($.if, $.block)))),
      ),
    match: ($) => seq("match", field("value", $._expression), "{", repeat($.arm), "}"),
    arm: ($) =>
      seq(
        $._pattern,
        optional(seq("if", field("guard", $._expression))),
        "=>",
        field("body", choice(prec.dynamic(1, $.block), $._expression, $.assignment)),
        optional(","),
      ),
    while: ($) => seq("while", field("condition", $._expression), $.block),
    loop: ($) => seq("loop", $.block),
    for: ($) => seq("for", $._pattern, "in", $._value, $.block),
    return: ($) => prec.right(seq("return", optional($._expression))),

    // Words

    identifier: (_) => /[A-Za-z_][A-Za-z0-9_]*/,
    number: (_) => /[0-9][0-9_]*/,
    boolean: (_) => choice("true", "false"),
    string: (_) => /"([^"\\\n]|\\[^\n])*"/,
  },
});
