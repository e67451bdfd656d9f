// Clients keep their door while members come and go behind it.
import assert from "node:assert/strict";
import { once } from "node:events";
import * as net from "node:net";
import { describe, test } from "node:test";
import * as tls from "node:tls";
import { createAuthority } from "../../src/transport/testing/certificates.ts";
import { assigned, Entrance, loopback, type Target } from "./entrance.ts";

/** Says its name to whoever connects, and keeps the connection. */
async function member(name: string): Promise<{ target: Target; server: net.Server }> {
  const server = net.createServer((socket) => socket.on("error", () => undefined).write(name));
  server.listen(0, loopback);
  await once(server, "listening");
  const { port } = server.address() as net.AddressInfo;
  return { target: { id: name, host: loopback, port }, server };
}

async function nameBehind(port: number): Promise<{ name: string; socket: net.Socket }> {
  const socket = net.connect(port, loopback);
  const [name] = (await once(socket, "data")) as [Buffer];
  return { name: name.toString(), socket };
}

describe("a door", () => {
  test("leads to its member, and ends connections when that is another one", async () => {
    const [a, b] = await Promise.all([member("a"), member("b")]);
    await using entrance = await Entrance.open(1);
    const [port = 0] = entrance.ports;
    entrance.lead([a.target]);
    const first = await nameBehind(port);
    const ended = once(first.socket, "close");
    entrance.lead([b.target]);
    await ended;
    const second = await nameBehind(port);
    assert.deepEqual([first.name, second.name], ["a", "b"]);
    entrance.lead([{ ...b.target }]);
    assert.ok(!second.socket.destroyed);
    a.server.close();
    b.server.close();
  });

  test("speaks TLS for its clients, with the certificates of the moment, and to nobody who has others", async () => {
    const [authority, other] = await Promise.all([createAuthority("ours"), createAuthority("theirs")]);
    const [member, client] = await Promise.all([
      authority.issue("m", { hosts: ["m.c.svc"] }),
      authority.issue("client"),
    ]);
    const server = tls.createServer({ ...member, ca: authority.cert, requestCert: true, ALPNProtocols: ["h2"] });
    server.on("tlsClientError", () => undefined);
    server.on("secureConnection", (socket) => socket.on("error", () => undefined).write(`${socket.alpnProtocol}`));
    server.listen(0, loopback);
    await once(server, "listening");
    const { port } = server.address() as net.AddressInfo;
    let ca = other.cert;
    const speakFor = () => ({ serverName: "m.c.svc", tls: { ca, identity: client } });
    await using entrance = await Entrance.open(1);
    const [door = 0] = entrance.ports;
    entrance.lead([{ id: "m", host: loopback, port, speakFor }]);
    await once(net.connect(door, loopback), "close");
    ca = authority.cert;
    assert.equal((await nameBehind(door)).name, "h2");
    server.close();
  });

  test("refuses without a member, and when the member refuses", async () => {
    await using entrance = await Entrance.open(1);
    const [port = 0] = entrance.ports;
    const refused = async (): Promise<void> => void (await once(net.connect(port, loopback), "close"));
    await refused();
    const gone = await member("gone");
    gone.server.close();
    entrance.lead([gone.target]);
    await refused();
  });
});

describe("who is behind which door", () => {
  const well = (...ids: string[]) => ids.map((id) => ({ id, serves: true }));
  test("everybody, and the same as before", () => {
    assert.deepEqual(assigned([undefined, undefined, undefined], well("a", "b", "c")), ["a", "b", "c"]);
    assert.deepEqual(assigned(["b", "a", "c"], well("a", "b", "c", "d")), ["b", "a", "c"]);
  });
  test("one that is new for one that is gone", () => {
    assert.deepEqual(assigned(["a", "b", "c"], well("a", "c", "d")), ["a", "d", "c"]);
  });
  test("rather one twice than one that does not serve", () => {
    assert.deepEqual(assigned(["a", "b"], [...well("a"), { id: "new", serves: false }]), ["a", "a"]);
    assert.deepEqual(assigned([undefined], [{ id: "new", serves: false }]), ["new"]);
  });
  test("one member is behind all of them, and nobody behind any", () => {
    assert.deepEqual(assigned([undefined, undefined], well("a")), ["a", "a"]);
    assert.deepEqual(assigned(["a"], []), [""]);
  });
});
