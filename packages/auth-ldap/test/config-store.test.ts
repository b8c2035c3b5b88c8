import { expect, test } from '@jest/globals';
import { silentLog, systemClock, type StorageView } from '@strongroom/engine-sdk';
import { CONFIG, configsIn, defaultConfig, type LdapAuthConfig } from '../src/config.ts';
import { ConfigStore } from '../src/config-store.ts';
import type { RootRotation } from '../src/root-rotation.ts';

/** Records that another process may change behind the store's back. */
function shared(record: LdapAuthConfig) {
  const state = { record, reads: 0 };
  const collection = {
    get: async () => {
      state.reads += 1;
      return state.record;
    },
    put: async (_id: string, next: LdapAuthConfig) => {
      state.record = next;
    },
  };
  const view = {
    collection: () => collection,
    transaction: async (work: (tx: unknown) => unknown) => work(view),
  } as unknown as StorageView;
  const template = { now: () => new Date(0), randomBytes: (count: number) => new Uint8Array(count) };
  // Nothing is rotated here: a write is stored as it is.
  const root = {
    requireQuietFor: () => undefined,
    store: async (tx: StorageView, next: LdapAuthConfig) => configsIn(tx).put(CONFIG, next),
  } as unknown as RootRotation;
  return { state, configs: new ConfigStore(view, { clock: systemClock, log: silentLog, template, root }) };
}

test('the configuration is read once, and again when another process has changed it', async () => {
  const { state, configs } = shared(defaultConfig);
  const base = async () => configs.use(async ({ config }) => config.userdn);
  expect([await base(), await base()]).toEqual(['', '']);
  expect(state.reads).toBe(1);
  state.record = { ...defaultConfig, userdn: 'ou=new' };
  configs.invalidate('user/ann');
  expect(await base()).toBe('');
  configs.invalidate('config/ldap');
  expect(await base()).toBe('ou=new');
  configs.close();
});

test('a directory in use outlives a new configuration, and is closed when its last user is done', async () => {
  const { configs } = shared(defaultConfig);
  const closed = async (directory: { connect(): Promise<unknown> }): Promise<boolean> =>
    directory.connect().then(
      () => false,
      (error: { code: unknown }) => error.code === 'CLOSED',
    );
  const kept = await configs.use(async ({ directory }) => {
    await configs.update({ url: 'ldap://127.0.0.1:1' }, new Set(['url']));
    expect(await closed(directory)).toBe(false);
    expect(await configs.use(async (next) => next.config.url)).toBe('ldap://127.0.0.1:1');
    return directory;
  });
  expect(await closed(kept)).toBe(true);
  configs.close();
});

test('after closing nothing is opened again', async () => {
  const { configs } = shared(defaultConfig);
  const kept = await configs.use(async ({ directory }) => directory);
  configs.close();
  await expect(kept.connect()).rejects.toMatchObject({ code: 'CLOSED' });
  await expect(configs.use(async () => undefined)).rejects.toMatchObject({ status: 503 });
});

test('a configuration that cannot be read is read again at the next login', async () => {
  const { state, configs } = shared(defaultConfig);
  const whole = state.record;
  state.record = { ...whole, userfilter: '{{' };
  await expect(configs.use(async () => undefined)).rejects.toThrow('invalid userfilter');
  state.record = whole;
  await expect(configs.use(async () => 'fine')).resolves.toBe('fine');
  configs.close();
});
