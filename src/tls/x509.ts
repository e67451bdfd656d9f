// Loads the library that makes certificates, at the moment one has to be made: reading and checking do without it.
import type * as X509 from "@peculiar/x509";

// The library's container reads decorator metadata through functions that Reflect does not have by itself; none of
// its classes carries any, so that functions which find nothing are enough.
export async function loadX509(): Promise<typeof X509> {
  if (!("getMetadata" in Reflect)) {
    const nothing = (): undefined => undefined;
    Object.assign(Reflect, { getMetadata: nothing, getOwnMetadata: nothing, defineMetadata: nothing });
  }
  return await import("@peculiar/x509");
}
