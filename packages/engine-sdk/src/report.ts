/** What an engine may report. Written, deleted: a secret that it keeps. Done, failed: one attempt. */
export type ReportKind = 'secret.written' | 'secret.deleted' | 'rotation.done' | 'rotation.failed' | 'sync.done' | 'sync.failed';

/**
 * Something that an engine brought about, for metrics and for programs that follow events: see docs/events.md. Names and numbers only, never a value and
 * never the text of an error.
 */
export interface Report {
  readonly kind: ReportKind;
  /** Paths below the mount, most useful first. The event is shown to callers who may read one of them. None: only metrics count it. */
  readonly paths: readonly string[];
  /** What operators call it: the path of a secret, the name of a role. */
  readonly name: string;
  /** Of a secret, where it has versions. */
  readonly version?: number;
  /** The id of the request that asked for it, where the transaction is not the request's own. */
  readonly request?: string;
}
