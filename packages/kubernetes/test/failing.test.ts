import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mountedEngine, type MountedEngine } from './kubernetes-mount.ts';

describe('what needs attention', () => {
  let mount: MountedEngine;
  beforeEach(async () => {
    mount = await mountedEngine();
  });
  afterEach(async () => mount.stop());

  const messages = async (): Promise<unknown> => {
    const { data } = await mount.call('read', 'sys/internal/ui/attention', { data: { limit: 50 } });
    const { items } = data as { items: { things: { path: string | null; message: string }[] }[] };
    return items.flatMap(({ things }) => things.filter(({ path }) => path === 'kubernetes/config').map(({ message }) => message));
  };

  test('is nothing where the token is good', async () => {
    expect(await messages()).toEqual([]);
  });

  test('is a token that has expired, with the moment, until another is written', async () => {
    const ends = Math.floor(mount.clock.millis() / 1_000) + 60;
    const claims = Buffer.from(JSON.stringify({ sub: 'system:serviceaccount:strongroom:engine', exp: ends })).toString('base64url');
    await mount.write('config', { ...mount.config, service_account_jwt: `e30.${claims}.AAAA` });
    expect(await messages()).toEqual([]);
    await mount.advance(61_000);
    expect(await messages()).toEqual([
      `service_account_jwt expired at ${new Date(ends * 1_000).toISOString()}: write a new one to config, one without an end or with a longer one`,
    ]);
    await mount.write('config', mount.config);
    expect(await messages()).toEqual([]);
  });

  test('is a mount that has no token for its API server', async () => {
    await mount.write('config', { ...mount.config, service_account_jwt: '' });
    expect(await messages()).toEqual([expect.stringMatching(/^service_account_jwt is not set, and this server has no pod's token/)]);
  });
});
