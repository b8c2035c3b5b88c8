import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { defaultConfiguration, startServer, type RunningServer } from '@strongroom/server';

/** What has no such parameters, and why. */
const WITHOUT: Readonly<Record<string, string>> = {
  'sys/version-history': 'in the order of time, one entry for each upgrade',
  'cubbyhole/{path:all}': 'takes any data, and reads the page from it',
};

describe('every path that lists', () => {
  let server: RunningServer;
  beforeAll(async () => {
    server = await startServer({
      configuration: { ...defaultConfiguration({}), storage: { type: 'inmem' }, listeners: [], logLevel: 'error' },
      devRootToken: 'root',
    });
    const root = async (operation: 'read' | 'update', path: string, data = {}) =>
      server.core.handle({ operation, path, data, token: 'root' });
    const { auth, secret } = (await root('read', 'sys/plugins/catalog')).data as { auth: string[]; secret: string[] };
    const ofServer = server.core.declaredPaths().map(({ prefix }) => prefix);
    for (const type of auth) await root('update', `sys/auth/${type}`, { type });
    for (const type of secret.filter((one) => !ofServer.includes(`sys/${one}/`))) await root('update', `sys/mounts/${type}`, { type });
    await root('update', 'sys/mounts/kv-two', { type: 'kv', options: { version: '2' } });
  });
  afterAll(async () => server.stop());

  test('takes the parameters after and limit', () => {
    const missing = server.core.declaredPaths().flatMap(({ prefix, paths }) =>
      paths
        .filter(({ operations }) => operations.list)
        .filter(({ about }) => !('after' in about.fields && 'limit' in about.fields))
        .map(({ pattern }) => prefix + pattern),
    );
    expect(missing.sort()).toEqual(Object.keys(WITHOUT).sort());
  });
});
