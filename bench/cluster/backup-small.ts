// From the wish for a backup of a small cluster until its status says that it is stored and was read back. Beside it the
// least that any worker costs: a pod of the same image with the same settings whose program ends at once.
import { operatorImageTag } from "../../lab/images/operator.ts";
import { step } from "../../lab/progress.ts";
import { type EtcdBackupSpec, withDefaults } from "../../src/api/etcd-backup/etcd-backup.ts";
import { Pod } from "../../src/kube/objects/kinds.ts";
import { podBasics } from "../../src/worker/pod.ts";
import type { Ground } from "../ground.ts";
import { compare, type Figure } from "../measure.ts";
import { backUp } from "./backups.ts";
import { endOperated, makeOperated, openBoth } from "../places/both.ts";
import { Bucket } from "./bucket.ts";
import type { Place } from "../places/place.ts";
import { secondsOf, until } from "../places/until.ts";

const name = "saved";
const size = 3;

export async function clusterBackupSmall(ground: Ground): Promise<Figure[]> {
  using both = await openBoth(ground);
  const { operated, plain } = both;
  await using bucket = await Bucket.open(ground, operated.namespace);
  const ours: number[] = [];
  const floor: number[] = [];
  await step(`a small cluster backed up ${ground.options.rounds} times`, async (progress) => {
    await makeOperated(operated, name, size);
    for (let round = 0; round < ground.options.rounds; round += 1) {
      const run = `${name}-${round}`;
      const spec = bucket.backupOf(name, run);
      floor.push(await secondsOf(() => runBarePod(plain, run, spec)));
      ours.push(await secondsOf(() => backUp(operated, run, spec)));
      progress.detail(`${ours.at(-1)?.toFixed(2)} s, floor ${floor.at(-1)?.toFixed(2)} s`);
    }
    await endOperated(operated, name);
  });
  const floorIs = "a pod that ends at once";
  return [compare({ what: "small backup: create → Succeeded", unit: "s", ours, floor, floorIs })];
}

async function runBarePod(place: Place, run: string, spec: EtcdBackupSpec): Promise<void> {
  const { api, signal } = place.ground;
  const { worker } = withDefaults({ metadata: place.key(run), spec }).spec;
  await api.create(Pod, {
    metadata: place.key(run),
    spec: {
      ...podBasics(worker),
      containers: [
        {
          name: "ends",
          image: operatorImageTag,
          command: ["/usr/local/bin/node", "--version"],
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ["ALL"] },
          },
        },
      ],
    },
  });
  const ended = await until(
    `the pod ${run} to end`,
    async () => {
      const { status } = await api.get(Pod, place.key(run), { signal });
      return status?.containerStatuses?.[0]?.state?.terminated ?? `its phase is ${status?.phase ?? "not there yet"}`;
    },
    signal,
  );
  if (ended.exitCode !== 0) throw new Error(`the pod ${run} ended with ${ended.exitCode}`);
}
