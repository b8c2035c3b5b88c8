import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { checkedCore } from '@strongroom/engine-testkit';
import {
  abortable,
  API_VERSION,
  BadRequest,
  f,
  path,
  TokenRefused,
  TooManyRequests,
  type About,
  type EnginePackage,
} from '@strongroom/engine-sdk';
import { memoryStorage } from '@strongroom/storage-sdk';
import type { Core } from '../../src/index.ts';

const refusals = { wrong: new BadRequest('wrong'), elsewhere: new TokenRefused(), busy: new TooManyRequests('busy') };
const fields = { name: f.string('Who logs in.', { default: '' }), how: f.string('What becomes of it.', { default: 'wrong' }) };

/** A login method whose logins are counted as `login` says, and always refused. */
function method(name: string, login: NonNullable<About<typeof fields>['login']>): EnginePackage {
  const paths = [
    path('login', { synopsis: 'Log in.', description: 'Always refused.', login, fields }).update({
      summary: 'Log in.',
      handle: async (req) =>
        req.data.how === 'never'
          ? abortable(req.signal, new Promise<never>(() => undefined))
          : Promise.reject(refusals[req.data.how as keyof typeof refusals]),
    }),
  ];
  return { name, kind: 'auth', apiVersion: API_VERSION, create: () => ({ paths }) };
}

const methods = [
  method('named', (data) => String(data['name'])),
  method('placed', (data, { remoteAddress }) => ({ name: String(data['name']), from: remoteAddress })),
  method('uncounted', 'uncounted'),
];

describe('the lockout of a login path', () => {
  let core: Core;

  beforeEach(async () => {
    core = await checkedCore({ storage: memoryStorage(), devRootToken: 'root', plugins: methods });
    for (const { name } of methods) await call(`sys/auth/${name}`, { type: name });
  });
  afterEach(async () => core.close());

  async function call(at: string, data: Record<string, unknown>): Promise<string> {
    const { status, errors } = await core.handle({ operation: 'update', path: at, data, token: 'root' });
    return `${status} ${(errors ?? []).join()}`.trim();
  }

  async function logins(
    type: string,
    times: number,
    remoteAddress = '10.0.0.1',
    data: Record<string, unknown> = { name: 'bob' },
  ): Promise<number[]> {
    const statuses: number[] = [];
    for (let time = 0; time < times; time += 1) {
      statuses.push((await core.handle({ operation: 'update', path: `auth/${type}/login`, data, remoteAddress })).status);
    }
    return statuses;
  }

  test('counts by the name that the path declares, wherever a login comes from', async () => {
    expect(await logins('named', 4)).toEqual([400, 400, 400, 400]);
    expect(await logins('named', 2, '10.0.0.2')).toEqual([400, 403]);
  });

  test('counts each origin for itself where the path declares one', async () => {
    expect(await logins('placed', 6)).toEqual([400, 400, 400, 400, 400, 403]);
    expect(await logins('placed', 1, '10.0.0.2')).toEqual([400]);
  });

  test('a login that waits for others of its name ends when its caller goes away, and holds up nobody', async () => {
    const begin = (how: string) => {
      const caller = new AbortController();
      const data = { name: 'bob', how };
      const answer = core.handle({ operation: 'update', path: 'auth/named/login', data, remoteAddress: '10.0.0.1', signal: caller.signal });
      return { caller, answer };
    };
    const hanging = Array.from({ length: 5 }, () => begin('never'));
    const [gone, next] = [begin('wrong'), begin('wrong')];
    await new Promise((resolve) => setImmediate(resolve));
    gone!.caller.abort();
    expect((await gone!.answer).status).toBe(504);
    hanging[0]!.caller.abort();
    expect((await next!.answer).status).toBe(400);
    for (const { caller, answer } of hanging) {
      caller.abort();
      await answer;
    }
  });

  test('counts wrong credentials alone', async () => {
    for (const how of ['elsewhere', 'busy']) await logins('named', 9, '10.0.0.1', { name: 'bob', how });
    expect(await logins('named', 1)).toEqual([400]);
  });

  test('counts nothing where the path says so, and cannot be tuned there', async () => {
    expect(new Set(await logins('uncounted', 9))).toEqual(new Set([400]));
    const user_lockout_config = { lockout_threshold: 2 };
    const refused = '400 tuning of user lockout configuration for auth type "uncounted" not allowed';
    expect(await call('sys/auth/uncounted/tune', { user_lockout_config })).toBe(refused);
    expect(await call('sys/auth/more', { type: 'uncounted', config: { user_lockout_config } })).toBe(refused);
    expect(await call('sys/auth/named/tune', { user_lockout_config })).toBe('204');
    expect(await logins('named', 3)).toEqual([400, 400, 403]);
  });
});
