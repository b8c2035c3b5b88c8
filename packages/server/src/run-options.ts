export interface RunOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Where the banner goes. Default: standard output. */
  readonly say?: (text: string) => void;
  /** Where complaints go. Default: standard error. */
  readonly complain?: (text: string) => void;
}
