// Opens the page in the user's browser. The address with its token goes through a file that only the user may read: the
// arguments of a program can be read by everybody on the machine.
import { spawn } from "node:child_process";
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";

const openers: Partial<Record<NodeJS.Platform, string>> = { linux: "xdg-open", darwin: "open" };

/** The program that opens files on this system, if it is there and there is a screen to open them on. */
export function openerOf(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): string | undefined {
  const name = openers[platform];
  const hasScreen = platform === "darwin" || env["DISPLAY"] !== undefined || env["WAYLAND_DISPLAY"] !== undefined;
  if (name === undefined || !hasScreen) return undefined;
  return (env["PATH"] ?? "")
    .split(path.delimiter)
    .map((folder) => path.join(folder, name))
    .find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** A page that only leads to the address, for its owner's eyes. */
export function leadingPage(url: string): { readonly file: string } & Disposable {
  const folder = mkdtempSync(path.join(tmpdir(), "kubectl-etcd-"));
  const file = path.join(folder, "dashboard.html");
  const quoted = url.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  const page = `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=${quoted}"><title>etcd</title>`;
  writeFileSync(file, page, { mode: 0o600, flag: "wx" });
  return { file, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

export function openFile(opener: string, file: string): void {
  const child = spawn(opener, [file], { stdio: "ignore", detached: true });
  child.on("error", () => undefined); // the address is printed as well
  child.unref();
}
