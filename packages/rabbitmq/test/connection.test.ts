import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { rabbitmqEngine } from '../src/index.ts';
import { mergeConnection, secretMoves } from '../src/connection.ts';

describe('the address of a connection', () => {
  const sent = { connection_uri: 'http://rabbitmq.example.org:15672', username: 'root', password: 'root' };
  const stored = mergeConnection(undefined, sent, 'first');

  test.each(['/', '//', '?', '/?', '#', '/?#'])('is the same with %j behind it', (ending) => {
    const again = mergeConnection(stored, { connection_uri: `${sent.connection_uri}${ending}` }, 'second');
    expect(again.connection_uri).toBe(sent.connection_uri);
    expect(secretMoves(stored, again)).toEqual([]);
  });

  test.each(['?a', '/?a=b', '#a'])('has no %s', (ending) => {
    const write = () => mergeConnection(stored, { connection_uri: `${sent.connection_uri}${ending}` }, 'second');
    expect(write).toThrow('connection_uri must not contain a query or a fragment');
  });
});

describe('what is refused reaches no RabbitMQ', () => {
  let asked = 0;
  let isDown = false;
  // It answers what is read, and hangs up on changes: they may have been made.
  const silent = createServer((request, response) => {
    asked += 1;
    if (isDown || request.method !== 'GET') return void request.socket.destroy();
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ name: 'root', tags: ['administrator'] }));
  });
  let mount: TestMount;
  let token: string;
  beforeAll(async () => new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve)));
  afterAll(() => void silent.close());
  const address = (): string => `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  beforeEach(async () => {
    isDown = false;
    mount = await mountForTest(rabbitmqEngine);
    const sent = { connection_uri: address(), username: 'root', password: 'root', verify_connection: false };
    await mount.write('config/connection', sent);
    const policy = 'path "rabbitmq/*" { capabilities = ["create", "update"] }';
    await mount.call('update', 'sys/policies/acl/operator', { data: { policy } });
    token = (await mount.call('update', 'auth/token/create', { data: { policies: ['operator'] } })).auth!.client_token;
    asked = 0;
  });
  afterEach(async () => mount.close());

  test.each([
    [{ connection_uri: 'amqp://127.0.0.1' }, 'connection_uri is neither http nor https'],
    [{ connection_uri: 'http://127.0.0.1:1' }, 'connection_uri: a new value sends the stored password to another address'],
    [{ username_template: '{{ broken' }, 'unable to initialize username template'],
    [{ role: 'nope' }, 'role: there is no role "nope"'],
  ])('by config/test while the outcome of a rotation is open: %j', async (data, text) => {
    // RabbitMQ hangs up in the middle: it may have the new password.
    expect((await mount.call('update', 'rabbitmq/rotate-root')).status).toBe(500);
    isDown = true;
    await mount.advance('5m');
    asked = 0;
    const { status, errors } = await mount.call('update', 'rabbitmq/config/test', { data });
    expect({ status, errors, asked }).toEqual({ status: 400, errors: [expect.stringContaining(text)], asked: 0 });
  });

  test.each([
    ['without the password', {}, 'connection_uri: a new value sends the stored password to another address'],
    [
      'with the password',
      { password: 'root' },
      'connection_uri: a new value sends the stored passwords of accounts, such as that of the static role "app"',
    ],
    ['with bad input', { password: 'root', tls_min_version: 'ssl3' }, 'tls_min_version must be tls12 or tls13'],
  ])('by a write of another address that a password is stored for, %s', async (_, more, text) => {
    const role = { username: 'app', password: 'geheim', verify: false, skip_import_rotation: true, rotation_period: '24h' };
    await mount.write('static-roles/app', role);
    asked = 0;
    const data = { connection_uri: address().replace('127.0.0.1', 'localhost'), ...more };
    const { status, errors } = await mount.call('update', 'rabbitmq/config/connection', { data, token });
    expect({ status, errors, asked }).toEqual({ status: 400, errors: [expect.stringContaining(text)], asked: 0 });
  });
});
