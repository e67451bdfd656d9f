// Which requests are answered at all, decided before anything is looked up: only those of a browser that shows our own page
// under our own address.
import type { IncomingHttpHeaders } from "node:http";

interface Asked {
  readonly method: string;
  /** As it came: nothing in it is decoded. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

interface RequestRefusal {
  readonly code: 403 | 405;
  readonly why: string;
}

const no = (why: string): RequestRefusal => ({ code: 403, why });

/** `host`: as in 127.0.0.1:41234. */
export function refusalOf({ method, path, headers }: Asked, host: string): RequestRefusal | undefined {
  // A name that somebody points to 127.0.0.1 gets nothing, whatever else it sends.
  if (headers.host !== host) return no("This is not the address of the dashboard.");
  const mayPost = path === replacementPath;
  if (method !== (mayPost ? "POST" : "GET")) return { code: 405, why: "The dashboard only reads." };
  if (headers.origin !== undefined && headers.origin !== `http://${host}`)
    return no("The request comes from another site.");
  if (mayPost && headers.origin === undefined) return no("Only the page itself may send this request.");
  // The empty page may be opened from anywhere, as a page of its own.
  if (path === "/" && headers["sec-fetch-mode"] === "navigate")
    return headers["sec-fetch-dest"] === "document" ? undefined : no("The page cannot be embedded in others.");
  return headers["sec-fetch-site"] === "same-origin"
    ? undefined
    : no("Only the page of the dashboard may send requests.");
}

export const replacementPath = "/session";
