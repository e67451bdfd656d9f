// An etcd cluster in memory, small enough for a thousand of them in a unit test. contract.ts holds it and real
// servers to the same behaviour.
import type { EtcdMember } from "../member.ts";
import { FakeCluster } from "./fake-cluster.ts";
import { FakeMember } from "./fake-member.ts";

export type { FakeClusterOptions, ProcessStart, ProcessState } from "./fake-cluster.ts";

export class FakeEtcd extends FakeCluster {
  /** The port to whoever listens at this client URL. */
  at(clientUrl: string): EtcdMember {
    return new FakeMember(this, clientUrl);
  }
}
