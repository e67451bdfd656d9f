// A server that has no end: what it sends as fast as the other side takes it.
import type { ServerHttp2Stream } from "node:http2";

const manyMegabytes = 300 << 20;

/** Until the other side hangs up or has taken hundreds of megabytes. */
export function pour(stream: ServerHttp2Stream, part: Buffer, first: Buffer = Buffer.alloc(0)): void {
  let sent = 0;
  stream.write(first);
  const more = (): void => {
    while (!stream.destroyed && sent < manyMegabytes) {
      sent += part.length;
      if (stream.write(part)) continue;
      stream.once("drain", more);
      return;
    }
  };
  more();
}
