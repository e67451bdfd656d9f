import assert from "node:assert/strict";
import { test } from "node:test";
import { UsageError } from "../line/usage-error.ts";
import { commandInWords, hideSecrets } from "./hide-secrets.ts";
import { Refusal } from "./refusal.ts";
import { sentenceOf } from "./sentences.ts";

test("no command line in a message shows a password, however it was typed", () => {
  const typed = [
    ["--user=root:hush"],
    ["--user", "root:hush"],
    ["--user=root:hush hush"],
    ["--user=root:hush=hush:hush"],
    ["--user=root", "--password=hush"],
    ["--user=root", "--password", "hush hush"],
    ["--token=hush", "env", "ETCDCTL_PASSWORD=hush", "ETCDCTL_USER=root:hush"],
    ["--auth-jwt-token", "hush", "user", "add", "a", "--new-user-password=hush"],
  ];
  for (const words of typed)
    assert.doesNotMatch(commandInWords("kubectl", ["exec", "--", "etcdctl", ...words]), /hush/, words.join(" "));
  assert.equal(
    commandInWords("kubectl", ["etcdctl", "--user=root:hush", "get", "a=b:c"]),
    "kubectl etcdctl --user=root:(hidden) get a=b:c",
  );
});

test("no sentence about an error shows one, whoever wrote it", () => {
  const key = "-----BEGIN EC PRIVATE KEY-----\nhush\n-----END EC PRIVATE KEY-----";
  for (const text of ["etcdctl --user root:hush failed", "--password hush is wrong", `cannot read ${key}`]) {
    assert.doesNotMatch(hideSecrets(text), /hush/);
    for (const error of [new Refusal(text), new UsageError(text), new Error(text)])
      assert.doesNotMatch(sentenceOf(error), /hush/);
  }
});
