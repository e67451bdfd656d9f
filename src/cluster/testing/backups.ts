// The store of an in-memory world: backups by their keys, each with what etcd held when it was taken.
import { createHash } from "node:crypto";
import type { StoreCopy } from "../../etcd/testing/fake-store.ts";
import type { BackupFacts, Choice, Owner } from "../../worker/job.ts";

export interface Backup {
  readonly facts: BackupFacts;
  readonly content: StoreCopy;
}

export class Backups {
  readonly #kept = new Map<string, Backup>();

  get keys(): readonly string[] {
    return [...this.#kept.keys()];
  }

  at(key: string): Backup | undefined {
    return this.#kept.get(key);
  }

  /** As a worker takes one: what is not said here is the same for all. */
  keep(
    content: StoreCopy,
    said: Pick<BackupFacts, "key" | "takenAt" | "clusterId" | "members"> & Partial<BackupFacts>,
  ): BackupFacts {
    const { revision } = content;
    const sha256 = createHash("sha256").update(`${said.key} ${revision} ${said.takenAt}`).digest("hex");
    const facts: BackupFacts = {
      bytes: 1000 + revision,
      sha256,
      snapshotBytes: 1000 + revision,
      revision,
      exactRevision: true,
      etcdVersion: "3.6.16",
      ...said,
    };
    this.#kept.set(facts.key, { facts, content });
    return facts;
  }

  choose(choice: Choice): Backup | undefined {
    if (choice.t === "key") return this.#kept.get(choice.key);
    const { path, before = "9" } = choice;
    // As a worker does: what was saved before a restore is no backup of the series.
    const isMeant = (key: string): boolean => key === path || key.startsWith(`${path}_v`);
    const all = [...this.#kept.values()].filter(({ facts }) => isMeant(facts.key) && facts.takenAt < before);
    return all.toSorted((a, b) => (a.facts.takenAt < b.facts.takenAt ? -1 : 1)).at(-1);
  }

  /** How many were of this owner. */
  drop({ namespace, name }: Owner): number {
    const all = [...this.#kept].filter(
      ([, { facts }]) => facts.owner?.namespace === namespace && facts.owner.name === name,
    );
    for (const [key] of all) this.#kept.delete(key);
    return all.length;
  }
}
