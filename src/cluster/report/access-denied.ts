// A cluster whose own authentication keeps the operator out, in sentences that say what to do. They name the Secret and
// its keys, and never what is in it.
import type { Health } from "../assess/health.ts";
import type { AccessTrouble } from "../observe/world.ts";

/** `AuthRequired`: there is no login. `LoginRefused`: there is one, and it is not good enough. */
export function accessDeniedReason({ t }: AccessTrouble): "AuthRequired" | "LoginRefused" {
  const refused: readonly AccessTrouble["t"][] = ["certificateDenied", "wrongPassword", "notRoot", "tokenRefused"];
  return refused.includes(t) ? "LoginRefused" : "AuthRequired";
}

export function accessDeniedSentence({ trouble, serves }: Extract<Health, { t: "accessDenied" }>): string {
  const meanwhile = serves
    ? "Until then clients are served, and no member is replaced, added, removed or changed."
    : "No member has a quorum, as far as the operator can see. Until it is let in, no member is replaced, added, removed or changed.";
  return `${causeOf(trouble)} ${meanwhile}`;
}

const aUser = "an etcd user with the role root";

function causeOf(trouble: AccessTrouble): string {
  const byCertificate = `or use a client certificate whose common name is that of ${aUser}`;
  switch (trouble.t) {
    case "noLogin":
      return `etcd's authentication is on, and the operator has no login. Create a Secret with the keys username and password of ${aUser}, and name it in spec.auth.operatorSecret; ${byCertificate}.`;
    case "certificateDenied":
      return `etcd's authentication is on, and the common name of the operator's client certificate is not that of ${aUser}. Create a Secret with the keys username and password of such a user, and name it in spec.auth.operatorSecret; or use another certificate.`;
    case "secretMissing":
      return `etcd's authentication is on, and there is no Secret ${trouble.secret}, which spec.auth.operatorSecret names. Create it in the namespace of the EtcdCluster, with the keys username and password of ${aUser}.`;
    case "secretIncomplete":
      return `etcd's authentication is on, and the Secret ${trouble.secret} of spec.auth.operatorSecret has no ${trouble.lacks.join(" and no ")}. It needs the keys username and password of ${aUser}.`;
    case "secretForbidden":
      return `etcd's authentication is on, and the operator may not read the Secret ${trouble.secret} of spec.auth.operatorSecret. Grant it the permission to get secrets, as example/rbac does.`;
    case "secretUnread":
      return `etcd's authentication is on, and the Secret ${trouble.secret} of spec.auth.operatorSecret could not be read just now. It is tried again.`;
    case "wrongPassword":
      return `etcd refuses the login in the Secret ${trouble.secret} of spec.auth.operatorSecret: there is no such user, or the password does not match. Correct the Secret, or set the password with etcdctl user passwd.`;
    case "notRoot":
      return `The user in the Secret ${trouble.secret} of spec.auth.operatorSecret does not have the role root. Grant it with etcdctl user grant-role, or set another user in the Secret.`;
    case "tokenRefused":
      break;
  }
  return `etcd does not take the token that it gave for the login in the Secret ${trouble.secret} of spec.auth.operatorSecret. It is tried again; if it stays so, see the members' logs and their setting auth-token.`;
}
