// What another program prints, on its way to the terminal: as it comes, without characters that a terminal obeys.
import { StringDecoder } from "node:string_decoder";
import { printable } from "../../kube/objects/printable.ts";

export async function* cleanStream(printed: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new StringDecoder("utf8");
  let held = "";
  for await (const chunk of printed) {
    const text = held + decoder.write(chunk);
    // The other half of the end of a line may come with the next piece.
    held = text.endsWith("\r") ? "\r" : "";
    yield cleaned(text.slice(0, text.length - held.length));
  }
  yield cleaned(held + decoder.end());
}

/** A terminal that `kubectl exec --tty` has taken over needs both characters at the end of a line. */
const cleaned = (text: string): string => text.split("\r\n").map(printable).join("\r\n");
