// A tar archive of texts, in the form that every tar reads.

export interface TextFile {
  readonly path: string;
  readonly text: string;
}

const block = 512;

export function tarOf(files: readonly TextFile[], modified: Date): Buffer {
  const parts = files.flatMap(({ path, text }) => {
    const content = Buffer.from(text, "utf8");
    const padding = Buffer.alloc((block - (content.length % block)) % block);
    return [header(path, content.length, modified), content, padding];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * block)]);
}

function header(path: string, size: number, modified: Date): Buffer {
  const bytes = Buffer.alloc(block);
  if (Buffer.byteLength(path) > 100) throw new RangeError(`the path ${path} is too long for an archive`);
  const octal = (value: number, length: number): string => `${value.toString(8).padStart(length - 1, "0")}\0`;
  bytes.write(path, 0);
  bytes.write(octal(0o644, 8), 100);
  bytes.write(octal(0, 8), 108);
  bytes.write(octal(0, 8), 116);
  bytes.write(octal(size, 12), 124);
  bytes.write(octal(Math.floor(modified.getTime() / 1000), 12), 136);
  bytes.write("        ", 148); // the sum is taken with blanks in its own place
  bytes.write("0", 156);
  bytes.write("ustar\u000000", 257);
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  bytes.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return bytes;
}
