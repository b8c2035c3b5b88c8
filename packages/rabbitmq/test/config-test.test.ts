import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import type { TestMount } from '@strongroom/engine-testkit';
import {
  createTestCa,
  describeWithRabbitmq,
  freePorts,
  startRabbitmq,
  startTlsFront,
  type RabbitmqServer,
  type TlsFront,
} from '@strongroom/lab';
import { connectionTo, dataOf, mountRabbitmq } from './rabbitmq-mount.ts';

jest.setTimeout(60_000);

interface Report {
  readonly ok: boolean;
  readonly steps: readonly { readonly step: string; readonly ok: boolean; readonly error?: string }[];
}

describeWithRabbitmq('config/test', () => {
  let server: RabbitmqServer;
  let mount: TestMount;

  beforeAll(async () => {
    server = await startRabbitmq();
    await server.api('PUT', 'users/watcher', { password: 'watcher', tags: 'monitoring' });
    await server.api('PUT', 'users/plain', { password: 'plain', tags: '' });
  });
  afterAll(async () => server?.stop());
  beforeEach(async () => {
    mount = await mountRabbitmq(server);
  });
  afterEach(async () => mount.close());

  const report = async (data: Record<string, unknown> = {}): Promise<Report> => dataOf<Report>(await mount.write('config/test', data));
  /** The steps that passed, and the error of the one that did not. */
  const walked = async (data: Record<string, unknown> = {}): Promise<unknown[]> => {
    const { ok, steps } = await report(data);
    expect(ok).toBe(steps.every((step) => step.ok));
    return steps.map(({ step, ok: passed, error }) => (passed ? step : { [step]: error }));
  };
  const tlsFront = async (): Promise<{ front: TlsFront; ca: string }> => {
    const ca = createTestCa();
    const { cert, key } = ca.issue('rabbit', ['DNS:localhost']);
    return { front: await startTlsFront({ host: '127.0.0.1', port: server.port }, { cert, key }), ca: ca.certificate };
  };

  test('walks a stored connection, and changes nothing', async () => {
    expect(await report()).toMatchObject({
      ok: true,
      steps: [
        { step: 'connect', url: server.url },
        { step: 'login', username: 'root', tags: ['administrator'] },
        { step: 'rights', username: 'root' },
      ],
    });
    expect(await server.users()).toEqual(['plain', 'watcher']);
  });

  test('takes parameters of the request in place of the stored ones, and stores none', async () => {
    expect(await walked({ username: 'plain', password: 'plain' })).toEqual([
      'connect',
      'login',
      { rights: expect.stringMatching(/RabbitMQ does not allow the user "plain" to look up the user "plain"/) },
    ]);
    expect(dataOf(await mount.read('config/connection'))).toMatchObject({ username: 'root' });
  });

  test.each([
    [{ password: 'wrong' }, ['connect', { login: 'RabbitMQ refuses the login: Login failed' }]],
    [
      { username: 'watcher', password: 'watcher' },
      [
        'connect',
        'login',
        { rights: expect.stringMatching(/"watcher".*(tag administrator|does not allow)|does not allow the user "watcher"/) },
      ],
    ],
  ])('%j fails at its step', async (data, steps) => {
    expect(await walked(data)).toEqual(steps);
  });

  test('a server that is not there, or does not speak TLS, is named', async () => {
    const [closed] = await freePorts(1);
    const sent = { password: server.password };
    expect(await walked({ ...sent, connection_uri: `http://127.0.0.1:${closed}` })).toEqual([
      { connect: expect.stringContaining('ECONNREFUSED') },
    ]);
    const [first, second] = await walked({ ...sent, connection_uri: server.url.replace('http:', 'https:') });
    expect([first, Object.keys(second as object)]).toEqual(['connect', ['tls']]);
  });

  test('certificates are checked before the password is sent', async () => {
    const { front, ca } = await tlsFront();
    try {
      const sent = { password: server.password, connection_uri: `https://localhost:${front.port}` };
      expect(await walked({ ...sent, tls_ca: ca })).toEqual(['connect', 'tls', 'login', 'rights']);
      const [, refused] = await walked(sent);
      expect(refused).toEqual({ tls: expect.stringMatching(/certificate/) });
      const [, other] = await walked({ ...sent, tls_ca: ca, tls_server_name: 'rabbit.example.org' });
      expect(other).toEqual({ tls: expect.stringContaining('rabbit.example.org') });
      expect(await walked({ ...sent, insecure_tls: true })).toEqual(['connect', 'tls', 'login', 'rights']);
    } finally {
      await front.close();
    }
  });

  test('virtual hosts that roles name and RabbitMQ does not have are listed', async () => {
    const permission = { configure: '', write: '', read: '' };
    await mount.write('roles/good', { vhosts: JSON.stringify({ '/': permission }) });
    await mount.write('roles/bad', { vhosts: JSON.stringify({ '/': permission, orders: permission, 'a/b': permission }) });
    const { ok, steps } = await report();
    expect({ ok, last: steps.at(-1) }).toMatchObject({
      ok: false,
      last: { step: 'virtual hosts', missing: ['a/b', 'orders'], error: 'RabbitMQ has no virtual host "a/b", "orders"' },
    });
    expect(await walked({ role: 'good' })).toEqual(['connect', 'login', 'rights', 'virtual hosts']);
    await server.api('PUT', 'vhosts/orders', {});
    await server.api('PUT', 'vhosts/a%2Fb', {});
    expect(await walked({ role: 'bad' })).toEqual(['connect', 'login', 'rights', 'virtual hosts']);
  });

  test.each([
    [{ role: 'nope' }, 'role: there is no role "nope"'],
    [{ connection_uri: 'amqp://127.0.0.1' }, 'connection_uri is neither http nor https'],
    [{ connection_uri: 'https://other.example.org' }, 'connection_uri: a new value sends the stored password'],
    [{ username_template: '{{ broken' }, 'unable to initialize username template'],
  ])('%j is refused with a reason', async (data, text) => {
    const { status, errors } = await mount.call('update', 'rabbitmq/config/test', { data });
    expect({ status, errors }).toEqual({ status: 400, errors: [expect.stringContaining(text)] });
  });

  test('a password that crosses the network in clear text is warned of, when it is stored and when it is tested', async () => {
    const sent = { ...connectionTo(server), connection_uri: 'http://rabbitmq.invalid:15672', verify_connection: false };
    const warning = 'connection_uri: passwords are sent over the network without encryption; use https';
    expect((await mount.write('config/connection', sent)).warnings).toEqual([warning]);
    const { verify_connection: _stored, ...tested } = sent;
    expect((await mount.write('config/test', tested)).warnings).toEqual([warning]);
    expect((await mount.write('config/connection', connectionTo(server))).warnings).toBeNull();
  });
});
