import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { f, holderSource, pageOfHolders, path, type EnginePackage } from '@strongroom/engine-sdk';
import { ask } from '@strongroom/engine-testkit';
import { kvEngine } from '@strongroom/kv';
import { memoryStorage } from '@strongroom/storage-sdk';
import { Type } from 'typebox';
import { createCore, type Core } from '../../../src/index.ts';
import { doorLogin } from '../../request/door-engine.ts';

type Data = Record<string, unknown>;

const Role = Type.Object({ policies: Type.Array(Type.String()) });

/** A login method with roles whose names ignore case. With the option `broken` its roles cannot be listed. */
function gateLogin(): EnginePackage {
  return {
    name: 'gate',
    kind: 'auth',
    apiVersion: 2,
    create: ({ storage, mount }) => {
      const roles = storage.collection('role/', Role);
      const one = path('role/{name}', {
        synopsis: 'A role.',
        description: 'Whoever logs in by it gets its policies.',
        fields: {
          name: f.name('Its name.', { folds: (name) => name.toLowerCase() }),
          policies: f.commaStrings('Its policies.', { default: [] }),
        },
      })
        .read({ summary: 'Reads.', handle: async ({ data }) => ({ data: await roles.get(data.name) }) })
        .update({
          summary: 'Writes.',
          handle: async ({ data }) => void (await roles.put(data.name, { policies: data.policies })) as undefined,
        });
      return {
        paths: [one],
        policyHolders: async (query) => {
          if (mount.options['broken'] === 'yes') throw new Error('the gate is stuck');
          return pageOfHolders([holderSource('role', 'role', roles, ({ policies }) => ({ policies, withDefault: true }))], query);
        },
      };
    },
  };
}

describe('questions about policies', () => {
  let core: Core;
  const root = async (call: string, body?: Data) => ask(core, call, { token: 'root', body });
  const tokenOf = async (policies: string[], more: Data = {}): Promise<string> =>
    (await root('POST auth/token/create', { policies, ...more })).auth!.client_token;

  beforeAll(async () => {
    core = await createCore({ storage: memoryStorage(), plugins: [kvEngine, gateLogin(), doorLogin()], devRootToken: 'root' });
    await root('POST sys/mounts/secret', { type: 'kv', options: { version: '2' } });
    await root('POST sys/auth/gate', { type: 'gate' });
    await root('PUT sys/policies/acl/dev', {
      policy: `# developers
path "secret/data/*" {
  capabilities = ["list"]
}
path "secret/data/shop/*" {
  capabilities = ["read"]
}
`,
    });
    await root('PUT sys/policies/acl/pay', { policy: 'path "secret/data/shop/pay" {\n  capabilities = ["deny"]\n}' });
    await root('PUT sys/policies/acl/home', { policy: 'path "secret/data/{{identity.entity.name}}/*" {\n  capabilities = ["read"]\n}' });
  });
  afterAll(async () => core.close());

  describe('sys/policies/explain-self', () => {
    test('tells a token with the default policy which of its rules decides, and where it is written', async () => {
      const token = await tokenOf(['dev']);
      const { data } = await ask(core, 'POST sys/policies/explain-self', { token, body: { path: 'secret/data/x' } });
      expect(data).toMatchObject({
        allowed: false,
        missing: 'read',
        reason: 'path "secret/data/*" of dev grants list, not read',
        rule: { path: 'secret/data/*', sources: [{ policy: 'dev', line: 2, column: 1, capabilities: ['list'] }] },
        suggestion: 'path "secret/data/*" {\n  capabilities = ["list", "read"]\n}',
      });
    });

    test('is refused to a token without it', async () => {
      const token = await tokenOf(['dev'], { no_default_policy: true });
      expect((await ask(core, 'POST sys/policies/explain-self', { token, body: { path: 'x' } })).status).toBe(403);
    });

    test('does not tell whose rule bounds the token from its maker', async () => {
      await root('PUT sys/policies/acl/make', { policy: 'path "auth/token/create" { capabilities = ["update"] }' });
      const able = await tokenOf(['dev', 'pay', 'make']);
      const child = (await ask(core, 'POST auth/token/create', { token: able, body: { policies: ['dev'] } })).auth!.client_token;
      const { data } = await ask(core, 'POST sys/policies/explain-self', { token: child, body: { path: 'secret/data/shop/pay' } });
      expect(data).toMatchObject({ allowed: false, reason: 'a rule of a policy that is not yours to see refuses it' });
      expect(JSON.stringify(data)).not.toMatch(/"pay"|make|rule":|suggestion/);
      const told = await root('POST sys/policies/explain', { token: child, path: 'secret/data/shop/pay' });
      expect(told.data).toMatchObject({ rule: { sources: [{ policy: 'pay', line: 1 }] } });
    });

    test('does not tell what is mounted where the caller has no rule', async () => {
      const token = await tokenOf(['none']);
      const asked = async (path: string) => (await ask(core, 'POST sys/policies/explain-self', { token, body: { path } })).data;
      for (const path of ['auth/gate/role/WEB', 'auth/nothing/role/WEB'])
        expect(await asked(path)).toEqual({
          operation: 'read',
          path,
          allowed: false,
          sudo: false,
          reason: `no rule matches ${JSON.stringify(path)}`,
          missing: 'read',
          suggestion: `path ${JSON.stringify(path)} {\n  capabilities = ["read"]\n}`,
          ...(path.startsWith('auth/') ? { nearest: expect.objectContaining({ policies: ['default'] }) } : {}),
        });
      expect(await asked('sys/audit')).toMatchObject({ sudo_required: true, suggestion: expect.stringContaining('"sudo"') });
    });

    test('tells a root token that everything is allowed', async () => {
      expect((await root('POST sys/policies/explain-self', { path: 'secret/data/x' })).data).toMatchObject({ allowed: true });
    });
  });

  describe('a draft', () => {
    const draft = 'path "secret/data/*" {\n  capabilities = ["read"]\n}';
    const explain = async (body: Data, token = 'root') =>
      ask(core, 'POST sys/policies/explain', { token, body: { path: 'secret/data/x', ...body } });

    test('is judged alone where nobody is named', async () => {
      expect((await explain({ draft })).data).toMatchObject({ allowed: true, rule: { sources: [{ policy: 'draft', line: 1 }] } });
    });

    test('stands in for the saved policy of its name, among policies and for a token', async () => {
      const token = await tokenOf(['dev', 'pay']);
      expect((await explain({ policies: ['dev', 'pay'] })).data).toMatchObject({ allowed: false, missing: 'read' });
      expect((await explain({ policies: ['dev', 'pay'], draft, name: 'dev' })).data).toMatchObject({ allowed: true });
      expect((await explain({ token, draft, name: 'dev' })).data).toMatchObject({ allowed: true, rule: { policies: ['dev'] } });
      const still = { path: 'secret/data/shop/pay', draft, name: 'dev' };
      expect((await explain({ token, ...still })).data).toMatchObject({ allowed: false, rule: { policies: ['pay'] } });
      const elsewhere = await explain({ token, draft, name: 'ops' });
      expect(elsewhere.data).toMatchObject({ allowed: false });
      expect(elsewhere.warnings).toEqual(['the token does not have the policy "ops", so the draft does not count']);
    });

    test('changes nothing', async () => {
      await explain({ policies: ['dev'], draft, name: 'dev' });
      expect((await explain({ policies: ['dev'] })).data).toMatchObject({ allowed: false });
    });

    test.each<[Data, RegExp]>([
      [{ draft: 'path "a" {' }, /^failed to parse policy: /],
      [{ draft: '' }, /draft must not be empty/],
      [{ name: 'dev' }, /name is the name of a draft/],
      [{ token: 'root', accessor: 'x' }, /only one of token, accessor and policies/],
      [{ token: 'root', draft }, /name must say which policy/],
      [{ accessor: 'nobody' }, /invalid accessor/],
    ])('%j is refused', async (body, text) => {
      const { status, errors } = await explain(body);
      expect([status, errors!.join()]).toEqual([400, expect.stringMatching(text)]);
    });

    test('policies that are not the caller’s to read are refused by name', async () => {
      await root('PUT sys/policies/acl/asker', { policy: 'path "sys/policies/explain" { capabilities = ["update"] }' });
      const token = await tokenOf(['asker']);
      const { status, errors } = await explain({ policies: ['dev'] }, token);
      expect([status, errors!.join()]).toEqual([403, expect.stringContaining('"dev" is not yours to read')]);
      expect((await explain({ draft }, token)).status).toBe(200);
    });

    test('an accessor asks for the right to look it up, and rules stay hidden that the caller may not read', async () => {
      const lookedAt = (await root('POST auth/token/create', { policies: ['dev'] })).auth!.accessor;
      expect((await explain({ accessor: lookedAt }, await tokenOf(['asker']))).status).toBe(403);
      await root('PUT sys/policies/acl/looker', {
        policy: `path "sys/policies/explain" { capabilities = ["update"] }
          path "auth/token/lookup-accessor" { capabilities = ["update"] }`,
      });
      const { data } = await explain({ accessor: lookedAt }, await tokenOf(['looker']));
      expect(data).toMatchObject({ allowed: false, missing: 'read', reason: 'a rule of a policy that is not yours to see refuses it' });
      expect(JSON.stringify(data)).not.toContain('dev');
      expect((await explain({ accessor: lookedAt })).data).toMatchObject({ rule: { policies: ['dev'] } });
    });
  });

  describe('sys/policies/check', () => {
    test('returns the problems with line and column, and writes nothing', async () => {
      const { data } = await root('POST sys/policies/check', { policy: 'path "a" {\n  capabilities = ["raed"]\n}' });
      expect(data).toEqual({
        valid: false,
        complaints: [{ severity: 'error', line: 2, column: 19, message: 'path "a": invalid capability "raed"' }],
      });
      expect((await root('LIST sys/policies/acl')).data).not.toMatchObject({ keys: expect.arrayContaining(['a']) });
    });

    test('answers at most 200, and how many there are besides', async () => {
      const policy = Array.from({ length: 250 }, (_, i) => `path "p${i}" { capabilities = ["fly"] }`).join('\n');
      const { data } = await root('POST sys/policies/check', { policy });
      expect(data).toMatchObject({ valid: false, left_out: 50 });
      expect((data as { complaints: unknown[] }).complaints).toHaveLength(200);
    });
  });

  describe('sys/policies/who', () => {
    interface Who {
      policies: { name: string; effect: string }[];
      holders: { kind: string; path: string; name: string; policies: string[]; effect?: string }[];
      next?: string;
    }
    const who = async (body: Data, token = 'root'): Promise<Who> =>
      (await ask(core, 'POST sys/policies/who', { token, body })).data as unknown as Who;
    let ada: string;

    beforeAll(async () => {
      await root('POST auth/token/roles/shop', { allowed_policies: 'dev' });
      await root('POST auth/token/roles/any', { allowed_policies_glob: 'd*', disallowed_policies: 'default' });
      await root('POST auth/token/roles/other', { allowed_policies: 'unknown', token_no_default_policy: true });
      await root('POST auth/gate/role/web', { policies: ['dev'] });
      await root('POST auth/gate/role/safe', { policies: ['dev', 'pay'] });
      await root('POST auth/gate/role/none', { policies: [] });
      ada = ((await root('POST identity/entity', { name: 'shop', policies: ['home'] })).data as { id: string }).id;
      await root('POST identity/entity', { name: 'bob', policies: ['home'] });
      await root('POST identity/group', { name: 'builders', policies: ['dev'], member_entity_ids: [ada] });
    });

    test('names the policies with a rule for the path, each with its line', async () => {
      const { policies } = await who({ path: 'secret/data/shop/pay' });
      expect(policies).toEqual([
        {
          name: 'dev',
          effect: 'allows',
          rule: 'secret/data/shop/*',
          sources: [{ policy: 'dev', line: 5, column: 1, capabilities: ['read'] }],
        },
        { name: 'home', effect: 'depends', sources: [{ policy: 'home', line: 1, column: 1, capabilities: ['read'] }] },
        {
          name: 'pay',
          effect: 'denies',
          rule: 'secret/data/shop/pay',
          sources: [{ policy: 'pay', line: 1, column: 1, capabilities: ['deny'] }],
        },
        { name: 'root', effect: 'allows', sources: [] },
      ]);
    });

    test('names who has them, and what all of their policies do together', async () => {
      const { holders } = await who({ path: 'secret/data/shop/pay' });
      expect(holders.map(({ path, policies, effect }) => [path.replace(/[0-9a-f-]{36}/, 'ID'), policies.join(), effect])).toEqual([
        ['auth/gate/role/safe', 'dev,pay', 'denies'],
        ['auth/gate/role/web', 'dev', 'allows'],
        ['auth/token/roles/any', 'dev', 'depends'],
        ['auth/token/roles/shop', 'dev', 'allows'],
        // Selectors are filled in for each entity; the order of entities is that of their ids.
        ...holders
          .filter(({ kind }) => kind === 'entity')
          .map(({ name }) => [
            'identity/entity/id/ID',
            ...{ shop: ['dev,home', 'allows'], bob: ['home', undefined] }[name as 'shop' | 'bob'],
          ]),
        ['identity/group/id/ID', 'dev', 'allows'],
      ]);
      expect(
        holders
          .filter(({ kind }) => kind === 'entity')
          .map(({ name }) => name)
          .sort(),
      ).toEqual(['bob', 'shop']);
    });

    test('pages by next, and no page shows a holder twice', async () => {
      const all = (await who({ path: 'secret/data/shop/pay' })).holders.map(({ path }) => path);
      const seen: string[] = [];
      let after: string | undefined;
      do {
        const page = await who({ path: 'secret/data/shop/pay', limit: 1, ...(after === undefined ? {} : { after }) });
        expect(page.holders.length).toBeLessThanOrEqual(1);
        expect(page.policies).toHaveLength(after === undefined ? 4 : 0);
        seen.push(...page.holders.map(({ path }) => path));
        after = page.next;
        expect(after ?? '').not.toMatch(/gate|role|entity/);
      } while (after !== undefined);
      expect(seen).toEqual(all);
      const { status, errors } = await root('POST sys/policies/who', { path: 'x', after: 'invented' });
      expect([status, errors!.join()]).toEqual([400, expect.stringContaining('after must be the next of the previous page')]);
    });

    test('shows what the caller may read at its own path and nothing else, not even in another case', async () => {
      await root('PUT sys/policies/acl/half', {
        policy: `path "sys/policies/who" { capabilities = ["update"] }
          path "sys/policies/acl/dev" { capabilities = ["read"] }
          path "auth/gate/role/*" { capabilities = ["read"] }
          path "auth/gate/role/WEB" { capabilities = ["deny"] }`,
      });
      const found = await who({ path: 'secret/data/shop/pay' }, await tokenOf(['half']));
      expect(found.policies.map(({ name }) => name)).toEqual(['dev']);
      expect(found.holders).toEqual([{ kind: 'role', mount: 'auth/gate/', name: 'safe', path: 'auth/gate/role/safe', policies: ['dev'] }]);
      expect(JSON.stringify(found)).not.toContain('pay"]');
    });

    test('names who has a policy, whatever it allows', async () => {
      const { policies, holders } = await who({ policy: 'PAY' });
      expect(policies).toEqual([]);
      expect(holders).toEqual([{ kind: 'role', mount: 'auth/gate/', name: 'safe', path: 'auth/gate/role/safe', policies: ['pay'] }]);
      for (const body of [{}, { policy: 'pay', path: 'x' }]) {
        const { status, errors } = await root('POST sys/policies/who', body);
        expect([status, errors!.join()]).toEqual([400, 'either path or policy must be given']);
      }
      expect((await root('POST sys/policies/who', { policy: 'nosuch' })).errors!.join()).toContain('there is no policy "nosuch"');
    });

    test('tells which mounts it could not ask', async () => {
      await root('POST sys/auth/stuck', { type: 'gate', options: { broken: 'yes' } });
      await root('POST sys/auth/door', { type: 'door' });
      const { warnings, data } = await root('POST sys/policies/who', { path: 'secret/data/shop/pay' });
      expect(warnings).toEqual([
        'who has policies by auth/door/ is not listed: its engine does not tell which of its roles give which policies',
        'who has policies by auth/stuck/ is not listed: the gate is stuck',
      ]);
      expect((data as unknown as Who).holders).not.toHaveLength(0);
    });

    test('a rule with conditions allows, and says which', async () => {
      await root('PUT sys/policies/acl/strict', {
        policy: 'path "secret/data/strict" {\n  capabilities = ["update"]\n  required_parameters = ["data"]\n}',
      });
      const { policies } = await who({ path: 'secret/data/strict', operation: 'update' });
      expect(policies).toContainEqual(
        expect.objectContaining({ name: 'strict', effect: 'allows', condition: expect.stringContaining('parameter "data" is required') }),
      );
    });
  });
});
