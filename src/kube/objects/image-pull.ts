// The reasons with which a kubelet says that a container waits for an image that it cannot get.
export const imagePullReasons: ReadonlySet<string> = new Set([
  "ErrImagePull",
  "ImagePullBackOff",
  "ErrImageNeverPull",
  "ImageInspectError",
  "RegistryUnavailable",
  "SignatureValidationFailed",
  "InvalidImageName",
]);
