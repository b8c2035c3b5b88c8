import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import type { TestMount } from '@strongroom/engine-testkit';
import { describeWithRabbitmq, startRabbitmq, startTcpProxy, type RabbitmqServer } from '@strongroom/lab';
import { connectionTo, dataOf, EVERYTHING, mountRabbitmq } from './rabbitmq-mount.ts';

jest.setTimeout(60_000);

const CLOSED = { state: 'closed', failures: 0, since: null, next_try: null };

describeWithRabbitmq('what a mount shows of its connection', () => {
  let server: RabbitmqServer;
  let mount: TestMount;

  beforeAll(async () => {
    server = await startRabbitmq();
  });
  afterAll(async () => server?.stop());
  beforeEach(async () => {
    mount = await mountRabbitmq(server);
  });
  afterEach(async () => mount.close());

  test('config/status and failing show a broker that cannot be reached, with the last failure, until it answers', async () => {
    await mount.write('roles/app', { vhosts: EVERYTHING });
    expect(dataOf(await mount.read('config/status'))).toMatchObject({ state: 'ready', circuit: CLOSED, last_error: null });
    expect(dataOf(await mount.read('failing'))).toEqual({ static_roles: {} });
    const proxy = await startTcpProxy(server.port);
    try {
      await mount.write('config/connection', { ...connectionTo(server), connection_uri: `http://127.0.0.1:${proxy.port}` });
    } finally {
      await proxy.stop();
    }
    for (let i = 0; i < 5; i += 1) expect((await mount.call('read', 'rabbitmq/creds/app')).status).toBe(500);
    expect((await mount.call('read', 'rabbitmq/creds/app')).status).toBe(503);
    const status = dataOf(await mount.read('config/status'));
    expect(status).toMatchObject({
      state: 'left-alone',
      pool: { waiting: 0, limit: 16 },
      circuit: { state: 'open', failures: 5, since: expect.any(String), next_try: expect.any(String) },
      last_error: { message: expect.stringContaining('RabbitMQ cannot be reached'), time: expect.any(String) },
      root_rotation: { state: 'idle' },
    });
    const failing = dataOf(await mount.read('failing'));
    expect(failing).toEqual({
      static_roles: {},
      connection: {
        reason: expect.stringMatching(/^its circuit breaker is open until .* after 5 failures in a row: RabbitMQ cannot be reached/),
      },
    });
    expect(JSON.stringify([status, failing])).not.toContain(server.password);
    await mount.write('config/connection', connectionTo(server));
    expect(dataOf(await mount.read('config/status'))).toMatchObject({ state: 'ready', circuit: CLOSED });
    expect(dataOf(await mount.read('failing'))).toEqual({ static_roles: {} });
  });

  test('a mount without a connection has no status, and nothing fails there', async () => {
    await mount.call('update', 'sys/mounts/other', { data: { type: 'rabbitmq' } });
    expect((await mount.call('read', 'other/config/status')).status).toBe(404);
    expect(dataOf(await mount.call('read', 'other/failing'))).toEqual({ static_roles: {} });
  });

  test('two mounts that log in as one user are warned, and show each other', async () => {
    await mount.call('update', 'sys/mounts/other', { data: { type: 'rabbitmq' } });
    const { warnings } = await mount.call('update', 'other/config/connection', { data: connectionTo(server) });
    expect(warnings).toEqual([
      expect.stringMatching(/^username: rabbitmq\/ logs in as the same user; a rotation .* locks the other one out/),
    ]);
    expect(dataOf(await mount.read('config/connection'))).toMatchObject({ username_shared_with: ['other/'] });
    await server.api('PUT', 'users/second', { password: 'second', tags: 'administrator' });
    const own = await mount.call('update', 'other/config/connection', { data: { username: 'second', password: 'second' } });
    expect(own.warnings).toBeNull();
    expect(dataOf(await mount.read('config/connection'))).not.toHaveProperty('username_shared_with');
  });
});
