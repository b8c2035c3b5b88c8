import { createServer, type IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Stands for OpenSearch with its security plugin: the calls that manage users, answered as OpenSearch 2.19 does. */
export interface OpensearchDouble {
  readonly host: string;
  readonly port: number;
  /** An administrator, who is not reserved. */
  readonly superuser: string;
  readonly password: string;
  stop(): Promise<void>;
}

interface Kept {
  reserved: boolean;
  [field: string]: unknown;
}
type Answer = readonly [status: number, body: unknown];

const KINDS = { internalusers: 'user', roles: 'role', rolesmapping: 'rolesmapping' } as const;
type Kind = keyof typeof KINDS;
const FIELDS: Readonly<Record<Kind, readonly string[]>> = {
  internalusers: ['password', 'hash', 'backend_roles', 'attributes', 'description', 'opendistro_security_roles'],
  roles: ['cluster_permissions', 'index_permissions', 'tenant_permissions', 'description'],
  rolesmapping: ['users', 'backend_roles', 'hosts', 'and_backend_roles', 'description'],
};
const EMPTY: Readonly<Record<Kind, object>> = {
  internalusers: { backend_roles: [], attributes: {}, opendistro_security_roles: [] },
  roles: { cluster_permissions: [], index_permissions: [], tenant_permissions: [] },
  rolesmapping: { users: [], backend_roles: [], hosts: [], and_backend_roles: [] },
};

/** A double of OpenSearch on a free loopback port. Its users: `superuser`, and the reserved `admin` with the password `admin`. */
export async function startOpensearchDouble(): Promise<OpensearchDouble> {
  const superuser = 'manager';
  const password = 'root-pw-4Vn-long';
  const objects: Record<Kind, Map<string, Kept>> = {
    internalusers: new Map([
      ['admin', { ...EMPTY.internalusers, password: 'admin', backend_roles: ['admin'], reserved: true }],
      [superuser, { ...EMPTY.internalusers, password, backend_roles: ['admin'], reserved: false }],
    ]),
    roles: new Map(['all_access', 'readall'].map((name) => [name, { ...EMPTY.roles, reserved: true }])),
    rolesmapping: new Map(),
  };
  /** The server keeps the objects of a kind in one document. */
  const versions: Record<Kind, number> = { internalusers: 0, roles: 0, rolesmapping: 0 };
  const answer = async (request: IncomingMessage): Promise<Answer> => {
    const text = await bodyOf(request);
    const login = credentialsOf(request);
    const caller = objects.internalusers.get(login.name);
    if (!caller || caller['password'] !== login.password) return [401, 'Unauthorized'];
    const path = (request.url ?? '').replace(/^\/_plugins\/_security/, '');
    if (path === '/authinfo') return [200, { user_name: login.name, backend_roles: caller['backend_roles'] }];
    const body: unknown = text === '' ? undefined : JSON.parse(text);
    if (path === '/api/account' && request.method === 'PUT') return changeOwn(login.name, caller, body as Record<string, string>);
    const [, kind, encoded] = /^\/api\/(internalusers|roles|rolesmapping)(?:\/([^/]+))?$/.exec(path) ?? [];
    if (kind === undefined) return [400, { error: `no handler found for uri [${request.url}] and method [${request.method}]` }];
    if (!(caller['backend_roles'] as string[]).includes('admin')) {
      return [
        403,
        {
          status: 'FORBIDDEN',
          message: `No permission to access REST API: User ${login.name} with Security roles [own_index] does not have any role privileged for admin access. No ssl info found in request.`,
        },
      ];
    }
    const name = encoded === undefined ? undefined : decodeURIComponent(encoded);
    const change: Change = { method: request.method ?? '', name, body };
    if (change.method === 'GET') return manage(objects, kind as Kind, change);
    const version = versions[kind as Kind];
    await nextTurn();
    if (versions[kind as Kind] !== version) return conflict(kind, version);
    versions[kind as Kind]++;
    return manage(objects, kind as Kind, change);
  };
  const server = createServer((request, response) => {
    void answer(request).then(([status, body]) => {
      const isText = typeof body === 'string';
      response.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json' });
      response.end(isText ? body : JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    host: '127.0.0.1',
    port: (server.address() as { port: number }).port,
    superuser,
    password,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function conflict(kind: string, version: number): Answer {
  const message = `[${kind}]: version conflict, required seqNo [${version}], primary term [1]. current document has seqNo [${version + 1}] and primary term [1]`;
  return [409, { status: 'CONFLICT', message }];
}

function changeOwn(name: string, user: Kept, { current_password, password }: Record<string, string>): Answer {
  if (user.reserved) return [403, { status: 'FORBIDDEN', message: `Resource '${name}' is reserved.` }];
  if (current_password !== user['password']) {
    return [400, { status: 'BAD_REQUEST', message: 'Could not validate your current password.' }];
  }
  const refusal = passwordRefusal(name, password ?? '');
  if (refusal) return refusal;
  user['password'] = password;
  return [200, { status: 'OK', message: `'${name}' updated.` }];
}

interface Change {
  readonly method: string;
  readonly name: string | undefined;
  readonly body: unknown;
}

function manage(objects: Record<Kind, Map<string, Kept>>, kind: Kind, { method, name, body }: Change): Answer {
  const all = objects[kind];
  if (name === undefined) return [200, Object.fromEntries([...all].map(([key, kept]) => [key, shown(kept)]))];
  const kept = all.get(name);
  const absent: Answer = [404, { status: 'NOT_FOUND', message: `${KINDS[kind]} '${name}' not found.` }];
  if (method === 'GET') return kept ? [200, { [name]: shown(kept) }] : absent;
  if (kept?.reserved) return [403, { status: 'FORBIDDEN', message: `Resource '${name}' is reserved.` }];
  if (method === 'DELETE') return all.delete(name) ? [200, { status: 'OK', message: `'${name}' deleted.` }] : absent;
  if (method === 'PATCH' && !kept) return absent;
  const patched = method === 'PATCH' ? applied(body as readonly Operation[]) : (body as Record<string, unknown>);
  const unknown = Object.keys(patched).filter((field) => !FIELDS[kind].includes(field));
  if (unknown.length > 0) return [400, { status: 'error', reason: 'Invalid configuration', invalid_keys: { keys: unknown.join(',') } }];
  if (kind === 'internalusers') {
    if (name.includes(':'))
      return [400, { status: 'BAD_REQUEST', message: "A restricted character(s) was detected in the account name. Please remove: ':'" }];
    const refusal = 'password' in patched ? passwordRefusal(name, String(patched['password'])) : undefined;
    if (refusal) return refusal;
    const roles = (patched['opendistro_security_roles'] ?? []) as string[];
    const missing = roles.find((role) => !objects.roles.has(role));
    if (missing !== undefined) return [404, { status: 'NOT_FOUND', message: `role '${missing}' not found.` }];
  }
  if (kind === 'rolesmapping' && !objects.roles.has(name)) return [404, { status: 'NOT_FOUND', message: `role '${name}' not found.` }];
  // A PUT keeps nothing of what was there but the password.
  const base = method === 'PATCH' ? kept : { ...EMPTY[kind], ...(kept?.['password'] !== undefined && { password: kept['password'] }) };
  all.set(name, { ...base, ...patched, reserved: false });
  return kept ? [200, { status: 'OK', message: `'${name}' updated.` }] : [201, { status: 'CREATED', message: `'${name}' created.` }];
}

interface Operation {
  readonly op: 'add';
  readonly path: string;
  readonly value: unknown;
}

function applied(operations: readonly Operation[]): Record<string, unknown> {
  return Object.fromEntries(operations.map(({ path, value }) => [path.slice(1), value]));
}

function shown({ password: _, ...kept }: Kept): object {
  return { ...kept, hidden: false, static: false };
}

/** The server's estimate, roughly: short ones, and repetitions; and those that contain the name. */
function passwordRefusal(name: string, password: string): Answer | undefined {
  if (password.length < 8 || new Set(password).size < 5) return [400, { status: 'error', reason: 'Weak password' }];
  if (password.toLowerCase().includes(name.toLowerCase())) return [400, { status: 'error', reason: 'Password is similar to user name' }];
  return undefined;
}

function credentialsOf(request: IncomingMessage): { readonly name: string; readonly password: string } {
  const text = Buffer.from((request.headers.authorization ?? '').replace(/^Basic /, ''), 'base64').toString();
  const colon = text.indexOf(':');
  return { name: text.slice(0, colon), password: text.slice(colon + 1) };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
