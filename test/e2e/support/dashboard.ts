// The dashboard as a person starts it, and a browser that notes all that it asks for and complains about.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { ensureBrowser } from "../../../lab/build/packages.ts";
import { patience } from "./environment.ts";

export interface Running {
  readonly url: string;
  readonly origin: string;
  /** As Ctrl-C does. Gives the exit code. */
  stop(): Promise<number | null>;
}

/** `folder`: where kubectl finds the plugin. */
export async function startDashboard(folder: string, ...flags: readonly string[]): Promise<Running> {
  const child = spawn("kubectl", ["etcd", "dashboard", "--no-open", ...flags], {
    env: { ...process.env, PATH: `${folder}:${process.env["PATH"]}` },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = await printed(child);
  return {
    url,
    origin: new URL(url).origin,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, "exit");
        child.kill("SIGINT");
        await ended;
      }
      return child.exitCode;
    },
  };
}

function printed(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      const [url] = /^http:\S+$/m.exec(text) ?? [];
      if (url !== undefined) resolve(url);
    });
    child.once("exit", (code) => reject(new Error(`the dashboard ended with ${code}: ${text}`)));
    child.once("error", reject);
  });
}

/** Asks for nothing of its own. */
export async function startBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: await ensureBrowser(),
    timeout: patience,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

export interface Window {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Every address that was asked for. */
  readonly asked: readonly string[];
  /** What was written to the console, thrown, refused or could not be loaded. */
  readonly complaints: readonly string[];
}

export async function openWindow(browser: Browser): Promise<Window> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  context.setDefaultTimeout(patience);
  const page = await context.newPage();
  const [asked, complaints]: [string[], string[]] = [[], []];
  context.on("request", (request) => asked.push(request.url()));
  context.on("response", (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()} ${response.url()}`);
  });
  context.on("requestfailed", (request) => {
    // The page closes the stream itself when it shows something else.
    const why = request.failure()?.errorText ?? "";
    if (!(why === "net::ERR_ABORTED" && request.url().includes("/live"))) complaints.push(`${why} ${request.url()}`);
  });
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  return { page, context, asked, complaints };
}
