import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { type GithubServer, startGithubServer, type TestSession } from '@strongroom/sync-testkit';
import { secondsApart } from './github-outside.ts';
import { never, openSession } from './open-session.ts';

describe('a session with GitHub', () => {
  let server: GithubServer;
  const opened: TestSession[] = [];
  beforeAll(async () => {
    server = await startGithubServer({ tls: true, secretsNow: secondsApart(), rateLimit: 1000 });
    server.addOrganization('acme');
    server.addRepository('acme', 'shop', ['production', 'with/slash']);
    server.addRepository('acme', 'website');
  });
  afterAll(() => server?.stop());
  afterEach(async () => {
    for (const session of opened.splice(0)) await session.close();
    server.forget();
    for (const where of ['acme', 'acme/shop', 'acme/shop/production', 'acme/website']) {
      for (const secret of server.scope(where).all()) server.scope(where).delete(secret.name);
    }
  });

  async function open(
    ...[given, account]: Partial<[Parameters<typeof openSession>[1], Parameters<typeof openSession>[2]]>
  ): Promise<TestSession> {
    const session = await openSession(server, { repository_owner: 'acme', repository_name: 'shop', ...given }, account);
    opened.push(session);
    return session;
  }
  const inOrganization = (given: object) =>
    open({
      repository_owner: undefined,
      repository_name: undefined,
      secrets_location: 'organization',
      organization_name: 'acme',
      ...given,
    });
  const failure = async (call: Promise<unknown>): Promise<Error> =>
    call.then(
      () => new Error('nothing failed'),
      (error: Error) => error,
    );
  const lines = () => server.calls.map(({ method, path }) => `${method} ${path.replace('/api/v3', '')}`);

  test('sends a sealed box, asks for the key once, and reads the times back', async () => {
    const session = await open();
    const made = await session.write('TOKEN', 'one');
    await session.write('TOKEN', 'two', { current: made });
    expect(lines().filter((line) => line.endsWith('/public-key'))).toHaveLength(1);
    expect(made).toMatchObject({ name: 'TOKEN', identity: expect.stringMatching(/Z$/), createdAt: new Date(made.identity!) });
    expect(server.scope('acme/shop').find('TOKEN')?.value).toBe('two');
    expect(server.faults).toEqual([]);
  });

  test('asks for the key again after GitHub did not take it', async () => {
    const session = await open();
    const current = await session.write('TOKEN', 'one');
    server.forget();
    server.fail({ status: 422, message: 'The key_id is not the id of the current public key.', on: 'PUT' });
    expect(await failure(session.write('TOKEN', 'two', { current }))).toMatchObject({ code: 'client_side', providerCode: '422' });
    await session.write('TOKEN', 'two', { current });
    expect(lines().filter((line) => line.endsWith('/public-key'))).toHaveLength(1);
  });

  test('replaces nothing that was made again since the host looked', async () => {
    const session = await open();
    const current = await session.write('TOKEN', 'ours');
    server.scope('acme/shop').delete('TOKEN');
    server.scope('acme/shop').put('TOKEN', { value: 'theirs' });
    expect(await failure(session.write('TOKEN', 'ours again', { current }))).toMatchObject({ code: 'name_taken' });
    expect(server.scope('acme/shop').find('TOKEN')?.value).toBe('theirs');
  });

  test('environment_name writes to the environment alone, also with a slash in its name', async () => {
    await (await open({ environment_name: 'production' })).write('TOKEN', 'one');
    await (await open({ environment_name: 'with/slash' })).write('TOKEN', 'two');
    expect(server.scope('acme/shop/production').find('TOKEN')?.value).toBe('one');
    expect(server.scope('acme/shop/with/slash').find('TOKEN')?.value).toBe('two');
    expect(server.scope('acme/shop').all()).toEqual([]);
  });

  test('organization_visibility and selected_repository_names are set with every write', async () => {
    await (await inOrganization({ organization_visibility: 'private' })).write('A', 'one');
    expect(server.scope('acme').find('A')?.visibility).toBe('private');
    const selected = await inOrganization({ organization_visibility: 'selected', selected_repository_names: ['shop', 'website'] });
    const made = await selected.write('B', 'one');
    await selected.write('B', 'two', { current: made });
    expect(server.scope('acme').find('B')).toMatchObject({ value: 'two', visibility: 'selected', selected: [1_296_269, 1_296_270] });
    expect(lines().filter((line) => line.startsWith('GET /repos/'))).toEqual(['GET /repos/acme/shop', 'GET /repos/acme/website']);
    const unknown = await inOrganization({ organization_visibility: 'selected', selected_repository_names: ['none'] });
    expect(await failure(unknown.write('C', 'one'))).toMatchObject({ code: 'client_side', providerCode: '404' });
  });

  test('app_name and installation_id: acts as the app, whose token is asked for once', async () => {
    const account = { app_id: server.app.appId, private_key: server.app.privateKey };
    const session = await open({ access_token: undefined, app_name: 'sync', installation_id: server.app.installationId }, account);
    const made = await session.write('TOKEN', 'one');
    await session.write('TOKEN', 'two', { current: made });
    expect(lines().filter((line) => line.startsWith('POST '))).toEqual([
      `POST /app/installations/${server.app.installationId}/access_tokens`,
    ]);
    await expect(open({ access_token: undefined, app_name: 'sync', installation_id: 1 })).rejects.toMatchObject({
      code: 'configuration_invalid',
    });
    const wrong = await open({ access_token: undefined, app_name: 'sync', installation_id: 1 }, account);
    expect(await failure(wrong.read({ name: 'A', signal: never }))).toMatchObject({ code: 'client_side', providerCode: '404' });
  });

  test('a place that the credentials may not see is no free name, and no secret that is gone', async () => {
    const session = await open({ repository_name: 'hidden' });
    const current = { name: 'TOKEN', identity: 'x' };
    const calls = [() => session.read({ name: 'TOKEN', signal: never }), () => session.remove({ name: 'TOKEN', current, signal: never })];
    for (const call of calls) {
      const error = await failure(call());
      expect(error).toMatchObject({ code: 'client_side', providerCode: '404', requestId: expect.stringMatching(/^[0-9A-F:]+$/) });
      expect(error.message).toContain('repository acme/hidden does not exist, or the credentials may not see its secrets');
    }
  });

  test('a missing permission is a ClientSideError with the request id of GitHub, and no secret', async () => {
    const access_token = server.addWeakToken();
    const error = await failure((await open({ access_token })).write('TOKEN', 'the value'));
    expect(error).toMatchObject({ code: 'client_side', providerCode: '403', requestId: server.calls.at(-1)?.requestId });
    expect(error.message).toBe('GitHub answers 403: Resource not accessible by personal access token');
  });

  test('limits of the rate are Throttled: with retry-after, and with the time of the reset', async () => {
    const session = await open();
    server.fail({ status: 429, retryAfter: 11 });
    expect(await failure(session.read({ name: 'A', signal: never }))).toMatchObject({ code: 'throttled', retryAfterSeconds: 11 });
    server.fail({ status: 403, code: 'secondary' });
    expect(await failure(session.read({ name: 'A', signal: never }))).toMatchObject({ code: 'throttled', retryAfterSeconds: 60 });
    const small = await startGithubServer({ tls: true, rateLimit: 0 });
    try {
      small.addRepository('acme', 'shop');
      const spent = await openSession(small, { repository_owner: 'acme', repository_name: 'shop' });
      const error = (await failure(spent.read({ name: 'A', signal: never }))) as Error & { retryAfterSeconds: number };
      expect(error).toMatchObject({ code: 'throttled' });
      expect(error.retryAfterSeconds).toBeGreaterThan(50);
      expect(error.retryAfterSeconds).toBeLessThanOrEqual(60);
      await spent.close();
    } finally {
      await small.stop();
    }
  });

  test('does not follow a repository that was renamed', async () => {
    server.fail({ status: 301, message: 'Moved Permanently' });
    const error = await failure((await open()).read({ name: 'A', signal: never }));
    expect(error).toMatchObject({ code: 'client_side', providerCode: '301' });
    expect(server.calls).toHaveLength(1);
  });

  test('lists more than a page, and counts what others have written', async () => {
    const session = await inOrganization({});
    for (let index = 0; index < 230; index += 1) server.scope('acme').put(`N_${index}`, { value: 'x', visibility: 'all' });
    const names: string[] = [];
    for await (const secret of session.list({ destination: 'a'.repeat(24), signal: never })) names.push(secret.name);
    expect(new Set(names).size).toBe(230);
    expect(lines()).toHaveLength(3);
    expect(await session.count!(never)).toBe(230);
  });
});
