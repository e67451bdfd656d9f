import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { printable } from "../../kube/objects/printable.ts";
import { cleanStream } from "./clean-stream.ts";

async function cleaned(bytes: Buffer, cuts: readonly number[]): Promise<string> {
  const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].toSorted((a, b) => a - b);
  async function* pieces(): AsyncGenerator<Buffer> {
    for (const [at, end] of [...ends, bytes.length].entries()) yield bytes.subarray(ends[at - 1] ?? 0, end);
  }
  let text = "";
  for await (const piece of cleanStream(pieces())) text += piece;
  return text;
}

test("what a program prints is cleaned as it comes, wherever it is cut", async () => {
  const units = fc.constantFrom("\r", "\n", "\u001B[2J", "\u009B", "é", "🙂", "\u202E", "a", "\t");
  const texts = fc.array(units).map((found) => found.join(""));
  await fc.assert(
    fc.asyncProperty(texts, fc.array(fc.nat()), async (text, cuts) => {
      const wanted = text.split("\r\n").map(printable).join("\r\n");
      assert.equal(await cleaned(Buffer.from(text), cuts), wanted);
    }),
  );
});

test("a prompt is not held back, and bytes that are no text are marks", async () => {
  const prompt = async function* (): AsyncGenerator<Buffer> {
    yield Buffer.from("Password: ");
    throw new Error("nobody asks for more");
  };
  const { value } = await cleanStream(prompt()).next();
  assert.equal(value, "Password: ");
  assert.equal(await cleaned(Buffer.from([0x61, 0x9b, 0x32, 0x4a, 0xff]), []), "a�2J�");
});
