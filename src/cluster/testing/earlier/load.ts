// The operator before this one, as a program that was built then: what it makes and writes is what the present one finds
// after an upgrade, and what it finds is what a rollback leaves it. `make.ts` makes it.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import * as path from "node:path";
import { brotliDecompressSync } from "node:zlib";
import type { EtcdMember } from "../../../etcd/member.ts";
import type { KubeApi } from "../../../kube/client/api.ts";
import type { Build } from "../operator.ts";

export const earlierFile: string = path.join(import.meta.dirname, "operator.cjs.br");

/** A module that Node loads, next to the packages that it was built with. */
export function unpackedEarlier(): string {
  const packed = readFileSync(earlierFile);
  const name = createHash("sha256").update(packed).digest("hex").slice(0, 16);
  const folder = path.resolve(import.meta.dirname, "../../../../node_modules/.cache/earlier");
  const file = path.join(folder, `${name}.cjs`);
  if (existsSync(file)) return file;
  mkdirSync(folder, { recursive: true });
  // Renamed into place: other tests do the same at this moment.
  writeFileSync(`${file}.${process.pid}`, brotliDecompressSync(packed));
  renameSync(`${file}.${process.pid}`, file);
  return file;
}

type Class = abstract new (...args: never) => Error;

interface Earlier extends Pick<Build, "clusterController" | "backupController" | "restoreController"> {
  readonly commit: string;
  readonly silent: never;
  readonly RuntimeObserver: new (log: never) => ReturnType<Build["observer"]>;
}

/** As it is plugged into a stage. */
export function earlierBuild(): Build & { readonly commit: string } {
  // A built file has no types; the ports that it is given are what both have in common.
  const earlier = createRequire(import.meta.url)(unpackedEarlier()) as Earlier & Record<string, Class>;
  const { clusterController, backupController, restoreController, commit } = earlier;
  const itsOwn = (error: unknown): unknown => {
    const its = error instanceof Error ? earlier[error.constructor.name] : undefined;
    // It tells errors apart by its own classes, which have the same fields.
    if (its !== undefined) Object.setPrototypeOf(error, its.prototype as object);
    return error;
  };
  const withItsErrors = <T extends object>(port: T): T =>
    new Proxy(port, {
      get: (target, name, self) => {
        const value: unknown = Reflect.get(target, name, self);
        if (typeof value !== "function") return value;
        return async (...args: unknown[]): Promise<unknown> => {
          try {
            return await (Reflect.apply(value, target, args) as Promise<unknown>);
          } catch (error) {
            throw itsOwn(error);
          }
        };
      },
    });
  return {
    commit,
    image: "etcd-operator:earlier",
    clusterController,
    backupController,
    restoreController,
    observer: () => new earlier.RuntimeObserver(earlier.silent),
    api: (api: KubeApi) => withItsErrors(api),
    member: (member: EtcdMember) => withItsErrors(member),
  };
}
