// Names of runs and of their workers. They follow from what caused the run and from what is stored, so that whoever comes
// after a crash finds what was made before it, and the API server takes each name once.
import { createHash } from "node:crypto";

/** What a worker does in a run. */
export type Step = "Backup" | "Verify" | "Delete";

/** No vowels and nothing that looks like something else: the letters that Kubernetes makes names of. */
const letters = "bcdfghjklmnpqrstvwxz2456789";
const idLength = 7;

/** `cause`: what tells this run from all others of the same EtcdBackup. */
export function runId(uid: string, cause: string): string {
  const bytes = createHash("sha256").update(`run of ${uid}: ${cause}`).digest();
  return Array.from(bytes.subarray(0, idLength), (byte) => letters.charAt(byte % letters.length)).join("");
}

const letterOf: Readonly<Record<Step, string>> = { Backup: "b", Verify: "v", Delete: "d" };

export interface AttemptName {
  readonly id: string;
  readonly step: Step;
  readonly attempt: number;
}

/** Name of the pod. Another attempt is another pod: the failed one stays for its log. */
export function workerName(backup: string, { id, step, attempt }: AttemptName): string {
  return `${backup}-${id}-${letterOf[step]}${attempt}`;
}

/** From 0 up to 1, the same for the same text: chance that a restart does not change. */
export function chanceOf(text: string): number {
  return createHash("sha256").update(text).digest().readUInt32BE(0) / 2 ** 32;
}
