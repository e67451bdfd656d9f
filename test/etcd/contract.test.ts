// The contract of the etcd client, kept by real servers of every version that the operator runs.
import { describe } from "node:test";
import { etcdVersions } from "../../lab/build/etcd.ts";
import { etcdContract } from "../../src/etcd/testing/contract.ts";
import { version } from "../../src/etcd/versions/version.ts";
import { RealEtcd } from "./real-etcd.ts";

// Most of the time something is waited for.
describe("every version", { concurrency: 3 }, () => {
  for (const built of etcdVersions)
    etcdContract(`etcd ${built}`, version(built), () =>
      // Small enough to be filled in a moment.
      RealEtcd.start(built, { flags: [`--quota-backend-bytes=${16 << 20}`] }),
    );
});
