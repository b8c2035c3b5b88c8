import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import type { TestMount } from '@strongroom/engine-testkit';
import { describeWithRabbitmq, startRabbitmq, startTcpProxy, type RabbitmqServer } from '@strongroom/lab';
import { connect } from 'amqplib';
import { connectionTo, dataOf, EVERYTHING, mountRabbitmq } from './rabbitmq-mount.ts';

jest.setTimeout(60_000);

interface Creds {
  readonly username: string;
  readonly password: string;
}

describeWithRabbitmq('users for a lease', () => {
  let server: RabbitmqServer;
  let mount: TestMount;

  beforeAll(async () => {
    server = await startRabbitmq();
    await server.api('PUT', 'vhosts/a%2Fb');
  });
  afterAll(async () => server?.stop());
  beforeEach(async () => {
    mount = await mountRabbitmq(server);
  });
  afterEach(async () => {
    await mount.close();
    for (const name of await server.users()) await server.api('DELETE', `users/${encodeURIComponent(name)}`);
  });

  test('a user has the tags, permissions and topic permissions of its role, and logs in', async () => {
    const permission = { configure: '', write: '^orders$', read: '.*' };
    await mount.write('roles/app', {
      tags: 'management, monitoring',
      vhosts: JSON.stringify({ '/': permission, 'a/b': permission }),
      vhost_topics: JSON.stringify({ 'a/b': { 'amq.topic': { write: '^a', read: '^b' } } }),
    });
    const { username, password } = dataOf<Creds>(await mount.read('creds/app'));
    expect(username).toMatch(/^root-[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
    expect(password).toMatch(/^[A-Za-z0-9]{36}$/);
    expect(await server.api('GET', 'whoami', undefined, [username, password])).toEqual({
      status: 200,
      body: { name: username, tags: ['management', 'monitoring'] },
    });
    const { body } = await server.api('GET', `users/${username}/permissions`);
    expect(body).toEqual(expect.arrayContaining(['/', 'a/b'].map((vhost) => ({ user: username, vhost, ...permission }))));
    expect((await server.api('GET', `users/${username}/topic-permissions`)).body).toEqual([
      { user: username, vhost: 'a/b', exchange: 'amq.topic', write: '^a', read: '^b' },
    ]);
  });

  test('the user is deleted when its lease ends, and a renewal moves that', async () => {
    await mount.write('config/lease', { ttl: '10m', max_ttl: '15m' });
    await mount.write('roles/app', { vhosts: EVERYTHING });
    const { leaseId } = await mount.read('creds/app');
    await mount.advance('9m');
    expect((await mount.call('update', 'sys/leases/renew', { data: { lease_id: leaseId } })).leaseDuration).toBe(360);
    await mount.advance('5m');
    expect(await server.users()).toHaveLength(1);
    await mount.advance('2m');
    expect(await server.users()).toEqual([]);
  });

  test('a revocation closes the connections of its user, and leaves those of others open', async () => {
    await mount.write('roles/app', { vhosts: EVERYTHING });
    const connected = async () => {
      const answer = await mount.read('creds/app');
      const { username, password } = dataOf<Creds>(answer);
      const login = { hostname: '127.0.0.1', port: server.amqpPort, username, password };
      const connection = await connect(login);
      const closed = new Promise<string>((resolve) => {
        connection.on('error', () => undefined).on('close', (reason?: Error) => resolve(reason?.message ?? 'without a reason'));
      });
      return { ...answer, login, connection, closed };
    };
    const [revoked, other] = [await connected(), await connected()];
    await mount.call('update', 'sys/leases/revoke', { data: { lease_id: revoked.leaseId, sync: true } });
    expect(await revoked.closed).toContain(`CONNECTION_FORCED - user '${revoked.login.username}' is deleted`);
    await expect(connect(revoked.login)).rejects.toThrow('ACCESS_REFUSED');
    const channel = await other.connection.createChannel();
    expect(await channel.assertQueue('orders', { durable: false, autoDelete: true })).toMatchObject({ queue: 'orders' });
    await other.connection.close();
  });

  test('a user that is gone already counts as deleted', async () => {
    await mount.write('roles/app', { vhosts: EVERYTHING });
    const answer = await mount.read('creds/app');
    await server.api('DELETE', `users/${dataOf<Creds>(answer).username}`);
    expect((await mount.call('update', 'sys/leases/revoke', { data: { lease_id: answer.leaseId, sync: true } })).status).toBe(204);
    expect((await mount.call('list', 'sys/leases/lookup/rabbitmq/creds/app')).status).toBe(404);
  });

  test('a creation that is refused half-way leaves neither user, lease nor intent', async () => {
    await mount.write('roles/app', { vhosts: JSON.stringify({ '/': {}, nowhere: {} }) });
    const { status, errors } = await mount.call('read', 'rabbitmq/creds/app');
    expect({ status, errors }).toEqual({
      status: 500,
      errors: [expect.stringContaining('virtual host "nowhere": status 400: vhost_or_user_not_found')],
    });
    expect(await server.users()).toEqual([]);
    expect((await mount.call('read', 'sys/journal')).data).toMatchObject({ intents: [] });
    expect((await mount.call('list', 'sys/leases/lookup/rabbitmq/creds/app')).status).toBe(404);
  });

  test('a template whose names repeat takes over no user', async () => {
    await server.api('PUT', 'users/app', { password: 'mine', tags: '' });
    await mount.write('config/connection', { username_template: '{{.RoleName}}' });
    await mount.write('roles/app', { vhosts: EVERYTHING });
    await mount.write('roles/other', { tags: 'management' });
    const { status, errors } = await mount.call('read', 'rabbitmq/creds/app');
    expect({ status, errors }).toEqual({ status: 400, errors: [expect.stringContaining('there is a user "app" already')] });
    const first = await mount.read('creds/other');
    expect((await mount.call('read', 'rabbitmq/creds/other')).status).toBe(400);
    await mount.call('update', 'sys/leases/revoke', { data: { lease_id: first.leaseId, sync: true } });
    expect((await mount.call('read', 'rabbitmq/creds/other')).status).toBe(200);
    // The password of the one that was there is still its own.
    const { body } = await server.api('GET', 'whoami', undefined, ['app', 'mine']);
    expect(body).toMatchObject({ reason: 'Not management user' });
  });

  test('orphans are users without a lease that the mount made, by record or by mark, and nobody else', async () => {
    await server.api('PUT', 'users/stranger-2541a24f-817e-4d0b-8f3c-0123456789ab', { password: 'x', tags: '' });
    await mount.write('roles/app', { vhosts: EVERYTHING });
    await mount.write('roles/left', { vhosts: EVERYTHING });
    const orphan = dataOf<Creds>(await mount.read('creds/left')).username;
    const kept = dataOf<Creds>(await mount.read('creds/app')).username;
    expect(dataOf(await mount.read('orphans'))).toEqual({ usernames: [] });
    // What a restored store has never seen: a name of the mount whose creation it does not know.
    const lost = dataOf<Creds>(await mount.write('roles/app/preview')).username;
    await server.api('PUT', `users/${lost}`, { password: 'x', tags: '' });
    await mount.write('config/connection', { connection_uri: 'http://127.0.0.1:1', verify_connection: false });
    await mount.call('update', 'sys/leases/revoke-force/rabbitmq/creds/left');
    await mount.write('config/connection', connectionTo(server));
    expect(dataOf(await mount.read('orphans'))).toEqual({ usernames: [lost, orphan].sort() });
    for (const data of [{}, { usernames: [kept], all: true }, { usernames: [kept] }, { usernames: ['root'] }]) {
      expect((await mount.call('update', 'rabbitmq/orphans', { data })).status).toBe(400);
    }
    expect(dataOf(await mount.write('orphans', { usernames: [lost, 'nobody'] }))).toEqual({
      removed: [lost],
      gone: ['nobody'],
      pending: {},
    });
    expect(dataOf(await mount.write('orphans', { all: true }))).toEqual({ removed: [orphan], gone: [], pending: {} });
    expect(await server.users()).toEqual([kept, 'stranger-2541a24f-817e-4d0b-8f3c-0123456789ab'].sort());
  });

  test('preview shows the calls of creds, and sends none', async () => {
    await mount.write('roles/app', { tags: 'monitoring' });
    const { calls, username } = dataOf<{ calls: object[]; username: string }>(
      await mount.write('roles/app/preview', { vhosts: JSON.stringify({ '/': { read: '.*' } }) }),
    );
    expect(calls).toEqual([
      { method: 'PUT', path: `/api/users/${username}`, body: { password: 'SAMPLE-password', tags: '' } },
      { method: 'PUT', path: `/api/permissions/%2F/${username}`, body: { configure: '', write: '', read: '.*' } },
    ]);
    expect(dataOf<{ calls: object[] }>(await mount.write('roles/app/preview')).calls).toHaveLength(1);
    expect((await mount.call('update', 'rabbitmq/roles/none/preview')).status).toBe(400);
    expect(await server.users()).toEqual([]);
  });

  test('a broker that is down is a 5xx that names it, and its users are deleted once it is back', async () => {
    const proxy = await startTcpProxy(server.port);
    try {
      await mount.write('config/connection', { ...connectionTo(server), connection_uri: `http://127.0.0.1:${proxy.port}` });
      await mount.write('roles/app', { vhosts: EVERYTHING });
      const answer = await mount.read('creds/app');
      await proxy.stop();
      const { status, errors } = await mount.call('read', 'rabbitmq/creds/app');
      expect({ status, errors }).toEqual({ status: 500, errors: [expect.stringContaining('RabbitMQ cannot be reached')] });
      expect(errors?.join()).not.toContain(server.password);
      await mount.call('update', 'sys/leases/revoke', { data: { lease_id: answer.leaseId } });
      expect(await server.users()).toHaveLength(1);
      await mount.write('config/connection', connectionTo(server));
      await mount.advance('1s');
      expect(await server.users()).toEqual([]);
    } finally {
      await proxy.stop();
    }
  });

  test('a user is made to the end by the connection that it was begun with, whatever is written and asked meanwhile', async () => {
    let meanwhile: (() => Promise<void>) | undefined;
    const front = createServer((near, answer) => {
      const far = request({ host: '127.0.0.1', port: server.port, method: near.method, path: near.url, headers: near.headers }, (got) => {
        const work = near.method === 'PUT' ? meanwhile : undefined;
        if (work) meanwhile = undefined;
        void (work?.() ?? Promise.resolve()).then(() => {
          answer.writeHead(got.statusCode ?? 502, got.headers);
          got.pipe(answer);
        });
      });
      near.pipe(far);
    });
    await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
    try {
      await mount.write('config/connection', { connection_uri: `http://127.0.0.1:${(front.address() as AddressInfo).port}` });
      await mount.write('roles/app', { vhosts: EVERYTHING, vhost_topics: JSON.stringify({ '/': { 'amq.topic': { read: '.*' } } }) });
      meanwhile = async () => {
        await mount.write('config/connection', { username_template: '' });
        await mount.read('orphans');
      };
      const { username } = dataOf<Creds>(await mount.read('creds/app'));
      expect(meanwhile).toBeUndefined();
      expect((await server.api('GET', `users/${username}/topic-permissions`)).body).toHaveLength(1);
    } finally {
      front.closeAllConnections();
      await new Promise((resolve) => front.close(resolve));
    }
  });
});
