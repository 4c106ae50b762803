// Starts the language server of Mazurka and leaves the rest to it: mistakes, what a name is, where it is declared, the
// outline, formatting, and the lens that checks a spec. The client passes the command of the lens to the server, and shows
// what the server answers.
"use strict";

const { commands, window, workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

/** The command of the server, of the lens, too. */
const CHECK = "mazurka.check";

let client;
/** What is being done with the server: one start or stop after the other. */
let turn = Promise.resolve();

function inTurn(work) {
  turn = turn.then(work);
  return turn;
}

async function start() {
  const command = workspace.getConfiguration("mazurka").get("path") || "mazurka";
  const next = new LanguageClient(
    "mazurka",
    "Mazurka",
    { command, args: ["lsp"] },
    { documentSelector: [{ language: "mazurka" }] },
  );
  try {
    await next.start();
    client = next;
  } catch (error) {
    // The client throws a text if there is no such program.
    window.showErrorMessage(
      `Mazurka: \`${command} lsp\` does not start (${error?.message ?? error}). The setting "mazurka.path" says which program it is.`,
    );
  }
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
