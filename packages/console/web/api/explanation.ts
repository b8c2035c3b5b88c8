import type { Method } from './send.ts';

/** Where a rule is written: the block begins there. */
export interface RuleSource {
  readonly policy: string;
  readonly line: number;
  readonly column: number;
  readonly capabilities: readonly string[];
}

export interface ExplainedRule {
  readonly path: string;
  readonly policies: readonly string[];
  readonly capabilities: readonly string[];
  readonly sources?: readonly RuleSource[];
}

/** What `sys/policies/explain` and `explain-self` answer. */
export interface Explanation {
  readonly operation: string;
  readonly path: string;
  readonly allowed: boolean;
  readonly reason: string;
  readonly sudo: boolean;
  readonly sudo_required?: boolean;
  readonly rule?: ExplainedRule;
  readonly missing?: string;
  readonly nearest?: ExplainedRule;
  readonly suggestion?: string;
}

export const OPERATIONS = ['read', 'list', 'create', 'update', 'patch', 'delete', 'scan'] as const;
export type Operation = (typeof OPERATIONS)[number];

/** The operations that a call may be to a policy: a write is `create` where nothing is there yet. */
export function operationsOf(method: Method | string): readonly Operation[] {
  switch (method) {
    case 'POST':
    case 'PUT':
      return ['update', 'create'];
    case 'LIST':
      return ['list'];
    case 'SCAN':
      return ['scan'];
    case 'PATCH':
      return ['patch'];
    case 'DELETE':
      return ['delete'];
    default:
      return ['read'];
  }
}

/** A path below `/v1/` as people write it. */
export function writtenPath(encoded: string): string {
  try {
    return encoded.split('/').map(decodeURIComponent).join('/');
  } catch {
    return encoded;
  }
}
