// Names of runs and of their workers. They follow from what caused the run and from what is stored, so that whoever comes
// after a crash finds what was made before it, and the API server takes each name once.
import { createHash } from "node:crypto";
import { derivedLetters } from "../../kube/objects/derived-name.ts";

/** What a worker does in a run. */
export type Step = "Backup" | "Verify" | "Delete";

const idLength = 7;

/** `cause`: what tells this run from all others of the same EtcdBackup. */
export const runId = (uid: string, cause: string): string => derivedLetters(`run of ${uid}: ${cause}`, idLength);

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
