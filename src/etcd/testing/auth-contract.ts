// What members do once etcd's own authentication is on: whom they let in, what they refuse and with which reason.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { EtcdError } from "../errors.ts";
import { memberId } from "../ids.ts";
import { Login } from "../login.ts";
import type { Authentication, EtcdMember } from "../member.ts";
import { has } from "../versions/features.ts";
import type { EtcdVersion } from "../versions/version.ts";
import { type EtcdWorld, grow, isUndecided, refuses } from "./world.ts";

const root = new Login("root", "of-root");
const guest = new Login("guest", "of-guest");
const nobody = memberId(0x123456789abcdefn);

/** What only the operator's user may do, and no version forgets to ask for. */
function changes(v: EtcdVersion): Record<string, (member: EtcdMember) => Promise<unknown>> {
  return {
    put: (member) => member.put("key", "value"),
    get: (member) => member.get("key"),
    "serializable get": (member) => member.get("key", { serializable: true }),
    memberAdd: (member) => member.memberAdd({ as: "voter", peerUrls: ["http://127.0.0.1:1"] }),
    memberRemove: (member) => member.memberRemove(nobody),
    memberUpdate: (member) => member.memberUpdate(nobody, ["http://127.0.0.1:1"]),
    defragment: (member) => member.defragment(),
    snapshot: (member) => member.snapshot(() => {}),
    ...(has(v, "learners") && { memberPromote: (member: EtcdMember) => member.memberPromote(nobody) }),
    ...(has(v, "hashKv") && { hashKv: (member: EtcdMember) => member.hashKv(0) }),
    ...(has(v, "statusNeedsLogin") && { downgrade: (member: EtcdMember) => member.downgrade({ do: "cancel" }) }),
  };
}

async function withAuth(makeWorld: () => Promise<EtcdWorld>): Promise<EtcdWorld> {
  const world = await makeWorld();
  await world.setUser(root, ["root"]);
  await world.setUser(guest, []);
  await world.enableAuth(root);
  return world;
}

export function authContract(v: EtcdVersion, makeWorld: () => Promise<EtcdWorld>): void {
  aLoneMember(v, makeWorld);
  test("a login does nothing until authentication is on, lets everything be done, and does nothing once it is off", async () => {
    await using world = await makeWorld();
    const member = world.member("m0", root);
    const use = async (value: string): Promise<void> => {
      await member.put("key", value);
      assert.deepEqual(await member.health(), { t: "healthy" });
      assert.equal((await member.memberList({ linearizable: true })).members.length, 1);
      assert.ok((await member.status()).raftIndex > 0);
      assert.ok((await member.snapshot(() => {})).bytes > 0);
      await member.defragment();
      await refuses(member.memberRemove(nobody), "memberNotFound");
    };
    await use("off");
    await world.setUser(root, ["root"]);
    await world.enableAuth(root);
    await use("on");
    await world.disableAuth();
    await use("off again");
  });
  test("a member says whether authentication is on, as far as it knows", async () => {
    await using world = await makeWorld();
    const off = has(v, "tokensIgnoredWithoutAuth") ? "off" : undefined;
    const isFor = async (login: Login | undefined, seen: Authentication): Promise<void> =>
      assert.equal(await world.member("m0", login).authentication(), seen);
    await isFor(undefined, off);
    await world.setUser(root, ["root"]);
    await world.enableAuth(root);
    for (const login of [undefined, root, new Login("root", "of-nobody")]) await isFor(login, "on");
    await world.disableAuth();
    await isFor(undefined, off);
    await isFor(root, off);
  });
  test("three voters let in whoever logged in at one of them, after a restart, and without a quorum", async () => {
    await using world = await withAuthOfThree(makeWorld);
    for (const name of ["m0", "m1", "m2"]) await world.member(name, root).put(name, "1");
    await world.kill("m2");
    await world.revive("m2");
    assert.equal((await world.member("m2", root).status()).learner, false);
    await world.kill("m1");
    await world.kill("m2");
    const m0 = world.member("m0", root);
    assert.equal((await m0.memberList({ linearizable: false })).members.length, 3);
    assert.ok((await m0.status()).raftTerm > 0);
    await assert.rejects(m0.put("two", "of three", { deadline: 1000 }), isUndecided);
    // A new one cannot be let in: a token is agreed on.
    const late = new Login(root.username, root.password);
    await assert.rejects(
      world.member("m0", late).snapshot(() => {}),
      isUndecided,
    );
  });
}

async function withAuthOfThree(makeWorld: () => Promise<EtcdWorld>): Promise<EtcdWorld> {
  const world = await makeWorld();
  for (const name of ["m1", "m2"]) await grow(world, name);
  await world.setUser(root, ["root"]);
  await world.enableAuth(root);
  return world;
}

function aLoneMember(v: EtcdVersion, makeWorld: () => Promise<EtcdWorld>): void {
  let world: EtcdWorld;
  before(async () => {
    world = await withAuth(makeWorld);
  });
  after(() => world[Symbol.asyncDispose]());

  const isLetIn = async (login: Login | undefined, reason: EtcdError["reason"]): Promise<void> => {
    const member = world.member("m0", login);
    for (const change of Object.values(changes(v))) await refuses(change(member), reason);
    // The quorum was there, or etcd would not have come to refuse it.
    const health = await member.health();
    assert.equal(health.t === "healthy" && health.refused?.reason, reason);
    if (has(v, "statusNeedsLogin")) {
      await refuses(member.status(), reason);
      await refuses(member.memberList({ linearizable: false }), reason);
    } else {
      assert.ok((await member.status()).raftIndex > 0);
      assert.equal((await member.memberList({ linearizable: true })).members.length, 1);
    }
  };

  test("nobody is let in without a login", () => isLetIn(undefined, "authRequired"));
  test("a user without the role root is not let in", () => isLetIn(guest, "notRoot"));
  test("a wrong password lets nobody in", () => isLetIn(new Login("root", "of-nobody"), "wrongPassword"));
  test("an unknown user is not let in", () => isLetIn(new Login("nobody", "of-root"), "wrongPassword"));

  test("a changed password ends what the old one began", async () => {
    const old = world.member("m0", root);
    await old.put("password", "old");
    const changed = new Login("root", "another");
    await world.setUser(changed, []);
    await refuses(old.put("password", "older"), "wrongPassword");
    await world.member("m0", changed).put("password", "new");
    await world.setUser(root, []);
  });

  test("a call that is refused for lack of a login is sent again, after the caller's check", async () => {
    const fresh = (): EtcdMember => world.member("m0", new Login(root.username, root.password));
    let checks = 0;
    await fresh().put("checked", "1", { beforeSend: () => void (checks += 1) });
    assert.ok(checks >= 1);
    const lost = new Error("leadership lost");
    const beforeSend = (): void => {
      throw lost;
    };
    await assert.rejects(fresh().put("checked", "2", { beforeSend }), (error) => error === lost);
    assert.equal(Buffer.from((await fresh().get("checked"))?.value ?? []).toString(), "1");
  });
}
