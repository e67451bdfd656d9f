// Unary and server-streaming gRPC calls over one HTTP/2 origin. An error status of the server becomes an EtcdError; an
// answer that is cut off, malformed or without its final status becomes a TransportError.
import {
  create,
  type DescMessage,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { TransportError } from "../transport/errors.ts";
import type { Http2Origin, Receiver, ResponseEnd, TransportRequest } from "../transport/origin.ts";
import { classify, EtcdError } from "./errors.ts";
import { answerBytes, pageBytes, tooManyBytes } from "./bounds.ts";
import { frame, SingleMessage } from "./frames.ts";
import type { BeforeSend } from "./member.ts";

export type Carrier = Pick<Http2Origin, "send">;

/** The same, for a user who is logged in. */
export function withToken(carrier: Carrier, token: string | undefined): Carrier {
  if (token === undefined) return carrier;
  return {
    send: (request, receiver) => carrier.send({ ...request, headers: { ...request.headers, token } }, receiver),
  };
}

export interface CallOptions {
  /** Milliseconds for the whole call. */
  deadline: number;
  /** How large the answer may be; enough for all that holds no values of keys. */
  atMost?: number;
  signal?: AbortSignal | undefined;
  beforeSend?: BeforeSend | undefined;
}

interface StreamOptions {
  /** Milliseconds until the server must have started to answer. */
  answerWithin: number;
  signal?: AbortSignal | undefined;
  beforeSend?: BeforeSend | undefined;
}

export async function unary<I extends DescMessage, O extends DescMessage>(
  carrier: Carrier,
  method: DescMethodUnary<I, O>,
  request: MessageInitShape<I>,
  { deadline, atMost = answerBytes, ...limits }: CallOptions,
): Promise<MessageShape<O>> {
  const answer = new SingleMessage(method.name, atMost);
  const end = await send(carrier, method, request, answer, {
    headers: { "grpc-timeout": timeoutHeader(deadline) },
    limits: { deadline, ...given(limits) },
  });
  if (answer.whole === undefined)
    throw new TransportError("broken", `${method.name} was answered without a message (HTTP ${end.status})`);
  try {
    // A field that is not known here would be kept beside the message.
    return fromBinary(method.output, answer.whole, { readUnknownFields: false });
  } catch (error) {
    throw new TransportError("broken", `${method.name} was answered with a message that cannot be read`, error);
  }
}

/** Takes the messages of an answer, in chunks of any size. */
interface MessageReader {
  /** While a returned promise is pending, flow control holds the server back. */
  push(chunk: Buffer): void | Promise<void>;
  /** False in the middle of a message. */
  readonly empty: boolean;
}

export async function serverStream<I extends DescMessage, O extends DescMessage>(
  carrier: Carrier,
  method: DescMethodServerStreaming<I, O>,
  request: MessageInitShape<I>,
  reader: MessageReader,
  { answerWithin, ...limits }: StreamOptions,
): Promise<void> {
  await send(carrier, method, request, reader, { headers: {}, limits: { answerWithin, ...given(limits) } });
}

type Limits = Pick<TransportRequest, "deadline" | "answerWithin" | "signal" | "beforeSend">;

/** Leaves out undefined options, as the transport's types demand. */
function given({ signal, beforeSend }: Pick<CallOptions, "signal" | "beforeSend">): Limits {
  return { ...(signal && { signal }), ...(beforeSend && { beforeSend }) };
}

async function send<I extends DescMessage, O extends DescMessage>(
  carrier: Carrier,
  method: DescMethodUnary<I, O> | DescMethodServerStreaming<I, O>,
  request: MessageInitShape<I>,
  reader: MessageReader,
  { headers, limits }: { headers: Record<string, string>; limits: Limits },
): Promise<ResponseEnd> {
  let isGrpc = false;
  let page = 0;
  const receiver: Receiver = {
    onHeaders(_status, response) {
      isGrpc = response["content-type"]?.startsWith("application/grpc") ?? false;
    },
    onData(chunk) {
      if (isGrpc) return reader.push(chunk);
      page += chunk.length; // of something that is not etcd
      if (page > pageBytes) throw tooManyBytes(method.name, pageBytes);
    },
  };
  const end = await carrier.send(
    {
      method: "POST",
      path: `/${method.parent.typeName}/${method.name}`,
      headers: { "content-type": "application/grpc", te: "trailers", ...headers },
      body: frame(toBinary(method.input, create(method.input, request))),
      ...limits,
    },
    receiver,
  );
  checkStatus(method.name, end, reader.empty);
  return end;
}

function checkStatus(method: string, { status, headers, trailers }: ResponseEnd, complete: boolean): void {
  // A response without messages carries the status in its headers.
  const said = trailers["grpc-status"] === undefined ? headers : trailers;
  const code = said["grpc-status"];
  if (typeof code !== "string" || !/^\d+$/.test(code))
    throw new TransportError("broken", `${method} was answered with HTTP ${status} and no gRPC status`);
  if (code === "0") {
    if (!complete) throw new TransportError("broken", `${method}: the last message of the answer is incomplete`);
    return;
  }
  const message = decodeMessage(said["grpc-message"]);
  throw new EtcdError(classify(message), method, message === "" ? `gRPC code ${code}` : message, Number(code));
}

function decodeMessage(text: string | string[] | undefined): string {
  if (typeof text !== "string") return "";
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a lone percent sign
  }
}

/**
 * A little more than the caller's deadline: a server whose deadline passes resets the stream without a status, which
 * would look like a broken connection. It only matters when the caller's own reset is lost.
 */
function timeoutHeader(deadline: number): string {
  const longest = 99_999_999; // gRPC allows eight digits
  return `${Math.min(longest, Math.max(1, Math.ceil(deadline)) + 1000)}m`;
}
