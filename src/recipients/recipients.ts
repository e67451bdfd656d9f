// Decides whether an endpoint may get a credential: the only place that does. The API refuses by it what a spec shows, and
// workers refuse what only Secrets show. A credential is judged by what can be done with it by a server that gets it, and by
// whoever reads along.

type Provider = "aws" | "azure" | "google";

export type Credential =
  /** What a cloud says of the pod, or of the holder of a key file: a server that gets such a token can be its holder. */
  | { readonly t: "identity"; readonly of: Provider }
  /** A token that the owner of a Secret gives for this endpoint. */
  | { readonly t: "token" }
  /** A key that signs requests, and stays here: who reads along sees data, and cannot ask for more. */
  | { readonly t: "signature" }
  /** User and password of etcd. `overHttp`: the owner has said that they may be read on the way. */
  | { readonly t: "login"; readonly overHttp: boolean };

interface Own {
  readonly cloud: string;
  /** For people. */
  readonly example: string;
  readonly pattern: string;
}

const labels = "([a-z0-9-]+[.])*";
const path = "(/.*)?";
const ownEnd = `(:443)?${path}`;

const own: Readonly<Record<Provider, Own>> = {
  aws: {
    cloud: "AWS",
    example: "s3.eu-central-1.amazonaws.com",
    // Not all of amazonaws.com: customers answer at some of its names, as at *.execute-api.<region>.amazonaws.com.
    pattern: `https://${labels}s3(-[a-z0-9-]+)?([.]dualstack)?([.][a-z0-9-]+)?([.]vpce)?[.]amazonaws[.]com([.]cn)?${ownEnd}`,
  },
  azure: {
    cloud: "Azure",
    example: "account.blob.core.windows.net",
    pattern: `https://${labels}blob[.](core[.](windows[.]net|chinacloudapi[.]cn|usgovcloudapi[.]net|cloudapi[.]de)|storage[.]azure[.]net)${ownEnd}`,
  },
  google: {
    cloud: "Google",
    example: "storage.googleapis.com",
    pattern: `https://${labels}googleapis[.]com${ownEnd}`,
  },
};

/** Never leaves the pod. */
const loopback = `https?://(localhost|127([.][0-9]{1,3}){3}|\\[::1\\])(:[0-9]+)?${path}`;
const overTls = "https://.+";
const asWritten = "https?://.+";

interface Row {
  readonly allowed: string;
  readonly what: string;
  readonly advice: string;
}

const rows: Readonly<Record<"token" | "signature", Row>> = {
  token: {
    allowed: overTls,
    what: "a token is not sent over plain http, where others can read and use it",
    advice: "Use an endpoint with https",
  },
  // A scheme that is left out means https, so http has been written by somebody.
  signature: {
    allowed: asWritten,
    what: "the endpoint uses neither http nor https",
    advice: "Use an endpoint with https",
  },
};

function rowOf(credential: Credential): Row {
  if (credential.t === "identity") {
    const { cloud, example, pattern } = own[credential.of];
    return {
      allowed: pattern,
      what: `an identity of ${cloud} is sent only to hosts of ${cloud}, such as ${example}, over https, because a server that receives it can use it`,
      advice: "Name a Secret with credentials for this endpoint, or remove the endpoint",
    };
  }
  if (credential.t === "login")
    return {
      allowed: credential.overHttp ? asWritten : overTls,
      what: "a login is not sent over plain http, where others can read and use it",
      advice: "Use endpoints with https, or set spec.allowLoginOverHTTP",
    };
  return rows[credential.t];
}

/** The pattern of the URLs that may get it. RE2, in which the API server checks it, and JavaScript read it the same way. */
export const patternOf = (credential: Credential): string => `^(${rowOf(credential).allowed}|${loopback})$`;

export function refusalOf(credential: Credential): string {
  const { what, advice } = rowOf(credential);
  return `${what}. ${advice}.`;
}

/** An endpoint that may get a credential. There is no other way to make one than to ask. */
export class Recipient {
  readonly #url: string;

  private constructor(url: string) {
    this.#url = url;
  }

  get url(): URL {
    return new URL(this.#url);
  }

  /** Undefined: it may not, and `refusalOf` says why. */
  static of(credential: Credential, url: URL): Recipient | undefined {
    // As it is dialled: what the text of a URL seems to say and the host that is meant are not always the same.
    const isMeant = new RegExp(patternOf(credential)).test(url.href) && url.username === "" && url.password === "";
    return isMeant ? new Recipient(url.href) : undefined;
  }
}
