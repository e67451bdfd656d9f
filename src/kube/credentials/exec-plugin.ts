// Runs the program that a kubeconfig names to get credentials (cloud logins work so), and keeps what it gave until
// shortly before it expires.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { CredentialsError } from "./credentials.ts";
import type { Section } from "./kubeconfig-file.ts";
import { isFields } from "../client/status.ts";

interface ExecCredential {
  token: string | undefined;
  cert: string | undefined;
  key: string | undefined;
  /** Milliseconds since 1970; never, when absent. */
  expires: number | undefined;
}

const knownVersions = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"];
/** A credential is renewed this long before it expires, so that no request carries one that lapses on its way. */
const margin = 10_000;
/** The user may have to log in meanwhile. */
const patience = 120_000;

export class ExecPlugin {
  readonly #settings: Section;
  readonly #clusterInfo: () => object;
  readonly #apiVersion: string;
  readonly #command: string;
  #running: Promise<ExecCredential> | undefined;
  #last: ExecCredential | undefined;

  constructor(settings: Section, clusterInfo: () => object) {
    this.#settings = settings;
    this.#clusterInfo = clusterInfo;
    const command = settings.text("command");
    const apiVersion = settings.text("apiVersion") ?? "";
    if (command === undefined) throw new CredentialsError(`${settings.where}: command is missing`);
    if (!knownVersions.includes(apiVersion)) {
      throw new CredentialsError(`${settings.where}: apiVersion must be one of ${knownVersions.join(", ")}`);
    }
    this.#apiVersion = apiVersion;
    // A bare name is looked up in PATH; anything with a slash is relative to the kubeconfig.
    this.#command = command.includes("/") && !command.startsWith("/") ? join(settings.folder, command) : command;
  }

  /** Many may ask at once; the plugin runs once for all of them. */
  async credential(): Promise<ExecCredential> {
    if (this.#last && (this.#last.expires === undefined || Date.now() < this.#last.expires - margin)) return this.#last;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    this.#last = await this.#running;
    return this.#last;
  }

  forget(): void {
    this.#last = undefined;
  }

  async #run(): Promise<ExecCredential> {
    const output = await this.#output();
    let parsed: unknown;
    try {
      parsed = JSON.parse(output);
    } catch (error) {
      throw new CredentialsError(`${this.#command} printed no JSON`, error);
    }
    const status = isFields(parsed) ? parsed["status"] : undefined;
    if (!isFields(status)) throw new CredentialsError(`${this.#command} printed no ExecCredential with a status`);
    const credential = credentialOf(status);
    if (credential.token === undefined && credential.cert === undefined) {
      throw new CredentialsError(`${this.#command} gave neither a token nor a certificate`);
    }
    return credential;
  }

  #output(): Promise<string> {
    const interactive = this.#settings.text("interactiveMode") !== "Never" && process.stdin.isTTY;
    const cluster = this.#settings.flag("provideClusterInfo") ? { cluster: this.#clusterInfo() } : {};
    const info = { apiVersion: this.#apiVersion, kind: "ExecCredential", spec: { interactive, ...cluster } };
    const args = this.#settings.list("args").filter((arg) => typeof arg === "string");
    const child = spawn(this.#command, args, {
      env: { ...process.env, ...this.#env(), KUBERNETES_EXEC_INFO: JSON.stringify(info) },
      // Its errors and questions are for the user at the terminal.
      stdio: [interactive ? "inherit" : "ignore", "pipe", "inherit"],
    });
    // Not spawn's own timeout, whose timer keeps the process alive when the program does not even start.
    const timer = setTimeout(() => child.kill(), patience);
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      child.stdout?.on("data", (chunk: Buffer) => chunks.push(chunk));
      child.on("error", (error) => {
        clearTimeout(timer);
        const hint = this.#settings.text("installHint");
        reject(new CredentialsError(`${this.#command} cannot be run${hint === undefined ? "" : `: ${hint}`}`, error));
      });
      child.on("close", (code, signal) => {
        clearTimeout(timer);
        if (code === 0) resolve(Buffer.concat(chunks).toString("utf8"));
        else reject(new CredentialsError(`${this.#command} ended with ${code ?? signal}`));
      });
    });
  }

  #env(): Record<string, string> {
    const env: Record<string, string> = {};
    for (const entry of this.#settings.list("env")) {
      if (!isFields(entry)) continue;
      const { name, value } = entry;
      if (typeof name === "string" && typeof value === "string") env[name] = value;
    }
    return env;
  }
}

function credentialOf(status: Record<string, unknown>): ExecCredential {
  const text = (name: string): string | undefined => {
    const value = status[name];
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  const expiry = text("expirationTimestamp");
  const expires = expiry === undefined ? undefined : Date.parse(expiry);
  return {
    token: text("token"),
    cert: text("clientCertificateData"),
    key: text("clientKeyData"),
    expires: expires === undefined || Number.isNaN(expires) ? undefined : expires,
  };
}
