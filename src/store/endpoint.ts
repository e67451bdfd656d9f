// The address of a store, and whether it may get the credentials that are there for it.
import { type Credential, Recipient, refusalOf } from "../recipients/recipients.ts";
import { StoreError } from "./errors.ts";

/** A scheme that is left out means https. `example`: a valid one. */
export function urlOf(endpoint: string, store: string, example: string): URL {
  const url = URL.parse(/^https?:\/\//i.test(endpoint) ? endpoint : `https://${endpoint}`);
  if (url) return url;
  throw new StoreError(
    "refused",
    `${store}: the endpoint ${JSON.stringify(endpoint)} is not a URL. Write one as in ${example}.`,
  );
}

export function recipientOf(credential: Credential, url: URL, store: string): Recipient {
  const decided = Recipient.of(credential, url);
  if (decided) return decided;
  throw new StoreError("refused", `${store}: ${refusalOf(credential)}`);
}
