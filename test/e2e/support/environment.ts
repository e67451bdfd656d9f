// What every e2e test uses: the lab, a Kubernetes client, and connections to etcd members by pod IP.
import { after } from "node:test";
import { EtcdMembers } from "../../../src/etcd/members.ts";
import { connectKube } from "../../../src/kube/client/client.ts";
import { findCredentials } from "../../../src/kube/credentials/find-credentials.ts";
import { ownNamespace } from "../../support/kubectl.ts";
import { testLab } from "../../support/lab.ts";

export const lab = testLab();
export const kube = connectKube({ credentials: await findCredentials() });
export const etcdMembers = new EtcdMembers();

after(() => {
  kube[Symbol.dispose]();
  etcdMembers.close();
});

/** Enforces the restricted Pod Security profile. */
export const restrictedNamespace = (prefix: string): Promise<string> =>
  ownNamespace(prefix, { "pod-security.kubernetes.io/enforce": "restricted" });

/** Generous, for a busy machine with two cores. Only a failing test waits this long. */
export const patience = 300_000;

/** For calls that are not repeated: a member that is slow is not one that fails. */
export const patiently = { deadline: 30_000 };
