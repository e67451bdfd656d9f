// The test's end of a process that stands for election: starts it under a service account of its own, so that the
// audit log tells the electors apart, and keeps what it says.
import { type ChildProcess, spawn } from "node:child_process";
import * as path from "node:path";
import { createInterface } from "node:readline";
import { hostAddress, type LabConfig } from "../../lab/config.ts";
import { waitFor } from "../../lab/progress.ts";
import type { KubeClient } from "../../src/kube/client/client.ts";
import type { LeaseEvent } from "../../src/kube/leader/lease.ts";
import { issueToken, makeServiceAccount, MountedCredentials, userOf } from "./service-account.ts";

export interface ElectorSettings {
  readonly namespace: string;
  /** Names both the lease and the ConfigMap that its holder writes. */
  readonly lease: string;
  readonly identity: string;
  readonly host: string;
  readonly port: number;
  readonly credentials: string;
  readonly unfenced: boolean;
}

export type Said =
  | { readonly t: LeaseEvent["t"]; readonly at: number }
  /** The first write of a term. */
  | { readonly t: "wrote"; readonly at: number }
  | { readonly t: "failed"; readonly at: number; readonly error: string };

const leases = { apiGroups: ["coordination.k8s.io"], resources: ["leases"] };

export class Elector {
  readonly user: string;
  readonly said: Said[] = [];
  readonly #settings: ElectorSettings;
  readonly #credentials: MountedCredentials;
  readonly #process: ChildProcess;

  private constructor(settings: ElectorSettings, credentials: MountedCredentials) {
    this.user = userOf(settings.namespace, settings.identity);
    this.#settings = settings;
    this.#credentials = credentials;
    const program = path.join(import.meta.dirname, "elector-process.ts");
    this.#process = spawn(process.execPath, [program, JSON.stringify(settings)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    if (this.#process.stdout === null) throw new Error("the elector has no standard output");
    createInterface({ input: this.#process.stdout }).on("line", (line) => this.said.push(JSON.parse(line) as Said));
  }

  static async start(
    lab: LabConfig,
    admin: KubeClient,
    who: { namespace: string; lease: string; identity: string; unfenced?: boolean },
  ): Promise<Elector> {
    await makeServiceAccount(who.namespace, who.identity, [
      { apiGroups: [""], resources: ["configmaps"], verbs: ["patch"] },
      // As the operator's own role has it.
      { ...leases, verbs: ["create"] },
      { ...leases, resourceNames: [who.lease], verbs: ["get", "watch", "update"] },
    ]);
    const credentials = new MountedCredentials(lab);
    credentials.put(await issueToken(admin, who.namespace, who.identity));
    const way = { host: hostAddress(lab), port: 6443, credentials: credentials.directory };
    return new Elector({ unfenced: false, ...who, ...way }, credentials);
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** Waits until it says this, later than that moment, and tells when. */
  async says(what: Said["t"], since: number, timeoutMs: number): Promise<number> {
    const find = async (): Promise<Said | undefined> => this.said.find(({ t, at }) => t === what && at >= since);
    const lastSeen = (): string => JSON.stringify(this.said.slice(-5));
    const { at } = await waitFor(`${this.#settings.identity} to say "${what}"`, find, {
      timeoutMs,
      everyMs: 10,
      lastSeen,
    });
    return at;
  }

  end(): void {
    this.#process.kill("SIGKILL");
    this.#credentials.remove();
  }
}
