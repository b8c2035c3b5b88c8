/** The mount as the operator configured it. The getters show tuned values at once. */
export interface MountInfo {
  /** Ends in a slash and, for auth methods, begins with `auth/`. */
  readonly path: string;
  readonly type: string;
  readonly accessor: string;
  readonly uuid: string;
  readonly options: Readonly<Record<string, string>>;
  /** The effective value in seconds, never 0. */
  readonly defaultLeaseTtl: number;
  readonly maxLeaseTtl: number;
}
