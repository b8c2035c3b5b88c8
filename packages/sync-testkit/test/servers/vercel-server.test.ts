import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { request } from 'undici';
import type { VercelProject } from '../../src/servers/vercel-project.ts';
import { startVercelServer, type VercelServer } from '../../src/servers/vercel-server.ts';

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: Record<string, never>;
}

describe('the server that emulates Vercel', () => {
  let server: VercelServer;
  let project: VercelProject;
  beforeAll(async () => {
    server = await startVercelServer({ pageSize: 3 });
  });
  afterAll(() => server?.stop());
  beforeEach(() => {
    project = server.addProject(`shop-${Math.random()}`);
  });
  afterEach(() => server.forget());

  async function call(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown, token = server.token): Promise<Answer> {
    const answer = await request(server.url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: answer.statusCode, headers: answer.headers, body: (await answer.body.json()) as Record<string, never> };
  }
  const variable = (key: string, more: object = {}) => ({ key, value: 'the value', type: 'sensitive', target: ['production'], ...more });
  const path = (id?: string, version = id === undefined ? 'v10' : 'v9') =>
    `/${version}/projects/${project.id}/env${id === undefined ? '' : `/${id}`}`;

  test('creates, lists, changes and deletes variables, and never shows a sensitive value', async () => {
    const made = await call('POST', path(), variable('A', { comment: 'ours' }));
    expect(made).toMatchObject({ status: 201, body: { created: { key: 'A', comment: 'ours', value: '', type: 'sensitive' }, failed: [] } });
    const [id] = project.all().map((one) => one.id);
    await call('PATCH', path(id), { value: 'another value', comment: 'changed' });
    expect(project.find(id!)).toMatchObject({ value: 'another value', comment: 'changed' });
    const listed = await call('GET', path());
    expect(JSON.stringify(listed.body)).not.toContain('another value');
    expect((await call('DELETE', path(id))).status).toBe(200);
    expect(await call('DELETE', path(id))).toMatchObject({ status: 404, body: { error: { code: 'ENV_NOT_FOUND' } } });
    expect(server.faults).toEqual([]);
  });

  test('gives pages of a list, newest first', async () => {
    for (const key of ['A', 'B', 'C', 'D', 'E', 'F', 'G']) project.create({ key, value: 'x', target: ['preview'] });
    const keys: string[] = [];
    for (let until: number | null | undefined; until !== null;) {
      const { body } = await call('GET', `${path()}${until === undefined ? '' : `?until=${until}`}`);
      const page = body as unknown as { envs: { key: string }[]; pagination: { next: number | null } };
      keys.push(...page.envs.map(({ key }) => key));
      until = page.pagination.next;
    }
    expect(keys).toEqual(['G', 'F', 'E', 'D', 'C', 'B', 'A']);
  });

  test('refuses a second variable of one name and target, unless it may replace it', async () => {
    await call('POST', path(), variable('A', { target: ['production', 'preview'] }));
    expect(await call('POST', path(), variable('A'))).toMatchObject({ status: 400, body: { error: { code: 'ENV_CONFLICT' } } });
    expect((await call('POST', path(), variable('A', { type: 'encrypted', target: ['development'] }))).status).toBe(201);
    expect((await call('POST', `${path()}?upsert=true`, variable('A', { value: 'new' }))).status).toBe(201);
    expect(project.all().map(({ value }) => value)).toEqual(['the value', 'new']);
  });

  test('refuses wrong names, sensitive variables of development, too much, and what is not described', async () => {
    const code = async (body: unknown) => ((await call('POST', path(), body)).body as { error?: { code: string } }).error?.code;
    expect(await code(variable('A-B'))).toBe('INVALID_KEY');
    expect(await code(variable('VERCEL_URL'))).toBe('RESERVED_ENV_VARIABLE');
    expect(await code(variable('A', { target: ['development'] }))).toBe('BAD_REQUEST');
    expect(await code(variable('A', { value: 'x'.repeat(65_537) }))).toBe('ENV_TOO_LARGE');
    expect(await code(variable('A', { value: 'x'.repeat(40_000) }))).toBeUndefined();
    expect(await code(variable('B', { value: 'x'.repeat(40_000) }))).toBe('ENV_TOO_LARGE');
    expect(await code(variable('C', { colour: 'red' }))).toBe('bad_request');
    expect(await code({ key: 'C', value: 'x' })).toBe('bad_request');
    expect(server.faults).toHaveLength(2);
  });

  test('keeps the projects of a team and of the account apart, and tells who may not do what', async () => {
    const team = server.addProject('of-a-team', 'team_1');
    expect((await call('GET', `/v10/projects/${team.id}/env`)).status).toBe(404);
    expect((await call('GET', `/v10/projects/of-a-team/env?teamId=team_1`)).status).toBe(200);
    expect(await call('GET', path(), undefined, 'nonsense')).toMatchObject({
      status: 403,
      body: { error: { code: 'forbidden', invalidToken: true } },
    });
    expect((await call('GET', path(), undefined, server.readOnlyToken)).status).toBe(200);
    expect((await call('POST', path(), variable('A'), server.readOnlyToken)).status).toBe(403);
  });

  test('fails on request, with a request id and a pause', async () => {
    server.fail({ status: 429, code: 'too_many_requests', retryAfter: 7 });
    const answer = await call('GET', path());
    expect(answer).toMatchObject({ status: 429, body: { error: { code: 'too_many_requests' } }, headers: { 'retry-after': '7' } });
    expect(answer.headers['x-vercel-id']).toMatch(/^fra1::/);
    server.fail({ drop: 'answer', on: 'POST' });
    await expect(call('POST', path(), variable('A'))).rejects.toThrow();
    expect(project.all().map(({ key }) => key)).toEqual(['A']);
    expect(JSON.stringify(server.calls)).not.toContain('the value');
  });
});
