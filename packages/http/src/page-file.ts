/** One file of a console, with the variants that its build has made. */
export interface PageFile {
  /** Its media type, with the charset. */
  readonly type: string;
  /** A strong entity tag of the plain bytes, in its quotes. */
  readonly etag: string;
  readonly identity: Uint8Array;
  /** Absent where compression gains nothing. */
  readonly gzip?: Uint8Array;
  readonly brotli?: Uint8Array;
}

/** Files by their path below `/ui/`, without a slash in front. `index.html` is among them; `assets/` holds those with a hash in their names. */
export type PageFiles = ReadonlyMap<string, PageFile>;
