import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { f, path, type EnginePackage } from '@strongroom/engine-sdk';
import { mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { kvEngine } from '@strongroom/kv';
import { MAX_PATH_BYTES } from '../../src/kernel/call/admitted-path.ts';

const EVERY = '["create","read","update","patch","delete","list","sudo"]';

/** Keeps things under names that fold in a way of its own, with one thing at a fixed place. */
const shelf: EnginePackage = {
  name: 'shelf',
  kind: 'secret',
  apiVersion: 2,
  create: () => {
    const name = f.name('Its name.', {
      folds: (text) =>
        text
          .toLowerCase()
          .replace(/^nick$/, 'nicholas')
          .replace(/^void$/, ''),
    });
    const answer = (what: string) => ({
      summary: 'Answers.',
      handle: async ({ data, verbatim }: { data: { name?: string }; verbatim: Readonly<Record<string, string>> }) => ({
        data: { what, name: data.name, written: verbatim['name'] },
      }),
    });
    return {
      paths: [
        path('things/{name}', { synopsis: 'Things.', description: '', fields: { name } }).read(answer('thing') as never),
        path('renamed', {
          synopsis: 'Takes a field by two names.',
          description: '',
          fields: { token_policies: f.commaStrings('The field.', { aliases: ['policies'] }), other: f.string('Another.') },
        }).update({ summary: 'Takes it.', handle: async () => undefined }),
        path('things/config', { synopsis: 'Settings.', description: '', fields: {} }).read(answer('settings') as never),
        path('things/{name}/parts/{part:any}', { synopsis: 'Parts.', description: '', fields: { name, part: f.name('The part.') } }).read(
          answer('part') as never,
        ),
      ],
    };
  },
};

describe('the canonical path of a request', () => {
  let mount: TestMount;
  beforeEach(async () => {
    mount = await mountForTest(kvEngine, { path: 'secret', plugins: [shelf] });
    await mount.call('update', 'sys/mounts/shelf', { data: { type: 'shelf' } });
    await mount.call('update', 'secret/private', { data: { a: 'b' } });
  });
  afterEach(async () => mount.close());

  async function holder(policy: string): Promise<string> {
    await mount.call('update', 'sys/policies/acl/p', { data: { policy } });
    const made = await mount.call('update', 'auth/token/create', { data: { policies: ['p'], no_default_policy: true } });
    return made.auth!.client_token;
  }
  const but = (denied: string): string => `path "*" { capabilities = ${EVERY} }\npath "${denied}" { capabilities = ["deny"] }`;

  describe('a closing slash', () => {
    test.each(['secret/private', 'secret/+', '+/private'])('does not get around a rule that denies %s', async (denied) => {
      const token = await holder(but(denied));
      for (const operation of ['read', 'delete', 'patch'] as const)
        for (const path of ['secret/private', 'secret/private/'])
          expect([operation, path, (await mount.call(operation, path, { token, data: { a: 'c' } })).status]).toEqual([
            operation,
            path,
            403,
          ]);
      expect((await mount.call('read', 'secret/private')).data).toEqual({ a: 'b' });
    });

    test.each(['sys/mounts/shelf', 'sys/policies/acl/p', 'sys/mounts/shelf/tune'])('does not get around a deny of %s', async (denied) => {
      const token = await holder(but(denied));
      for (const path of [denied, `${denied}/`]) expect((await mount.call('read', path, { token })).status).toBe(403);
      expect((await mount.call('delete', `${denied}/`, { token })).status).toBe(403);
    });

    test('is shown by sys/capabilities-self and sys/policies/explain', async () => {
      const token = await holder(but('secret/private'));
      const { data } = await mount.call('update', 'sys/capabilities-self', {
        token,
        data: { paths: ['secret/private/', 'secret/private'] },
      });
      expect(data).toEqual({ 'secret/private/': ['deny'], 'secret/private': ['deny'] });
      const explained = await mount.call('update', 'sys/policies/explain', {
        token,
        data: { path: 'secret/private/', operation: 'delete' },
      });
      expect(explained.data).toMatchObject({ allowed: false, path: 'secret/private', rule: { path: 'secret/private' } });
    });

    test('of a list belongs to it, and a rule on either variant holds for both', async () => {
      await mount.call('update', 'secret/team/one', { data: { a: 'b' } });
      for (const denied of ['secret/team', 'secret/team/']) {
        const token = await holder(but(denied));
        for (const path of ['secret/team', 'secret/team/']) expect((await mount.call('list', path, { token })).status).toBe(403);
      }
      const token = await holder('path "secret/team" { capabilities = ["list"] }');
      expect((await mount.call('list', 'secret/team/', { token })).status).toBe(200);
    });
  });

  describe('a variant that has no canonical form', () => {
    test.each([
      ['secret//private', /empty segments/],
      ['/secret/private', /begin with a slash/],
      ['secret/./private', /'\.' is not allowed/],
      ['secret/a/../private', /'\.\.' is not allowed/],
      ['secret/pri\u0000vate', /printable/],
      ['secret/pri\ud800vate', /printable/],
      [`secret/${'x'.repeat(MAX_PATH_BYTES)}`, /longer than/],
      ['shelf/things/void', /name: "void" folds into "", which cannot stand in a path/],
    ])('%j is refused with 400', async (written, text) => {
      const { status, errors } = await mount.call('read', written);
      expect([status, errors?.[0]]).toEqual([400, expect.stringMatching(text)]);
    });
  });

  describe('a name that folds', () => {
    test.each([
      ['sys/policies/acl/guard', 'sys/policies/acl/GUARD', { policy: 'path "x" { capabilities = ["read"] }' }],
      ['sys/policy/guard', 'sys/policy/Guard', { policy: 'path "x" { capabilities = ["read"] }' }],
      ['identity/entity/name/boss', 'identity/entity/name/BOSS', { policies: ['x'] }],
      ['identity/group/name/ops', 'identity/group/name/oPS', { policies: ['x'] }],
      ['sys/locked-users/a_1/unlock/a / b', 'sys/locked-users/a_1/unlock/A  / B', {}],
      ['sys/config/auditing/request-headers/x-foo', 'sys/config/auditing/request-headers/X-Foo', {}],
      ['sys/locked-users/a_1/unlock/ann lee', 'sys/locked-users/a_1/unlock/Ann\u00a0 LEE', {}],
    ])('%s is shut as %s too, whichever of them the policy writes', async (canonical, other, data) => {
      for (const written of [canonical, other]) {
        const token = await holder(but(written));
        for (const path of [canonical, other])
          expect([written, path, (await mount.call('update', path, { token, data })).status]).toEqual([written, path, 403]);
        const { data: capabilities } = await mount.call('update', 'sys/capabilities-self', { token, data: { paths: [canonical, other] } });
        expect(capabilities).toEqual({ [canonical]: ['deny'], [other]: ['deny'] });
      }
      const token = await holder(`path "${other}" { capabilities = ${EVERY} }`);
      expect((await mount.call('update', canonical, { token, data })).status).toBeLessThan(300);
    });

    test('reaches its engine folded, with the variant of the caller beside it', async () => {
      expect((await mount.call('read', 'shelf/things/Nick')).data).toEqual({ what: 'thing', name: 'nicholas', written: 'Nick' });
      expect((await mount.call('read', 'shelf/things/NICK/parts/Arm')).data).toMatchObject({ what: 'part', name: 'nicholas' });
    });

    test('that folds into a fixed place leads there, and is judged so', async () => {
      expect((await mount.call('read', 'shelf/things/CONFIG')).data).toMatchObject({ what: 'settings' });
      const token = await holder(but('shelf/things/config'));
      expect((await mount.call('read', 'shelf/things/CONFIG', { token })).status).toBe(403);
    });

    test('folds in rules with wildcards, and the more exact rule still decides', async () => {
      const token = await holder(
        `path "shelf/things/*" { capabilities = ["read"] }\npath "shelf/things/N*" { capabilities = ["deny"] }\npath "shelf/+/NICK/parts/+" { capabilities = ["read"] }`,
      );
      expect((await mount.call('read', 'shelf/things/nancy', { token })).status).toBe(403);
      expect((await mount.call('read', 'shelf/things/ann', { token })).status).toBe(200);
      expect((await mount.call('read', 'shelf/things/nicholas/parts/arm', { token })).status).toBe(403);
      const other = await holder(
        `path "shelf/things/Nick" { capabilities = ["read"] }\npath "shelf/things/nicholas" { capabilities = ["deny"] }`,
      );
      expect((await mount.call('read', 'shelf/things/NICHOLAS', { token: other })).status).toBe(403);
    });

    test('an entity keeps the variant of its maker', async () => {
      await mount.call('update', 'identity/entity/name/Boss', { data: {} });
      expect((await mount.call('read', 'identity/entity/name/BOSS')).data).toMatchObject({ name: 'Boss' });
    });

    test.each([
      ['auth/token/roles/ops', {}],
      ['sys/policies/password/ops', { policy: 'length = 20\nrule "charset" { charset = "abc" }' }],
      ['secret/ops', { a: 'b' }],
      ['cubbyhole/ops', { a: 'b' }],
      ['sys/policies/acl/ops', { policy: 'path "x" { capabilities = ["read"] }' }],
      ['identity/entity/name/ops', {}],
      ['identity/group/name/ops', {}],
    ])('no handler folds a name behind the back of its declaration: %s', async (canonical, data) => {
      expect((await mount.call('update', canonical, { data })).status).toBeLessThan(300);
      const other = canonical.replace(/ops$/, 'OPS');
      const token = await holder(but(canonical));
      expect((await mount.call('read', canonical, { token })).status).toBe(403);
      expect([403, 404]).toContain((await mount.call('read', other, { token })).status);
    });
  });

  test.each([
    ['token_policies', 'policies'],
    ['policies', 'token_policies'],
  ])('a rule that denies the parameter %s denies it under the name %s too', async (denied, sent) => {
    const at = 'shelf/renamed';
    const token = await holder(`path "${at}" { capabilities = ["update"]\n denied_parameters = { "${denied}" = [] } }`);
    expect((await mount.call('update', at, { token, data: { [sent]: ['a'] } })).status).toBe(403);
    expect((await mount.call('update', at, { token, data: {} })).status).toBe(204);
    const allowed = await holder(`path "${at}" { capabilities = ["update"]\n allowed_parameters = { "${denied}" = [] } }`);
    expect((await mount.call('update', at, { token: allowed, data: { [sent]: ['a'] } })).status).toBe(204);
    expect((await mount.call('update', at, { token: allowed, data: { other: 'a' } })).status).toBe(403);
    const required = await holder(`path "${at}" { capabilities = ["update"]\n required_parameters = ["${denied}"] }`);
    expect((await mount.call('update', at, { token: required, data: { [sent]: ['a'] } })).status).toBe(204);
    expect((await mount.call('update', at, { token: required, data: {} })).status).toBe(403);
  });

  describe('a rule with selectors that cannot be filled in', () => {
    const allowed = `path "secret/*" { capabilities = ${EVERY} }\n`;

    test.each([
      'secret/{{identity.entity.name}}',
      'secret/{{identity.entity.metadata.team}}*',
      'secret/pri{{identity.entity.id}}',
      '{{identity.groups.names.ops.id}}/private',
      'secret/{{nothing.known}}',
    ])('denies what %s could name, if it denies', async (denied) => {
      const token = await holder(`${allowed}path "${denied}" { capabilities = ["deny"] }`);
      expect((await mount.call('read', 'secret/private', { token })).status).toBe(403);
      const { data } = await mount.call('update', 'sys/capabilities', { data: { token, paths: ['secret/private'] } });
      expect(data).toMatchObject({ capabilities: ['deny'] });
    });

    test('denies before a rule that is more exact', async () => {
      const token = await holder(
        `path "secret/private" { capabilities = ["read"] }\npath "secret/{{identity.entity.name}}" { capabilities = ["deny"] }`,
      );
      expect((await mount.call('read', 'secret/private', { token })).status).toBe(403);
    });

    test('does not touch what it could not name', async () => {
      const token = await holder(`${allowed}path "secret/team/{{identity.entity.name}}/x" { capabilities = ["deny"] }`);
      expect((await mount.call('read', 'secret/private', { token })).status).toBe(200);
      expect((await mount.call('read', 'secret/team/ann/y', { token })).status).toBe(404);
      expect((await mount.call('read', 'secret/team/ann/x', { token })).status).toBe(403);
    });

    test('is left out if it grants', async () => {
      const token = await holder('path "secret/{{identity.entity.name}}" { capabilities = ["read"] }');
      expect((await mount.call('read', 'secret/private', { token })).status).toBe(403);
    });

    test('is shown when the policy is read, and when a decision is explained', async () => {
      const written = 'secret/{{identity.entity.name}}';
      const token = await holder(`${allowed}path "${written}" { capabilities = ["deny"] }`);
      const { warnings } = await mount.call('read', 'sys/policies/acl/p');
      expect(warnings).toEqual([
        `path "${written}": this block denies every path that it could name to a caller who does not have what its selectors name`,
      ]);
      const { data } = await mount.call('update', 'sys/policies/explain', { data: { token, path: 'secret/private' } });
      expect(data).toMatchObject({ allowed: false, rule: { path: written, policies: ['p'] } });
      expect((data as { reason: string }).reason).toMatch(/denies every path that it could name/);
    });
  });

  test.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])('%s names nothing that is not declared', async (word) => {
    for (const [operation, at, data] of [
      ['update', 'sys/mounts/x', { type: word }],
      ['update', 'sys/auth/x', { type: word }],
      ['update', 'sys/audit/x', { type: word }],
      ['read', `sys/plugins/catalog/secret/${word}`, {}],
      ['update', `sys/tools/hash/${word}`, { input: 'aGk=' }],
      ['update', 'sys/tools/random', { format: word }],
      ['update', `sys/loggers/${word}`, { level: word }],
      ['update', 'sys/leases/lookup', { lease_id: word }],
      ['read', `sys/policies/acl/${word}`, {}],
      ['read', `secret/${word}`, {}],
      ['read', `cubbyhole/${word}`, {}],
      ['read', word, {}],
    ] as const) {
      const { status } = await mount.call(operation, at, { data });
      expect([at, status >= 400 && status < 500]).toEqual([at, true]);
    }
    expect((await mount.call('read', 'sys/mounts/x')).status).toBe(400);
  });
});
