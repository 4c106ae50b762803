// Starts the language server of Mazurka and leaves the rest to it: mistakes, what a name is, where it is declared, the
// outline, formatting, and the lens that checks a spec. The client passes the command of the lens to the server, and shows
// what the server answers.
"use strict";

const { commands, window, workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

/** The command of the server, of the lens, too. */
const CHECK = "mazurka.check";

let client;

async function start() {
  const command = workspace.getConfiguration("mazurka").get("path") || "mazurka";
  client = new LanguageClient(
    "mazurka",
    "Mazurka",
    { command, args: ["lsp"] },
    { documentSelector: [{ language: "mazurka" }] },
  );
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    window.showErrorMessage(
      `Mazurka: \`${command} lsp\` does not start (${error.message}). The setting "mazurka.path" says which program it is.`,
    );
  }
}

async function checkThis() {
  const document = window.activeTextEditor?.document;
  if (document?.languageId === "mazurka" && client) {
    await client.sendRequest("workspace/executeCommand", { command: CHECK, arguments: [document.uri.toString()] });
  }
}

exports.activate = async (context) => {
  context.subscriptions.push(commands.registerCommand("mazurka.checkThis", checkThis));
  await start();
};

exports.deactivate = () => client?.stop();
