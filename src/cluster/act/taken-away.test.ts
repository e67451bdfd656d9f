import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Pod } from "../../kube/objects/kinds.ts";
import { imageAnnotation } from "../objects/claims.ts";
import { imageCheck } from "../objects/image-check.ts";
import { memberPod, settingsAnnotation, versionAnnotation } from "../objects/member-pod.ts";
import { plainText } from "../objects/tls.ts";
import { sampleName, sampleWorld } from "../testing/sample-world.ts";
import { TakenAway } from "./taken-away.ts";
import { Refused } from "../../controllers/obstacle.ts";

const { cluster } = sampleWorld({});
const member = memberPod(cluster, sampleName("a"), { as: "seed" }, plainText);
const check = imageCheck(cluster, "node-1", "registry.example/etcd:v3.7.3");

const changed = (pod: Pod, what: "labels" | "annotations", name: string, value?: string): Pod => {
  const { [name]: _, ...others } = pod.metadata?.[what] ?? {};
  return { ...pod, metadata: { ...pod.metadata, [what]: value === undefined ? others : { ...others, [name]: value } } };
};
const mirrored = (pod: Pod): Pod => ({
  ...pod,
  spec: {
    ...pod.spec,
    containers: (pod.spec?.containers ?? []).map((one) => ({ ...one, image: `mirror.example/${one.image}` })),
  },
});

describe("of a pod that came out of admission", () => {
  const table: readonly (readonly [string, Pod, Pod, string | undefined])[] = [
    ["nothing lacks", member, member, undefined],
    ["a label of a member is given to it again", member, changed(member, "labels", "app"), undefined],
    ["what others added is theirs", member, changed(member, "annotations", "team", "shop"), undefined],
    ["an image says itself", member, changed(member, "annotations", imageAnnotation), undefined],
    ["settings are then not known", member, changed(member, "annotations", settingsAnnotation), undefined],
    [
      "an image that was rewritten lacks what was asked for",
      member,
      mirrored(changed(member, "annotations", imageAnnotation)),
      `the annotation ${imageAnnotation}`,
    ],
    ["the version lacks", member, changed(member, "annotations", versionAnnotation), versionAnnotation],
    ["the version is another", member, changed(member, "annotations", versionAnnotation, "3.5.0"), versionAnnotation],
    ["a label lacks by which what tries an image is found", check, changed(check, "labels", "app"), "the label app"],
  ];
  for (const [what, asked, made, named] of table)
    test(what, () => {
      const compare = () => new TakenAway().compare("shop/demo", asked, made, 0);
      if (named === undefined) compare();
      else assert.throws(compare, (error) => error instanceof Refused && error.message.includes(named));
    });
});

test("what was taken away is asked for again after 10 s, 20 s, up to 5 min, and at once when one came out whole", () => {
  const taken = new TakenAway();
  const made = changed(member, "annotations", versionAnnotation);
  const pauses: number[] = [];
  for (let now = 0, last = 0; pauses.length < 7; now += 1000) {
    try {
      taken.mayAsk("shop/demo", now);
    } catch {
      continue;
    }
    if (now > 0) pauses.push((now - last) / 1000);
    last = now;
    assert.throws(() => taken.compare("shop/demo", member, made, now), Refused);
    taken.mayAsk("shop/other", now);
  }
  assert.deepEqual(pauses, [10, 20, 40, 80, 160, 300, 300]);
  taken.compare("shop/demo", member, member, 0);
  taken.mayAsk("shop/demo", 0);
});
