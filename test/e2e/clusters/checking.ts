// The check that all other tests end with can fail: a write that was acknowledged and is not there is found.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { lane } from "../support/lane.ts";

export function checking(): void {
  describe("checking", () => {
    const on = lane("checking", { size: 1 });

    test("the writer complains about a key that was removed or changed behind its back", async () => {
      const { first, writer } = on();
      await writer.nothingIsLost();
      await writer.stop();
      const { etcd } = first.leader;
      const { keys } = await etcd.list(writer.prefix, { limit: 2 });
      const [removed, changed] = keys.map(({ key }) => key);
      assert.ok(removed !== undefined && changed !== undefined);
      await etcd.delete(removed);
      await etcd.put(changed, "something else");
      const complaints = await writer.complaints();
      assert.equal(complaints.length, 2);
      assert.match(complaints[0] ?? "", new RegExp(`${removed} is missing`));
      assert.match(complaints[1] ?? "", new RegExp(`${changed} is "something else"`));
    });
  });
}
