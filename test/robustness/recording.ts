// A recording in memory, to be spoiled: the files that the recorder writes, in etcd's own report format.
import { cp, readdir, readFile, writeFile } from "node:fs/promises";
import * as path from "node:path";

/** Leases have more digits than a number holds. Such an integer is kept as a string with this in front. */
const long = "integer:";
type Integer = number | `${typeof long}${string}`;

export interface KeyValue {
  Key: string;
  Value: { Value?: string };
  ModRevision?: number;
  Version?: number;
}

export interface TxnOperation {
  Type: "range-operation" | "put-operation" | "delete-operation";
  Put: { Key: string; Value: { Value?: string }; LeaseID: Integer };
}

export interface Request {
  Type: "range" | "txn" | "leaseGrant" | "leaseRevoke" | "compact";
  Range: { Start: string; End: string; Limit: number; KeysOnly: boolean; Revision: number } | null;
  Txn: {
    Conditions: { Key: string; ExpectedRevision: number; ExpectedVersion: number }[] | null;
    OperationsOnSuccess: TxnOperation[] | null;
    OperationsOnFailure: TxnOperation[] | null;
  } | null;
  LeaseGrant: { LeaseID: Integer } | null;
  LeaseRevoke: { LeaseID: Integer } | null;
}

export interface Answer {
  Range: { KVs: KeyValue[]; Count: number } | null;
  Txn: { Failure: boolean; Results: object[] } | null;
  Revision: number;
  Error: string;
}

/** `ClientId` is of a stream of requests, of which a client has several: it goes on under another after a write without answer. */
export interface Operation {
  ClientId: number;
  Input: Request;
  Call: number;
  Output: Answer;
  Return: number;
}

export interface WatchEvent {
  Type: string;
  Key: string;
  Value: { Value?: string };
  Revision: number;
  IsCreate?: boolean;
  PrevValue?: { Value: { Value?: string }; ModRevision: number };
}

export interface WatchResponse {
  Events?: WatchEvent[];
  IsProgressNotify?: boolean;
  Revision: number;
  Time: number;
}

export interface Watch {
  Request: { Key: string; Revision: number; WithPrefix: boolean; WithPrevKV: boolean };
  Responses?: WatchResponse[];
}

export interface ClientRecording {
  readonly id: number;
  operations: Operation[];
  watches: Watch[];
  local: Operation[];
}

const files = { operations: "operations.json", watches: "watch.json", local: "local.json" } as const;

export class Recording {
  readonly clients: readonly ClientRecording[];
  readonly summary: { lastWrite: boolean; lastRevision: number; followers: readonly number[] };
  readonly #folder: string;

  private constructor(folder: string, clients: readonly ClientRecording[], summary: Recording["summary"]) {
    this.#folder = folder;
    this.clients = clients;
    this.summary = summary;
  }

  static async load(folder: string): Promise<Recording> {
    const names = (await readdir(folder)).filter((name) => name.startsWith("client-")).sort();
    const clients = await Promise.all(
      names.map(async (name) => ({
        id: Number(name.slice("client-".length)),
        operations: await readAll<Operation>(path.join(folder, name, files.operations)),
        watches: await readAll<Watch>(path.join(folder, name, files.watches)),
        local: await readAll<Operation>(path.join(folder, name, files.local)),
      })),
    );
    const summary = JSON.parse(await readFile(path.join(folder, "recording.json"), "utf8")) as Recording["summary"];
    return new Recording(folder, clients, summary);
  }

  /** As it is now, in another folder. */
  async saveAs(folder: string): Promise<void> {
    await cp(this.#folder, folder, { recursive: true });
    for (const client of this.clients)
      for (const [part, file] of Object.entries(files))
        await writeFile(path.join(folder, `client-${client.id}`, file), writeAll(client[part as keyof typeof files]));
    await writeFile(path.join(folder, "recording.json"), JSON.stringify(this.summary));
  }

  /** The operations of all clients, by when they began. */
  get operations(): Operation[] {
    return this.clients.flatMap(({ operations }) => operations).sort((a, b) => a.Call - b.Call);
  }

  get watches(): Watch[] {
    return this.clients.flatMap(({ watches }) => watches);
  }

  /** The recordings of those who watched a member from the first revision to the last. */
  get followers(): readonly ClientRecording[] {
    return this.clients.filter(({ id }) => this.summary.followers.includes(id));
  }
}

/** One JSON text after the other. Those of etcd are indented, so that one ends where a line begins with a brace. */
async function readAll<T>(file: string): Promise<T[]> {
  const text = await readFile(file, "utf8").catch(() => "");
  const exact = text.replaceAll(/: (-?\d{16,})(?=[,\n])/g, `: "${long}$1"`);
  return exact
    .split(/^(?<=^}\n)/m)
    .filter((one) => one.trim() !== "")
    .map((one) => JSON.parse(one) as T);
}

function writeAll(values: readonly object[]): string {
  const text = values.map((value) => `${JSON.stringify(value, undefined, 2)}\n`).join("");
  return text.replaceAll(new RegExp(`"${long}(-?\\d+)"`, "g"), "$1");
}
