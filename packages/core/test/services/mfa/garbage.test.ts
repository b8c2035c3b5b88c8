import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { mfaWorld, type MfaWorld } from './mfa-world.ts';

let world: MfaWorld;
let method: string;
let entity: string;

beforeAll(async () => {
  world = await mfaWorld();
  method = await world.method({ method_name: 'phone' });
  entity = await world.entityOf('ann');
  await world.authenticator(method, entity);
  await world.write('identity/mfa/login-enforcement/all', { mfa_method_ids: [method], auth_method_types: ['gate'] });
});
afterAll(async () => world.close());

const odd = fc.oneof(
  fc.constantFrom(
    '',
    '\0',
    '\ud800',
    '__proto__',
    'constructor',
    '../x',
    'a/b',
    'x'.repeat(5_000),
    '1e400',
    '0',
    -1,
    0,
    1.5,
    1e300,
    null,
    true,
  ),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<unknown>,
);

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  'identity/mfa/method/totp': [
    'method_name',
    'issuer',
    'period',
    'key_size',
    'qr_size',
    'algorithm',
    'digits',
    'skew',
    'max_validation_attempts',
  ],
  'identity/mfa/method/totp/admin-generate': ['method_id', 'entity_id'],
  'identity/mfa/method/totp/admin-destroy': ['method_id', 'entity_id'],
  'identity/mfa/login-enforcement/e': [
    'mfa_method_ids',
    'auth_method_accessors',
    'auth_method_types',
    'identity_group_ids',
    'identity_entity_ids',
  ],
  'identity/entity/merge': ['from_entity_ids', 'to_entity_id', 'conflicting_alias_ids_to_keep', 'force'],
  'sys/mfa/validate': ['mfa_request_id', 'mfa_payload'],
};

test.each(Object.keys(FIELDS))('no input of %s is a fault of the server', async (path) => {
  const good: Readonly<Record<string, unknown>> = { issuer: 'Test', method_id: method, mfa_method_ids: [method], entity_id: entity };
  const input = fc.record(Object.fromEntries(FIELDS[path]!.map((field) => [field, fc.oneof(odd, fc.constant(good[field] ?? 'x'))])), {
    requiredKeys: [],
  });
  await fc.assert(
    fc.asyncProperty(input, async (data) => {
      const { status, errors } = await world.call('update', path, { data });
      if (status >= 500) throw new Error(`${status} ${String(errors)}`);
    }),
    { numRuns: 150 },
  );
});

test('no header is a fault of the server', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.string(), fc.array(fc.string()), fc.constant(`${method}:`), fc.constant(',:,')), async (header) => {
      expect((await world.login({ header })).answer.status).toBeLessThan(500);
    }),
    { numRuns: 150 },
  );
});
