// Which versions of etcd the suites run, from the table of what the lab builds.
import { type EtcdVersion, etcdVersions } from "../../lab/build/etcd.ts";

/** Why each version is in the lab: what is proved by it. */
const because: Readonly<Record<EtcdVersion, string>> = {
  "3.7.3": "the newest minor version",
  "3.6.16": "the version of the examples, and of the lab's own control plane",
  "3.5.35": "the newest patch of 3.5, from which 3.6 can be reached",
  "3.5.21": "older than an upgrade to 3.6 requires (3.5.32)",
  "3.4.23": "the oldest minor version with learners; Debian's build",
  "3.3.27": "the step from 3.2 to 3.4; without learners",
  "3.2.13": "the default of coreos etcd-operator 0.9",
};

export const etcdRows: readonly { readonly version: EtcdVersion; readonly because: string }[] = etcdVersions.map(
  (version) => ({ version, because: because[version] }),
);

/** Minor versions, oldest and newest. */
export const etcdRange = (): readonly [oldest: string, newest: string] => {
  const minor = (version = ""): string => version.split(".").slice(0, 2).join(".");
  return [minor(etcdVersions.at(-1)), minor(etcdVersions[0])];
};
