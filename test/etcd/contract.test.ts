// The contract of the etcd client against real servers of several versions.
import { describe } from "node:test";
import { etcdContract } from "../../src/etcd/testing/contract.ts";
import { version } from "../../src/etcd/versions/version.ts";
import { triedVersions } from "../support/matrix.ts";
import { RealEtcd } from "./real-etcd.ts";

// They mostly wait.
describe("every version", { concurrency: 3 }, () => {
  for (const built of triedVersions)
    etcdContract(`etcd ${built}`, version(built), () =>
      // Small enough to fill up quickly.
      RealEtcd.start(built, { flags: [`--quota-backend-bytes=${16 << 20}`] }),
    );
});
