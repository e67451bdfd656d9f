// What is taken of an etcd at most. Whoever names the image of a member writes its answers, and the operator that asks
// serves everybody else, too: so each answer has a limit in bytes, which is known before it is kept, and what is read from
// it has limits in number and length. All are far above what an etcd says that works.
import { TransportError } from "../transport/errors.ts";

/**
 * Bytes of one answer. The largest that is asked for is a list of members: seven of them, each with a name and two URLs as
 * long as Kubernetes allows them, are 6 KiB. It stays small because an empty entry of two bytes becomes an object of two
 * hundred: what is taken here may cost a hundred times as much memory for a moment.
 */
export const answerBytes = 128 << 10;
/** The bound of a message that holds values of keys: etcd takes requests of 1.5 MiB. Only workers and tests ask for these. */
export const valueBytes = 8 << 20;
/** The bound of a page from something that is not etcd, while its end is awaited. */
export const pageBytes = 64 << 10;

/** etcd's own advice ends at seven. */
export const members = 64;
export const urls = 32;
/** Characters of a name or a URL. A host name has 253. */
export const nameLength = 1024;
/** As in `3.6.0-rc.1+git`. */
export const versionLength = 64;
/** Those of members that were removed stay until they are disarmed. */
export const alarms = 512;
/** A JWT of etcd has some 300 characters. Longer ones than this no server takes in a header. */
export const tokenLength = 8192;

/** Throws when an answer has more of these than are taken. */
export function checkCount(method: string, what: string, count: number, most: number): void {
  if (count <= most) return;
  throw tooLarge(`${method} was answered with ${count} ${what}; the operator handles at most ${most}`);
}

/** Throws when a text of an answer is longer than it is taken. */
export function checkLength(method: string, what: string, text: string, most: number): void {
  if (text.length <= most) return;
  throw tooLarge(
    `${method} was answered with ${what} of ${text.length} characters; the operator handles at most ${most}`,
  );
}

export function tooManyBytes(method: string, most: number): TransportError {
  return tooLarge(`${method} was answered with more than ${most} bytes, which is all that the operator takes`);
}

export const tooLarge = (message: string): TransportError => new TransportError("tooLarge", message);
