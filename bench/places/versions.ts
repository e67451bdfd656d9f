// In which version the members of a cluster run, by their own word. Their pods stay the same meanwhile.
import { version as parse, minorOf } from "../../src/etcd/versions/version.ts";
import { answerWithinMs, type Voter } from "./voters.ts";

/** The same voters when each runs this version and reads through the quorum, or why not. */
export async function votersWithVersion(voters: readonly Voter[], version: string): Promise<readonly Voter[] | string> {
  for (const { name, etcd } of voters) {
    const status = await etcd.status({ deadline: answerWithinMs }).catch(textOf);
    if (typeof status === "string") return `${name}: ${status}`;
    if (status.version !== version) return `${name} runs ${status.version}`;
    const health = await etcd.health({ deadline: answerWithinMs });
    if (health.t === "unhealthy") return `${name}: ${health.error.message}`;
  }
  return voters;
}

/**
 * The same voters when each stores its data in this version, or why not. etcd comes to this some seconds after a cluster
 * has begun, and no cluster that was in use for longer is waited for.
 */
export async function votersWithStorage(voters: readonly Voter[], version: string): Promise<readonly Voter[] | string> {
  const wanted = `${minorOf(parse(version))}.0`;
  for (const { name, etcd } of voters) {
    const status = await etcd.status({ deadline: answerWithinMs }).catch(textOf);
    if (typeof status === "string") return `${name}: ${status}`;
    if (status.storageVersion !== wanted) return `${name} stores as ${status.storageVersion ?? "nothing yet"}`;
  }
  return voters;
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
