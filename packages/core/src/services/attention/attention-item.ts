import type { Subject } from '@strongroom/engine-sdk';
import type { CircuitStatus } from '@strongroom/engine-sdk';
import type { Mount } from '../../kernel/mounts/mount.ts';

/**
 * Kinds of what needs a person, by harm within their severity: an audit device that cannot write, a seal that fails, a mount whose engine does not run, leases that cannot
 * be revoked, rotations, other jobs and things of engines, outside systems that fail, outside changes that cannot be undone, mounts that cannot be removed,
 * work that is late, nodes, copies that differ outside, tokens, plugins.
 */
export const KINDS = [
  'audit',
  'seal',
  'mount',
  'lease',
  'rotation',
  'sync',
  'job',
  'circuit',
  'journal',
  'removal',
  'late',
  'node',
  'drift',
  'token',
  'plugin',
] as const;
export type Kind = (typeof KINDS)[number];

export const SEVERITIES = ['critical', 'warning', 'notice'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** What a caller must be allowed: any of these. */
export interface Right {
  /** Without `/v1/`; that of a list ends in a slash. */
  readonly path: string;
  readonly operation: 'read' | 'list';
  /** The path asks for sudo besides. */
  readonly sudo?: boolean;
}

/** One thing that needs a person, before it is grouped with others. */
export interface Trouble {
  readonly kind: Kind;
  readonly severity: Severity;
  /** The mount it is of; undefined for one of the server. */
  readonly mount: Mount | undefined;
  readonly subject: Subject;
  readonly message: string;
  readonly since: Date | undefined;
  readonly attempts: number;
  readonly nextAttempt: Date | undefined;
  /** The outside system that it fails at, as its engine calls it. */
  readonly target: string | undefined;
  /** The key of its job. */
  readonly job?: string;
  /** Who may see it. */
  readonly rights: readonly Right[];
}

/** Things with one cause, as one row. */
export interface AttentionItem {
  /** Stays the same while the cause does. */
  readonly id: string;
  readonly kind: Kind;
  readonly severity: Severity;
  readonly mount: Mount | undefined;
  /** The worst first. */
  readonly troubles: readonly Trouble[];
  readonly since: Date | undefined;
  readonly attempts: number;
  readonly nextAttempt: Date | undefined;
  readonly message: string;
  readonly cause: Cause | undefined;
}

/** The outside system that is the cause. */
export interface Cause {
  readonly target: string;
  readonly subject: Subject | undefined;
  readonly circuit: CircuitStatus;
}

/** What a source found. `complete` is false where it stopped at its bound. */
export interface Found {
  readonly troubles: readonly Trouble[];
  readonly complete: boolean;
}

export const severest = (a: Severity, b: Severity): Severity => (SEVERITIES.indexOf(a) <= SEVERITIES.indexOf(b) ? a : b);
