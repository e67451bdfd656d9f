// Members in pods listen at 0.0.0.0, which Go takes for every address of the machine, IPv6 included.
import assert from "node:assert/strict";
import { networkInterfaces } from "node:os";
import { describe, test } from "node:test";
import { memberUrl } from "../../src/cluster/objects/endpoints.ts";
import { triedVersions } from "../support/matrix.ts";
import { RealEtcd } from "./real-etcd.ts";

const loopbacks = Object.values(networkInterfaces())
  .flatMap((addresses = []) => addresses)
  .filter(({ internal }) => internal)
  .map(({ address }) => address);

describe("a member that listens at 0.0.0.0", () => {
  for (const built of triedVersions)
    test(`of ${built} is reached at every address of its machine`, async () => {
      await using etcd = await RealEtcd.start(built, { everywhere: true });
      const { port } = new URL(etcd.clientUrl("m0"));
      const { memberId } = await etcd.member("m0").status();
      assert.ok(loopbacks.includes("127.0.0.1"), loopbacks.join());
      for (const address of loopbacks) {
        const url = new URL(memberUrl(address));
        url.port = port;
        assert.equal((await etcd.members.at({ url: url.origin }).status()).memberId, memberId, address);
      }
    });
});
