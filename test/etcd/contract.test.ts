// The contract of the etcd client against real servers of every version that the lab has.
import { describe } from "node:test";
import { etcdVersions } from "../../lab/build/etcd.ts";
import { etcdContract } from "../../src/etcd/testing/contract.ts";
import { version } from "../../src/etcd/versions/version.ts";
import { RealEtcd } from "./real-etcd.ts";

// They mostly wait.
describe("every version", { concurrency: 3 }, () => {
  for (const built of etcdVersions)
    etcdContract(`etcd ${built}`, version(built), () =>
      // Small enough to fill up quickly.
      RealEtcd.start(built, { flags: [`--quota-backend-bytes=${16 << 20}`] }),
    );
});
