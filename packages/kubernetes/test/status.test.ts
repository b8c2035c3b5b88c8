import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mountedEngine, READS_PODS, type MountedEngine } from './kubernetes-mount.ts';

const CLOSED = { state: 'closed', failures: 0, since: null, next_try: null };

describe('config/status and failing', () => {
  let mount: MountedEngine;
  beforeEach(async () => {
    mount = await mountedEngine();
    await mount.write('roles/pods', READS_PODS);
  });
  afterEach(async () => mount.stop());

  const ask = async () => mount.call('update', 'kubernetes/creds/pods', { data: { kubernetes_namespace: 'prod' } });
  const status = async (): Promise<unknown> => (await mount.read('config/status')).data;
  const failing = async (): Promise<unknown> => (await mount.read('failing')).data;

  test('show nothing where the API server answers, and ask it nothing', async () => {
    await ask();
    mount.api.requests.length = 0;
    expect(await status()).toEqual({ state: 'ready', reason: null, circuit: CLOSED, last_error: null });
    expect(await failing()).toEqual({});
    expect(mount.api.requests).toEqual([]);
  });

  test('show an API server that is down, with the last failure, until it answers', async () => {
    mount.api.become('hanging up');
    for (let i = 0; i < 5; i += 1) expect((await ask()).status).toBe(500);
    expect((await ask()).status).toBe(503);
    const reason = expect.stringMatching(
      /^its circuit breaker is open until .* after 5 failures in a row: the Kubernetes API server cannot be reached/,
    );
    expect(await status()).toMatchObject({
      state: 'left-alone',
      reason,
      circuit: { state: 'open', failures: 5, since: expect.any(String), next_try: expect.any(String) },
      last_error: { message: expect.stringContaining('cannot be reached'), time: expect.any(String) },
    });
    expect(await failing()).toEqual({ cluster: { reason } });
    expect(JSON.stringify([await status(), await failing()])).not.toContain(mount.api.manager);
    mount.api.become('well');
    // A write of the configuration tries again at once.
    await mount.write('config', mount.config);
    expect(await failing()).toEqual({});
    expect((await ask()).status).toBe(200);
    expect(await status()).toMatchObject({ state: 'ready', reason: null, circuit: CLOSED, last_error: { time: expect.any(String) } });
  });

  test('show a mount without a token, and nothing where there is no configuration', async () => {
    await mount.write('config', { ...mount.config, service_account_jwt: '' });
    const reason = expect.stringMatching(/^service_account_jwt is not set/);
    expect(await status()).toMatchObject({ state: 'out-of-use', reason });
    expect(await failing()).toEqual({ cluster: { reason } });
    await mount.delete('config');
    expect((await mount.call('read', 'kubernetes/config/status', {})).status).toBe(404);
    expect(await failing()).toEqual({});
  });
});
