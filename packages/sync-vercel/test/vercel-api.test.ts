import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { MockAgent } from 'undici';
import { VariableListing } from '../src/listing.ts';
import { VercelApi } from '../src/vercel-api.ts';

const ADDRESS = 'https://api.vercel.example';
const PATH = '/v10/projects/prj_1/env';
const never = new AbortController().signal;
const variable = { id: 'a', key: 'TOKEN', type: 'sensitive', value: '', target: ['production'], createdAt: 1, updatedAt: 2 };

/** Answers that are rare, or that no published description mentions. */
describe("Vercel's answers", () => {
  let vercel: MockAgent;
  let api: VercelApi;
  beforeEach(() => {
    vercel = new MockAgent();
    vercel.disableNetConnect();
    api = new VercelApi({ endpoint: ADDRESS, token: 't', projectId: 'prj_1', teamId: undefined, dispatcher: vercel });
  });
  afterEach(() => vercel.close());
  const reply = (method: 'GET' | 'POST', status: number, body: object | string, query?: Record<string, string>) =>
    vercel
      .get(ADDRESS)
      .intercept({ path: PATH, method, ...(query && { query }) })
      .reply(status, body);

  test('fields that are null are not set, and a target that is one text is one', async () => {
    reply('GET', 200, { envs: [{ ...variable, target: 'preview', gitBranch: null, comment: null, customEnvironmentIds: null }] });
    const { value: _, ...rest } = variable;
    expect((await api.list(undefined, never)).variables).toEqual([{ ...rest, target: ['preview'], customEnvironmentIds: [] }]);
  });

  test('of a creation that failed, the reason of the variable counts, and not that of the whole', async () => {
    const failed = [{ error: { code: 'ENV_CONFLICT', message: 'it is there' } }];
    const write = { key: 'TOKEN', value: 'x', type: 'sensitive', target: ['production'], comment: '' } as const;
    for (const [status, body] of [
      [400, { error: { code: 'bad_request', message: 'some failed' }, failed }],
      [201, { created: [], failed }],
    ] as const) {
      reply('POST', status, body);
      await expect(api.create(write, never)).rejects.toMatchObject({ code: 'ENV_CONFLICT', isConflict: true, message: 'it is there' });
    }
  });

  test('a list whose pages do not go on ends with an ExternalServiceError', async () => {
    const page = { envs: [variable], pagination: { count: 1, next: 7, prev: null } };
    reply('GET', 200, page);
    reply('GET', 200, page, { until: '7' });
    await expect(new VariableListing(api, ['production']).fetch()).rejects.toMatchObject({
      code: 'external_service',
      message: 'Vercel answers the same page again',
    });
  });

  test('what is no JSON, or no list, is an ExternalServiceError', async () => {
    reply('GET', 200, '<html>');
    await expect(api.list(undefined, never)).rejects.toMatchObject({
      code: 'external_service',
      message: 'Vercel answers 200 without JSON',
    });
    reply('GET', 200, { env: [] });
    await expect(api.list(undefined, never)).rejects.toMatchObject({ code: 'external_service' });
  });
});
