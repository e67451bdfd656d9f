// The client of S3 and of what speaks S3: where it is, who we are, and what it may be sent.
import { S3Client, type S3ClientConfig } from "@aws-sdk/client-s3";
import { fromIni } from "@aws-sdk/credential-provider-ini";
import type { Credential } from "../../recipients/recipients.ts";
import { type Patience, storeAgents } from "../agents.ts";
import { recipientOf, urlOf } from "../endpoint.ts";
import { needEntry, readCa } from "../secret-folder.ts";
import type { StoreTarget } from "../store.ts";
import { readAwsProfile } from "./aws-profile.ts";
import { PayloadHash } from "./payload-hash.ts";
import { s3Retries } from "./s3-retries.ts";
import { sendBodiesOverTls } from "./bodies-over-tls.ts";

export type S3Target = Extract<StoreTarget, { type: "S3" | "OSS" }>;

export interface S3Connection {
  readonly client: S3Client;
  readonly bucket: string;
  readonly name: string;
  /**
   * How the store checks what arrives. `sdk`: AWS, with the SDK's own checksums, which buckets with Object Lock demand.
   * `signature`: others, which do not always know these; a request is signed with the SHA-256 of its body, or TLS protects
   * it (bodies-over-tls.ts). `md5`: those of the others that asked for Content-MD5.
   */
  checks: "sdk" | "signature" | "md5";
  /** Whether signatures cover large bodies (bodies-over-tls.ts). Some buckets demand it also where TLS protects them. */
  bodies: "signed" | "unsigned";
  close(): void;
}

export async function connectS3(target: S3Target, patient?: Patience): Promise<S3Connection> {
  const name = `${target.type === "S3" ? "s3" : "oss"}://${target.bucket}`;
  const endpoint = target.endpoint === undefined ? undefined : urlOf(target.endpoint, name, "https://s3.example.com");
  const amazon = endpoint === undefined || /(^|\.)amazonaws\.com(\.cn)?$/.test(endpoint.hostname);
  const agents = storeAgents(await readCa(target.caFolder, name), patient);
  const checksum = amazon ? "WHEN_SUPPORTED" : "WHEN_REQUIRED";
  const client = new S3Client({
    ...(target.type === "S3" ? await s3Settings(target, endpoint, name) : await ossSettings(target, endpoint, name)),
    followRegionRedirects: amazon,
    requestChecksumCalculation: checksum,
    responseChecksumValidation: checksum,
    retryStrategy: s3Retries,
    sha256: PayloadHash,
    requestHandler: { httpAgent: agents.http, httpsAgent: agents.https },
  });
  const connection: S3Connection = {
    client,
    bucket: target.bucket,
    name,
    checks: amazon ? "sdk" : "signature",
    bodies: endpoint?.protocol === "http:" ? "signed" : "unsigned",
    close() {
      client.destroy();
      agents.destroy();
    },
  };
  sendBodiesOverTls(client, () => connection.bodies === "unsigned");
  return connection;
}

async function s3Settings(
  target: Extract<S3Target, { type: "S3" }>,
  endpoint: URL | undefined,
  name: string,
): Promise<S3ClientConfig> {
  const profile = await readAwsProfile(target.secretFolder);
  const as: Credential = profile.t === "files" ? { t: "signature" } : { t: "identity", of: "aws" };
  const ambient = process.env["AWS_REGION"] ?? process.env["AWS_DEFAULT_REGION"];
  return {
    // AWS redirects to the bucket's region; others seldom care.
    region: target.region ?? profile.region ?? ambient ?? "us-east-1",
    ...(endpoint && { endpoint: recipientOf(as, endpoint, name).url.href }),
    ...(target.forcePathStyle !== undefined && { forcePathStyle: target.forcePathStyle }),
    ...(profile.t === "files" && {
      credentials: fromIni({
        profile: "default",
        filepath: profile.credentials,
        configFilepath: profile.config,
        // A Secret may change while the process runs.
        ignoreCache: true,
      }),
    }),
  };
}

/** OSS answers in S3's way at names that begin with `s3.`, and only with the bucket in the host's name. */
async function ossSettings(
  target: Extract<S3Target, { type: "OSS" }>,
  endpoint: URL | undefined,
  name: string,
): Promise<S3ClientConfig> {
  const url = new URL(endpoint?.href ?? "https://oss-cn-hangzhou.aliyuncs.com");
  const region = /^(?:s3\.)?oss-([a-z0-9-]+?)(?:-internal)?\.aliyuncs\.com$/.exec(url.hostname)?.[1];
  if (region !== undefined && !url.hostname.startsWith("s3.")) url.hostname = `s3.${url.hostname}`;
  return {
    region: region ?? "us-east-1",
    endpoint: recipientOf({ t: "signature" }, url, name).url.href,
    forcePathStyle: false,
    credentials: {
      accessKeyId: await needEntry(target.secretFolder, "accessKeyID", name),
      secretAccessKey: await needEntry(target.secretFolder, "accessKeySecret", name),
    },
  };
}
