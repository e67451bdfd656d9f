// The controller from end to end where etcd's own authentication is on: with a way in it manages the cluster as ever,
// and without one it says so, harms nothing, and goes on when it is given one.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Login } from "../etcd/login.ts";
import { Pod, Secret } from "../kube/objects/kinds.ts";
import { key, Stage } from "./testing/stage.ts";

const root = new Login("root", "open sesame");
const secret = { ...key, name: "login" };
const harmful = /^(add|remove|update|promote) member|^(delete|create) Pod|^move leader/;

async function give(stage: Stage, password: string): Promise<void> {
  const data = {
    username: Buffer.from(root.username).toString("base64"),
    password: Buffer.from(password).toString("base64"),
  };
  await stage.api.apply(Secret, { metadata: secret, data }, { fieldManager: "a person", force: true });
}

function enableAuth({ kubelet: { etcd } }: Stage): void {
  etcd?.auth.setUser(root, ["root"]);
  etcd?.auth.enable();
}

const untilReason = (stage: Stage, reason: string): Promise<void> =>
  stage.until(`it is reported as ${reason}`, async () => (await stage.condition("Ready"))?.reason === reason);

for (const version of ["3.6.16", "3.5.21", "3.2.13"])
  test(`a cluster of ${version} whose authentication is switched on heals and scales with a login`, async () => {
    await using stage = new Stage();
    stage.startOperator();
    await give(stage, root.password);
    await stage.create(3, version, { auth: { operatorSecret: secret.name } });
    await stage.untilSettled(3);
    enableAuth(stage);
    const gone = await stage.deletePod("follower");
    await stage.until("it is replaced", async () => !(await stage.podNames()).includes(gone));
    await stage.untilSettled(3);
    await stage.deletePod("leader");
    await stage.untilSettled(3);
    await stage.resize(5);
    await stage.untilSettled(5);
    await stage.resize(3);
    await stage.untilSettled(3);
    stage.api.forgetRequests();
    await stage.pass(120_000);
    const asked = stage.api.requests.filter(({ kind }) => kind === Secret.kind);
    assert.deepEqual(asked, [], "a cluster at rest asks for no Secret");
  });

test("a restarted operator with a login finds its way in", async () => {
  await using stage = new Stage();
  stage.startOperator();
  await give(stage, root.password);
  await stage.create(3, "3.6.16", { auth: { operatorSecret: secret.name } });
  await stage.untilSettled(3);
  enableAuth(stage);
  await stage.stopOperator();
  await stage.api.delete(Pod, { ...key, name: (await stage.podNames())[0] ?? "" });
  stage.startOperator();
  await stage.untilSettled(3);
});

for (const version of ["3.6.16", "3.5.21"])
  test(`a cluster of ${version} that keeps the operator out is reported and not harmed, and looked after again with a login`, async () => {
    await using stage = new Stage();
    const life = stage.startOperator();
    await stage.createWhole(3, version);
    enableAuth(stage);
    await untilReason(stage, "AuthRequired");
    assert.equal(stage.recorded.filter(({ reason }) => reason === "Auth Required").length, 1);
    assert.equal((await stage.condition("Available"))?.status, "True");
    const members = stage.kubelet.etcd?.members;
    const pods = (await stage.pods()).map(({ metadata }) => metadata?.uid);
    const before = life.writes.length;
    await stage.resize(5);
    await stage.pass(120_000);
    assert.deepEqual(
      life.writes.slice(before).filter((write) => harmful.test(write)),
      [],
    );
    assert.deepEqual(stage.kubelet.etcd?.members, members);
    assert.deepEqual(
      (await stage.pods()).map(({ metadata }) => metadata?.uid),
      pods,
    );
    // A person deletes a pod meanwhile: its member waits.
    const gone = await stage.deletePod("follower");
    await stage.pass(120_000);
    assert.deepEqual(
      life.writes.slice(before).filter((write) => harmful.test(write)),
      [],
    );
    assert.equal(stage.kubelet.etcd?.members.length, 3);

    await stage.edit({ auth: { operatorSecret: secret.name } });
    await stage.until("the missing Secret is reported", async () =>
      /no Secret login/.test((await stage.condition("Ready"))?.message ?? ""),
    );
    await give(stage, "wrong");
    await untilReason(stage, "LoginRefused");
    assert.equal(stage.recorded.filter(({ reason }) => reason === "Login Refused").length, 1);
    await give(stage, root.password);
    await stage.untilWhole(5);
    assert.ok(!(await stage.podNames()).includes(gone));
    const said = JSON.stringify([stage.recorded, (await stage.cluster()).status]);
    assert.doesNotMatch(said, /sesame|wrong/);
    assert.doesNotMatch(said, /QuorumLost|Quorum Lost|DataLost/);
  });
