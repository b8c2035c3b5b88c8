/** The mount as the operator set it; the getters show tuned values at once. */
export interface MountInfo {
  /** With a closing slash and, for login methods, with the leading `auth/`. */
  readonly path: string;
  readonly type: string;
  readonly accessor: string;
  readonly uuid: string;
  readonly options: Readonly<Record<string, string>>;
  /** Effective seconds, never 0. */
  readonly defaultLeaseTtl: number;
  readonly maxLeaseTtl: number;
}
