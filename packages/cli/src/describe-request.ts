import type { WireRequest } from './transport.ts';

/** Thrown in place of sending a request when the user asked to see it; `text` goes to standard output. */
export class Described extends Error {
  readonly text: string;

  constructor(text: string) {
    super('the request was described instead of sent');
    this.name = 'Described';
    this.text = text;
  }
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** The request as a curl command. The token is never written out: the command fetches it when it runs. */
export function asCurl(request: WireRequest, skipVerify: boolean, caCert: string | undefined): string {
  const words = ['curl'];
  if (skipVerify) words.push('--insecure');
  if (caCert !== undefined) words.push('--cacert', quote(caCert));
  if (request.method !== 'GET') words.push('-X', request.method);
  for (const [name, value] of Object.entries(request.headers)) {
    if (name === 'X-Vault-Token') words.push('-H', '"X-Vault-Token: $(strongroom print token)"');
    else if (name !== 'Accept') words.push('-H', quote(`${name}: ${value}`));
  }
  if (request.body !== undefined) words.push('-d', quote(request.body));
  words.push(quote(request.url));
  return words.join(' ');
}

const SUDO =
  /^(sys\/(auth\/.*|remount|audit(\/.*)?|raw(\/.*)?|rotate(\/(keyring|root))?|seal|step-down|config\/(cors|auditing\/.*|ui\/headers.*)|plugins\/catalog\/.*|leases\/(revoke-prefix|revoke-force|lookup)\/.*|leases)|auth\/token\/(accessors.*|revoke-orphan.*))$/;

/** The least policy that lets a caller make the request. */
export function asPolicy(request: WireRequest): string {
  const url = new URL(request.url);
  const path = decodeURIComponent(url.pathname).replace(/^\/v1\//, '');
  const asked = (operation: 'list' | 'scan'): boolean =>
    request.method === operation.toUpperCase() || url.searchParams.get(operation) === 'true';
  const listing = (['list', 'scan'] as const).filter(asked);
  const capabilities =
    listing.length > 0
      ? listing
      : ({ GET: ['read'], PUT: ['create', 'update'], POST: ['create', 'update'], PATCH: ['patch'], DELETE: ['delete'] }[request.method] ??
        []);
  const all = SUDO.test(path) ? [...capabilities, 'sudo'] : capabilities;
  return `path ${JSON.stringify(path)} {\n  capabilities = [${all.map((name) => JSON.stringify(name)).join(', ')}]\n}`;
}
