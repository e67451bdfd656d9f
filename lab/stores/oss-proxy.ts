// Stands before versitygw and answers as Alibaba's OSS does where that differs from S3: it wants the name of the bucket in
// the name of the host, and takes no body in signed chunks or with a trailer. Everything else goes to versitygw as it came,
// so signatures are checked. What it cannot show is whether OSS itself knows `If-None-Match` and Content-MD5.
import type { IncomingHttpHeaders } from "node:http";
import { type Reply, startForwarding } from "./forwarding.ts";
import type { Place } from "./server.ts";

interface OssProxy extends AsyncDisposable {
  readonly url: string;
}

/** `domain` is the endpoint's name, for which versitygw answers as `<bucket>.<domain>`; it has to lead to loopback. */
export async function startOssProxy({ host, port }: Place, domain: string): Promise<OssProxy> {
  const proxy = await startForwarding({
    upstream: { host, port },
    reply: ({ headers }) => refusal(headers, domain),
  });
  return {
    url: `http://${domain}:${proxy.port}`,
    [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose](),
  };
}

function refusal(headers: IncomingHttpHeaders, domain: string): Reply | undefined {
  const host = (headers.host ?? "").replace(/:\d+$/, "");
  if (!host.endsWith(`.${domain}`))
    return error(
      403,
      "SecondLevelDomainForbidden",
      "The bucket you are attempting to access must be addressed using OSS third level domain.",
    );
  const streaming = String(headers["x-amz-content-sha256"] ?? "").startsWith("STREAMING-");
  const chunked = headers["content-encoding"]?.includes("aws-chunked") === true;
  if (streaming || chunked || headers["x-amz-trailer"] !== undefined)
    return error(
      400,
      "InvalidArgument",
      "aws-chunked encoding is not supported with the specified x-amz-content-sha256 value.",
    );
  return undefined;
}

const error = (status: number, code: string, message: string): Reply => ({
  status,
  headers: { "content-type": "application/xml" },
  body: `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`,
});
