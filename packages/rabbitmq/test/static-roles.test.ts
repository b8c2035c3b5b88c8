import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import type { TestMount } from '@strongroom/engine-testkit';
import { describeWithRabbitmq, startRabbitmq, type RabbitmqServer } from '@strongroom/lab';
import { connectionTo, dataOf, EVERYTHING, mountRabbitmq } from './rabbitmq-mount.ts';

jest.setTimeout(60_000);

describeWithRabbitmq('rotated passwords', () => {
  let server: RabbitmqServer;
  let mount: TestMount;

  beforeAll(async () => {
    server = await startRabbitmq();
  });
  afterAll(async () => server?.stop());
  beforeEach(async () => {
    await server.api('PUT', 'users/app', { password: 'first', tags: 'monitoring,own' });
    await server.api('PUT', 'users/plain', { password: 'first', tags: '' });
    await server.api('PUT', 'users/manager', { password: 'manager', tags: 'administrator' });
    mount = await mountRabbitmq(server);
  });
  afterEach(async () => {
    await mount.close();
    for (const name of await server.users()) await server.api('DELETE', `users/${name}`);
  });

  const reasonFor = async (username: string, password: string): Promise<unknown> =>
    ((await server.api('GET', 'whoami', undefined, [username, password])).body as { reason?: string }).reason;
  const passwordOf = async (role: string): Promise<string> =>
    dataOf<{ password: string }>(await mount.read(`static-creds/${role}`)).password;

  /** Moves the clock until something shows: on a busy machine the server may take longer than the moved clock allows it, and the rotation is tried again. */
  const advanceUntil = async (shows: () => Promise<boolean>): Promise<void> => {
    for (let tries = 0; tries < 20 && !(await shows()); tries += 1) await mount.advance('10m');
  };

  test('a static role changes the password at once and by its period; tags and permissions stay', async () => {
    await server.api('PUT', 'permissions/%2F/app', { configure: '', write: 'w', read: 'r' });
    await mount.write('static-roles/app', { username: 'app', rotation_period: '1h' });
    const first = await passwordOf('app');
    expect(await reasonFor('app', 'first')).toBe('Login failed');
    expect(await reasonFor('app', first)).toBeUndefined();
    await mount.advance('59m');
    expect(await passwordOf('app')).toBe(first);
    // To the very moment: the clock stands still while RabbitMQ answers.
    await mount.advance('1m');
    const second = await passwordOf('app');
    expect(second).not.toBe(first);
    expect(await reasonFor('app', second)).toBeUndefined();
    expect((await server.api('GET', 'users/app')).body).toMatchObject({ tags: ['monitoring', 'own'] });
    expect((await server.api('GET', 'permissions/%2F/app')).body).toMatchObject({ write: 'w', read: 'r' });
    expect(dataOf(await mount.read('static-roles/app'))).toMatchObject({
      username: 'app',
      rotation_period: 3600,
      status: { state: 'waiting' },
    });
  });

  test('the password of a user without tags is proven too', async () => {
    await mount.write('static-roles/plain', { username: 'plain', rotation_schedule: '0 3 * * *' });
    expect(await reasonFor('plain', await passwordOf('plain'))).toBe('Not management user');
    await mount.write('rotate-role/plain');
    expect(dataOf(await mount.read('static-roles/plain'))).toMatchObject({ status: { state: 'waiting', last_error: null } });
  });

  test.each([
    [{ username: 'nobody', rotation_period: '1h' }, 'RabbitMQ has no user "nobody"'],
    [{ username: 'root', rotation_period: '1h' }, 'rotate-root changes its password'],
    [{ rotation_period: '1h' }, 'username is a required field'],
    [{ username: 'a:b', rotation_period: '1h' }, 'username must not contain a colon'],
    [{ username: 'app' }, 'rotation_period is required'],
  ])('%j is refused, and nothing is stored', async (data, text) => {
    const { status, errors } = await mount.call('update', 'rabbitmq/static-roles/bad', { data });
    expect({ status, errors }).toEqual({ status: 400, errors: [expect.stringContaining(text)] });
    expect((await mount.call('list', 'rabbitmq/static-roles')).status).toBe(404);
    expect(await reasonFor('app', 'first')).toBeUndefined();
  });

  test('one user has one manager, and adopt takes it over', async () => {
    await mount.write('static-roles/app', { username: 'app', rotation_period: '1h' });
    const data = { username: 'app', rotation_period: '1h' };
    const { status, errors } = await mount.call('update', 'rabbitmq/static-roles/other', { data });
    expect({ status, errors }).toEqual({ status: 400, errors: [expect.stringContaining('static role "app" of this mount')] });
    await mount.write('static-roles/other', { ...data, adopt: true });
    expect(await reasonFor('app', await passwordOf('other'))).toBeUndefined();
    expect((await mount.read('static-creds/app')).warnings?.join()).toContain('is managed by static role "other" of this mount now');
  });

  test('rotate-root changes the password of the managing user, which is proven and never shown', async () => {
    await mount.write('config/connection', connectionTo(server, { username: 'manager', password: 'manager' }));
    await mount.write('rotate-root');
    expect(await reasonFor('manager', 'manager')).toBe('Login failed');
    await mount.write('roles/app', { vhosts: EVERYTHING });
    await mount.read('creds/app');
    const data = dataOf<Record<string, unknown>>(await mount.read('config/connection'));
    expect(data).toMatchObject({ username: 'manager', root_rotation: { state: 'idle', last_error: null } });
    expect(Object.keys(data)).not.toContain('password');
    // What depends on the password need not be written with the rest.
    await mount.write('config/connection', { username_template: 'x-{{ random 12 }}' });
    await mount.read('creds/app');
  });

  test('the password of the managing user is rotated by plan, which a write of other parameters leaves as it is', async () => {
    const login = { username: 'manager', password: 'manager' };
    await mount.write('config/connection', connectionTo(server, { ...login, rotation_period: '24h' }));
    await mount.write('roles/app', { vhosts: EVERYTHING });
    expect(dataOf(await mount.read('config/connection'))).toMatchObject({ rotation_period: 86_400, root_rotation: { state: 'waiting' } });
    await mount.advance('23h');
    await mount.write('config/connection', { username_template: 'x-{{ random 12 }}' });
    expect(await reasonFor('manager', 'manager')).toBeUndefined();
    await advanceUntil(async () => (await reasonFor('manager', 'manager')) === 'Login failed');
    await mount.read('creds/app');
    const data = dataOf<{ root_rotation: { last_rotation: string } }>(await mount.read('config/connection'));
    expect(data).toMatchObject({ rotation_period: 86_400, root_rotation: { state: 'waiting', last_error: null } });
    await mount.advance('12h');
    expect(dataOf(await mount.read('config/connection'))).toMatchObject({ root_rotation: data.root_rotation });
  });

  test('a plan can be paused and removed, and another user keeps it', async () => {
    const login = { username: 'manager', password: 'manager' };
    await mount.write('config/connection', connectionTo(server, { ...login, rotation_period: '1h' }));
    await mount.write('config/connection', { disable_automated_rotation: true });
    await mount.advance('2h');
    expect(await reasonFor('manager', 'manager')).toBeUndefined();
    await mount.write('config/connection', { rotation_schedule: '0 3 * * *', disable_automated_rotation: false });
    expect(dataOf(await mount.read('config/connection'))).toMatchObject({ rotation_schedule: '0 3 * * *' });
    await server.api('PUT', 'users/second', { password: 'second', tags: 'administrator' });
    await mount.write('config/connection', { username: 'second', password: 'second' });
    await advanceUntil(async () => (await reasonFor('second', 'second')) === 'Login failed');
    expect(await reasonFor('manager', 'manager')).toBeUndefined();
    await mount.write('config/connection', { ...login, rotation_schedule: '' });
    await mount.advance('48h');
    expect(await reasonFor('manager', 'manager')).toBeUndefined();
    expect(Object.keys(dataOf<object>(await mount.read('config/connection')))).not.toContain('rotation_schedule');
  });

  test.each([
    [{ rotation_period: '5s' }, 'rotation_period'],
    [{ rotation_schedule: 'often' }, 'rotation_schedule'],
    [{ rotation_window: '1h' }, 'rotation_window is only valid with rotation_schedule'],
    [{ rotation_period: '1h', rotation_schedule: '0 3 * * *' }, 'rotation_schedule'],
  ])('the plan %j of the managing user is refused', async (plan, text) => {
    const { status, errors } = await mount.call('update', 'rabbitmq/config/connection', { data: plan });
    expect({ status, errors }).toEqual({ status: 400, errors: [expect.stringContaining(text)] });
    expect(dataOf(await mount.read('config/connection'))).toMatchObject({ root_rotation: { state: 'idle' } });
  });

  test('a password that the user has is imported by a login, and stays until the plan changes it', async () => {
    const role = { username: 'app', rotation_period: '24h', skip_import_rotation: true };
    await mount.write('static-roles/app', { ...role, password: 'first' });
    expect(dataOf(await mount.read('static-creds/app'))).toMatchObject({ password: 'first', last_vault_rotation: '0001-01-01T00:00:00Z' });
    await mount.advance('23h');
    expect(await reasonFor('app', 'first')).toBeUndefined();
    await advanceUntil(async () => (await reasonFor('app', 'first')) === 'Login failed');
    expect(await reasonFor('app', await passwordOf('app'))).toBeUndefined();
  });

  test('a user without tags proves an imported password too', async () => {
    await mount.write('static-roles/plain', {
      username: 'plain',
      rotation_period: '24h',
      skip_import_rotation: true,
      password: 'first',
    });
    expect(await passwordOf('plain')).toBe('first');
  });

  test('a role that is imported without a password shows none before its first rotation', async () => {
    await mount.write('static-roles/app', { username: 'app', rotation_period: '24h', skip_import_rotation: true });
    const { data, warnings } = await mount.read('static-creds/app');
    expect({ data, warnings }).toMatchObject({ data: { username: 'app' }, warnings: [expect.stringContaining('is not known before')] });
    expect(Object.keys(data as object)).not.toContain('password');
    await mount.write('static-roles/app', { rotation_period: '48h' });
    await mount.write('rotate-role/app');
    expect(await reasonFor('app', await passwordOf('app'))).toBeUndefined();
  });

  test.each([
    [
      { skip_import_rotation: true, password: 'other' },
      'password: RabbitMQ does not take it for the user "app"; send the password that the user has now',
    ],
    [{ skip_import_rotation: true, password: '' }, 'password: it is empty'],
    [{ password: 'first' }, 'password: it is stored only with skip_import_rotation=true'],
  ])('the import %j is refused, and nothing is stored', async (data, text) => {
    const role = { username: 'app', rotation_period: '24h', ...data };
    const { status, errors } = await mount.call('update', 'rabbitmq/static-roles/app', { data: role });
    expect({ status, errors }).toEqual({ status: 400, errors: [expect.stringContaining(text)] });
    expect((await mount.call('list', 'rabbitmq/static-roles')).status).toBe(404);
    expect(await reasonFor('app', 'first')).toBeUndefined();
  });

  test('verify=false stores a password that no login has proven; a later write takes none', async () => {
    const role = { username: 'app', rotation_period: '24h', skip_import_rotation: true };
    await mount.write('static-roles/app', { ...role, password: 'unproven', verify: false });
    expect(await passwordOf('app')).toBe('unproven');
    const { status, errors } = await mount.call('update', 'rabbitmq/static-roles/app', { data: { password: 'first' } });
    expect({ status, errors }).toEqual({ status: 400, errors: ['password has no effect on updates'] });
  });

  test('a user that is gone is shown by failing until it is there again', async () => {
    await mount.write('static-roles/app', { username: 'app', rotation_period: '1h' });
    await server.api('DELETE', 'users/app');
    await mount.advance('1h');
    expect(dataOf<{ static_roles: object }>(await mount.read('failing')).static_roles).toMatchObject({
      app: { last_error: { message: expect.stringContaining('RabbitMQ has no user "app"') } },
    });
    await server.api('PUT', 'users/app', { password: 'again', tags: '' });
    const failing = async () => dataOf<{ static_roles: object }>(await mount.read('failing'));
    // While it is being tried again, it is not shown as failing.
    await advanceUntil(async () => dataOf<{ status: { state: string } }>(await mount.read('static-roles/app')).status.state === 'waiting');
    expect(await reasonFor('app', await passwordOf('app'))).toBe('Not management user');
    expect(await failing()).toEqual({ static_roles: {} });
  });

  test('another address needs the password again, unless the token has sudo', async () => {
    const policy = 'path "rabbitmq/*" { capabilities = ["create", "update", "read"] }';
    await mount.call('update', 'sys/policies/acl/operator', { data: { policy } });
    const { auth } = await mount.call('update', 'auth/token/create', { data: { policies: ['operator'] } });
    const token = auth!.client_token;
    const write = async (data: Record<string, unknown>) => mount.call('update', 'rabbitmq/config/connection', { data, token });
    const elsewhere = server.url.replace('127.0.0.1', 'localhost');
    for (const data of [{ connection_uri: elsewhere }, { insecure_tls: true }, { tls_server_name: 'other' }]) {
      const { status, errors } = await write(data);
      expect({ status, errors }).toEqual({
        status: 400,
        errors: [expect.stringContaining(`${Object.keys(data)[0]}: a new value sends the stored password`)],
      });
    }
    expect((await write({ connection_uri: elsewhere, password: server.password, verify_connection: false })).status).toBe(204);
    // A rotation may log in with the password of a user there.
    await server.api('PUT', 'users/app', { password: 'first', tags: '' });
    await mount.write('static-roles/app', { username: 'app', rotation_period: '24h' });
    const back = await write({ connection_uri: server.url, password: server.password, verify_connection: false });
    expect({ status: back.status, errors: back.errors }).toEqual({
      status: 400,
      errors: [
        'connection_uri: a new value sends the stored passwords of accounts, such as that of the static role "app", to another address; use a token whose policy grants sudo on this path, or another mount',
      ],
    });
    expect((await write({ password: server.password })).status).toBe(204);
    await mount.write('config/connection', { connection_uri: server.url });
  });
});
