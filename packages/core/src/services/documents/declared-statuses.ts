import type { Op } from '@strongroom/engine-sdk';
import type { TProperties, TSchema } from 'typebox';
import type { AnsweredCall } from '../../kernel/call/answered-call.ts';
import { statusesOf } from './openapi-answers.ts';
import { isOfEngine, type Verb } from './openapi-failures.ts';

const VERBS: Readonly<Record<string, Verb>> = { create: 'post', update: 'post', patch: 'patch', delete: 'delete' };

const known = new WeakMap<Op<TProperties, TSchema>, ReadonlySet<string>>();

/** The statuses that the OpenAPI document has for an operation: numbers as text, and `default` where it may be any. */
export function declaredStatuses({ operation, mount, declaration, op }: AnsweredCall): ReadonlySet<string> {
  let statuses = known.get(op);
  if (!statuses) {
    const asked = { path: declaration, verb: VERBS[operation] ?? 'get', ops: [op], ofEngine: isOfEngine(mount) };
    known.set(op, (statuses = statusesOf(asked)));
  }
  return statuses;
}
