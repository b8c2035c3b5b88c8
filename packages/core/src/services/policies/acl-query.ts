import type { FieldNames, PathFolds } from '../../kernel/mounts/path-router.ts';
import type { KeysFilter } from './keys-filter.ts';
import type { PolicyOperation } from './capability.ts';

export interface AclQuery {
  readonly operation: PolicyOperation;
  /** Without `/v1/`; that of a list ends in a slash. */
  readonly path: string;
  /** How the segments of the canonical path fold: rules written in another variant of it count as well. */
  readonly folds?: PathFolds | undefined;
  /** What the caller sends, before the fields are decoded. */
  readonly data?: Readonly<Record<string, unknown>> | undefined;
  /** The fields of the path that have several names: a rule on one of them holds for all. */
  readonly names?: FieldNames | undefined;
  /** Seconds; 0 or absent asks for no wrapping. */
  readonly wrapTtl?: number | undefined;
  /** Whether the path needs the sudo capability besides the operation's own. Only explanations use it: a check answers `sudo`. */
  readonly needsSudo?: boolean | undefined;
}

export interface AclVerdict {
  readonly allowed: boolean;
  /** Whether the deciding rule has the sudo capability; what needs it is for the path to say. */
  readonly sudo: boolean;
  /** Names of the policies that gave the capability. */
  readonly grantingPolicies: readonly string[];
  /** A list without `limit` takes this one; 0 for none. */
  readonly paginationLimit: number;
  /** A list leaves out the keys whose path by one of these the caller cannot reach. */
  readonly keysFilters: readonly KeysFilter[];
}
