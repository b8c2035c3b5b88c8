import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { formatMark } from '@strongroom/sync-sdk';
import { startVercelServer, TEST_MARK, type TestSession, type VercelProject, type VercelServer } from '@strongroom/sync-testkit';
import { never, openSession } from './open-session.ts';

describe('a session with Vercel', () => {
  let server: VercelServer;
  let project: VercelProject;
  const opened: TestSession[] = [];
  let projects = 0;
  beforeAll(async () => {
    server = await startVercelServer({ pageSize: 20 });
  });
  afterAll(() => server?.stop());
  beforeEach(() => {
    project = server.addProject(`shop-${(projects += 1)}`);
  });
  afterEach(async () => {
    for (const session of opened.splice(0)) await session.close();
    expect(server.faults).toEqual([]);
    server.forget();
  });

  async function open(change: Parameters<typeof openSession>[2] = {}): Promise<TestSession> {
    const session = await openSession(server, project, change);
    opened.push(session);
    return session;
  }
  const read = (session: TestSession, name: string) => session.read({ name, signal: never });
  const failure = async (call: Promise<unknown>): Promise<Error> =>
    call.then(
      () => new Error('nothing failed'),
      (error: Error) => error,
    );
  const methods = () => server.calls.map(({ method }) => method);

  test('creates with one call, and changes a variable in place', async () => {
    const session = await open();
    const made = await session.write('TOKEN', 'one');
    const changed = await session.write('TOKEN', 'two', { current: made });
    expect(methods()).toEqual(['POST', 'GET', 'PATCH']);
    expect(changed.identity).toBe(made.identity);
    expect(project.all()).toMatchObject([{ key: 'TOKEN', value: 'two', type: 'sensitive', target: ['preview', 'production'] }]);
    expect(project.all()[0]?.comment).toBe(
      `Synced by Strongroom; edits are overwritten. hashicorp:vault strongroom-owner=${formatMark(TEST_MARK)}`,
    );
  });

  test('deployment_environments with development gives an encrypted variable, as Vercel wants it', async () => {
    await (await open({ deployment_environments: ['production', 'development'] })).write('TOKEN', 'one');
    expect(project.all()).toMatchObject([{ type: 'encrypted', target: ['development', 'production'] }]);
  });

  test('leaves variables of other environments and of single branches alone', async () => {
    project.create({ key: 'TOKEN', value: 'of development', type: 'encrypted', target: ['development'] });
    project.create({ key: 'TOKEN', value: 'of a branch', target: ['preview'], gitBranch: 'next' });
    const session = await open();
    expect(await read(session, 'TOKEN')).toBeUndefined();
    await session.write('TOKEN', 'ours');
    expect(project.all().map(({ value }) => value)).toEqual(['ours', 'of a branch', 'of development']);
  });

  test('a repeated creation goes on with our own variable, and stops at one of somebody else', async () => {
    const session = await open();
    server.fail({ drop: 'answer', on: 'POST' });
    expect(await failure(session.write('TOKEN', 'one'))).toMatchObject({ code: 'external_service' });
    await session.write('TOKEN', 'two');
    expect(project.all()).toMatchObject([{ value: 'two' }]);
    const other = { mark: { ...TEST_MARK, association: 'c'.repeat(24) } };
    expect(await failure(session.write('TOKEN', 'three', other))).toMatchObject({ code: 'name_taken' });
    expect(project.all()).toMatchObject([{ value: 'two' }]);
  });

  test('does not take a variable over that also serves other environments', async () => {
    project.create({ key: 'TOKEN', value: 'theirs', type: 'encrypted', target: ['production', 'development'] });
    const session = await open();
    const current = await read(session, 'TOKEN');
    const error = await failure(session.write('TOKEN', 'ours', { current: current! }));
    expect(error).toMatchObject({ code: 'client_side' });
    expect(error.message).toContain('also serves development');
    expect(project.all()).toMatchObject([{ value: 'theirs', target: ['production', 'development'] }]);
  });

  test('does not take a variable over that also serves an environment of the project itself', async () => {
    project.create({ key: 'TOKEN', value: 'theirs', target: ['production'], customEnvironmentIds: ['env_staging'] });
    const session = await open();
    const current = await read(session, 'TOKEN');
    expect((await failure(session.write('TOKEN', 'ours', { current: current! }))).message).toContain('also serves env_staging');
    expect(project.all()).toMatchObject([{ value: 'theirs' }]);
  });

  test('a variable that is taken over keeps its type, which Vercel does not change', async () => {
    project.create({ key: 'TOKEN', value: 'theirs', type: 'encrypted', target: ['production'] });
    const session = await open();
    const current = await read(session, 'TOKEN');
    await session.write('TOKEN', 'ours', { current: current! });
    expect(project.all()).toMatchObject([{ value: 'ours', type: 'encrypted', target: ['preview', 'production'] }]);
  });

  test('a token that may not see the variables of production is refused, unless production is not among the environments', async () => {
    project.create({ key: 'TOKEN', value: 'theirs', target: ['production'] });
    const session = await open({ access_token: server.developerToken });
    const error = await failure(read(session, 'TOKEN'));
    expect(error).toMatchObject({ code: 'client_side', providerCode: 'hidden_variables' });
    expect(error.message).toContain('may not see 1 of the variables of production');
    const preview = await open({ access_token: server.developerToken, deployment_environments: ['preview'] });
    expect(await read(preview, 'TOKEN')).toBeUndefined();
  });

  test('makes a variable again that somebody deleted since the host looked', async () => {
    const session = await open();
    const made = await session.write('TOKEN', 'one');
    project.delete(made.identity!);
    expect((await session.write('TOKEN', 'two', { current: made })).identity).not.toBe(made.identity);
    await session.remove({ name: 'TOKEN', current: made, signal: never });
    expect(project.all()).toMatchObject([{ value: 'two' }]);
  });

  test('shares lists among those who look for names at the same time, and never gives an older one', async () => {
    const session = await open();
    const made = await Promise.all(['A', 'B', 'C', 'D', 'E', 'F'].map((name) => session.write(name, 'x')));
    server.forget();
    const found = await Promise.all(made.map(({ name }) => read(session, name)));
    expect(found.every((one) => one !== undefined)).toBe(true);
    expect(methods()).toEqual(['GET', 'GET']);
    const before = read(session, 'G');
    project.create({ key: 'G', value: 'x', target: ['production'] });
    const after = read(session, 'G');
    await before;
    expect(await after).toBeDefined();
  });

  test('finds names beyond the first page, counts the fullest environment, and lists ours', async () => {
    const session = await open();
    await session.write('TEST_MARK', 'x');
    for (let index = 0; index < 50; index += 1) project.create({ key: `N_${index}`, value: 'x', target: ['production'] });
    project.create({ key: 'ONLY_PREVIEW', value: 'x', target: ['preview'] });
    expect(await read(session, 'TEST_MARK')).toMatchObject({ mark: TEST_MARK });
    expect(await session.count!(never)).toBe(51);
    const names: string[] = [];
    for await (const secret of session.list({ destination: TEST_MARK.destination, signal: never })) names.push(secret.name);
    expect(names).toEqual(['TEST_MARK']);
  });

  test('a project that the token may not see is no free name, and no secret that is gone', async () => {
    const session = await open({ team_id: 'team_of_others' });
    const current = { name: 'TOKEN', identity: 'none' };
    const calls = [
      () => read(session, 'TOKEN'),
      () => session.remove({ name: 'TOKEN', current, signal: never }),
      () => session.write('TOKEN', 'x'),
    ];
    for (const call of calls) {
      expect(await failure(call())).toMatchObject({
        code: 'client_side',
        providerCode: '404 not_found',
        requestId: expect.stringMatching(/^fra1::/),
      });
    }
  });

  test('a missing permission is a ClientSideError with the code and the request id of Vercel', async () => {
    const error = await failure((await open({ access_token: server.readOnlyToken })).write('TOKEN', 'the value'));
    expect(error).toMatchObject({ code: 'client_side', providerCode: '403 forbidden', requestId: server.calls.at(-1)?.requestId });
    expect(error.message).toContain("You don't have permission");
  });

  test('a project that is full is a ClientSideError that changes nothing', async () => {
    project.create({ key: 'LARGE', value: 'x'.repeat(60_000), target: ['production'] });
    const error = await failure((await open()).write('TOKEN', 'x'.repeat(10_000)));
    expect(error).toMatchObject({ code: 'client_side', providerCode: '400 ENV_TOO_LARGE' });
    expect(project.all()).toHaveLength(1);
  });

  test('closing cuts off a list that hangs', async () => {
    const session = await open();
    server.fail({ hang: true });
    const controller = new AbortController();
    const hanging = session.read({ name: 'A', signal: controller.signal });
    controller.abort(new Error('too late'));
    await expect(hanging).rejects.toThrow('too late');
    await session.close();
    expect(await failure(read(session, 'A'))).toMatchObject({ code: 'session_closed' });
  });
});
