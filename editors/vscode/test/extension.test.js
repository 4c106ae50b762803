// Runs the extension with the real client and the real server, in an editor that is made up: it remembers what is
// registered and shown. What an editor would draw is not tested.
"use strict";

const assert = require("node:assert");
const { mkdtempSync, readFileSync, rmSync, writeFileSync } = require("node:fs");
const Module = require("node:module");
const { tmpdir } = require("node:os");
const { join } = require("node:path");
const { test } = require("node:test");
const { setTimeout: pause } = require("node:timers/promises");

const TEXT = "mailbox m;\nprocess A { send(m, 1); }\nprocess B { let x = recv(m); assert(x == 2); }\n";

class Position {
  constructor(line, character) {
    Object.assign(this, { line, character });
  }
}
class Range {
  constructor(a, b, c, d) {
    [this.start, this.end] = c === undefined ? [a, b] : [new Position(a, b), new Position(c, d)];
  }
}
class Uri {
  constructor(path) {
    Object.assign(this, { scheme: "file", authority: "", path, fsPath: path, query: "", fragment: "" });
  }
  static parse(text) {
    return new Uri(text.replace("file://", ""));
  }
  static file(path) {
    return new Uri(path);
  }
  with() {
    return this;
  }
  toString() {
    return `file://${this.path}`;
  }
}

const nothing = { dispose() {} };
const event = (listeners = []) => {
  const on = (listener, self) => {
    listeners.push(listener.bind(self));
    return nothing;
  };
  on.fire = (what) => Promise.all(listeners.map((listener) => listener(what)));
  return on;
};
/** An object that has everything: classes, functions, events, objects. What is given goes first. */
function anything(given) {
  return new Proxy(given, {
    get(known, name) {
      if (name in known || typeof name === "symbol") return known[name];
      if (/^[A-Z]/.test(name)) return (known[name] = anything(class {}));
      if (/^on[A-Z]/.test(name)) return (known[name] = event());
      return (known[name] = () => nothing);
    },
  });
}

/** What the extension has registered and shown. */
const seen = { commands: {}, lenses: undefined, errors: [], diagnostics: new Map() };
const document = {
  uri: new Uri("/spec.maz"),
  languageId: "mazurka",
  version: 1,
  isClosed: false,
  getText: () => TEXT,
};
const settings = { "mazurka.path": process.env.MAZURKA ?? "mazurka" };
const vscode = anything({
  version: "1.99.0",
  Position,
  Range,
  Uri,
  Disposable: class {
    constructor(dispose) {
      this.dispose = dispose ?? (() => {});
    }
  },
  EventEmitter: class {
    event = event();
    fire(what) {
      this.event.fire(what);
    }
    dispose() {}
  },
  CancellationTokenSource: class {
    token = { isCancellationRequested: false, onCancellationRequested: event() };
    cancel() {}
    dispose() {}
  },
  CodeLens: class {
    constructor(range) {
      this.range = range;
    }
  },
  Diagnostic: class {
    constructor(range, message, severity) {
      Object.assign(this, { range, message, severity });
    }
  },
  DiagnosticSeverity: { Error: 0, Warning: 1, Information: 2, Hint: 3 },
  env: anything({ language: "en", appName: "test" }),
  extensions: anything({ all: [] }),
  commands: anything({
    registerCommand(name, run) {
      seen.commands[name] = run;
      return nothing;
    },
  }),
  languages: anything({
    match: () => 1,
    createDiagnosticCollection: () => ({
      set: (uri, all) => seen.diagnostics.set(uri.toString(), all),
      delete() {},
      clear() {},
      dispose() {},
    }),
    registerCodeLensProvider(_, provider) {
      seen.lenses = provider;
      return nothing;
    },
  }),
  window: anything({
    activeTextEditor: { document },
    visibleTextEditors: [],
    tabGroups: anything({ all: [] }),
    createOutputChannel: () => anything({ name: "Mazurka" }),
    async showErrorMessage(text) {
      seen.errors.push(text);
    },
  }),
  workspace: anything({
    textDocuments: [document],
    notebookDocuments: [],
    workspaceFolders: undefined,
    getConfiguration: (section) => ({
      get: (name, other) => settings[section ? `${section}.${name}` : name] ?? other,
      inspect: () => undefined,
    }),
    createFileSystemWatcher: () => anything({}),
  }),
});

/** Waits until `is` holds. */
async function until(is, most = 200) {
  for (let tries = 0; !is(); tries++) {
    assert.ok(tries < most, `it does not come to ${is}`);
    await pause(50);
  }
}

test("the extension starts the server, and a click on the lens checks the spec", { timeout: 60_000 }, async (t) => {
  const load = Module._load;
  Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));
  const extension = require("../extension.js");
  t.after(() => extension.deactivate());
  await extension.activate({ subscriptions: [] });
  assert.deepStrictEqual(seen.errors, []);
  await until(() => seen.lenses && seen.commands["mazurka.check"] && seen.diagnostics.has("file:///spec.maz"));
  assert.deepStrictEqual(seen.diagnostics.get("file:///spec.maz"), []);

  const [lens] = await seen.lenses.provideCodeLenses(document, new vscode.CancellationTokenSource().token);
  assert.strictEqual(lens.command.title, "Check this spec");
  await seen.commands[lens.command.command](...lens.command.arguments);
  await until(() => seen.diagnostics.get("file:///spec.maz").length > 0 && seen.errors.length > 0);
  const [found] = seen.diagnostics.get("file:///spec.maz");
  assert.strictEqual(found.range.start.line, 2);
  assert.match(found.message, /mazurka replay spec.maz --schedule 0,1x2/);
  assert.match(seen.errors[0], /assertion failed/);

  // The command of the palette does the same.
  seen.errors.length = 0;
  await seen.commands["mazurka.checkThis"]();
  await until(() => seen.errors.length > 0);

  // Another program is started when the setting changes, also twice at once; it is said if that is none.
  const change = (path) => {
    settings["mazurka.path"] = path;
    return vscode.workspace.onDidChangeConfiguration.fire({ affectsConfiguration: (name) => name === "mazurka.path" });
  };
  const program = settings["mazurka.path"];
  seen.errors.length = 0;
  change("/no/such/program");
  await until(() => seen.errors.some((text) => /no\/such\/program.*ENOENT.*mazurka\.path/.test(text)));

  // A program that never answers, and one that ends instead, are stopped, and that is said once.
  const folder = mkdtempSync(join(tmpdir(), "mazurka-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const script = (name, text) => {
    writeFileSync(join(folder, name), `#!/bin/sh\necho $$ >> $0.ids\n${text}\n`, { mode: 0o755 });
    return join(folder, name);
  };
  for (const [path, why] of [
    [script("silent", "exec sleep 100"), /silent lsp.*no answer in 10 seconds.*mazurka\.path/],
    [script("brief", "read line; sleep 0.2"), /brief lsp.*mazurka\.path/],
  ]) {
    seen.errors.length = 0;
    change(path);
    await until(() => seen.errors.length > 0, 400);
    await pause(500);
    assert.strictEqual(seen.errors.length, 1, seen.errors.join("; "));
    assert.match(seen.errors[0], why);
    const ids = readFileSync(`${path}.ids`, "utf8").trim().split("\n");
    assert.strictEqual(ids.length, 1);
    assert.throws(() => process.kill(Number(ids[0]), 0), { code: "ESRCH" });
  }

  seen.errors.length = 0;
  seen.diagnostics.clear();
  for (const path of [program, "/no/such/program", program]) change(path);
  await until(() => seen.diagnostics.has("file:///spec.maz"));
  await seen.commands["mazurka.checkThis"]();
  await until(() => seen.errors.length > 0);
  assert.match(seen.errors[0], /assertion failed/);
});
