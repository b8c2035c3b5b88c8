import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { f, path, type EnginePackage } from '@strongroom/engine-sdk';
import { mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { ignoredSettings } from '../../src/api/sys/mount-config.ts';

const roles: EnginePackage = {
  name: 'roles',
  kind: 'secret',
  apiVersion: 2,
  create: () => ({
    paths: [
      path('roles/{name}', {
        synopsis: 'Roles.',
        description: 'Of users.',
        fields: {
          name: f.name('The role.'),
          permissions_boundary_arn: f.string('What its users may have at most.'),
          policy_arns: f.commaStrings('What they have.', { aliases: ['arn'] }),
        },
      })
        .read({ summary: 'Reads.', handle: async () => ({ data: {} }) })
        .update({ summary: 'Writes.', handle: async () => undefined })
        .patch({ summary: 'Patches.', handle: async () => undefined })
        .delete({ summary: 'Deletes.', handle: async () => undefined }),
      path('free/{name}', {
        synopsis: 'Anything.',
        description: 'As it is.',
        arbitraryData: true,
        fields: { name: f.name('Its name.') },
      }).update({
        summary: 'Writes.',
        handle: async () => undefined,
      }),
      path('quiet', { synopsis: 'Says 204 itself.', description: '', fields: { word: f.string('A word.') } }).update({
        summary: 'Writes.',
        handle: async () => ({ status: 204 }),
      }),
    ],
  }),
};

describe('unknown fields', () => {
  let mount: TestMount;

  beforeAll(async () => {
    mount = await mountForTest(roles);
  });
  afterAll(async () => mount.close());

  const IGNORED = 'Endpoint ignored these unrecognized parameters: ';

  test.each(['update', 'patch', 'delete'] as const)(
    'are said by a %s that would have answered 204, with the nearest known field',
    async (operation) => {
      const answer = await mount.call(operation, 'roles/roles/a', { data: { permission_boundary_arn: 'x' } });
      expect(answer).toMatchObject({
        status: 200,
        data: null,
        warnings: [
          `${IGNORED}[permission_boundary_arn]`,
          'permission_boundary_arn is not a field here; did you mean permissions_boundary_arn?',
        ],
      });
    },
  );

  test('are said by answers with a body as well', async () => {
    const { warnings } = await mount.call('read', 'roles/roles/a', { data: { polcy_arns: 'x' } });
    expect(warnings).toEqual([`${IGNORED}[polcy_arns]`, 'polcy_arns is not a field here; did you mean policy_arns?']);
  });

  test('say where a field belongs that is written with a dot', async () => {
    expect((await mount.call('update', 'roles/roles/a', { data: { 'arn.first': 'x' } })).warnings).toEqual([
      `${IGNORED}[arn.first]`,
      'arn.first is not a field here; send first inside the object arn',
    ]);
  });

  test('have no guess where no field is near', async () => {
    expect((await mount.call('update', 'roles/roles/a', { data: { zzzzzz: '1', b: 2 } })).warnings).toEqual([`${IGNORED}[b zzzzzz]`]);
  });

  test('cost no more guesses than somebody can read', async () => {
    const data = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`policy_arn_${i + 10}`, 1]));
    expect((await mount.call('update', 'roles/roles/a', { data })).warnings).toHaveLength(11);
  });

  test('fill no answer, however many or long they are', async () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`field_of_${i + 10_000}`, 1]));
    const [first] = (await mount.call('update', 'roles/roles/a', { data: many })).warnings!;
    expect(first).toMatch(
      /^Endpoint ignored these unrecognized parameters: \[field_of_10000 field_of_10001 .* field_of_10099 and 4900 more\]$/,
    );
    const { warnings } = await mount.call('update', 'roles/roles/a', { data: { ['x'.repeat(100_000)]: 1 } });
    expect(warnings).toEqual([`${IGNORED}[${'x'.repeat(100)}…]`]);
  });

  test('change nothing where all are known, by their name or another one', async () => {
    expect(await mount.call('update', 'roles/roles/a', { data: { arn: 'x', permissions_boundary_arn: 'y' } })).toMatchObject({
      status: 204,
      warnings: null,
    });
  });

  test('are the engine’s business on paths of arbitrary data', async () => {
    expect(await mount.call('update', 'roles/free/a', { data: { whatever: 1 } })).toMatchObject({ status: 204, warnings: null });
  });

  test('are said also where the engine answers 204 itself', async () => {
    expect(await mount.call('update', 'roles/quiet', { data: { wrd: 1 } })).toMatchObject({
      status: 200,
      warnings: [`${IGNORED}[wrd]`, 'wrd is not a field here; did you mean word?'],
    });
  });

  test('a value that the path overrules is said where it differs', async () => {
    expect((await mount.call('update', 'roles/roles/a', { data: { name: 'a' } })).status).toBe(204);
    expect(await mount.call('update', 'roles/roles/a', { data: { name: 'b' } })).toMatchObject({
      status: 200,
      warnings: ["Endpoint replaced the value of these parameters with the values captured from the endpoint's path: [name]"],
    });
  });

  test('are said of the settings of a new mount, except for those that Go clients send without a value', async () => {
    const config = { max_lease_tll: '1h', default_lease_ttl: '1h', options: null, allowed_managed_keys: null };
    expect(await mount.call('update', 'sys/mounts/second', { data: { type: 'roles', config } })).toMatchObject({
      status: 200,
      warnings: [`${IGNORED}[config.max_lease_tll]`, 'config.max_lease_tll is not a field here; did you mean config.max_lease_ttl?'],
    });
  });

  test('are said of a setting of a new mount that only Go clients send empty, and of those of a lockout', async () => {
    const options = { options: { version: '2' } };
    expect(await mount.call('update', 'sys/mounts/third', { data: { type: 'roles', config: options } })).toMatchObject({
      warnings: [`${IGNORED}[config.options]`],
    });
    const config = { user_lockout_config: { lockout_treshold: 3 }, options: null, description: '' };
    expect(ignoredSettings(config)).toEqual([
      `${IGNORED}[config.user_lockout_config.lockout_treshold]`,
      'config.user_lockout_config.lockout_treshold is not a field here; did you mean config.user_lockout_config.lockout_threshold?',
    ]);
  });

  test('are not wrapped away where there is nothing else in the answer', async () => {
    const answer = await mount.call('update', 'roles/roles/a', { data: { wrd: 1 }, wrapTtl: 60 });
    expect(answer).toMatchObject({ status: 200, wrapInfo: null, warnings: [`${IGNORED}[wrd]`] });
  });

  test('a misspelt force of an unmount is not passed over', async () => {
    await mount.call('update', 'sys/mounts/other', { data: { type: 'roles' } });
    const { warnings } = await mount.call('delete', 'sys/mounts/other', { data: { froce: 'true' } });
    expect(warnings).toEqual([`${IGNORED}[froce]`, 'froce is not a field here; did you mean force?']);
  });

  test('are said where the answer is that a field is missing or wrong', async () => {
    const missing = await mount.call('update', 'sys/mounts/other', { data: { tpye: 'roles', ohters: 'x' } });
    expect([missing.status, missing.errors]).toEqual([400, [expect.any(String), 'tpye is not a field here; did you mean type?']]);
    const both = await mount.call('update', 'sys/mounts/other', { data: { type: 'nothing', tpye: 'roles' } });
    expect([both.status, both.errors]).toEqual([400, [expect.any(String)]]);
    const raw = await mount.call('update', 'sys/mounts/other', { data: { 'typ\u001be': 'roles' } });
    expect(raw.errors).toEqual([expect.any(String), 'typ?e is not a field here; did you mean type?']);
    const right = await mount.call('update', 'sys/mounts/other', { data: { type: 'nothing' } });
    expect([right.status, right.errors]).toEqual([400, [expect.any(String)]]);
  });

  test('are not said to a caller who may not make the call', async () => {
    const { status, errors } = await mount.call('update', 'sys/mounts/other', { data: { tpye: 'roles' }, token: 'unknown' });
    expect([status, errors]).toEqual([403, [expect.any(String)]]);
  });
});
