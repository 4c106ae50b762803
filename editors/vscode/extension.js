// Starts the language server of Mazurka and leaves the rest to it: mistakes, what a name is, where it is declared, the
// outline, formatting, and the lens that checks a spec. The client passes the command of the lens to the server, and shows
// what the server answers.
"use strict";

const { spawn } = require("node:child_process");
const { once } = require("node:events");
const { commands, window, workspace } = require("vscode");
const { CloseAction, LanguageClient } = require("vscode-languageclient/node");

/** The command of the server, of the lens, too. */
const CHECK = "mazurka.check";

/** So many seconds a program has to answer. */
const PATIENCE = 10;

let client;
/** What is being done with the server: one start or stop after the other. */
let turn = Promise.resolve();

function inTurn(work) {
  turn = turn.then(work);
  return turn;
}

/** While it does not run, the client has nothing to stop and nothing to say: `start` below does both. */
class Client extends LanguageClient {
  stop(timeout) {
    return this.isRunning() ? super.stop(timeout) : Promise.resolve();
  }
  error(message, data, show) {
    super.error(message, data, this.isRunning() && show);
  }
}

async function start() {
  const command = workspace.getConfiguration("mazurka").get("path") || "mazurka";
  let server;
  const run = async () => {
    server = spawn(command, ["lsp"], { cwd: folder() });
    await once(server, "spawn");
    return server;
  };
  const next = new Client("mazurka", "Mazurka", run, {
    documentSelector: [{ language: "mazurka" }],
    initializationFailedHandler: () => false,
    errorHandler: {
      error: (...all) => usual.error(...all),
      // A program that ends before it has answered would do so again.
      closed: () => (client === next ? usual.closed() : { action: CloseAction.DoNotRestart }),
    },
  });
  const usual = next.createDefaultErrorHandler();
  let isLate = false;
  const late = setTimeout(() => {
    isLate = true;
    server?.kill();
  }, 1000 * PATIENCE);
  try {
    // Both calls are of the same start. If the program ends, only the second one says so.
    await Promise.all([next.start(), next.start()]);
    client = next;
  } catch (error) {
    server?.kill();
    const why = isLate ? `no answer in ${PATIENCE} seconds` : error.message;
    window.showErrorMessage(
      `Mazurka: \`${command} lsp\` does not start (${why}). The setting "mazurka.path" says which program it is.`,
    );
  }
  clearTimeout(late);
}

/** Where programs are started: in the first folder that is open. */
function folder() {
  const uri = workspace.workspaceFolders?.[0]?.uri;
  return uri?.scheme === "file" ? uri.fsPath : undefined;
}

async function stop() {
  const last = client;
  client = undefined;
  try {
    await last?.stop();
  } catch (error) {
    window.showErrorMessage(`Mazurka: the language server does not stop (${error?.message ?? error}).`);
  }
}

async function checkThis() {
  const document = window.activeTextEditor?.document;
  if (document?.languageId === "mazurka" && client) {
    await client.sendRequest("workspace/executeCommand", { command: CHECK, arguments: [document.uri.toString()] });
  }
}

exports.activate = async (context) => {
  context.subscriptions.push(
    commands.registerCommand("mazurka.checkThis", checkThis),
    workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("mazurka.path")) {
        inTurn(stop);
        inTurn(start);
      }
    }),
  );
  await inTurn(start);
};

exports.deactivate = () => inTurn(stop);
