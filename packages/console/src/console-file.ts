/** One file of the console, in the encodings that were made when it was built. */
export interface ConsoleFile {
  /** The media type, with charset where it is text. */
  readonly type: string;
  /** A strong entity tag, with its quotes, of the bytes as they are without an encoding. */
  readonly etag: string;
  readonly identity: Uint8Array;
  /** Absent where compressing makes the file no smaller. */
  readonly gzip?: Uint8Array;
  readonly brotli?: Uint8Array;
}
