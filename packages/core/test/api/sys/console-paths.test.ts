import { afterEach, describe, expect, test } from '@jest/globals';
import { f, path, type EnginePackage } from '@strongroom/engine-sdk';
import { mountForTest, sharedMemory, type TestMount } from '@strongroom/engine-testkit';
import { consoleSettingsPaths } from '../../../src/api/sys/path-console-settings.ts';
import { call } from '../../services/identity/call.ts';

/** A login method that nobody here has written pages for. */
const badge: EnginePackage = {
  name: 'badge',
  kind: 'auth',
  apiVersion: 2,
  create: () => ({
    paths: [
      path('login/{number:any}', {
        synopsis: 'A login.',
        description: '',
        login: 'uncounted',
        fields: {
          number: f.name('Number of the badge.'),
          pin: f.secret('Its PIN.', { required: true }),
          door: f.string('The door.', { values: ['front', 'back'], default: 'front' }),
          pin_code: f.string('Its PIN.', { deprecated: true }),
        },
      }).update({ summary: 'Log in.', handle: async () => ({ auth: { policies: [], alias: { name: 'x' } } }) as never }),
    ],
  }),
};

interface Method {
  readonly path: string;
}

describe('sys/internal/ui/login-methods', () => {
  let mount: TestMount | undefined;
  afterEach(async () => {
    await mount?.close();
    mount = undefined;
  });

  const methods = async (): Promise<readonly Method[]> =>
    ((await mount!.call('read', 'sys/internal/ui/login-methods', { token: '' })).data as { methods: Method[] }).methods;
  const tune = async (at: string, visibility: string) =>
    mount!.call('update', `sys/auth/${at}/tune`, { data: { listing_visibility: visibility, description: 'Badges of the house' } });

  test('shows nobody a mount that its operator hides', async () => {
    mount = await mountForTest(badge);
    expect(await methods()).toEqual([]);
  });

  test('shows the form of a method from what its login path declares', async () => {
    mount = await mountForTest(badge, { path: 'auth/team/badge' });
    await tune('team/badge', 'unauth');
    expect(await methods()).toEqual([
      {
        path: 'team/badge/',
        type: 'badge',
        description: 'Badges of the house',
        flow: 'form',
        login: 'auth/team/badge/login/{number}',
        form: {
          type: 'object',
          properties: {
            number: { type: 'string', description: 'Number of the badge.' },
            pin: { type: 'string', description: 'Its PIN.', 'x-vault-displayAttrs': { sensitive: true } },
            door: { type: 'string', description: 'The door.', default: 'front', enum: ['front', 'back'] },
          },
          required: ['number', 'pin'],
        },
      },
    ]);
  });

  test('lists methods by their paths, the token among them where its mount is shown', async () => {
    mount = await mountForTest(badge);
    for (const at of ['zoo', 'alpha']) await mount.call('update', `sys/auth/${at}`, { data: { type: 'badge' } });
    for (const at of ['zoo', 'token', 'alpha']) await tune(at, 'unauth');
    expect((await methods()).map((method) => method.path)).toEqual(['alpha/', 'token/', 'zoo/']);
    await tune('zoo', 'hidden');
    expect((await methods()).map((method) => method.path)).toEqual(['alpha/', 'token/']);
  });

  test('tells who is sent to an identity provider, or needs a certificate', async () => {
    mount = await mountForTest({ ...badge, loginFlow: 'oidc' });
    await tune('badge', 'unauth');
    expect(await methods()).toMatchObject([{ flow: 'oidc' }]);
  });

  test('leaves out a method whose engine does not run', async () => {
    const broken: EnginePackage = {
      ...badge,
      create: (host) => ({
        ...badge.create(host),
        initialize: async () => {
          throw new Error('no badges today');
        },
      }),
    };
    const store = sharedMemory();
    mount = await mountForTest(badge, { storage: store.open() });
    await tune('badge', 'unauth');
    expect(await methods()).toHaveLength(1);
    await mount.close();
    mount = await mountForTest(broken, { storage: store.open() });
    expect(await methods()).toEqual([]);
  });
});

describe('sys/internal/ui/config', () => {
  test('has defaults for what the operator leaves out', async () => {
    expect(await call(consoleSettingsPaths({ banner: 'Production' }), 'read', 'internal/ui/config')).toEqual({
      status: 200,
      data: { banner: 'Production', idle_minutes: 15, show_seconds: 30, default_method: '', session: 'tab' },
    });
  });
});
