import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { describe, test } from "node:test";
import { stringify } from "yaml";
import { type Credentials, CredentialsError } from "./credentials.ts";
import { findCredentials } from "./find-credentials.ts";
import { kubeconfigCredentials, namespaceOf } from "./kubeconfig.ts";

interface Parts {
  cluster?: object;
  user?: object;
  current?: string | undefined;
  name?: string;
}

function config({ cluster = {}, user = {}, current = "main", name = "main" }: Parts): string {
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": current,
    contexts: [{ name, context: { cluster: name, user: name } }],
    clusters: [{ name, cluster: { server: "https://server:6443", ...cluster } }],
    users: [{ name, user }],
  });
}

function folder() {
  const path = mkdtempSync(join(tmpdir(), "kubeconfig-"));
  return {
    path,
    at: (name: string) => join(path, name),
    write(name: string, content: string): string {
      writeFileSync(join(path, name), content);
      return join(path, name);
    },
    [Symbol.dispose]: () => rmSync(path, { recursive: true }),
  };
}

const base64 = (text: string) => Buffer.from(text).toString("base64");
const authorization = async (credentials: Credentials) => credentials.authorization();
const says = (pattern: RegExp) => (error: unknown) => {
  assert.ok(error instanceof CredentialsError);
  assert.match(error.message, pattern);
  return true;
};

describe("a kubeconfig", () => {
  test("gives certificates that stand in it", async () => {
    using files = folder();
    const path = files.write(
      "config",
      config({
        cluster: { "certificate-authority-data": base64("ca"), "tls-server-name": "kube.example" },
        user: { "client-certificate-data": base64("cert"), "client-key-data": base64("key") },
      }),
    );
    const credentials = kubeconfigCredentials(path);
    assert.equal(credentials.server, "https://server:6443");
    assert.deepEqual(await credentials.tls(), { ca: "ca", cert: "cert", key: "key", servername: "kube.example" });
    assert.equal(await credentials.authorization(), undefined);
  });

  test("gives what is in the files that it names, relative to itself, and again after they changed", async () => {
    using files = folder();
    files.write("ca.pem", "ca");
    files.write("token", "t1\n");
    const path = files.write(
      "config",
      config({ cluster: { "certificate-authority": "ca.pem" }, user: { tokenFile: "token", token: "not this" } }),
    );
    const credentials = kubeconfigCredentials(path);
    assert.deepEqual(await credentials.tls(), { ca: "ca" });
    assert.equal(await credentials.authorization(), "Bearer t1");
    files.write("token", "t2");
    credentials.forget();
    assert.equal(await credentials.authorization(), "Bearer t2");
  });

  test("skips the check of the server only when asked to", async () => {
    using files = folder();
    const careful = files.write("careful", config({ user: { token: "t" } }));
    assert.deepEqual(await kubeconfigCredentials(careful).tls(), {});
    const careless = files.write("careless", config({ cluster: { "insecure-skip-tls-verify": true } }));
    assert.deepEqual(await kubeconfigCredentials(careless).tls(), { rejectUnauthorized: false });
  });

  test("of several files is one, where the first that says something wins and missing ones are passed over", async () => {
    using files = folder();
    const one = files.write("one", config({ name: "main", user: { token: "from one" }, current: "other" }));
    const two = files.write("two", config({ name: "main", user: { token: "from two" }, current: "main" }));
    const three = files.write("three", config({ name: "other", user: { token: "from three" } }));
    const paths = [files.at("missing"), one, two, three].join(delimiter);
    assert.equal(await kubeconfigCredentials(paths).authorization(), "Bearer from three");
    assert.equal(
      await kubeconfigCredentials(
        [files.write("current", "current-context: main"), paths].join(delimiter),
      ).authorization(),
      "Bearer from one",
    );
  });

  test("says in whose name requests are made, and a choice goes before it", () => {
    using files = folder();
    const path = files.write("config", config({ user: { as: "ada", "as-groups": ["ops"], "as-uid": "7" } }));
    assert.deepEqual(kubeconfigCredentials(path).impersonation, { user: "ada", uid: "7", groups: ["ops"] });
    const impersonation = { user: "bob", groups: [] };
    assert.deepEqual(kubeconfigCredentials(path, { impersonation }).impersonation, impersonation);
    assert.equal(kubeconfigCredentials(files.write("plain", config({}))).impersonation, undefined);
  });

  test("of several contexts gives the one that is chosen, with its namespace", () => {
    using files = folder();
    const one = files.write("one", config({ name: "one", current: "one" }));
    const other = stringify({
      contexts: [{ name: "two", context: { cluster: "two", user: "one", namespace: "team" } }],
      clusters: [{ name: "two", cluster: { server: "https://other:6443" } }],
    });
    const paths = [one, files.write("two", other)].join(delimiter);
    assert.equal(kubeconfigCredentials(paths).server, "https://server:6443");
    assert.equal(kubeconfigCredentials(paths, { context: "two" }).server, "https://other:6443");
    assert.deepEqual([namespaceOf(paths), namespaceOf(paths, { context: "two" })], [undefined, "team"]);
    assert.throws(
      () => kubeconfigCredentials(paths, { context: "three" }),
      says(/no context "three"; it has: one, two/),
    );
  });

  const refused: [what: string, parts: Parts, says: RegExp][] = [
    ["a proxy", { cluster: { "proxy-url": "http://proxy" } }, /proxy-url.*not supported/],
    ["an auth-provider", { user: { "auth-provider": { name: "gcp" } } }, /auth-provider.*exec plugin/],
    ["a password", { user: { username: "u", password: "p" } }, /username.*token/],
    ["impersonation of groups without a user", { user: { "as-groups": ["system:masters"] } }, /name the user/],
    ["a missing server", { cluster: { server: null } }, /server must be a URL/],
    ["a token that is no text", { user: { token: 7 } }, /token must be a string/],
    ["an unknown context", { current: "nowhere" }, /no context "nowhere"; it has: main/],
    ["an old plugin", { user: { exec: { apiVersion: "x/v1alpha1", command: "p" } } }, /apiVersion/],
  ];
  for (const [what, parts, pattern] of refused) {
    test(`with ${what} is refused with a sentence`, () => {
      using files = folder();
      const path = files.write("config", config(parts));
      assert.throws(() => kubeconfigCredentials(path), says(pattern));
    });
  }

  test("that is not there, or no YAML, is refused with a sentence", () => {
    using files = folder();
    assert.throws(() => kubeconfigCredentials(files.at("missing")), says(/no kubeconfig/));
    assert.throws(() => kubeconfigCredentials(files.write("config", "a: [")), says(/not YAML/));
  });
});

describe("an exec plugin", () => {
  /** A plugin that counts its runs in a file, and prints a credential. */
  function plugin(files: ReturnType<typeof folder>, status: object, more: object = {}): string {
    mkdirSync(files.at("bin"), { recursive: true });
    const credential = JSON.stringify({
      apiVersion: "client.authentication.k8s.io/v1",
      kind: "ExecCredential",
      status,
    });
    files.write(
      "bin/login",
      `#!/bin/sh\necho "$1 $COLOUR $KUBERNETES_EXEC_INFO" >> "${files.at("runs")}"\ncat <<'END'\n${credential}\nEND\n`,
    );
    chmodSync(files.at("bin/login"), 0o755);
    const exec = {
      apiVersion: "client.authentication.k8s.io/v1",
      command: "./bin/login",
      args: ["--get"],
      env: [{ name: "COLOUR", value: "blue" }],
      interactiveMode: "Never",
      ...more,
    };
    return files.write("config", config({ user: { exec } }));
  }
  const runs = (files: ReturnType<typeof folder>) => readFileSync(files.at("runs"), "utf8").trim().split("\n");
  const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

  test("runs once for many who ask at once, and not again before its credential expires", async () => {
    using files = folder();
    const credentials = kubeconfigCredentials(plugin(files, { token: "t", expirationTimestamp: inAnHour() }));
    const tokens = await Promise.all([1, 2, 3].map(() => authorization(credentials)));
    assert.deepEqual(tokens, ["Bearer t", "Bearer t", "Bearer t"]);
    assert.deepEqual(await credentials.tls(), {});
    assert.equal(runs(files).length, 1);
    const info = {
      apiVersion: "client.authentication.k8s.io/v1",
      kind: "ExecCredential",
      spec: { interactive: false },
    };
    assert.equal(runs(files)[0], `--get blue ${JSON.stringify(info)}`);
    credentials.forget();
    await credentials.authorization();
    assert.equal(runs(files).length, 2);
  });

  test("gets the cluster when it asks for that", async () => {
    using files = folder();
    const path = plugin(files, { token: "t" }, { provideClusterInfo: true });
    await kubeconfigCredentials(path).authorization();
    assert.match(runs(files)[0]!, /"spec":\{"interactive":false,"cluster":\{"server":"https:\/\/server:6443"\}\}/);
  });

  test("runs again when its credential is about to expire", async () => {
    using files = folder();
    const soon = new Date(Date.now() + 1000).toISOString();
    const credentials = kubeconfigCredentials(plugin(files, { token: "t", expirationTimestamp: soon }));
    await credentials.authorization();
    await credentials.authorization();
    assert.equal(runs(files).length, 2);
  });

  test("may give a certificate instead of a token", async () => {
    using files = folder();
    const status = { clientCertificateData: "cert", clientKeyData: "key" };
    const credentials = kubeconfigCredentials(plugin(files, status));
    assert.deepEqual(await credentials.tls(), { cert: "cert", key: "key" });
    assert.equal(await credentials.authorization(), undefined);
  });

  test("that cannot run, fails or gives nothing is reported with a sentence, and run again when asked again", async () => {
    using files = folder();
    const path = plugin(files, {});
    await assert.rejects(authorization(kubeconfigCredentials(path)), says(/neither a token nor a certificate/));
    files.write("bin/login", "#!/bin/sh\nexit 3\n");
    const failing = kubeconfigCredentials(path);
    await assert.rejects(authorization(failing), says(/ended with 3/));
    rmSync(files.at("bin/login"));
    await assert.rejects(authorization(failing), says(/cannot be run/));
  });
});

describe("finding credentials", () => {
  test("a named kubeconfig goes before the environment, and that before the home", async () => {
    using files = folder();
    mkdirSync(files.at(".kube"));
    const named = files.write("named", config({ user: { token: "named" } }));
    const inEnv = files.write("env", config({ user: { token: "env" } }));
    files.write(".kube/config", config({ user: { token: "home" } }));
    const env = { HOME: files.path, KUBECONFIG: inEnv };
    const token = async (options: Parameters<typeof findCredentials>[0]) =>
      (await findCredentials(options)).authorization();
    assert.equal(await token({ kubeconfig: named, env }), "Bearer named");
    assert.equal(await token({ env }), "Bearer env");
    assert.equal(await token({ env: { HOME: files.path } }), "Bearer home");
  });

  test("without any, says what to do", async () => {
    using files = folder();
    await assert.rejects(findCredentials({ env: { HOME: files.path } }), says(/set KUBECONFIG/));
  });
});
