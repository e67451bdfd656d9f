// Proves that the check for lost writes, which most tests end with, can fail.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { lane } from "../support/lane.ts";

export function lostWriteCheck(): void {
  describe("check for lost writes", () => {
    const on = lane("check", { size: 1 });

    test("the writer reports a key that was deleted or changed behind its back", async () => {
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
