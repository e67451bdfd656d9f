// etcdctl as it is run by `kubectl exec`: in a member's own container, or in a pod beside it that has what a client needs.
import { ports } from "../../cluster/objects/labels.ts";
import { etcdContainer, versionAnnotation } from "../../cluster/objects/member-pod.ts";
import { isAtLeast, parseVersion, version } from "../../etcd/versions/version.ts";
import type { Key } from "../../kube/objects/objects.ts";
import type { Pod } from "../../kube/objects/kinds.ts";
import { Refusal } from "../place/refusal.ts";

/** Before it, etcdctl speaks the old API unless ETCDCTL_API says otherwise. */
const firstOfApi3 = version("3.4.0");

export function needsApiVariable({ metadata }: Pod): boolean {
  const running = parseVersion(metadata?.annotations?.[versionAnnotation] ?? "");
  return running !== undefined && !isAtLeast(running, firstOfApi3);
}

/** What etcdctl is given besides its endpoints, in the place where it runs. */
export interface ExecPlace {
  readonly pod: Key;
  readonly container: string;
  /** What is put before etcdctl, as `env` of images that have it. */
  readonly before: readonly string[];
  /** As in `--cert=…`. */
  readonly flags: readonly string[];
}

/** For a member that speaks plain text. Images from before 3.4 have `env`. */
export function inMember(member: Pod): ExecPlace {
  const { name = "", namespace = "" } = member.metadata ?? {};
  return {
    pod: { namespace, name },
    container: etcdContainer,
    before: needsApiVariable(member) ? ["env", "ETCDCTL_API=3"] : [],
    flags: [],
  };
}

/** `input`: what it is given on standard input. `terminal`: somebody sits there, and may be asked for a password. */
export type Input = "none" | "stream" | "terminal";

/** The words after `kubectl`. */
export function execWords(
  place: ExecPlace,
  endpoints: readonly string[],
  words: readonly string[],
  input: Input,
): string[] {
  const { pod, container, before, flags } = place;
  const shared = { none: [], stream: ["--stdin"], terminal: ["--stdin", "--tty"] }[input];
  const etcdctl = [...before, "etcdctl", `--endpoints=${endpoints.join(",")}`, ...flags, ...words];
  return ["exec", `--namespace=${pod.namespace}`, ...shared, pod.name, `--container=${container}`, "--", ...etcdctl];
}

/** By the name that the certificates cover; a pod knows its own name without DNS. */
export function endpointOf({ spec }: Pod): string {
  const start = "--advertise-client-urls=";
  const command = spec?.containers.find(({ name }) => name === etcdContainer)?.command ?? [];
  const urls = command.find((word) => word.startsWith(start))?.slice(start.length);
  return urls?.split(",")[0] ?? `http://127.0.0.1:${ports.client}`;
}

export const speaksTls = (member: Pod): boolean => endpointOf(member).startsWith("https:");

/** Flags of `put`, and those that go before any command, whose value is a word of its own. */
const withValue = new Set([
  "--lease",
  "-w",
  "--write-out",
  "--user",
  "--password",
  "--command-timeout",
  "--dial-timeout",
]);

/**
 * Whether etcdctl reads standard input. Only then it is given to it: in a loop that reads a list, any other would swallow
 * the rest of the list.
 */
export function readsInput(words: readonly string[]): boolean {
  const plain = words.filter((word, at) => !word.startsWith("-") && !withValue.has(words[at - 1] ?? ""));
  const [command = "", second = "", third] = plain;
  if (command === "put") return third === undefined && second !== "" && !words.includes("--ignore-value");
  if (command === "user") return second === "add" || second === "passwd";
  return command === "txn" || words.includes("-i") || words.includes("--interactive");
}

interface ListedMember {
  /** In hexadecimal, as etcdctl takes it. */
  readonly id: string;
  readonly started: boolean;
  readonly name: string;
  readonly isLearner: boolean;
}

/** What `member list` prints: `8e9e05c52164694d, started, NAME, PEERS, CLIENTS, false`. Ids do not fit into JSON's numbers. */
export function listedMembers(printed: string): ListedMember[] {
  return printed
    .trim()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [id = "", state = "", name = "", , , learner = "false"] = line.split(",").map((cell) => cell.trim());
      if (!/^[0-9a-f]+$/.test(id)) throw new Refusal(`etcdctl did not print a list of members: ${line}`);
      return { id, started: state === "started", name, isLearner: learner === "true" };
    });
}
