// What is wrong with a release, as a sentence for the person who checks it.
export class Failure extends Error {}

export function insist(truth: boolean, otherwise: string): asserts truth {
  if (!truth) throw new Failure(otherwise);
}

/** A document of the release, which may be damaged. */
export function parsed(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Failure(`${what} is not JSON.`);
  }
}
