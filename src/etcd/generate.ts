// Regenerates gen/ from etcd's protobuf files: `node src/etcd/generate.ts`. Run by hand when the API version below
// changes; what it writes is committed, so that neither a build nor an installation needs these tools.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";

const apiModule = "go.etcd.io/etcd/api/v3@v3.7.3";
const protos = ["versionpb/version.proto", "authpb/auth.proto", "mvccpb/kv.proto", "etcdserverpb/rpc.proto"];
const tools = ["@bufbuild/buf@1.74.0", "@bufbuild/protoc-gen-es@2.16.0"];

const gatewayImport = /^import "(?:google\/api|protoc-gen-openapiv2)[^\n]*\n/gm;
const gatewayOption = /[ \t]*option \((?:google\.api\.http|grpc\.gateway[\w.]*)\)\s*=\s*\{/g;

/** Removes what describes the JSON gateway: it means nothing to gRPC and would pull in files from other projects. */
function withoutGateway(source: string): string {
  const text = source.replaceAll(gatewayImport, "");
  let kept = "";
  let from = 0;
  for (const match of text.matchAll(gatewayOption)) {
    if (match.index < from) continue; // inside an option that is already gone
    kept += text.slice(from, match.index);
    from = afterStatement(text, match.index + match[0].length);
  }
  return kept + text.slice(from);
}

/** The position behind `};` and its line end, for a statement whose opening brace lies just before `inside`. */
function afterStatement(text: string, inside: number): number {
  let depth = 1;
  let at = inside;
  while (depth > 0 && at < text.length) {
    if (text[at] === "{") depth += 1;
    if (text[at] === "}") depth -= 1;
    at += 1;
  }
  const end = /^[ \t]*;[ \t]*\n?/.exec(text.slice(at));
  if (!end) throw new Error(`no end of statement in: ${text.slice(inside, inside + 80)}`);
  return at + end[0].length;
}

function moduleFolder(): string {
  const answer: unknown = JSON.parse(
    execFileSync("go", ["mod", "download", "-json", apiModule], { cwd: tmpdir(), encoding: "utf8" }),
  );
  if (typeof answer === "object" && answer !== null && "Dir" in answer && typeof answer.Dir === "string")
    return answer.Dir;
  throw new Error(`go mod download gave no folder for ${apiModule}: ${JSON.stringify(answer)}`);
}

function generate(work: string): void {
  const source = moduleFolder();
  for (const proto of protos) {
    const to = path.join(work, "proto/etcd/api", proto);
    mkdirSync(path.dirname(to), { recursive: true });
    writeFileSync(to, withoutGateway(readFileSync(path.join(source, proto), "utf8")));
  }
  writeFileSync(path.join(work, "package.json"), "{}");
  execFileSync("npm", ["install", "--no-fund", "--no-audit", "--loglevel=error", ...tools], { cwd: work });
  writeFileSync(path.join(work, "buf.yaml"), "version: v2\nmodules: [{ path: proto }]\n");
  const plugin = JSON.stringify([process.execPath, "node_modules/@bufbuild/protoc-gen-es/bin/protoc-gen-es"]);
  writeFileSync(
    path.join(work, "buf.gen.yaml"),
    `version: v2
plugins:
  - local: ${plugin}
    out: gen
    opt: [target=ts, import_extension=ts, erasable_syntax=true]
`,
  );
  execFileSync("node_modules/.bin/buf", ["generate"], { cwd: work, stdio: "inherit" });
  const target = path.join(import.meta.dirname, "gen");
  rmSync(target, { recursive: true, force: true });
  cpSync(path.join(work, "gen/etcd/api"), target, { recursive: true });
}

const work = mkdtempSync(path.join(tmpdir(), "etcd-api-"));
try {
  generate(work);
} finally {
  rmSync(work, { recursive: true, force: true });
}
