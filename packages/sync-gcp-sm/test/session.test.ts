import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { formatMark, type RemoteSecret } from '@strongroom/sync-sdk';
import { type GoogleServer, startGoogleServer, TEST_MARK, type TestSession } from '@strongroom/sync-testkit';
import { never, openSession } from './open-session.ts';

describe('a session with Secret Manager', () => {
  let server: GoogleServer;
  const opened: TestSession[] = [];
  beforeAll(async () => {
    server = await startGoogleServer();
  });
  afterAll(() => server?.stop());
  afterEach(async () => {
    for (const session of opened.splice(0)) await session.close();
    server.forget();
    server.permissions.clear();
    for (const secret of server.secrets.all()) server.secrets.delete(secret.id, '');
  });

  async function open(change: Parameters<typeof openSession>[1] = {}): Promise<TestSession> {
    const session = await openSession(server, change);
    opened.push(session);
    return session;
  }
  const read = (session: TestSession, name: string): Promise<RemoteSecret | undefined> => session.read({ name, signal: never });
  const failure = async (call: Promise<unknown>): Promise<Error> =>
    call.then(
      () => new Error('nothing failed'),
      (error: Error) => error,
    );

  test('labels a secret as ours before it holds a value of ours', async () => {
    const session = await open();
    server.secrets.create('name', { automatic: {} }, { team: 'finance' }, {});
    server.secrets.addVersion('name', Buffer.from('theirs'));
    const current = await read(session, 'name');
    server.forget();
    await session.write('name', 'ours', { current: current! });
    expect(server.calls.map(({ method }) => method)).toEqual(['getSecret', 'updateSecret', 'addSecretVersion']);
    expect(server.secrets.find('name')?.labels).toEqual({ team: 'finance', hashicorp: 'vault', 'strongroom-owner': formatMark(TEST_MARK) });
  });

  describe('a list that was cut off', () => {
    const all = async (session: TestSession): Promise<RemoteSecret[]> => {
      const found: RemoteSecret[] = [];
      for await (const secret of session.list({ destination: TEST_MARK.destination, signal: never })) found.push(secret);
      return found;
    };
    const lookups = (): number => server.calls.filter(({ method }) => method === 'getSecretVersion').length;
    const cutOff = async (): Promise<TestSession> => {
      const session = await open();
      for (let index = 0; index < 25; index += 1) await session.write(`s${index}`, 'one');
      for await (const _first of session.list({ destination: TEST_MARK.destination, signal: never })) break;
      server.forget();
      return session;
    };

    test('is gone on with by the next: what was looked up already is not looked up again, until a list has ended', async () => {
      const session = await cutOff();
      expect(await all(session)).toHaveLength(25);
      expect(lookups()).toBe(15);
      await all(session);
      expect(lookups()).toBe(15 + 25);
    });

    test('tells what was written since', async () => {
      const session = await cutOff();
      const revisions: Record<string, string | undefined> = {};
      for (let index = 0; index < 25; index += 1) {
        const name = `s${index}`;
        revisions[name] = (await session.write(name, 'two', { current: (await read(session, name))! })).revision;
      }
      expect(Object.fromEntries((await all(session)).map(({ name, revision }) => [name, revision]))).toEqual(revisions);
    });
  });

  test('goes on with a secret whose value was lost on the way', async () => {
    const session = await open();
    server.fail({ drop: 'request', on: 'addSecretVersion' });
    expect(await failure(session.write('name', 'one'))).toMatchObject({ code: 'external_service', providerCode: '14 UNAVAILABLE' });
    const found = await read(session, 'name');
    expect(found).toMatchObject({ mark: TEST_MARK });
    expect(found).not.toHaveProperty('revision');
    await session.write('name', 'one', { current: found! });
    expect(server.secrets.access('name', 'latest').data.toString()).toBe('one');
  });

  test('replaces and removes nothing whose owner has changed since the host looked', async () => {
    const session = await open();
    const current = await session.write('name', 'one');
    const labels = { 'strongroom-owner': formatMark({ ...TEST_MARK, association: 'c'.repeat(24) }) };
    server.secrets.update('name', '', { labels });
    expect(await failure(session.write('name', 'two', { current }))).toMatchObject({ code: 'name_taken' });
    expect(await failure(session.remove({ name: 'name', current, signal: never }))).toMatchObject({ code: 'name_taken' });
    expect(server.secrets.find('name')?.versions).toHaveLength(1);
  });

  test('shows a version that somebody disabled or destroyed in the revision', async () => {
    const session = await open();
    const current = await session.write('name', 'one');
    expect(current.revision).toBe('1');
    server.secrets.move('name', '1', 'DISABLED', '');
    expect((await read(session, 'name'))?.revision).toBe('1 (disabled)');
    server.secrets.move('name', '1', 'DESTROYED', '');
    expect((await read(session, 'name'))?.revision).toBe('1 (destroyed)');
    expect((await session.write('name', 'one', { current })).revision).toBe('2');
  });

  test('replica_regions, kms_key_id and the older fields become the replication of new secrets', async () => {
    const key = (location: string) => `projects/p/locations/${location}/keyRings/r/cryptoKeys/k`;
    const replicated = await open({ replica_regions: { 'europe-west1': key('europe-west1'), 'us-east1': '' } });
    await replicated.write('a', 'x');
    const replicas = server.secrets.find('a')?.replication.userManaged?.replicas;
    expect(replicas?.map(({ location, customerManagedEncryption }) => [location, customerManagedEncryption?.kmsKeyName])).toEqual([
      ['europe-west1', key('europe-west1')],
      ['us-east1', undefined],
    ]);
    await (await open({ kms_key_id: key('global') })).write('b', 'x');
    await (await open({ global_kms_key: key('global') })).write('c', 'x');
    for (const name of ['b', 'c']) {
      expect(server.secrets.find(name)?.replication.automatic?.customerManagedEncryption?.kmsKeyName).toBe(key('global'));
    }
    const located = { replication_locations: ['us-east1'], locational_kms_keys: { 'us-east1': key('us-east1') } };
    await (await open(located)).write('d', 'x');
    expect(server.secrets.find('d')?.replication.userManaged?.replicas).toHaveLength(1);
  });

  test('credentials alone name the project; project_id wins over them', async () => {
    await (await open()).write('name', 'one');
    expect(server.calls.every(({ path }) => path.startsWith('projects/test-project'))).toBe(true);
    const elsewhere = await open({ project_id: 'another-project' });
    expect(await failure(read(elsewhere, 'name'))).toMatchObject({ code: 'client_side', providerCode: '7 PERMISSION_DENIED' });
  });

  test('without credentials, the application default credentials of the server are used', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gcp-sm-'));
    const file = join(folder, 'key.json');
    writeFileSync(file, JSON.stringify(server.account));
    process.env['GOOGLE_APPLICATION_CREDENTIALS'] = file;
    try {
      await (await open({ credentials: undefined })).write('name', 'one');
      expect(server.secrets.find('name')?.versions).toHaveLength(1);
      expect(server.authority.calls).toEqual([]);
      process.env['GOOGLE_APPLICATION_CREDENTIALS'] = join(folder, 'none.json');
      expect(await failure(read(await open({ credentials: undefined }), 'name'))).toMatchObject({
        code: 'client_side',
        providerCode: 'NO_CREDENTIALS',
      });
    } finally {
      delete process.env['GOOGLE_APPLICATION_CREDENTIALS'];
      rmSync(folder, { recursive: true });
    }
  });

  test('service_account_email is acted as, where the credentials may', async () => {
    const target = server.accounts.create('synchronizer').client_email;
    const denied = await failure(read(await open({ service_account_email: target }), 'name'));
    expect(denied).toMatchObject({ code: 'client_side', providerCode: 'PERMISSION_DENIED' });
    expect(denied.message).toContain('iam.serviceAccounts.getAccessToken');
    server.accounts.allowImpersonation(server.account.client_email, target);
    server.permissions.set(server.account.client_email, []);
    await (await open({ service_account_email: target })).write('name', 'one');
    expect(server.secrets.find('name')).toBeDefined();
  });

  test('a token endpoint that fails or is busy is distinguished from credentials that are refused, and is asked once', async () => {
    const target = server.accounts.create('synchronizer-2').client_email;
    server.accounts.allowImpersonation(server.account.client_email, target);
    server.authority.fail({ status: 503, times: 5 });
    expect(await failure(read(await open({ service_account_email: target }), 'a'))).toMatchObject({ code: 'external_service' });
    expect(server.authority.calls).toHaveLength(1);
    server.authority.forget();
    server.authority.fail({ status: 429, retryAfter: 7, times: 5 });
    expect(await failure(read(await open({ service_account_email: target }), 'a'))).toMatchObject({
      code: 'throttled',
      retryAfterSeconds: 7,
    });
  });

  test('a missing permission is a ClientSideError with the code and the request id of Google', async () => {
    server.permissions.set(server.account.client_email, ['secrets.get', 'secrets.create']);
    const error = await failure((await open()).write('name', 'the value'));
    expect(error).toMatchObject({ code: 'client_side', providerCode: '7 PERMISSION_DENIED', requestId: server.calls.at(-1)?.requestId });
    expect(error.message).toContain('secretmanager.versions.add');
    expect(error.message).not.toContain('the value');
  });

  test('a key that cannot be read is a ClientSideError that shows nothing of it', async () => {
    const private_key = '-----BEGIN PRIVATE KEY-----\nbm90IGEga2V5IGF0IGFsbA==\n-----END PRIVATE KEY-----\n';
    const error = await failure(read(await open({ credentials: JSON.stringify({ ...server.account, private_key }) }), 'a'));
    expect(error).toMatchObject({ code: 'client_side', providerCode: 'INVALID_KEY' });
    expect(error.message).not.toContain('bm90');
  });

  test('a call that is given up while it is being prepared changes nothing', async () => {
    const session = await open();
    await session.write('name', 'one');
    const controller = new AbortController();
    server.forget();
    const writing = session.write('name', 'two', { signal: controller.signal, current: { name: 'name', mark: TEST_MARK } });
    controller.abort(new Error('too late'));
    await expect(writing).rejects.toThrow('too late');
    // The next call comes after whatever was on its way.
    await read(session, 'name');
    expect(server.secrets.find('name')?.versions).toHaveLength(1);
    expect(server.calls.map(({ method }) => method)).not.toContain('addSecretVersion');
  });

  test('opens a new connection after one that broke', async () => {
    const session = await open();
    await session.write('name', 'one');
    server.fail({ drop: 'request' });
    expect(await failure(read(session, 'name'))).toMatchObject({ code: 'external_service' });
    expect(await read(session, 'name')).toMatchObject({ mark: TEST_MARK });
  });
});
