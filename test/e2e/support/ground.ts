// What every test here stands on: the lab, a client of its Kubernetes, and connections to members by their pods'
// addresses, which this machine can dial.
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

/** Pods that need more than the strictest profile allows are refused here. */
export const restrictedNamespace = (prefix: string): Promise<string> =>
  ownNamespace(prefix, { "pod-security.kubernetes.io/enforce": "restricted" });

/** Two cores are shared with whatever else the machine does: only what never comes takes this long. */
export const patience = 180_000;
