// The machine's records of its labs, outside any folder that a person may delete: name, address range, path. They serve to
// clean up after a lab that died, and to leave running labs alone.
import * as fs from "node:fs";
import * as net from "node:net";
import * as path from "node:path";
import { type LabConfig, machineFolder, UsageError } from "../config.ts";
import { labProcesses } from "./processes.ts";

const recordPath = (name: string): string => path.join(machineFolder, `${name}.json`);

function isRecord(value: unknown): value is LabConfig {
  if (typeof value !== "object" || value === null) return false;
  const record = value as Partial<Record<keyof LabConfig, unknown>>;
  return (
    typeof record.nodes === "number" &&
    [record.name, record.prefix, record.kubernetes, record.state, record.bin].every((text) => typeof text === "string")
  );
}

export function readRecord(name: string): LabConfig | undefined {
  try {
    const record: unknown = JSON.parse(fs.readFileSync(recordPath(name), "utf8"));
    return isRecord(record) ? record : undefined;
  } catch {
    return undefined;
  }
}

export function allRecords(): LabConfig[] {
  if (!fs.existsSync(machineFolder)) return [];
  return fs
    .readdirSync(machineFolder)
    .filter((name) => name.endsWith(".json"))
    .map((name) => readRecord(path.basename(name, ".json")))
    .filter((record) => record !== undefined);
}

export function writeRecord(lab: LabConfig): void {
  fs.mkdirSync(machineFolder, { recursive: true });
  const temporary = `${recordPath(lab.name)}.${process.pid}`;
  fs.writeFileSync(temporary, JSON.stringify(lab));
  fs.renameSync(temporary, recordPath(lab.name));
}

export function removeRecord(name: string): void {
  fs.rmSync(recordPath(name), { force: true });
  try {
    fs.rmdirSync(machineFolder);
  } catch {
    // it has records of other labs, or does not exist
  }
}

/** Its files exist and a daemon of it runs. Containers alone are remains of a dead lab. */
export const isAlive = (record: LabConfig): boolean =>
  fs.existsSync(record.state) && labProcesses(record).some((process) => process.daemon);

type Claim =
  | { t: "free" }
  /** Remains of a dead lab of this name, to be cleaned up with its own configuration. */
  | { t: "remains"; of: LabConfig }
  /** A lab of this folder, running or not. */
  | { t: "ours"; record: LabConfig };

const treeOf = (record: LabConfig): string => path.dirname(record.state.replace(/\/labs\/[^/]+$/, ""));

/** How to take the lab down: from its own folder, or from here when that is gone. */
function takeDown(record: LabConfig): string {
  const where = fs.existsSync(record.state) ? ` in ${treeOf(record)}` : "";
  return `take that lab down with "node lab/main.ts down --name ${record.name}"${where}`;
}

/** Throws a UsageError when the lab's range belongs to another lab. */
export function refuseTakenRange(lab: LabConfig): void {
  const other = allRecords().find(({ name, prefix }) => name !== lab.name && prefix === lab.prefix);
  if (other === undefined) return;
  throw new UsageError(
    `The range ${lab.prefix}.0.0/16 is in use by the lab "${other.name}" of ${treeOf(other)}: ${takeDown(other)}, ` +
      `or give this one another --subnet.`,
  );
}

/** What exists under the lab's name. Throws a UsageError when it is a running lab of another folder. */
export function claim(lab: LabConfig): Claim {
  const record = readRecord(lab.name);
  if (record === undefined) return { t: "free" };
  if (record.state === lab.state) return { t: "ours", record };
  if (!isAlive(record)) return { t: "remains", of: record };
  throw new UsageError(
    `A lab named "${lab.name}" is running from ${treeOf(record)}: ${takeDown(record)}, or give this one another ` +
      `--name and --subnet.`,
  );
}

/**
 * Locks the lab's name until the returned function is called or the process ends, however it ends: the kernel removes an
 * abstract socket with its owner.
 */
export async function lock(name: string, doing: string): Promise<() => Promise<void>> {
  const address = `\0etcd-operator-lab/${name}`;
  const server = net.createServer((socket) => socket.end(`${doing} by process ${process.pid}`));
  server.unref();
  const taken = await new Promise<boolean>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") resolve(true);
      else reject(error);
    });
    server.listen(address, () => resolve(false));
  });
  if (taken) throw new UsageError(`The lab "${name}" is ${await holder(address)}; try again later.`);
  return () => new Promise((resolve) => server.close(() => resolve()));
}

function holder(address: string): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    const socket = net.connect(address);
    socket.setTimeout(10_000, () => socket.destroy());
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(text === "" ? "in use by another process" : text));
  });
}
