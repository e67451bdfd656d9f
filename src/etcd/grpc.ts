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
import { frame, FrameReader } from "./frames.ts";
import type { BeforeSend } from "./member.ts";

/** Sends requests to one server. */
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
  signal?: AbortSignal | undefined;
  beforeSend?: BeforeSend | undefined;
}

export interface StreamOptions {
  /** Milliseconds until the server must have started to answer. */
  answerWithin: number;
  signal?: AbortSignal | undefined;
  beforeSend?: BeforeSend | undefined;
}

export async function unary<I extends DescMessage, O extends DescMessage>(
  carrier: Carrier,
  method: DescMethodUnary<I, O>,
  request: MessageInitShape<I>,
  { deadline, ...limits }: CallOptions,
): Promise<MessageShape<O>> {
  const answers: MessageShape<O>[] = [];
  const frames = new FrameReader();
  const reader: MessageReader = {
    push(chunk) {
      frames.push(chunk);
      for (let message = frames.next(); message !== undefined; message = frames.next())
        answers.push(fromBinary(method.output, message));
    },
    get empty() {
      return frames.empty;
    },
  };
  const end = await send(carrier, method, request, reader, {
    headers: { "grpc-timeout": timeoutHeader(deadline) },
    limits: { deadline, ...given(limits) },
  });
  const [answer] = answers;
  if (answer === undefined || answers.length > 1)
    throw new TransportError(
      "broken",
      `${method.name} was answered with ${answers.length} messages (HTTP ${end.status})`,
    );
  return answer;
}

/** Takes the messages of an answer, in chunks of any size. */
export interface MessageReader {
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
  const receiver: Receiver = {
    onHeaders(_status, response) {
      isGrpc = response["content-type"]?.startsWith("application/grpc") ?? false;
    },
    onData(chunk) {
      if (!isGrpc) return; // an error page of something that is not etcd
      return reader.push(chunk);
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
