// Who may come in: the token that is printed opens the page once, in one browser, which then has a cookie.
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** 128 bits each. */
const secret = (): string => randomBytes(16).toString("base64url");

/** In constant time, whatever the lengths. */
function isSame(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

export class Admission {
  readonly token = secret();
  readonly #session = secret();
  /** Browsers give a cookie to all ports of a host: its name says which is ours. */
  readonly cookieName: string;
  #isUsed = false;

  constructor(port: number) {
    this.cookieName = `etcd-dashboard-${port}`;
  }

  /** The cookie to set, if this is the token and nobody has used it yet. */
  exchange(token: string): string | undefined {
    const isRight = isSame(token, this.token);
    if (!isRight || this.#isUsed) return undefined;
    this.#isUsed = true;
    return `${this.cookieName}=${this.#session}; Path=/; HttpOnly; SameSite=Strict`;
  }

  /** `cookies`: the header of the request. */
  isIn(cookies: string | undefined): boolean {
    const own = (cookies ?? "").split(";").flatMap((pair) => {
      const [name = "", ...value] = pair.trim().split("=");
      return name === this.cookieName ? [value.join("=")] : [];
    });
    return own.length === 1 && isSame(own[0] ?? "", this.#session);
  }
}
