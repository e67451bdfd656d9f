// The mounted Secret of etcd-operator 0.9: `credentials` and `config` as the AWS command line writes them, profile
// default. Both may be missing; then the pod's own identity counts (IRSA, Pod Identity, the instance's role).
import * as path from "node:path";
import { StoreError } from "../errors.ts";
import { readEntry } from "../secret-folder.ts";

type AwsProfile =
  | { readonly t: "ambient"; readonly region: string | undefined }
  | { readonly t: "files"; readonly credentials: string; readonly config: string; readonly region: string | undefined };

/** Settings that name credentials: keys, a role, a process or a login. */
const naming = /^(aws_access_key_id|role_arn|credential_process|sso_session|sso_account_id|web_identity_token_file)$/;

/** In any profile: one may take its credentials from another. */
const programs = /^\s*credential_process\s*[=:]/im;

export async function readAwsProfile(folder: string | undefined): Promise<AwsProfile> {
  if (folder === undefined) return { t: "ambient", region: undefined };
  const credentials = await readEntry(folder, "credentials");
  const config = await readEntry(folder, "config");
  if ([credentials, config].some((ini) => programs.test(ini ?? "")))
    throw new StoreError(
      "badCredentials",
      "The Secret with the credentials has the setting credential_process, and a worker runs no programs. Put the keys or a role there.",
    );
  const settings = { ...defaultProfile(credentials ?? ""), ...defaultProfile(config ?? "") };
  const region = settings["region"];
  // A file that is there and lacks the profile is a mistake to report, not a reason to take another identity.
  if (credentials === undefined && !Object.keys(settings).some((name) => naming.test(name)))
    return { t: "ambient", region };
  return {
    t: "files",
    credentials: path.join(folder, "credentials"),
    config: path.join(folder, "config"),
    region,
  };
}

export function defaultProfile(ini: string): Record<string, string> {
  const settings: Record<string, string> = {};
  let section = "";
  for (const line of ini.split(/\r?\n/)) {
    const header = /^\s*\[\s*(.*?)\s*\]/.exec(line)?.[1];
    if (header !== undefined) section = header.replace(/^profile\s+/, "").replaceAll('"', "");
    const setting = /^([A-Za-z_]\w*)\s*=\s*(.*?)\s*$/.exec(line);
    if (setting?.[1] !== undefined && section === "default") settings[setting[1].toLowerCase()] = setting[2] ?? "";
  }
  return settings;
}
