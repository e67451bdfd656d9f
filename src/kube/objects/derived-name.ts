// Letters for names: random ones, and those that follow from a text, so that whoever comes after a crash gives the same name.
import { createHash } from "node:crypto";

/** No vowels and nothing that looks like something else: the letters that Kubernetes makes names of. */
const letters = "bcdfghjklmnpqrstvwxz2456789";

const letter = (n: number): string => letters.charAt(n % letters.length);

export const derivedLetters = (text: string, length: number): string =>
  Array.from(createHash("sha256").update(text).digest().subarray(0, length), letter).join("");

/** `random` gives numbers from 0 up to 1. */
export const randomLetters = (random: () => number, length: number): string =>
  Array.from({ length }, () => letter(Math.floor(random() * letters.length))).join("");
