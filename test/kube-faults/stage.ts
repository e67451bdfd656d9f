// Everything that a round of the informers' test needs, put up once: a namespace, the custom kind, a service account,
// the proxy, the writer, and the process whose informers are watched. A round is: write, harm, write on, compare.
import assert from "node:assert/strict";
import { hostAddress, type LabConfig } from "../../lab/config.ts";
import { waitFor } from "../../lab/progress.ts";
import { connectKube, type KubeClient } from "../../src/kube/client/client.ts";
import { findCredentials } from "../../src/kube/credentials/find-credentials.ts";
import { CustomResourceDefinition } from "../../src/kube/objects/kinds.ts";
import { apiVersionOf } from "../../src/kube/objects/objects.ts";
import { ownNamespace } from "../support/kubectl.ts";
import { History } from "./history.ts";
import { type Numbered, type NumberedKind, numberedKinds, numberedSelector, tallyCrd } from "./numbered.ts";
import { FaultyProxy } from "./proxy.ts";
import { issueToken, makeServiceAccount, MountedCredentials, type Token } from "./service-account.ts";
import { WatchedChild } from "./watched-child.ts";
import { type Footprint, informerName } from "./watched.ts";
import { Writer } from "./writer.ts";

/** As much as an informer may take to be back after a fault: its longest back-off, and a list on a busy machine. */
const caughtUpWithin = 60_000;
const readers = "readers";

export class Stage {
  readonly lab: LabConfig;
  readonly namespace: string;
  /** As the administrator, straight to the API server, and patient with it. */
  readonly admin: KubeClient;
  readonly proxy: FaultyProxy;
  readonly credentials: MountedCredentials;
  readonly writer: Writer;
  readonly child: WatchedChild;
  readonly footprints: Footprint[] = [];
  readonly #histories: ReadonlyMap<NumberedKind, History>;
  token: Token;

  private constructor(lab: LabConfig, namespace: string, admin: KubeClient, proxy: FaultyProxy, token: Token) {
    this.lab = lab;
    this.namespace = namespace;
    this.admin = admin;
    this.proxy = proxy;
    this.token = token;
    this.credentials = new MountedCredentials(lab);
    this.credentials.put(token);
    this.#histories = new Map(numberedKinds.map((kind) => [kind, new History()]));
    this.writer = new Writer(admin, namespace, this.#histories);
    const host = hostAddress(lab);
    const credentials = this.credentials.directory;
    this.child = new WatchedChild({
      namespace,
      ways: [
        { name: "direct", host, port: 6443, credentials },
        { name: "proxied", host, port: proxy.port, credentials },
      ],
    });
  }

  static async set(lab: LabConfig): Promise<Stage> {
    const namespace = await ownNamespace("informers");
    // A frozen API server is waited for: a write given up on might still be carried out when it thaws.
    const patience = { pingTimeout: 60_000, deadline: 90_000 };
    const admin = connectKube({ credentials: await findCredentials(), userAgent: "writer", ...patience });
    await admin.apply(CustomResourceDefinition, tallyCrd, { fieldManager: "kube-faults", force: true });
    const everything = {
      apiGroups: ["", tallyCrd.spec.group],
      resources: ["*"],
      verbs: ["get", "list", "watch"],
    };
    await makeServiceAccount(namespace, readers, [everything]);
    for (const { kind } of numberedKinds) {
      const list = (): Promise<object> => admin.list(kind, { namespace, limit: 1 });
      await waitFor(`${kind.plural} to be served`, list, { timeoutMs: 60_000 });
    }
    return new Stage(lab, namespace, admin, await FaultyProxy.open(lab), await issueToken(admin, namespace, readers));
  }

  async clear(): Promise<void> {
    await this.writer.stop();
    this.child.end();
    this.proxy.close();
    this.credentials.remove();
    await this.admin.delete(CustomResourceDefinition, { namespace: "", name: tallyCrd.metadata?.name ?? "" });
    this.admin.close();
  }

  newToken(): Promise<Token> {
    return issueToken(this.admin, this.namespace, readers);
  }

  /** Resolves with how often each informer listed, after it was shown that none lost anything. */
  async round(changes: number, harm: () => Promise<void>): Promise<Map<string, number>> {
    const { writer, child } = this;
    const listsBefore = this.#lists();
    const begin = writer.changes;
    writer.start();
    try {
      await writer.reached(begin + changes / 3);
      await harm();
      await writer.reached(begin + changes);
    } finally {
      await writer.stop();
    }
    await writer.seal();
    await this.#caughtUp();
    this.#checkHistory();
    await this.#checkCaches();
    this.footprints.push(await child.footprint());
    const lists = this.#lists();
    for (const [name, count] of lists) lists.set(name, count - (listsBefore.get(name) ?? 0));
    return lists;
  }

  #lists(): Map<string, number> {
    return new Map([...this.child.checkers].map(([name, checker]) => [name, checker.lists]));
  }

  async #caughtUp(): Promise<void> {
    let behind: string[] = [];
    const caughtUp = async (): Promise<true | undefined> => {
      this.child.checkAlive();
      behind = [...this.#checked()].flatMap(([checker, history]) => checker.behind(history));
      return behind.length === 0 || undefined;
    };
    const lastSeen = (): string => `${behind.length} behind\n${behind.slice(0, 10).join("\n")}`;
    await waitFor("the informers to catch up", caughtUp, { timeoutMs: caughtUpWithin, everyMs: 50, lastSeen });
  }

  #checkHistory(): void {
    const complaints = [...this.#checked()].flatMap(([checker, history]) => checker.complaints(history));
    assert.deepEqual(complaints, []);
  }

  *#checked() {
    for (const [name, checker] of this.child.checkers) {
      const kind = name.slice(name.indexOf("/") + 1);
      for (const [{ kind: own }, history] of this.#histories) {
        if (own.kind === kind) yield [checker, history] as const;
      }
    }
  }

  /** Every cache holds exactly what a fresh list shows, whole objects, uid and version included. */
  async #checkCaches(): Promise<void> {
    const caches = await this.child.caches();
    for (const { kind } of numberedKinds) {
      const selection = { namespace: this.namespace, labelSelector: numberedSelector };
      const { items } = await this.admin.list(kind, selection);
      const listed = byName(items.map((item) => ({ ...item, apiVersion: apiVersionOf(kind), kind: kind.kind })));
      for (const way of ["direct", "proxied"]) {
        assert.deepEqual(byName(caches[informerName(way, kind.kind)] ?? []), listed, `${way} ${kind.kind}`);
      }
    }
  }
}

function byName(objects: readonly Numbered[]): Record<string, Numbered> {
  const entries = objects.map((object) => {
    const { managedFields: _, ...metadata } = object.metadata ?? {};
    return [metadata.name ?? "", { ...object, metadata }] as const;
  });
  return Object.fromEntries(entries.sort(([a], [b]) => a.localeCompare(b)));
}
