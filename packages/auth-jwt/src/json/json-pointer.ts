import { own } from '@strongroom/engine-sdk';

/** JSON objects as `readJson` gives them. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** What a claim's name leads to: a key starting with `/` is a JSON pointer (RFC 6901), any other the claim of that name. Undefined if there is nothing. */
export function claimAt(claims: JsonObject, name: string): unknown {
  return name.startsWith('/') ? pointed(claims, name) : own(claims, name);
}

/** The value at a JSON pointer; undefined if it leads nowhere. `''` is the whole document. */
export function pointed(document: unknown, pointer: string): unknown {
  let at = document;
  for (const step of steps(pointer)) at = stepInto(at, step);
  return at;
}

/** What is wrong with a JSON pointer, as a phrase; undefined if it is one. */
export function pointerProblem(pointer: string): string | undefined {
  if (!pointer.startsWith('/')) return 'a JSON pointer starts with "/"';
  return /~(?![01])/.test(pointer) ? 'in a JSON pointer "~" is followed by 0 or 1' : undefined;
}

function steps(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function stepInto(value: unknown, step: string): unknown {
  if (Array.isArray(value)) return /^(0|[1-9]\d{0,9})$/.test(step) ? value[Number(step)] : undefined;
  return typeof value === 'object' && value !== null ? own(value as Record<string, unknown>, step) : undefined;
}
