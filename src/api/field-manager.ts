// The field manager that the operator writes with: server-side apply keeps its fields apart from those of others.
export const fieldManager = "etcd-operator";
