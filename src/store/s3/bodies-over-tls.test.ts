import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import { S3Client, UploadPartCommand } from "@aws-sdk/client-s3";
import { StoreAttempt } from "../attempt.ts";
import { sendBodiesOverTls } from "./bodies-over-tls.ts";
import type { S3Connection } from "./s3-client.ts";
import { s3Refusals } from "./s3-errors.ts";
import { s3Retries } from "./s3-retries.ts";
import { uploadToS3 } from "./s3-upload.ts";

const MiB = 1024 * 1024;

interface Asked {
  readonly method: string;
  readonly signed: string;
  readonly sliced: boolean;
  readonly bytes: Buffer;
}

interface Answer {
  readonly status: number;
  readonly text?: string;
}

const partAnswer: Answer = { status: 200 };

/** A client whose server is this function. */
function connection(endpoint: string, answer: (asked: Asked, number: number) => Answer) {
  const asked: Asked[] = [];
  const client = new S3Client({
    endpoint,
    region: "us-east-1",
    forcePathStyle: true,
    credentials: { accessKeyId: "id", secretAccessKey: "secret" },
    requestChecksumCalculation: "WHEN_REQUIRED",
    retryStrategy: s3Retries,
    requestHandler: {
      async handle(request: unknown) {
        const { body, headers, method } = request as { body: unknown; headers: Record<string, string>; method: string };
        const sliced = body instanceof Readable;
        const bytes = sliced
          ? Buffer.concat(await body.toArray())
          : Buffer.from((body as Uint8Array | undefined) ?? []);
        const seen = { method, signed: headers["x-amz-content-sha256"] ?? "", sliced, bytes };
        asked.push(seen);
        const { status, text = "" } = answer(seen, asked.length);
        const answered = { etag: '"x"', "content-type": "application/xml" };
        return { response: { statusCode: status, headers: answered, body: Readable.from([Buffer.from(text)]) } };
      },
    },
  });
  const at: S3Connection = { client, bucket: "b", name: "s3://b", checks: "signature", bodies: "unsigned", close() {} };
  sendBodiesOverTls(client, () => at.bodies === "unsigned");
  const sendPart = (bytes: Uint8Array): Promise<unknown> =>
    client.send(new UploadPartCommand({ Bucket: "b", Key: "k", UploadId: "u", PartNumber: 1, Body: bytes }));
  return { at, asked, sendPart };
}

const isHash = /^[0-9a-f]{64}$/;

test("over TLS a large body is not signed and goes in slices; a small one is, and so is any over plain HTTP", async () => {
  const part = Buffer.alloc(2 * MiB + 5, "part");
  const secure = connection("https://s3.example", () => partAnswer);
  await secure.sendPart(part);
  await secure.sendPart(part.subarray(0, 1000));
  secure.at.bodies = "signed";
  await secure.sendPart(part);
  const plain = connection("http://s3.example", () => partAnswer);
  await plain.sendPart(part);
  const [large, small, demanded] = secure.asked;
  assert.deepEqual([large?.signed, large?.sliced], ["UNSIGNED-PAYLOAD", true]);
  assert.ok(large?.bytes.equals(part));
  assert.match(small?.signed ?? "", isHash);
  assert.match(demanded?.signed ?? "", isHash);
  assert.ok(demanded?.bytes.equals(part));
  assert.match(plain.asked[0]?.signed ?? "", isHash);
});

test("a further attempt sends the whole body again", async () => {
  const part = Buffer.alloc(2 * MiB, "part");
  const { asked, sendPart } = connection("https://s3.example", (_, number) => ({ status: number === 1 ? 503 : 200 }));
  await sendPart(part);
  assert.equal(asked.length, 2);
  for (const { bytes } of asked) assert.ok(bytes.equals(part));
});

const denied: Answer = {
  status: 403,
  text: "<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>",
};

async function* body(): AsyncGenerator<Uint8Array> {
  yield Buffer.alloc(2 * MiB, "body");
}

const upload = (at: S3Connection) => ({
  at,
  key: "k",
  options: {},
  attempt: new StoreAttempt({ store: "s3://b", to: "write", key: "k" }, s3Refusals),
  running: new Set<string>(),
});

test("a bucket that refuses unsigned bodies gets signed ones, from then on", async () => {
  const { at, asked } = connection("https://s3.example", ({ signed }) => (isHash.test(signed) ? partAnswer : denied));
  await uploadToS3(upload(at), body());
  await uploadToS3(upload(at), body());
  assert.deepEqual(
    asked.map(({ signed }) => isHash.test(signed)),
    [false, true, true],
  );
});

test("a bucket that refuses both is asked twice, and no more", async () => {
  const { at, asked } = connection("https://s3.example", () => denied);
  await assert.rejects(uploadToS3(upload(at), body()), /Access Denied/);
  assert.equal(asked.length, 2);
});
