import { BadRequest, UpstreamFailed } from '@strongroom/engine-sdk';

const VERSION = '2012-10-17';

/** The document without the space between its parts; its text is otherwise as it was written. @throws BadRequest for what is no JSON object. */
export function compactPolicy(text: string): string {
  if (!isObject(parsed(text))) throw new BadRequest(`cannot parse policy document: ${JSON.stringify(text)}`);
  return text.replace(/("(?:[^"\\]|\\.)*")|\s+/g, '$1');
}

/** Whether there is anything in it that allows or denies. */
export function hasStatement(document: string): boolean {
  const policy = parsed(document);
  return isObject(policy) && typeof policy['Statement'] === 'object' && policy['Statement'] !== null;
}

/** One document that allows what any of these allow, and denies what any denies. '' for none. @throws UpstreamFailed for one that is none. */
export function mergePolicies(documents: readonly string[]): string {
  const given = documents.filter((document) => document !== '');
  if (given.length <= 1) return given[0] ?? '';
  const ids = new Set<unknown>();
  const statements = given.flatMap((document) => statementsOf(document)).map((statement) => withOwnId(statement, ids));
  return JSON.stringify({ Version: VERSION, Statement: statements });
}

function statementsOf(document: string): Record<string, unknown>[] {
  const policy = parsed(document);
  // Left out, it could be the one that denies.
  if (!isObject(policy)) throw new UpstreamFailed('a policy of a group is no JSON object, and cannot be combined with others');
  const statements = policy['Statement'];
  return (Array.isArray(statements) ? statements : [statements]).filter(isObject);
}

/** Within one document no two statements may have the same Sid; it means nothing to the decision. */
function withOwnId(statement: Record<string, unknown>, ids: Set<unknown>): Record<string, unknown> {
  const { Sid: id, ...rest } = statement;
  if (id === undefined) return statement;
  if (ids.has(id)) return rest;
  ids.add(id);
  return statement;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
