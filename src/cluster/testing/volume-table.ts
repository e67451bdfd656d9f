// Members with volumes, for tables of plans: what is asked for, and members whose pods or claims are in some state.
import { settingsOf } from "../objects/settings.ts";
import { voter } from "./plan-table.ts";
import { sampleCluster, type SampleMember, sampleNow } from "./sample-world.ts";

export const request = (storage: string) => ({
  accessModes: ["ReadWriteOnce"],
  resources: { requests: { storage } },
});
export const pod = (storage = "4Gi", more: object = {}) => ({
  persistentVolumeClaimSpec: { ...request(storage), ...more },
});
export const spec = { pod: pod() };
export const madeFrom = settingsOf(sampleCluster({ spec }).spec);
/** With what is written on its claim once it has started. */
export const noted = { madeFrom };
export const kept = (letter: string, more: Partial<SampleMember> = {}): SampleMember =>
  voter(letter, {
    ...more,
    claim: { ...noted, ...more.claim },
    ...("pod" in more && more.pod === undefined ? {} : { pod: { madeFrom, ...more.pod } }),
  });
export const podless = (letter: string, more: Partial<SampleMember> = {}): SampleMember =>
  kept(letter, { silent: true, pod: undefined, ...more });
/** Its claim is being deleted, and waits for its pod. */
export const doomed = (letter: string, more: Partial<SampleMember> = {}): SampleMember =>
  kept(letter, { ...more, claim: { terminating: true, ...more.claim } });
/** Its container ended so long ago, and has not been started again since. */
export const exited = (ago: number) =>
  ({
    state: { t: "crashing", since: sampleNow - ago, exitedAt: sampleNow - ago, restarts: 0, problem: "exit code 1" },
  }) as const;
