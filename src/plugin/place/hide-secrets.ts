// Whatever is said about a command goes through here: a person may have typed a password, and messages end up in terminals
// that others see, in logs of pipelines and in chats.

const hidden = "(hidden)";

/** Flags of etcdctl and kubectl whose value is a secret, and the variables of the same meaning. */
const secretNames = ["--password", "--new-user-password", "--token", "--auth-jwt-token", "ETCDCTL_PASSWORD"];
/** `root:secret`: the user stays, as it tells which login was meant. */
const loginNames = ["--user", "ETCDCTL_USER"];

const withoutPassword = (login: string): string => login.replace(/:[\s\S]*/, `:${hidden}`);

/** A command line as it may stand in a message. A value may contain blanks, so each word is checked by itself. */
export function commandInWords(program: string, args: readonly string[]): string {
  const shown = args.map((arg, at) => {
    const before = args[at - 1] ?? "";
    if (secretNames.includes(before)) return hidden;
    if (loginNames.includes(before)) return withoutPassword(arg);
    const [name = "", ...value] = arg.split("=");
    if (value.length === 0) return arg;
    if (secretNames.includes(name)) return `${name}=${hidden}`;
    return loginNames.includes(name) ? `${name}=${withoutPassword(value.join("="))}` : arg;
  });
  return hideSecrets([program, ...shown].join(" "));
}

const secretInText = new RegExp(`(${secretNames.join("|")})(=|\\s+)(?!\\(hidden)\\S+`, "g");
const loginInText = new RegExp(`(${loginNames.join("|")})(=|\\s+)([^\\s:]*):(?!\\(hidden)\\S+`, "g");
const privateKey = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;

/** For text that others wrote, as what kubectl says of a failure. */
export function hideSecrets(text: string): string {
  return text
    .replace(secretInText, `$1$2${hidden}`)
    .replace(loginInText, `$1$2$3:${hidden}`)
    .replace(privateKey, hidden);
}
