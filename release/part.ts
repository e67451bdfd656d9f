// What every part of a release is made from, and what a part is.

/** What every part of a release is made from. */
export interface Release {
  readonly version: string;
  /** The git commit. */
  readonly revision: string;
  /** Seconds since 1970: the commit's time, which stands in every archive. */
  readonly time: number;
  /** dist/release. */
  readonly folder: string;
  readonly image: ReleasedImage;
}

export interface ReleasedImage {
  readonly repository: string;
  readonly tag: string;
  /** sha256:… of the index. */
  readonly digest: string;
}

/** Writes its files into the release's folder, and answers their names. */
export interface Part {
  readonly name: string;
  readonly make: (release: Release) => Promise<readonly string[]>;
}
