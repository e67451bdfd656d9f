// Makes the sentence of a StoreError: which store, what was tried, what is wrong, what to do, and the store's own words.
import { StoreError, type StoreErrorCode } from "./errors.ts";

export type Verb = "write" | "read" | "look up" | "list" | "delete" | "clean up";

export interface Tried {
  /** The store's name, as in `s3://backups`. */
  readonly store: string;
  readonly to: Verb;
  readonly key?: string;
}

/** What is said differently from store to store. */
export interface Wording {
  readonly place: "bucket" | "container" | "folder";
  /** What has to be granted for each. */
  readonly permissions: Readonly<Record<Verb, string>>;
}

export interface Finding {
  readonly code: StoreErrorCode;
  /** In the store's own words. */
  readonly said: string;
  /** Where more is known than the code. */
  readonly what?: string;
  readonly advice?: string;
}

type Row = (wording: Wording, verb: Verb) => { what: string; advice: string };

const rows: Record<StoreErrorCode, Row> = {
  noBucket: ({ place }) => ({
    what: `the ${place} does not exist`,
    advice: `Create the ${place}, or correct the path`,
  }),
  badCredentials: () => ({
    what: "the credentials are not accepted",
    advice: "Correct the Secret with the credentials, or, where none is named, the identity of the service account",
  }),
  forbidden: ({ permissions }, verb) => ({
    what: "the credentials do not allow it",
    advice: `Grant ${permissions[verb]}`,
  }),
  unavailable: () => ({
    what: "the store does not answer as it should",
    advice: "It is worth trying again; if it stays so, check the endpoint and the network",
  }),
  full: ({ place }) => ({
    what: "there is no space left",
    advice: `Make room in the ${place}, raise its quota, or keep fewer backups`,
  }),
  exists: () => ({
    what: "there is an object under this key already",
    advice: "Choose another path, or delete the object",
  }),
  locked: ({ place }) => ({
    what: "the store keeps this object by its retention or a legal hold",
    advice: `Wait until its retention ends, or change the policy of the ${place}`,
  }),
  refused: () => ({
    what: "the store refuses the request",
    advice: "Correct the setting that it complains about",
  }),
};

/** The cause is a copy of the words alone: the errors of some SDKs carry requests with their credentials. */
export function storeError({ store, to, key }: Tried, wording: Wording, finding: Finding): StoreError {
  const row = rows[finding.code](wording, to);
  const tried = `${to}${key === undefined ? "" : ` ${JSON.stringify(key)}`}`;
  const said = finding.said.replaceAll(/\s+/g, " ").trim().slice(0, 300);
  const words = said === "" ? "" : ` It says: ${said.replace(/\.$/, "")}.`;
  return new StoreError(
    finding.code,
    `${store}: cannot ${tried}: ${finding.what ?? row.what}. ${finding.advice ?? row.advice}.${words}`,
    { cause: new Error(said) },
  );
}
