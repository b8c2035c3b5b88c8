import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { VercelProject } from '../../src/servers/vercel-project.ts';
import { startVercelServer, type VercelServer } from '../../src/servers/vercel-server.ts';

interface Answer {
  readonly ok: boolean;
  /** What the client made of an answer that it takes. */
  readonly value?: unknown;
  readonly error?: unknown;
}
type Call = (client: object, request: object) => Promise<Answer>;

/** Read without its types, which would bring its sources into our check of types. */
const SDK = '@vercel/sdk';
const { VercelCore } = (await import(`${SDK}/core.js`)) as { VercelCore: new (options: object) => object };
const call = async (name: string): Promise<Call> => ((await import(`${SDK}/funcs/${name}.js`)) as Record<string, Call>)[name]!;
const projectsCreateProjectEnv = await call('projectsCreateProjectEnv');
const projectsEditProjectEnv = await call('projectsEditProjectEnv');
const projectsFilterProjectEnvs = await call('projectsFilterProjectEnvs');
const projectsRemoveProjectEnv = await call('projectsRemoveProjectEnv');

/** The client checks each request and each answer against what Vercel publishes, and fails where one does not fit. */
describe('the server that emulates Vercel, to the official client', () => {
  let server: VercelServer;
  let project: VercelProject;
  beforeAll(async () => {
    server = await startVercelServer({ pageSize: 3 });
  });
  afterAll(() => server?.stop());
  beforeEach(() => {
    project = server.addProject(`shop-${Math.random()}`, 'team_acme');
  });
  afterEach(() => {
    expect(server.faults).toEqual([]);
    server.forget();
  });

  const client = (bearerToken = server.token): object =>
    new VercelCore({ bearerToken, serverURL: server.url, retryConfig: { strategy: 'none' } });
  const place = () => ({ idOrName: project.id, teamId: 'team_acme' });
  const list = (vercel = client()) => projectsFilterProjectEnvs(vercel, place());
  const create = (key: string, more: object = {}) =>
    projectsCreateProjectEnv(client(), {
      ...place(),
      requestBody: { key, value: 'the value', type: 'sensitive', target: ['production'], ...more },
    });
  const taken = ({ ok, value, error }: Answer): unknown => {
    if (!ok) throw error;
    return value;
  };

  test('creates variables, one and several, and takes what is answered', async () => {
    const made = taken(await create('A', { comment: 'ours' }));
    expect(made).toMatchObject({ created: { key: 'A', comment: 'ours', type: 'sensitive', target: ['production'] }, failed: [] });
    const requestBody = ['A', 'B'].map((key) => ({ key, value: 'x', type: 'encrypted', target: ['production'] }));
    const several = taken(await projectsCreateProjectEnv(client(), { ...place(), requestBody }));
    expect(several).toMatchObject({ created: [{ key: 'B' }], failed: [{ error: { code: 'ENV_CONFLICT' } }] });
  });

  test('lists what is there: by pages, and without production for those who may not see it', async () => {
    project.create({ key: 'HIDDEN', value: 'x', target: ['production'] });
    project.create({ key: 'SHOWN', value: 'x', target: ['preview'], gitBranch: 'next' });
    expect(taken(await list())).toMatchObject({
      envs: [{ key: 'SHOWN', gitBranch: 'next', target: ['preview'] }, { key: 'HIDDEN' }],
      pagination: { count: 2, next: null, prev: null },
    });
    expect(taken(await list(client(server.developerToken)))).toMatchObject({ envs: [{ key: 'SHOWN' }], hiddenProductionEnvCount: 1 });
  });

  test('changes a variable, unless it is sensitive and its key or type is named, and deletes it', async () => {
    taken(await create('A'));
    const [{ id } = { id: '' }] = project.all();
    const edit = (requestBody: object) => projectsEditProjectEnv(client(), { ...place(), id, requestBody });
    expect(taken(await edit({ value: 'new', comment: 'changed', target: ['production', 'preview'] }))).toMatchObject({
      id,
      key: 'A',
      comment: 'changed',
    });
    expect(project.find(id)).toMatchObject({ value: 'new', target: ['production', 'preview'] });
    for (const refused of [{ key: 'A' }, { type: 'encrypted' }]) {
      expect(await edit({ ...refused, value: 'x' })).toMatchObject({ ok: false, error: { statusCode: 400 } });
    }
    expect(taken(await projectsRemoveProjectEnv(client(), { ...place(), id }))).toMatchObject({ id, key: 'A' });
    expect(await projectsRemoveProjectEnv(client(), { ...place(), id })).toMatchObject({ ok: false, error: { statusCode: 404 } });
  });

  test('refuses a wrong token, another team, and a second variable of one name', async () => {
    expect(await list(client('nonsense'))).toMatchObject({ ok: false, error: { statusCode: 403 } });
    expect(await projectsFilterProjectEnvs(client(), { idOrName: project.id })).toMatchObject({ ok: false, error: { statusCode: 404 } });
    taken(await create('A'));
    const second = await create('A');
    expect(second).toMatchObject({ ok: false, error: { statusCode: 400, body: expect.stringContaining('"code":"ENV_CONFLICT"') } });
  });

  test('fails on request, and the client does not mind', async () => {
    server.fail({ status: 429, code: 'too_many_requests', retryAfter: 7 });
    const answer = await list();
    expect(answer).toMatchObject({ ok: false, error: { statusCode: 429 } });
    const { headers } = (answer as { error: { headers: Headers } }).error;
    expect([headers.get('retry-after'), headers.get('x-vercel-id')]).toEqual(['7', expect.stringMatching(/^fra1::/)]);
  });
});
