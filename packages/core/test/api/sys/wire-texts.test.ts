import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { listed } from '@strongroom/engine-sdk';
import { ask, bodyOf, checkedCore } from '@strongroom/engine-testkit';
import { kvEngine } from '@strongroom/kv';
import { memoryStorage } from '@strongroom/storage-sdk';
import type { Core } from '../../../src/index.ts';
import { doorLogin, PASSWORD } from '../../request/door-engine.ts';

/** Call, body, status, texts. */
type Refused = readonly [call: string, body: Record<string, unknown> | undefined, status: number, ...errors: string[]];
const none = undefined;

describe('the texts and statuses that clients know', () => {
  let core: Core;
  const tokens: Record<string, string | undefined> = { root: 'root', nobody: undefined, garbage: 's.garbage' };

  beforeAll(async () => {
    core = await checkedCore({ storage: memoryStorage(), plugins: [kvEngine, doorLogin()], devRootToken: 'root' });
    const root = async (call: string, body?: Record<string, unknown>) => ask(core, call, { token: 'root', body });
    await root('POST sys/mounts/secret', { type: 'kv', options: { version: '2' } });
    await root('POST sys/auth/door', { type: 'door' });
    await root('PUT sys/policies/acl/mounts', {
      policy: `path "sys/auth/*" { capabilities = ["update"] }
        path "auth/token/create" { capabilities = ["update"] }`,
    });
    for (const policies of [['none'], ['mounts']])
      tokens[policies[0]!] = (await root('POST auth/token/create', { policies })).auth!.client_token;
    const batch = await root('POST auth/token/create', { policies: ['mounts'], type: 'batch', ttl: '1h' });
    tokens['batch'] = batch.auth!.client_token;
  });
  afterAll(async () => core.close());

  const check = (who: string, cases: readonly Refused[]): void => {
    for (const [call, body, status, ...errors] of cases) {
      test(`${who}: ${call}${body ? ` ${JSON.stringify(body).slice(0, 80)}` : ''}`, async () => {
        const answer = await ask(core, call, { token: tokens[who], body });
        expect([answer.status, ...(answer.errors ?? ['no error'])]).toEqual([status, ...errors]);
      });
    }
  };

  describe('paths, methods and tokens', () => {
    check('root', [
      ['GET nope/x', none, 404, 'no handler for route "nope/x". route entry not found.'],
      ['GET sys/nosuch', none, 404, listed('unsupported path')],
      ['DELETE sys/key-status', none, 405, listed('unsupported operation')],
      ['POST secret/data/a/', { data: {} }, 400, "cannot write to a path ending in '/'"],
      ['POST sys/leases/revoke-prefix/x/', {}, 400, "cannot write to a path ending in '/'"],
      ['GET cubbyhole/../x', none, 400, "relative paths not supported: '..' is not allowed"],
      ['HEAD sys/mounts', none, 405, listed('unsupported operation')],
      ['GET auth/door/login/ann', none, 405, 'unsupported operation'],
      ['GET cubbyhole/none', none, 404],
      ['LIST cubbyhole/none', none, 404],
    ]);
    check('none', [
      ['GET nope/x', none, 403, listed('permission denied')],
      ['GET sys/nosuch', none, 403, listed('permission denied')],
      ['HEAD sys/mounts', none, 403, listed('permission denied')],
      ['GET sys/mounts', none, 403, listed('permission denied')],
    ]);
    check('nobody', [
      ['GET nope/x', none, 403, 'permission denied'],
      ['GET sys/mounts', none, 403, 'permission denied'],
      ['GET sys/mounts?help=1', none, 403, 'permission denied'],
      ['GET auth/door/login/ann', none, 405, 'unsupported operation'],
      ['POST sys/health', none, 405],
      ['POST sys/seal-status', none, 405],
      ['GET sys/unseal', none, 405],
      ['POST auth/door/login/ann', { password: 'wrong' }, 400, 'invalid credentials'],
      ['POST auth/door/login/ann', {}, 400, 'missing required field "password"'],
      ['GET sys/internal/ui/mounts/secret/x', none, 403, 'permission denied'],
    ]);
    check('garbage', [
      ['GET sys/mounts', none, 403, 'permission denied'],
      ['GET auth/token/lookup-self', none, 403, 'permission denied'],
    ]);
    check('mounts', [['POST sys/auth/more', { type: 'door' }, 403, listed('permission denied')]]);
  });

  describe('mounts', () => {
    check('root', [
      ['GET sys/mounts/nope', none, 400, 'No secret engine mount at nope/'],
      ['GET sys/auth/nope', none, 400, 'No auth engine at nope/'],
      ['POST sys/mounts/secret', { type: 'kv' }, 400, 'path is already in use at secret/'],
      ['POST sys/mounts/secret/deeper', { type: 'kv' }, 400, 'path is already in use at secret/'],
      ['POST sys/auth/door', { type: 'door' }, 400, 'path is already in use at door/'],
      ['POST sys/mounts/x', { type: 'nope' }, 400, 'plugin not found in the catalog: nope'],
      ['POST sys/mounts/x', {}, 400, 'backend type must be specified as a string'],
      ['POST sys/mounts/sys/x', { type: 'kv' }, 400, 'cannot mount "sys/x/"'],
      ['POST sys/mounts/auth/x', { type: 'kv' }, 400, 'cannot mount "auth/x/"'],
      ['POST sys/mounts/x', { type: 'cubbyhole' }, 400, 'mount type of "cubbyhole" is not mountable'],
      ['DELETE sys/mounts/sys', none, 400, 'cannot unmount "sys/"'],
      ['POST sys/auth/x', { type: 'token' }, 400, 'token credential backend cannot be instantiated'],
      ['DELETE sys/auth/token', none, 400, 'token credential backend cannot be disabled'],
      [
        'POST sys/mounts/x',
        { type: 'kv', config: { default_lease_ttl: '2h', max_lease_ttl: '1h' } },
        400,
        'given default lease TTL greater than given max lease TTL',
      ],
      [
        'POST sys/mounts/x',
        { type: 'kv', config: { default_lease_ttl: '9999h' } },
        400,
        'given default lease TTL greater than system max lease TTL of 2764800',
      ],
      ['POST sys/mounts/x', { type: 'kv', config: { listing_visibility: 'zz' } }, 400, 'invalid listing_visibility zz'],
      ['GET sys/mounts/nope/tune', none, 400, 'cannot fetch sysview for path "nope/"'],
      ['POST sys/mounts/nope/tune', { description: 'x' }, 400, 'tune of path "nope/" failed: no mount entry found'],
      ['POST sys/mounts/sys/tune', { default_lease_ttl: '1h' }, 400, 'cannot tune parameter default_lease_ttl of sys/'],
      [
        'POST sys/mounts/secret/tune',
        { default_lease_ttl: '2h', max_lease_ttl: '1h' },
        400,
        'backend max lease TTL of 3600 would be less than backend default lease TTL of 7200',
      ],
      ['POST sys/mounts/secret/tune', { options: { version: '1' } }, 400, 'cannot downgrade mount from version 2'],
      ['POST sys/remount', { from: 'sys', to: 'x' }, 400, 'cannot remount "sys/"'],
      ['POST sys/remount', { from: 'x', to: 'y' }, 400, 'no matching mount at "x/"'],
      ['POST sys/remount', { from: 'secret', to: 'identity' }, 400, 'cannot remount to "identity/"'],
      ['GET sys/remount/status/nope', none, 404],
    ]);

    test('unmounting what is not there is done already', async () => {
      expect((await ask(core, 'DELETE sys/mounts/nope', { token: 'root' })).status).toBe(204);
      expect((await ask(core, 'DELETE sys/auth/nope', { token: 'root' })).status).toBe(204);
    });

    test('a moved mount keeps its data, and the move can be looked up', async () => {
      await ask(core, 'POST sys/mounts/old', { token: 'root', body: { type: 'kv' } });
      await ask(core, 'POST old/x', { token: 'root', body: { a: '1' } });
      const moved = await ask(core, 'POST sys/remount', { token: 'root', body: { from: 'old', to: '/new/place/' } });
      const id = (moved.data as { migration_id: string }).migration_id;
      expect((await ask(core, `GET sys/remount/status/${id}`, { token: 'root' })).data).toEqual({
        migration_id: id,
        migration_info: { source_mount: 'old/', target_mount: 'new/place/', status: 'success' },
      });
      expect((await ask(core, 'GET new/place/x', { token: 'root' })).data).toEqual({ a: '1' });
      expect((await ask(core, 'GET old/x', { token: 'root' })).status).toBe(404);
    });

    test('a mount far down is tuned like any other', async () => {
      await ask(core, 'POST sys/mounts/a/b/c/d/e', { token: 'root', body: { type: 'kv' } });
      const tuned = await ask(core, 'POST sys/mounts/a/b/c/d/e/tune', { token: 'root', body: { description: 'deep' } });
      expect(tuned.status).toBe(204);
      expect((await ask(core, 'GET sys/mounts/a/b/c/d/e/tune', { token: 'root' })).data).toMatchObject({ description: 'deep' });
    });

    test('TTLs are taken back to the system with "system"', async () => {
      await ask(core, 'POST sys/mounts/door2', {
        token: 'root',
        body: { type: 'kv', config: { default_lease_ttl: '1h', max_lease_ttl: 7200 } },
      });
      const read = async () => (await ask(core, 'GET sys/mounts/door2/tune', { token: 'root' })).data;
      expect(await read()).toMatchObject({ default_lease_ttl: 3600, max_lease_ttl: 7200 });
      await ask(core, 'POST sys/mounts/door2/tune', { token: 'root', body: { default_lease_ttl: 'system', max_lease_ttl: 'system' } });
      expect(await read()).toMatchObject({ default_lease_ttl: 2764800, max_lease_ttl: 2764800 });
    });
  });

  describe('tokens, capabilities and leases', () => {
    check('root', [
      ['POST auth/token/lookup', { token: 's.nope' }, 403, 'bad token'],
      ['POST auth/token/renew', { token: 's.nope' }, 400, 'token not found'],
      ['POST auth/token/lookup-accessor', { accessor: 'nope' }, 400, listed('invalid accessor')],
      ['POST auth/token/create/nope', {}, 400, 'unknown role nope'],
      ['GET auth/token/roles/nope', none, 404],
      ['POST auth/token/create', { type: 'batch', policies: ['root'] }, 400, 'batch tokens cannot be root tokens'],
      ['POST auth/token/create', { type: 'batch', policies: ['none'], period: '1h' }, 400, 'batch tokens cannot have "period" set'],
      ['POST auth/token/create', { type: 'batch', policies: ['none'], num_uses: 1 }, 400, 'batch tokens cannot have "num_uses" set'],
      ['POST sys/capabilities', { token: 'root' }, 400, 'paths must be supplied'],
      ['POST sys/capabilities', { token: 's.nope', paths: ['x'] }, 400, listed('invalid token')],
      ['POST sys/capabilities-accessor', { accessor: 'nope', paths: ['x'] }, 400, listed('invalid accessor')],
      ['POST sys/leases/lookup', {}, 400, 'lease_id must be specified'],
      ['POST sys/leases/lookup', { lease_id: 'nope' }, 400, 'invalid lease'],
      ['POST sys/leases/renew', {}, 400, 'lease_id must be specified'],
      ['POST sys/leases/renew', { lease_id: 'nope' }, 400, 'lease not found'],
      ['POST sys/leases/revoke', {}, 400, 'lease_id must be specified'],
      ['GET sys/leases/count', none, 404],
      ['LIST sys/leases/lookup/nope', none, 404],
      ['POST sys/renew', { lease_id: 'x' }, 404, listed('unsupported path')],
    ]);
    check('batch', [
      ['POST auth/token/create', {}, 400, 'batch tokens cannot create more tokens'],
      ['POST auth/token/renew-self', {}, 400, 'batch tokens cannot be renewed'],
      ['POST auth/token/revoke-self', {}, 400, 'batch tokens cannot be revoked'],
    ]);

    test('what is gone already counts as revoked', async () => {
      expect((await ask(core, 'POST auth/token/revoke', { token: 'root', body: { token: 's.nope' } })).status).toBe(204);
      expect((await ask(core, 'PUT sys/leases/revoke', { token: 'root', body: { lease_id: 'nope' } })).status).toBe(204);
      const answer = await ask(core, 'POST auth/token/revoke-accessor', { token: 'root', body: { accessor: 'nope' } });
      expect([answer.status, answer.warnings]).toEqual([200, ['No token found with this accessor']]);
    });

    test('capabilities are sorted, and repeated where one path is asked about', async () => {
      const of = async (paths: string[], token = 'root') =>
        (await ask(core, 'POST sys/capabilities-self', { token, body: { paths } })).data;
      expect(await of(['x'])).toEqual({ x: ['root'], capabilities: ['root'] });
      expect(await of(['secret/x', 'auth/token/lookup-self'], tokens['none'])).toEqual({
        'secret/x': ['deny'],
        'auth/token/lookup-self': ['read'],
      });
    });

    test('tidying is accepted', async () => {
      for (const call of ['POST auth/token/tidy', 'POST sys/leases/tidy']) {
        const answer = await ask(core, call, { token: 'root' });
        expect([call, answer.status, answer.warnings?.length]).toEqual([call, 202, 1]);
      }
    });

    test('the last use of a token is its last', async () => {
      const made = await ask(core, 'POST auth/token/create', { token: 'root', body: { policies: ['none'], num_uses: 2 } });
      const token = made.auth!.client_token;
      const look = async () => ask(core, 'GET auth/token/lookup-self', { token });
      expect((await look()).data).toMatchObject({ num_uses: 1 });
      expect((await ask(core, 'GET sys/mounts', { token })).status).toBe(403);
      expect((await look()).status).toBe(403);
    });

    test('a token bound to addresses is good nowhere else, nor shows mounts there', async () => {
      await ask(core, 'POST auth/token/roles/bound', {
        token: 'root',
        body: { token_bound_cidrs: '10.0.0.0/8', allowed_policies: 'none' },
      });
      const made = await ask(core, 'POST auth/token/create/bound', { token: 'root', body: { policies: ['none'] } });
      const token = made.auth!.client_token;
      const from = async (remoteAddress: string, path: string) => core.handle({ operation: 'read', path, token, remoteAddress });
      expect((await from('10.1.2.3', 'auth/token/lookup-self')).status).toBe(200);
      expect((await from('::ffff:10.1.2.3', 'auth/token/lookup-self')).status).toBe(200);
      expect((await from('192.168.0.1', 'auth/token/lookup-self')).status).toBe(403);
      expect((await from('192.168.0.1', 'sys/internal/ui/mounts/cubbyhole/x')).errors).toEqual(['permission denied']);
      expect((await from('10.1.2.3', 'sys/internal/ui/mounts/cubbyhole/x')).status).toBe(200);
    });
  });

  describe('fields', () => {
    test('unknown ones are named in a warning, also where the answer would have been empty', async () => {
      const created = await ask(core, 'POST identity/entity', { token: 'root', body: { name: 'field-test', zz: 1, aa: 2 } });
      expect(created.warnings).toEqual(['Endpoint ignored these unrecognized parameters: [aa zz]']);
      const silent = await ask(core, 'POST identity/entity', { token: 'root', body: { name: 'field-test', zz: 1 } });
      expect([silent.status, silent.warnings]).toEqual([200, ['Endpoint ignored these unrecognized parameters: [zz]']]);
    });

    test('one that the path names wins over the body', async () => {
      const answer = await ask(core, 'POST sys/tools/hash/sha2-512', {
        token: 'root',
        body: { input: 'YWJj', urlalgorithm: 'sha2-224' },
      });
      expect(answer.warnings).toEqual([
        "Endpoint replaced the value of these parameters with the values captured from the endpoint's path: [urlalgorithm]",
      ]);
      expect((answer.data as { sum: string }).sum).toHaveLength(128);
    });

    check('root', [
      [
        'POST sys/rotate/config',
        { interval: 'abc' },
        400,
        'Field validation failed: error converting input for field "interval": time: invalid duration "abc"',
      ],
      [
        'POST sys/rotate/config',
        { interval: -5 },
        400,
        'Field validation failed: error converting input for field "interval": cannot provide negative value \'-5\'',
      ],
    ]);
  });

  describe('help', () => {
    const help = async (path: string, token: string | undefined = 'root') =>
      bodyOf(await ask(core, `GET ${path}?help=1`, { token })) as { help: string; see_also: unknown; openapi: { paths: object } };

    test('answers for a path, for a mount, and for paths that are always open', async () => {
      const one = await help('sys/policies/acl/x');
      expect(one.help).toMatch(/^Request: {8}policies\/acl\/x\nMatching Route: /);
      expect(one.help).toContain('## PARAMETERS');
      expect(Object.keys(one.openapi.paths)).toEqual(['/sys/policies/acl/{name}']);
      const mount = await help('secret');
      expect(mount.help).toMatch(/## DESCRIPTION[^]*## PATHS/);
      expect((await help('sys/unseal')).help).toContain('Request:        unseal');
    });

    test('is open to every good token', async () => {
      expect((await help('sys/mounts', tokens['none'])).help).toContain('Request:        mounts');
      expect((await help('sys/audit', tokens['none'])).help).toContain('Request:        audit');
    });

    test('names every path of the core in one OpenAPI document', async () => {
      const document = bodyOf(await ask(core, 'GET sys/internal/specs/openapi', { token: 'root' })) as {
        paths: Record<string, Record<string, unknown>>;
      };
      expect(document.paths['/sys/unseal']).toMatchObject({ 'x-vault-unauthenticated': true });
      expect(document.paths['/sys/audit']).toMatchObject({ 'x-vault-sudo': true });
      expect(document.paths['/secret/data/{path}']).toBeDefined();
      const read = document.paths['/secret/data/{path}']!['get'] as { parameters: { name: string; in: string }[] };
      expect(read.parameters.map((one) => `${one.name} in ${one.in}`)).toEqual(['version in query']);
      const pages = document.paths['/identity/entity/id']!['get'] as { parameters: { name: string; in: string }[] };
      expect(pages.parameters.map((one) => `${one.name} in ${one.in}`)).toEqual(['list in query', 'after in query', 'limit in query']);
    });
  });

  describe('the OpenAPI document', () => {
    const get = async (headers: Record<string, string>, token = 'root') =>
      core.handle({ operation: 'read', path: 'sys/internal/specs/openapi', token, headers, remoteAddress: '127.0.0.1' });

    test('is compressed for those who take gzip, and not sent again to those who have it', async () => {
      const plain = await get({});
      const zipped = await get({ 'accept-encoding': 'br, gzip;q=0.5' });
      expect(zipped.headers).toMatchObject({ 'Content-Encoding': 'gzip', 'Cache-Control': 'private, no-cache' });
      expect(gunzipSync(zipped.raw!.body as Uint8Array)).toEqual(plain.raw!.body);
      expect(zipped.headers!['ETag']).not.toBe(plain.headers!['ETag']);
      for (const refusing of ['gzip;q=0', 'gzip; q=0.000', 'deflate, x-gzipped'])
        expect((await get({ 'accept-encoding': refusing })).headers).not.toHaveProperty('Content-Encoding');
      const wrapped = await core.handle({
        ...{ operation: 'read', path: 'sys/internal/specs/openapi', token: 'root', remoteAddress: '127.0.0.1', wrapTtl: 60 },
        headers: { 'accept-encoding': 'gzip' },
      });
      const unwrapped = await ask(core, 'POST sys/wrapping/unwrap', { token: wrapped.wrapInfo!.token });
      expect([unwrapped.raw!.body, unwrapped.headers]).toEqual([
        (plain.raw!.body as Buffer).toString(),
        expect.not.objectContaining({ 'Content-Encoding': 'gzip' }),
      ]);
      const again = await get({ 'if-none-match': `"other", W/${plain.headers!['ETag']}` });
      expect([again.status, again.raw!.body]).toEqual([304, '']);
    });

    test('is another one for those who reach other mounts, and after a change of the mounts', async () => {
      const { headers } = await get({});
      const tag = { 'if-none-match': headers!['ETag']! };
      expect((await get(tag, tokens['none'])).status).toBe(200);
      await ask(core, 'POST sys/mounts/further', { token: 'root', body: { type: 'kv' } });
      const changed = await get(tag);
      expect([changed.status, String(changed.raw!.body).includes('/further/')]).toEqual([200, true]);
      await ask(core, 'DELETE sys/mounts/further', { token: 'root' });
      expect((await get(tag)).status).toBe(304);
    });
  });

  describe('what user interfaces ask', () => {
    test('a mount is shown to those who may do something below it', async () => {
      const denied = await ask(core, 'GET sys/internal/ui/mounts/secret/x', { token: tokens['none'] });
      expect([denied.status, denied.errors]).toEqual([
        403,
        ['preflight capability check returned 403, please ensure client\'s policies grant access to path "secret/x/"'],
      ]);
      const shown = await ask(core, 'GET sys/internal/ui/mounts/secret/x', { token: 'root' });
      expect(shown.data).toMatchObject({ path: 'secret/', type: 'kv', options: { version: '2' } });
    });

    test('a mount without options has none, also when it is tuned to none', async () => {
      await ask(core, 'POST sys/auth/door/tune', { token: 'root', body: { options: {}, description: 'd' } });
      expect((await ask(core, 'GET sys/auth/door', { token: 'root' })).data).toMatchObject({ options: null, description: 'd' });
      await ask(core, 'POST sys/auth/door/tune', { token: 'root', body: { description: '' } });
      expect((await ask(core, 'GET sys/auth', { token: 'root' })).data).toMatchObject({ 'door/': { options: null } });
    });

    test('callers without a token see what is meant to be seen, in short', async () => {
      const list = async (token?: string) =>
        (await ask(core, 'GET sys/internal/ui/mounts', { token })).data as Record<'secret' | 'auth', Record<string, object>>;
      expect(await list()).toEqual({ secret: {}, auth: {} });
      await ask(core, 'POST sys/auth/door/tune', { token: 'root', body: { listing_visibility: 'unauth' } });
      expect(await list()).toEqual({ secret: {}, auth: { 'door/': { type: 'door', description: '', options: null } } });
      expect(Object.keys((await list('root')).auth).sort()).toEqual(['door/', 'token/']);
      expect(Object.keys((await list(tokens['none'])).secret)).toContain('cubbyhole/');
    });

    test('the merged policies are shown, and why a call is refused', async () => {
      expect((await ask(core, 'GET sys/internal/ui/resultant-acl', { token: 'root' })).data).toEqual({ root: true });
      const merged = await ask(core, 'GET sys/internal/ui/resultant-acl', { token: tokens['none'] });
      expect(merged.data).toMatchObject({ root: false, exact_paths: { 'auth/token/lookup-self': { capabilities: ['read'] } } });
      const explain = async (body: Record<string, unknown>) =>
        (await ask(core, 'POST sys/policies/explain', { token: 'root', body: { token: tokens['mounts'], ...body } })).data;
      expect(await explain({ path: 'secret/data/x', operation: 'read' })).toMatchObject({ allowed: false, missing: 'read' });
      expect(await explain({ path: 'sys/auth/more', operation: 'update' })).toMatchObject({
        allowed: false,
        sudo_required: true,
        missing: 'sudo',
        rule: { path: 'sys/auth/*', policies: ['mounts'] },
      });
      expect(await explain({ path: 'auth/token/lookup-self' })).toMatchObject({ allowed: true, sudo_required: false });
      const wrong = await ask(core, 'POST sys/policies/explain', { token: 'root', body: { path: 'x', operation: 'fly' } });
      expect(wrong.errors![0]).toMatch(/^operation must be one of/);
    });
  });

  describe('identity of a token', () => {
    test('a token whose entity is disabled or gone is refused, and can do nothing', async () => {
      const login = await ask(core, 'POST auth/door/login/eve', { body: { password: PASSWORD } });
      const { client_token: token, entity_id: id } = login.auth!;
      const look = async () => ask(core, 'GET auth/token/lookup-self', { token });
      expect((await look()).status).toBe(200);
      await ask(core, `POST identity/entity/id/${id}`, { token: 'root', body: { disabled: true } });
      expect([(await look()).status, (await look()).errors]).toEqual([403, [listed('permission denied')]]);
      await ask(core, `POST identity/entity/id/${id}`, { token: 'root', body: { disabled: false } });
      expect((await look()).status).toBe(200);
      await ask(core, `DELETE identity/entity/id/${id}`, { token: 'root' });
      expect([(await look()).status, (await look()).errors]).toEqual([403, [listed('permission denied')]]);
      const asked = await ask(core, 'POST sys/capabilities', { token: 'root', body: { token, paths: ['cubbyhole/x'] } });
      expect(asked.data).toMatchObject({ 'cubbyhole/x': ['deny'] });
    });
  });

  describe('lists', () => {
    test('a policy pages those that the caller does not', async () => {
      for (const name of ['a', 'b', 'c']) await ask(core, `POST secret/data/paged/${name}`, { token: 'root', body: { data: {} } });
      const policy = `path "secret/metadata/*" { capabilities = ["list"] pagination_limit = 2 }
        path "cubbyhole/*" { capabilities = ["create", "list"] pagination_limit = 1 }`;
      await ask(core, 'PUT sys/policies/acl/paged', { token: 'root', body: { policy } });
      const { auth } = await ask(core, 'POST auth/token/create', { token: 'root', body: { policies: ['paged'], no_default_policy: true } });
      const token = auth!.client_token;
      const keys = async (call: string) => ((await ask(core, call, { token })).data as { keys: string[] } | null)?.keys;
      expect(await keys('LIST secret/metadata/paged')).toEqual(['a', 'b']);
      expect(await keys('LIST secret/metadata/paged?limit=1')).toEqual(['a']);
      expect((await ask(core, 'LIST secret/metadata/paged?limit=3', { token })).status).toBe(403);
      for (const name of ['x', 'y']) await ask(core, `POST cubbyhole/p/${name}`, { token, body: { a: 1 } });
      expect(await keys('LIST cubbyhole/p')).toEqual(['x']);
    });
  });

  describe('the server itself', () => {
    test('shows the calls under way, versions, the host and its nodes', async () => {
      const flying = bodyOf(await ask(core, 'GET sys/in-flight-req', { token: 'root' })) as Record<string, object>;
      expect(Object.values(flying)).toEqual([
        {
          start_time: expect.any(String) as unknown,
          client_remote_address: '',
          request_path: '/v1/sys/in-flight-req',
          request_method: 'read',
          client_id: '',
        },
      ]);
      const versions = (await ask(core, 'LIST sys/version-history', { token: 'root' })).data as { keys: string[] };
      expect(versions.keys).toHaveLength(1);
      expect((await ask(core, 'GET sys/version-history', { token: 'root' })).status).toBe(405);
      expect(Object.keys((await ask(core, 'GET sys/host-info', { token: 'root' })).data as object)).toEqual(
        expect.arrayContaining(['timestamp', 'cpu', 'cpu_times', 'disk', 'host', 'memory']),
      );
      expect((await ask(core, 'GET sys/ha-status', { token: 'root' })).data).toMatchObject({ nodes: [{ active_node: true }] });
    });

    test('starts a plugin or a mount again', async () => {
      await ask(core, 'POST secret/data/kept', { token: 'root', body: { data: { a: 1 } } });
      for (const body of [{ plugin: 'kv' }, { mounts: ['secret'] }]) {
        const answer = await ask(core, 'PUT sys/plugins/reload/backend', { token: 'root', body });
        expect([answer.status, Object.keys(answer.data as object)]).toEqual([200, ['reload_id']]);
      }
      expect((await ask(core, 'GET secret/data/kept', { token: 'root' })).data).toMatchObject({ data: { a: 1 } });
      const unknown = await ask(core, 'PUT sys/plugins/reload/backend', { token: 'root', body: { mounts: ['nope'] } });
      expect(unknown.status).toBe(400);
    });
  });
});
