// One suite that says what the rest of the program may rely on in a Kubernetes API. It runs unchanged against the
// in-memory twin and against a real API server, which is what makes unit tests on the twin worth anything.
import { after, before, suite } from "node:test";
import { CustomResourceDefinition } from "../../objects/kinds.ts";
import { applyContract } from "./apply.ts";
import { deletionContract } from "./deletion.ts";
import { Widget, cornerOf, gone, type Corner, type Ground, waitFor, widgetCrd } from "./ground.ts";
import { listContract } from "./list.ts";
import { subresourceContract } from "./subresources.ts";
import { watchContract } from "./watch.ts";
import { writeContract } from "./writes.ts";

export function contract(name: string, make: () => Promise<Ground>): void {
  // Side by side, because most of the time is spent waiting for the server's own clocks.
  suite(`${name} keeps the contract of a Kubernetes API`, { concurrency: true, timeout: 600_000 }, () => {
    let ground: Ground | undefined;
    const corner = (): Corner => {
      if (ground === undefined) throw new Error("the ground is not there yet");
      return cornerOf(ground);
    };

    before(async () => {
      ground = await make();
      const { api, namespace } = ground;
      await api.apply(CustomResourceDefinition, widgetCrd, { fieldManager: "contract", force: true });
      await waitFor("widgets being served", async () => await api.list(Widget, { namespace }));
    });

    after(async () => {
      if (ground === undefined) return;
      const key = { namespace: "", name: widgetCrd.metadata?.name ?? "" };
      await ground.api.delete(CustomResourceDefinition, key);
      await gone(ground.api, CustomResourceDefinition, key);
      await ground.close();
    });

    listContract(corner);
    writeContract(corner);
    subresourceContract(corner);
    applyContract(corner);
    deletionContract(corner);
    watchContract(corner);
  });
}
