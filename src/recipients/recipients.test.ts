// Which endpoint may get which credential.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Credential, patternOf, Recipient } from "./recipients.ts";

const aws: Credential = { t: "identity", of: "aws" };
const azure: Credential = { t: "identity", of: "azure" };
const google: Credential = { t: "identity", of: "google" };
const token: Credential = { t: "token" };
const signature: Credential = { t: "signature" };
const login: Credential = { t: "login", overHttp: false };
const loginOverHttp: Credential = { t: "login", overHttp: true };

const may: readonly [credential: Credential, ...urls: string[]][] = [
  [
    azure,
    "https://acc.blob.core.windows.net",
    "https://ACC.blob.core.windows.net/container",
    "https://acc.blob.core.windows.net:443/",
    "https://acc.privatelink.blob.core.windows.net",
    "https://acc.z07.blob.storage.azure.net",
    "https://acc.blob.core.chinacloudapi.cn",
    "https://acc.blob.core.usgovcloudapi.net",
  ],
  [
    google,
    "https://storage.googleapis.com",
    "https://private.googleapis.com",
    "https://restricted.googleapis.com",
    "https://storage.me-central2.rep.googleapis.com",
    "https://storage-mine.p.googleapis.com/",
  ],
  [
    aws,
    "https://s3.amazonaws.com",
    "https://s3.eu-central-1.amazonaws.com",
    "https://s3-us-west-2.amazonaws.com",
    "https://s3-fips.us-gov-west-1.amazonaws.com",
    "https://s3.dualstack.eu-west-1.amazonaws.com",
    "https://s3.cn-north-1.amazonaws.com.cn",
    "https://bucket.vpce-1a2b-3c4d.s3.us-east-1.vpce.amazonaws.com",
  ],
  [token, "https://storage.example.com", "https://10.0.0.1:9000/path"],
  [signature, "https://minio.example.com", "http://minio.example.com:9000", "http://oss-cn-hangzhou.aliyuncs.com"],
  [login, "https://etcd.example.com:2379"],
  [loginOverHttp, "https://etcd.example.com:2379", "http://etcd.example.com:2379"],
];

const mayNot: readonly [credential: Credential, ...urls: string[]][] = [
  [
    azure,
    "http://acc.blob.core.windows.net",
    "https://collector.example.com",
    "https://acc.blob.core.windows.net.example.com",
    "https://example.com/.blob.core.windows.net",
    "https://example.com?.blob.core.windows.net",
    "https://example.com#.blob.core.windows.net",
    "https://example.com\\.blob.core.windows.net",
    "https://acc.blob.core.windows.net@example.com",
    "https://user@acc.blob.core.windows.net",
    "https://evilblob.core.windows.net",
    "https://acc.blob.core.windows.net:8443",
    "https://10.0.0.1",
    "https://storage.googleapis.com",
  ],
  [
    google,
    "http://storage.googleapis.com",
    "https://storage.example.com",
    "https://fakegoogleapis.com",
    "https://googleapis.com.example.com",
    "https://acc.blob.core.windows.net",
  ],
  [
    aws,
    "http://s3.amazonaws.com",
    "https://minio.example.com",
    "https://s3abcd1234.execute-api.us-east-1.amazonaws.com",
    "https://ec2-1-2-3-4.compute-1.amazonaws.com",
    "https://s3.amazonaws.com.example.com",
    "https://localhost.example.com",
  ],
  [token, "http://storage.example.com", "http://storage.googleapis.com", "http://127.0.0.1.example.com"],
  [login, "http://etcd.example.com:2379", "http://example-client.default.svc:2379", "http://0.0.0.0:2379"],
  [signature, "ftp://minio.example.com"],
];

const named = (credential: Credential): string =>
  Object.values(credential)
    .map((value) => String(value))
    .join(" ");

describe("an endpoint that may get", () => {
  for (const [credential, ...urls] of may)
    for (const url of urls)
      test(`${named(credential)}: ${url}`, () => {
        const decided = Recipient.of(credential, new URL(url));
        assert.equal(decided?.url.href, new URL(url).href);
      });
});

describe("an endpoint that may not get", () => {
  for (const [credential, ...urls] of mayNot)
    for (const url of urls)
      test(`${named(credential)}: ${url}`, () => {
        assert.equal(Recipient.of(credential, new URL(url)), undefined);
      });
});

for (const credential of [aws, azure, google, token, signature, login])
  test(`${named(credential)} may go to the pod itself`, () => {
    for (const host of ["http://127.0.0.1:9000", "http://localhost:9000/path", "https://[::1]:9000"])
      assert.ok(Recipient.of(credential, new URL(host)), host);
  });

test("an endpoint as people write it, with the port that https has anyway, is taken by the API, too", () => {
  assert.match("https://acc.blob.core.windows.net:443", new RegExp(patternOf(azure)));
  assert.doesNotMatch("https://acc.blob.core.windows.net:4430", new RegExp(patternOf(azure)));
});
