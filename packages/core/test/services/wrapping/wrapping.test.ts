import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { checkedCore, manualClock, type ManualClock } from '@strongroom/engine-testkit';
import { kvEngine } from '@strongroom/kv';
import { memoryStorage } from '@strongroom/storage-sdk';
import type { Core, CoreRequest, CoreResponse } from '../../../src/index.ts';
import { doorLogin, PASSWORD } from '../../request/door-engine.ts';

const SPENT = [400, 'wrapping token is not valid or does not exist'];

describe('wrapped answers', () => {
  let core: Core;
  let clock: ManualClock;
  const call = async (
    operation: CoreRequest['operation'],
    path: string,
    data: Record<string, unknown> = {},
    { token = 'root', wrapTtl = 0 }: { token?: string; wrapTtl?: number } = {},
  ): Promise<CoreResponse> => core.handle({ operation, path, data, token, wrapTtl });
  const wrap = async (operation: CoreRequest['operation'], path: string, data: Record<string, unknown> = {}, wrapTtl = 60) =>
    call(operation, path, data, { wrapTtl });
  const unwrap = async (token: string): Promise<CoreResponse> => call('update', 'sys/wrapping/unwrap', { token }, { token: '' });
  const failure = ({ status, errors }: CoreResponse): unknown => [status, ...(errors ?? ['no error'])];

  beforeEach(async () => {
    clock = manualClock();
    core = await checkedCore({ storage: memoryStorage(), plugins: [kvEngine, doorLogin()], devRootToken: 'root', clock });
    await call('update', 'sys/mounts/secret', { type: 'kv', options: { version: '2' } });
    await call('update', 'secret/data/a', { data: { x: '1' } });
  });
  afterEach(async () => core.close());

  test('hold nothing of the answer, and say how they were made', async () => {
    const wrapped = await wrap('read', 'secret/data/a', {}, 300);
    expect(wrapped).toMatchObject({ requestId: '', status: 200, data: null, auth: null, warnings: null, leaseId: '' });
    expect(wrapped.wrapInfo).toMatchObject({ ttl: 300, creation_path: 'secret/data/a', creation_time: '2030-01-01T00:00:00.000Z' });
    expect(Object.keys(wrapped.wrapInfo!)).not.toContain('wrapped_accessor');
    const looked = { creation_ttl: 300, creation_path: 'secret/data/a', creation_time: '2030-01-01T00:00:00.000Z' };
    const { token } = wrapped.wrapInfo!;
    expect((await call('update', 'sys/wrapping/lookup', { token }, { token: '' })).data).toEqual(looked);
    expect((await call('read', 'sys/wrapping/lookup', {}, { token })).data).toEqual(looked);
  });

  test('are given once, by the token in the body or as the calling one', async () => {
    const first = (await wrap('read', 'secret/data/a')).wrapInfo!.token;
    const opened = await unwrap(first);
    expect(opened.data).toMatchObject({ data: { x: '1' } });
    expect(opened.requestId).not.toBe('');
    expect(failure(await unwrap(first))).toEqual(SPENT);
    const second = (await wrap('read', 'secret/data/a')).wrapInfo!.token;
    expect((await call('update', 'sys/wrapping/unwrap', {}, { token: second })).data).toMatchObject({ data: { x: '1' } });
    expect(failure(await call('update', 'sys/wrapping/unwrap', {}, { token: second }))).toEqual(SPENT);
    const third = (await wrap('read', 'secret/data/a')).wrapInfo!.token;
    expect((await call('update', 'sys/wrapping/unwrap', { token: third })).data).toMatchObject({ data: { x: '1' } });
  });

  test('are given to one of many who ask at once', async () => {
    const { token } = (await wrap('read', 'secret/data/a')).wrapInfo!;
    const answers = await Promise.all(Array.from({ length: 8 }, async () => unwrap(token)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400, 400, 400, 400]);
  });

  test('are refused to what is no wrapping token', async () => {
    for (const token of ['', 's.nobody', 'root', 'b.x']) expect(failure(await unwrap(token))).toEqual(SPENT);
    expect(failure(await call('update', 'sys/wrapping/unwrap'))).toEqual(SPENT);
    expect(failure(await call('update', 'sys/wrapping/lookup', { token: 'root' }))).toEqual(SPENT);
    expect(failure(await call('update', 'sys/wrapping/rewrap', { token: 'nobody' }))).toEqual(SPENT);
    const { token } = (await wrap('read', 'secret/data/a')).wrapInfo!;
    expect((await call('update', 'sys/wrapping/unwrap', { token }, { token: 's.nobody' })).status).toBe(403);
    expect((await unwrap(token)).status).toBe(200);
  });

  test('ask a caller who shows a token of their own for its policy', async () => {
    const { client_token: own } = (await call('update', 'auth/token/create', { policies: ['none'], no_default_policy: true })).auth!;
    const { token } = (await wrap('read', 'secret/data/a')).wrapInfo!;
    expect((await call('update', 'sys/wrapping/unwrap', { token }, { token: own })).status).toBe(403);
    expect((await unwrap(token)).status).toBe(200);
  });

  test('end with their time', async () => {
    const { token } = (await wrap('read', 'secret/data/a', {}, 60)).wrapInfo!;
    await clock.advance(59);
    expect((await call('update', 'sys/wrapping/lookup', { token })).status).toBe(200);
    await clock.advance(2);
    expect(failure(await unwrap(token))).toEqual(SPENT);
    await core.settleSchedule();
    expect((await call('list', 'auth/token/accessors')).data).toMatchObject({ keys: [expect.anything()] });
  });

  test('move to a new token with the same life', async () => {
    const { token: old } = (await wrap('read', 'secret/data/a', {}, 300)).wrapInfo!;
    await clock.advance(200);
    const { token, ttl, creation_path } = (await call('update', 'sys/wrapping/rewrap', { token: old })).wrapInfo!;
    expect([ttl, creation_path]).toEqual([300, 'secret/data/a']);
    expect(failure(await unwrap(old))).toEqual(SPENT);
    await clock.advance(200);
    expect((await unwrap(token)).data).toMatchObject({ data: { x: '1' } });
  });

  test('may be logins, and then tell the accessor of what is inside', async () => {
    await call('update', 'sys/auth/door', { type: 'door' });
    const wrapped = await call('update', 'auth/door/login/ann', { password: PASSWORD }, { token: '', wrapTtl: 60 });
    expect(wrapped.auth).toBeNull();
    const opened = await unwrap(wrapped.wrapInfo!.token);
    expect(opened.auth!.accessor).toBe(wrapped.wrapInfo!.wrapped_accessor);
    expect((await call('read', 'auth/token/lookup-self', {}, { token: opened.auth!.client_token })).data).toMatchObject({
      display_name: 'door-ann',
    });
  });

  test('keep the status and the warnings of the answer', async () => {
    await call('delete', 'secret/data/a');
    const gone = await wrap('read', 'secret/data/a');
    expect(gone.status).toBe(200);
    expect(await unwrap(gone.wrapInfo!.token)).toMatchObject({ status: 404, data: { data: null } });
    const warned = await wrap('update', 'auth/token/create', { policies: ['none'], oddity: 1 });
    const { warnings } = await unwrap(warned.wrapInfo!.token);
    expect(warnings).toContain('Endpoint ignored these unrecognized parameters: [oddity]');
  });

  test('may hold what is sent bare', async () => {
    const opened = await unwrap((await wrap('read', 'sys/internal/specs/openapi')).wrapInfo!.token);
    expect(JSON.parse(opened.raw!.body as string)).toMatchObject({ openapi: '3.0.2' });
  });

  test('are made of any data, but not without a time', async () => {
    expect(failure(await call('update', 'sys/wrapping/wrap', { a: 1 }))).toEqual([400, 'endpoint requires response wrapping to be used']);
    expect(failure(await wrap('update', 'sys/wrapping/wrap', { a: 1 }, -1))).toEqual([400, 'requested wrap ttl cannot be negative']);
    const odd = JSON.parse('{"__proto__":{"a":[1,"2",null]}}') as Record<string, unknown>;
    const opened = await unwrap((await wrap('update', 'sys/wrapping/wrap', odd)).wrapInfo!.token);
    expect(JSON.stringify(opened.data)).toBe(JSON.stringify(odd));
  });

  test('are not made of failures, nor of answers without a body', async () => {
    expect(await wrap('read', 'secret/data/none')).toMatchObject({ status: 404, errors: [], wrapInfo: null });
    expect(await wrap('list', 'secret/metadata/none')).toMatchObject({ status: 404, wrapInfo: null });
    expect(await wrap('read', 'nowhere/x')).toMatchObject({ status: 404, wrapInfo: null });
    expect(await wrap('delete', 'secret/metadata/a')).toMatchObject({ status: 204, wrapInfo: null });
  });

  test('can be demanded by a policy, within bounds', async () => {
    const policy = 'path "secret/data/a" { capabilities = ["read"] min_wrapping_ttl = "10s" max_wrapping_ttl = "1m" }';
    await call('update', 'sys/policies/acl/wrapped', { policy });
    const { client_token: token } = (await call('update', 'auth/token/create', { policies: ['wrapped'] })).auth!;
    const statuses = [];
    for (const wrapTtl of [0, 5, 10, 60, 61]) statuses.push((await call('read', 'secret/data/a', {}, { token, wrapTtl })).status);
    expect(statuses).toEqual([403, 403, 200, 200, 403]);
  });

  test('live whole seconds: a fraction rounds up, and is judged by the policy as what it becomes', async () => {
    for (const [asked, ttl] of [
      [1e-9, 1],
      [0.5, 1],
      [1.2, 2],
      [60, 60],
    ] as const) {
      const { wrapInfo, data } = await wrap('read', 'secret/data/a', {}, asked);
      expect([asked, wrapInfo?.ttl, data]).toEqual([asked, ttl, null]);
      expect((await unwrap(wrapInfo!.token)).data).toMatchObject({ data: { x: '1' } });
    }
    const policy = (bound: string): string => `path "secret/data/a" { capabilities = ["read"] ${bound} }`;
    await call('update', 'sys/policies/acl/longest', { policy: policy('max_wrapping_ttl = "1s"') });
    await call('update', 'sys/policies/acl/shortest', { policy: policy('min_wrapping_ttl = "1s"') });
    for (const name of ['longest', 'shortest']) {
      const { client_token: token } = (await call('update', 'auth/token/create', { policies: [name] })).auth!;
      const seen = [];
      for (const wrapTtl of [undefined, 0, -0, 0.5, 1, 1.5]) {
        const { status, wrapInfo } = await core.handle({
          operation: 'read',
          path: 'secret/data/a',
          token,
          ...(wrapTtl === undefined ? {} : { wrapTtl }),
        });
        seen.push(wrapInfo?.ttl ?? status);
      }
      expect([name, ...seen]).toEqual([name, 403, 403, 403, 1, 1, name === 'longest' ? 403 : 2]);
    }
  });

  test('live at most as long as the maximum of the system: what is beyond is cut, with a warning', async () => {
    const wrapped = await wrap('read', 'secret/data/a', {}, 2_764_801);
    expect(wrapped.wrapInfo!.ttl).toBe(2_764_800);
    expect(wrapped.warnings).toEqual(['TTL of "768h0m1s" exceeded the effective max_ttl of "768h"; TTL value is capped accordingly']);
    expect((await wrap('read', 'secret/data/a', {}, 2_764_800)).warnings).toBeNull();
    const any = await wrap('update', 'sys/wrapping/wrap', { a: 1 }, Number.MAX_SAFE_INTEGER);
    expect([any.wrapInfo!.ttl, any.warnings?.length]).toEqual([2_764_800, 1]);
    const policy = 'path "secret/data/a" { capabilities = ["read"] max_wrapping_ttl = "800h" }';
    await call('update', 'sys/policies/acl/roomy', { policy });
    const { client_token: token } = (await call('update', 'auth/token/create', { policies: ['roomy'] })).auth!;
    expect((await call('read', 'secret/data/a', {}, { token, wrapTtl: 4_000_000 })).wrapInfo!.ttl).toBe(2_764_800);
  });

  test('of an earlier, larger maximum live no longer than the present one once they are rewrapped', async () => {
    const storage = memoryStorage();
    const seal = { type: 'static' as const, key: Buffer.alloc(32, 1) };
    const first = await checkedCore({ storage, plugins: [kvEngine], seal, clock, devRootToken: 'root' });
    const wrapTtl = 7_200;
    const old = await first.handle({ operation: 'update', path: 'sys/wrapping/wrap', data: { a: 1 }, token: 'root', wrapTtl });
    const second = await checkedCore({ storage, plugins: [kvEngine], seal, clock, maxLeaseTtl: 3_600, defaultLeaseTtl: 3_600 });
    const again = await second.handle({
      operation: 'update',
      path: 'sys/wrapping/rewrap',
      data: { token: old.wrapInfo!.token },
      token: 'root',
    });
    expect([old.wrapInfo!.ttl, again.wrapInfo!.ttl]).toEqual([7_200, 3_600]);
    await first.close();
  });

  test('are refused for a time that is none', async () => {
    for (const [wrapTtl, text] of [
      [Number.NaN, 'requested wrap ttl must be a number of seconds'],
      [Number.POSITIVE_INFINITY, 'requested wrap ttl must be a number of seconds'],
      ['60', 'requested wrap ttl must be a number of seconds'],
      [Number.NEGATIVE_INFINITY, 'requested wrap ttl cannot be negative'],
      [-0.5, 'requested wrap ttl cannot be negative'],
    ] as [number, string][]) {
      expect([wrapTtl, failure(await wrap('read', 'secret/data/a', {}, wrapTtl))]).toEqual([wrapTtl, [400, text]]);
    }
  });

  test('are good for nothing but their answer', async () => {
    const { token } = (await wrap('read', 'secret/data/a')).wrapInfo!;
    expect((await call('read', 'sys/mounts', {}, { token })).status).toBe(403);
    expect(failure(await unwrap(token))).toEqual(SPENT);
  });
});
