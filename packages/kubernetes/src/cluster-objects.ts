import { BadRequest } from '@strongroom/engine-sdk';
import { ApiServerFailed, objectOf, unexpectedAnswer, type ApiAnswer } from '@strongroom/kubernetes-client';
import type { Access } from './cluster.ts';
import { CREATION_LABEL, pathOf, titleOf, type Manifest } from './manifests.ts';
import type { ObjectRef } from './records.ts';

/** Objects of a page of a list. */
const PAGE = 100;
/** Pages of a list; more objects than that are not looked at in one request. */
const MOST_PAGES = 200;

/** Undefined for success; what the refusal means to whoever asked. */
function refusal({ status, message }: ApiAnswer, doing: string): Error | undefined {
  if (status >= 200 && status < 300) return undefined;
  if (status === 401 || status === 403)
    return new ApiServerFailed(`refuses to ${doing}: ${message}`, `status ${status}`, { answered: true });
  if (status === 400 || status === 404 || status === 409 || status === 422) {
    return new BadRequest(`the Kubernetes API server refuses to ${doing}: ${message}`);
  }
  return unexpectedAnswer(status, message);
}

function requireGood(answer: ApiAnswer, doing: string): void {
  const error = refusal(answer, doing);
  if (error) throw error;
}

/** @throws BadRequest for what the role or the caller has wrong, ApiServerFailed for what the server does not let us do */
export async function createObject({ api, bearer }: Access, { ref, body }: Manifest, signal: AbortSignal): Promise<void> {
  const call = { method: 'POST', path: pathOf(ref), bearer, body: JSON.stringify(body) } as const;
  await api.call(call, signal, { bearer }, (answer) => requireGood(answer, `create the ${titleOf(ref)}`));
}

/** Removes an object of a creation. One that is gone, or that somebody else made under the name, stays. @throws ApiServerFailed, BadRequest */
export async function removeObject({ api, bearer }: Access, ref: ObjectRef, creation: string, signal: AbortSignal): Promise<void> {
  const path = `${pathOf(ref)}/${encodeURIComponent(ref.name)}`;
  const doing = `delete the ${titleOf(ref)}`;
  const uid = await api.call({ method: 'GET', path, bearer }, signal, { bearer }, (answer) => {
    if (isGone(answer, ref)) return undefined;
    requireGood(answer, doing);
    const metadata = objectOf(answer.body?.['metadata']);
    return objectOf(metadata?.['labels'])?.[CREATION_LABEL] === creation ? metadata?.['uid'] : undefined;
  });
  if (uid === undefined) return;
  const body = JSON.stringify({ kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid }, propagationPolicy: 'Background' });
  await api.call({ method: 'DELETE', path, bearer, body }, signal, { bearer }, (answer) => {
    if (!isGone(answer, ref)) requireGood(answer, doing);
  });
}

/** An object that is made here, as a list shows it. */
export interface FoundObject {
  readonly ref: ObjectRef;
  readonly creation: string;
  /** RFC 3339. */
  readonly created: string;
}

/** All objects of a kind with the label, in all namespaces. @throws ApiServerFailed */
export async function listObjects(
  { api, bearer }: Access,
  kind: ObjectRef['kind'],
  [label, value]: readonly [string, string],
  signal: AbortSignal,
): Promise<FoundObject[]> {
  const found: FoundObject[] = [];
  let next = '';
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const query = new URLSearchParams({
      labelSelector: `${label}=${value}`,
      limit: String(PAGE),
      ...(next === '' ? {} : { continue: next }),
    });
    const call = { method: 'GET', path: `${pathOf({ kind, namespace: '' })}?${query.toString()}`, bearer } as const;
    next = await api.call(call, signal, { bearer }, (answer) => {
      requireGood(answer, `list objects of the kind ${kind} in all namespaces`);
      const items = answer.body?.['items'];
      if (!Array.isArray(items)) throw unexpectedAnswer(answer.status, 'the answer is no list');
      found.push(...items.flatMap((item) => foundIn(kind, item)));
      const token = objectOf(answer.body?.['metadata'])?.['continue'];
      return typeof token === 'string' ? token : '';
    });
    if (next === '') break;
  }
  return found;
}

/** A token of an account, which is not kept. */
export interface IssuedToken {
  readonly token: string;
  /** Milliseconds. */
  readonly expires: number;
}

/** Asks for a token of an account (`TokenRequest`). @throws BadRequest, ApiServerFailed */
export async function requestToken(
  { api, bearer }: Access,
  { namespace, name }: Pick<ObjectRef, 'namespace' | 'name'>,
  { seconds, audiences }: { readonly seconds: number; readonly audiences: readonly string[] },
  signal: AbortSignal,
): Promise<IssuedToken> {
  const spec = { expirationSeconds: seconds, ...(audiences.length === 0 ? {} : { audiences }) };
  const body = JSON.stringify({ kind: 'TokenRequest', apiVersion: 'authentication.k8s.io/v1', spec });
  const path = `${pathOf({ kind: 'ServiceAccount', namespace })}/${encodeURIComponent(name)}/token`;
  return api.call({ method: 'POST', path, bearer, body }, signal, { bearer }, (answer) => {
    requireGood(answer, `create a token of the service account ${namespace}/${name}`);
    const { token, expirationTimestamp } = objectOf(answer.body?.['status']) ?? {};
    const expires = Date.parse(String(expirationTimestamp));
    if (typeof token !== 'string' || token === '' || Number.isNaN(expires))
      throw unexpectedAnswer(answer.status, 'the answer has no token');
    return { token, expires };
  });
}

/** In the API server's own words: a proxy in between answers 404, too. */
function isGone({ status, body }: ApiAnswer, { name }: ObjectRef): boolean {
  return status === 404 && body?.['reason'] === 'NotFound' && objectOf(body['details'])?.['name'] === name;
}

function foundIn(kind: ObjectRef['kind'], item: unknown): FoundObject[] {
  const { name, namespace, labels, creationTimestamp } = objectOf(objectOf(item)?.['metadata']) ?? {};
  const creation = objectOf(labels)?.[CREATION_LABEL];
  if (typeof name !== 'string' || typeof creation !== 'string') return [];
  return [{ ref: { kind, namespace: typeof namespace === 'string' ? namespace : '', name }, creation, created: String(creationTimestamp) }];
}
