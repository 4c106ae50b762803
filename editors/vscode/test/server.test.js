// Drives `mazurka lsp` with the library that the client of Visual Studio Code is made of. The program is `mazurka`, or
// what MAZURKA names: MAZURKA=target/release/mazurka npm test
"use strict";

const assert = require("node:assert");
const { spawn } = require("node:child_process");
const { EventEmitter, once } = require("node:events");
const { test } = require("node:test");
const lsp = require("vscode-languageserver-protocol/node");

const URI = "file:///spec.maz";
const GOOD = `mailbox m;
process A { send(m, 1); }
process B { let x = recv(m); assert(x == 2); }
`;

/** A server with a connection to it. What the server says by itself is an event. */
async function serve() {
  const server = spawn(process.env.MAZURKA ?? "mazurka", ["lsp"], { stdio: ["pipe", "pipe", "inherit"] });
  const connection = lsp.createMessageConnection(server.stdout, server.stdin);
  const said = new EventEmitter();
  connection.onNotification(lsp.PublishDiagnosticsNotification.type, (params) => said.emit("mistakes", params));
  connection.onNotification(lsp.ShowMessageNotification.type, (params) => said.emit("message", params));
  connection.listen();
  const about = await connection.sendRequest(lsp.InitializeRequest.type, {
    processId: process.pid,
    rootUri: null,
    capabilities: {},
  });
  await connection.sendNotification(lsp.InitializedNotification.type, {});
  return { server, connection, said, about };
}

const document = { uri: URI };
const at = (line, character) => ({ textDocument: document, position: { line, character } });

test("a spec is written, read and checked", { timeout: 60_000 }, async (t) => {
  const { server, connection, said, about } = await serve();
  t.after(() => server.kill());
  assert.deepStrictEqual(about.capabilities.executeCommandProvider.commands, ["mazurka.check"]);

  // A mistake, and then none.
  let mistakes = once(said, "mistakes");
  await connection.sendNotification(lsp.DidOpenTextDocumentNotification.type, {
    textDocument: { uri: URI, languageId: "mazurka", version: 1, text: GOOD.replace("recv(m)", "recv(n)") },
  });
  let [found] = await mistakes;
  const [first] = found.diagnostics;
  assert.strictEqual(first.severity, lsp.DiagnosticSeverity.Error);
  assert.deepStrictEqual(first.range.start, { line: 2, character: 25 });
  assert.match(first.message, /`n`/);
  mistakes = once(said, "mistakes");
  await connection.sendNotification(lsp.DidChangeTextDocumentNotification.type, {
    textDocument: { uri: URI, version: 2 },
    contentChanges: [{ text: GOOD }],
  });
  [found] = await mistakes;
  assert.deepStrictEqual(found.diagnostics, []);

  const hover = await connection.sendRequest(lsp.HoverRequest.type, at(2, 36));
  assert.match(hover.contents.value, /let x = recv\(m\)/);
  const place = await connection.sendRequest(lsp.DefinitionRequest.type, at(2, 25));
  assert.deepStrictEqual([place.uri, place.range.start], [URI, { line: 0, character: 8 }]);
  const outline = await connection.sendRequest(lsp.DocumentSymbolRequest.type, { textDocument: document });
  assert.deepStrictEqual(outline.map((one) => one.name), ["m", "A", "B"]);
  const edits = await connection.sendRequest(lsp.DocumentFormattingRequest.type, {
    textDocument: document,
    options: { tabSize: 4, insertSpaces: true },
  });
  assert.deepStrictEqual(edits, []);

  // What the editor does with a click on the lens.
  const [lens] = await connection.sendRequest(lsp.CodeLensRequest.type, { textDocument: document });
  assert.strictEqual(lens.command.title, "Check this spec");
  const message = once(said, "message");
  mistakes = once(said, "mistakes");
  await connection.sendRequest(lsp.ExecuteCommandRequest.type, {
    command: lens.command.command,
    arguments: lens.command.arguments,
  });
  [found] = await mistakes;
  assert.strictEqual(found.diagnostics[0].range.start.line, 2);
  assert.match(found.diagnostics[0].message, /mazurka replay spec.maz --schedule 0,1x2/);
  const [told] = await message;
  assert.strictEqual(told.type, lsp.MessageType.Error);
  assert.match(told.message, /assertion failed/);

  const end = once(server, "exit");
  await connection.sendRequest(lsp.ShutdownRequest.type);
  await connection.sendNotification(lsp.ExitNotification.type);
  assert.deepStrictEqual(await end, [0, null]);
  connection.dispose();
});
