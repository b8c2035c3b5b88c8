import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openApiOf } from '../../../src/index.ts';
import { codeAt } from '../../wire/otp.ts';
import { mfaWorld, type MfaWorld } from './mfa-world.ts';

let world: MfaWorld;

beforeEach(async () => {
  world = await mfaWorld();
});
afterEach(async () => world.close());

const refused = async (path: string, data: Record<string, unknown>): Promise<string> => {
  const { status, errors } = await world.call('update', path, { data });
  return `${status} ${(errors ?? []).join()}`;
};

describe('MFA methods', () => {
  test.each([
    [{ period: 86_401 }, '400 period must be whole seconds, at most one day'],
    [{ key_size: -1 }, '400 key_size must be greater than zero'],
    [{ key_size: 129 }, '400 key_size must be at most 128 bytes'],
    [{ qr_size: 2_001 }, '400 qr_size must be from 0, for no picture, to 2000 pixels'],
    [{ digits: 0 }, '400 digits can only be 6 or 8'],
    [{ max_validation_attempts: 0 }, '400 max_validation_attempts must be greater than zero'],
    [{ method_name: 'a:b' }, '400 method_name must not hold ":" or ","'],
    [{ method_name: 'a\nb' }, '400 method_name must not hold control characters'],
    [{ method_name: 'a'.repeat(257) }, '400 method_name must be at most 256 bytes'],
    [{ issuer: 'é'.repeat(129) }, '400 issuer must be at most 256 bytes'],
    [{ issuer: '\ud800' }, '400 issuer must not hold control characters'],
    [{ method_name: 'a,b' }, '400 method_name'],
    [{ algorithm: '__proto__' }, '400 unrecognized algorithm'],
  ])('with %j are refused, and none is made', async (fields, text) => {
    expect(await refused('identity/mfa/method/totp', { issuer: 'Test', ...fields })).toContain(text);
    expect((await world.call('list', 'identity/mfa/method')).status).toBe(404);
  });

  test('keep their name when a write leaves it out, can be renamed, and two have no common name', async () => {
    const first = await world.method({ method_name: 'first' });
    const second = await world.method({ method_name: 'second' });
    await world.write(`identity/mfa/method/totp/${first}`, { issuer: 'New' });
    expect((await world.call('read', `identity/mfa/method/${first}`)).data).toMatchObject({ name: 'first', issuer: 'New' });
    await world.write(`identity/mfa/method/totp/${first}`, { issuer: 'New', method_name: 'one' });
    expect(await refused(`identity/mfa/method/totp/${first}`, { issuer: 'x', method_name: 'second' })).toContain(second);
    expect((await world.call('read', `identity/mfa/method/totp/${first}`)).data).toMatchObject({ name: 'one', issuer: 'New' });
  });

  test('are listed page by page', async () => {
    const ids = (await Promise.all(Array.from({ length: 5 }, async () => world.method()))).sort();
    const page = await world.call('list', 'identity/mfa/method/totp', { data: { after: ids[1], limit: 2 } });
    expect((page.data as { keys: string[] }).keys).toEqual(ids.slice(2, 4));
  });

  test.each(['duo', 'okta', 'pingid'])('of type %s are refused by name', async (type) => {
    expect(await refused(`identity/mfa/method/${type}`, { anything: 1 })).toBe(`400 MFA methods of type ${type} are not offered: use totp`);
    expect(await refused(`identity/mfa/method/${type}/x`, {})).toBe(`400 MFA methods of type ${type} are not offered: use totp`);
    expect((await world.call('list', `identity/mfa/method/${type}`)).status).toBe(404);
  });
});

describe('login enforcements', () => {
  test('change what is sent', async () => {
    const method = await world.method();
    const other = await world.method();
    const target = { auth_method_accessors: [world.accessor], auth_method_types: ['gate'] };
    await world.write('identity/mfa/login-enforcement/e', { mfa_method_ids: [method], ...target });
    await world.write('identity/mfa/login-enforcement/e', { mfa_method_ids: `${other},${other}`, auth_method_accessors: [] });
    const { data } = await world.call('read', 'identity/mfa/login-enforcement/e');
    expect(data).toMatchObject({ mfa_method_ids: [other], auth_method_accessors: [], auth_method_types: ['gate'] });
    expect(await refused('identity/mfa/login-enforcement/e', { mfa_method_ids: [other], auth_method_types: [] })).toContain(
      '400 One of auth_method_accessors, auth_method_types, identity_group_ids, identity_entity_ids must be specified',
    );
  });

  test.each([
    [{ identity_group_ids: ['none'] }, "one of the provided group ids doesn't exist"],
    [{ identity_entity_ids: ['none'] }, "one of the provided entity ids doesn't exist"],
    [{ auth_method_types: ['kv'] }, 'one of the auth method types provided is invalid'],
  ])('do not name %j', async (target, text) => {
    const mfa_method_ids = [await world.method()];
    expect(await refused('identity/mfa/login-enforcement/e', { mfa_method_ids, ...target })).toBe(`400 ${text}`);
  });

  test('and the deletion of their method, at once: never an enforcement without its method', async () => {
    for (let round = 0; round < 10; round += 1) {
      const id = await world.method();
      await Promise.all([
        world.call('update', 'identity/mfa/login-enforcement/e', { data: { mfa_method_ids: [id], auth_method_types: ['gate'] } }),
        world.call('delete', `identity/mfa/method/totp/${id}`),
      ]);
      const enforced = (await world.call('read', 'identity/mfa/login-enforcement/e')).status === 200;
      expect((await world.call('read', `identity/mfa/method/${id}`)).status).toBe(enforced ? 200 : 404);
      await world.call('delete', 'identity/mfa/login-enforcement/e');
    }
  });
});

describe('secrets', () => {
  test('are made by the entity for itself, once, and shown without the key afterwards', async () => {
    const method = await world.method({ method_name: 'phone', qr_size: 0 });
    const ann = await world.entityOf('ann');
    world.grant.policies = ['self'];
    await world.write('sys/policies/acl/self', { policy: 'path "identity/mfa/method/totp/generate" { capabilities = ["update"] }' });
    const { token } = await world.login();
    const generate = async () => world.call('update', 'identity/mfa/method/totp/generate', { token: token!, data: { method_id: method } });
    expect((await generate()).data).toMatchObject({ barcode: '', url: expect.stringContaining(`:${ann}?`) });
    expect(await generate()).toMatchObject({ data: null, warnings: ['Entity already has a secret for MFA method "phone"'] });
    const { data } = await world.call('read', `identity/entity/id/${ann}`);
    expect(Object.keys((data as { mfa_secrets: object }).mfa_secrets)).toEqual([method]);
    expect(JSON.stringify(data)).not.toContain('key');
    const other = await world.call('update', 'identity/mfa/method/totp/admin-generate', {
      token: token!,
      data: { method_id: method, entity_id: ann },
    });
    expect(other.status).toBe(403);
  });

  test('are in the QR code even with the longest issuer and key', async () => {
    const method = await world.method({ issuer: '語'.repeat(85), key_size: 128, qr_size: 1 });
    const entity_id = await world.entityOf('ann');
    const { url, barcode } = await world.write('identity/mfa/method/totp/admin-generate', { method_id: method, entity_id });
    expect(new URL(url as string).searchParams.get('issuer')).toBe('語'.repeat(85));
    expect((barcode as string).length).toBeGreaterThan(1_000);
  });

  test('that are asked for at the same time are made once', async () => {
    const method = await world.method();
    const entity_id = await world.entityOf('ann');
    const answers = await Promise.all(
      Array.from({ length: 10 }, async () => world.write('identity/mfa/method/totp/admin-generate', { method_id: method, entity_id })),
    );
    expect(answers.filter(({ url }) => url !== undefined)).toHaveLength(1);
  });

  test('keep what they were made with when their method changes, except skew', async () => {
    const method = await world.method({ period: 60, digits: 8, algorithm: 'SHA256' });
    const code = await world.authenticator(method, await world.entityOf('ann'));
    await world.write('identity/mfa/login-enforcement/e', { mfa_method_ids: [method], auth_method_types: ['gate'] });
    await world.write(`identity/mfa/method/totp/${method}`, { issuer: 'Test', period: 30, skew: 0 });
    expect((await world.login({ header: `${method}:${code(-1)}` })).refused).toBe('403 permission denied');
    expect((await world.login({ header: `${method}:${code()}` })).token).toBeDefined();
  });

  test('go with their entity', async () => {
    const method = await world.method();
    const entity = await world.entityOf('ann');
    await world.authenticator(method, entity);
    await world.call('delete', `identity/entity/id/${entity}`);
    expect(await refused('identity/mfa/method/totp/admin-destroy', { method_id: method, entity_id: entity })).toBe('400 invalid entity ID');
  });

  test('move with a merge; of two for one method the merge is refused, or that of the target stays', async () => {
    const [one, two] = [await world.method(), await world.method()];
    const [ann, bob] = [await world.entityOf('ann'), (await world.write('identity/entity', { name: 'bob' }))['id'] as string];
    const codes = {
      annOne: await world.authenticator(one, ann),
      bobOne: await world.authenticator(one, bob),
      annTwo: await world.authenticator(two, ann),
    };
    await world.write('identity/mfa/login-enforcement/e', { mfa_method_ids: [one, two], auth_method_types: ['gate'] });
    const order = { from_entity_ids: [ann], to_entity_id: bob };
    expect(await refused('identity/entity/merge', order)).toBe(`400 conflicting MFA config ID "${one}" in entity ID "${ann}"`);
    expect((await world.login({ header: `${one}:${codes.annOne()}` })).token).toBeDefined();
    await world.write('identity/entity/merge', { ...order, force: true });
    expect((await world.login({ header: `${one}:${codes.annOne(1)}` })).refused).toBe('403 permission denied');
    const { answer } = await world.login({ header: `${one}:${codes.bobOne()}` });
    expect(answer.auth).toMatchObject({ entity_id: bob });
    expect((await world.login({ header: `${two}:${codes.annTwo()}` })).token).toBeDefined();
  });

  test('an enforcement that names an entity holds for the one it is merged into', async () => {
    const method = await world.method();
    const ann = await world.entityOf('ann');
    const bob = (await world.write('identity/entity', { name: 'bob' }))['id'] as string;
    await world.write('identity/mfa/login-enforcement/e', { mfa_method_ids: [method], identity_entity_ids: [ann] });
    await world.write('identity/entity/merge', { from_entity_ids: [ann], to_entity_id: bob });
    expect((await world.login()).requestId).toBeDefined();
  });
});

test('no code and no secret is in the audit log in clear, not even where the header is to be written as it is', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'core-mfa-'));
  const file_path = join(folder, 'audit.log');
  try {
    await world.write('sys/audit/file', { type: 'file', options: { file_path } });
    await world.write('sys/config/auditing/request-headers/X-Vault-MFA', { hmac: false });
    const method = await world.method();
    const entity_id = await world.entityOf('ann');
    const { url, barcode } = await world.write('identity/mfa/method/totp/admin-generate', { method_id: method, entity_id });
    await world.write('identity/mfa/login-enforcement/e', { mfa_method_ids: [method], auth_method_types: ['gate'] });
    const codes = [0, 30_000].map((later) => codeAt(url as string, world.clock.millis() + later));
    expect((await world.login({ header: `${method}:${codes[0]}` })).token).toBeDefined();
    const { requestId } = await world.login();
    expect((await world.validate(requestId!, { [method]: [codes[1]] })).token).toBeDefined();
    const log = await readFile(file_path, 'utf8');
    expect(log).toContain('"path":"sys/mfa/validate"');
    expect(log).toContain('x-vault-mfa');
    for (const secret of [...codes, url as string, barcode as string, new URL(url as string).searchParams.get('secret')!])
      expect(log.includes(secret)).toBe(false);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('every path is in help and OpenAPI', async () => {
  const { paths } = openApiOf(world.core.declaredPaths()) as { paths: object };
  for (const path of ['/sys/mfa/validate', '/identity/mfa/method/totp/admin-generate', '/identity/mfa/login-enforcement/{name}'])
    expect(Object.keys(paths)).toContain(path);
  const help = await world.call('help', 'sys/mfa/validate');
  expect(JSON.stringify(help.raw)).toContain('mfa_request_id');
});
