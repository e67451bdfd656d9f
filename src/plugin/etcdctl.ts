// etcdctl inside of a member's own container, with the endpoints and certificates that its pod was started with: nothing has
// to be copied out of the cluster, and no Secret is read.
import { versionAnnotation } from "../cluster/objects/member-pod.ts";
import { ports } from "../cluster/objects/labels.ts";
import { isAtLeast, parseVersion, version } from "../etcd/versions/version.ts";
import type { Pod } from "../kube/objects/kinds.ts";
import { Refusal } from "./place/refusal.ts";

/** Before it, etcdctl speaks the old API unless it is told otherwise; images of that time have `env`. */
const firstOfApi3 = version("3.4.0");

/** The words after `kubectl exec … --`. Without endpoints: the member's own. */
export function etcdctlWords(pod: Pod, words: readonly string[], endpoints: readonly string[] = []): string[] {
  const running = parseVersion(pod.metadata?.annotations?.[versionAnnotation] ?? "");
  const isOld = running !== undefined && !isAtLeast(running, firstOfApi3);
  const to = endpoints.length === 0 ? [ownEndpoint(pod)] : endpoints;
  return [
    ...(isOld ? ["env", "ETCDCTL_API=3"] : []),
    "etcdctl",
    `--endpoints=${to.join(",")}`,
    ...tlsWords(pod),
    ...words,
  ];
}

/** `kubectl exec` of it. `terminal`: somebody sits at it, and may be asked for a password. */
export function execWords(pod: Pod, words: readonly string[], terminal: "terminal" | "none" = "none"): string[] {
  const { name = "", namespace = "" } = pod.metadata ?? {};
  const shared = terminal === "terminal" ? ["--stdin", "--tty"] : [];
  return ["exec", `--namespace=${namespace}`, ...shared, name, "--container=etcd", "--", ...words];
}

const commandOf = ({ spec }: Pod): readonly string[] =>
  spec?.containers.find(({ name }) => name === "etcd")?.command ?? [];

function flagOf(pod: Pod, flag: string): string | undefined {
  const start = `--${flag}=`;
  return commandOf(pod)
    .find((word) => word.startsWith(start))
    ?.slice(start.length);
}

/** By the name that the certificates cover; the pod knows its own name without DNS. */
function ownEndpoint(pod: Pod): string {
  const advertised = flagOf(pod, "advertise-client-urls")?.split(",")[0];
  return advertised ?? `http://127.0.0.1:${ports.client}`;
}

/** The server's own certificate: etcd, which calls itself with it, takes it for a client's. */
function tlsWords(pod: Pod): string[] {
  const files = [
    ["cacert", flagOf(pod, "trusted-ca-file")],
    ["cert", flagOf(pod, "cert-file")],
    ["key", flagOf(pod, "key-file")],
  ] as const;
  return files.flatMap(([name, file]) => (file === undefined ? [] : [`--${name}=${file}`]));
}

export interface ListedMember {
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
      if (!/^[0-9a-f]+$/.test(id)) throw new Refusal(`etcdctl printed something else than members: ${line}`);
      return { id, started: state === "started", name, isLearner: learner === "true" };
    });
}
