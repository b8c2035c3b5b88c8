import type { Verb } from '../../api/openapi.ts';
import type { Method } from '../../api/send.ts';

interface WrittenCall {
  readonly method: Method;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly contentType?: string;
}

/** A call with what was typed: in the query of a read or a delete, in the body of a write. */
export function callOf(verb: Verb, values: Readonly<Record<string, unknown>>): WrittenCall {
  if (verb === 'post') return { method: 'POST', body: values };
  if (verb === 'patch') return { method: 'PATCH', body: values, contentType: 'application/merge-patch+json' };
  const query = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, Array.isArray(value) ? value.join(',') : String(value)]),
  );
  return { method: verb === 'get' ? 'GET' : 'DELETE', query };
}

/** The same by curl. Values stand in a file, so that none of them is in the history of a shell. */
export function curlOf(origin: string, verb: Verb, path: string, word: (text: string) => string): string {
  const url = `${origin}/v1/${path.split('/').map(encodeURIComponent).join('/')}`;
  const parts = ['curl', '-H "X-Vault-Token: $STRONGROOM_TOKEN"'];
  if (verb !== 'get') parts.push(`-X ${verb.toUpperCase()}`);
  if (verb === 'post' || verb === 'patch')
    parts.push(`-H ${word(`Content-Type: ${verb === 'patch' ? 'application/merge-patch+json' : 'application/json'}`)}`, '-d @body.json');
  return [...parts, word(url)].join(' ');
}
