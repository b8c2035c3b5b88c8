import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { checkedCore } from '@strongroom/engine-testkit';
import { memoryStorage } from '@strongroom/storage-sdk';
import type { Core, CoreRequest, CoreResponse } from '../../src/index.ts';
import { FakeDevice, fakeAudit } from '../services/audit/fake-device.ts';
import { doorLogin, drawerEngine, PASSWORD } from './door-engine.ts';

interface Line {
  readonly type: 'request' | 'response';
  readonly error?: string;
  readonly auth: { readonly policy_results?: { readonly allowed: boolean } };
  readonly request: { readonly id: string; readonly path: string; readonly operation: string };
}

const SECRET = 'a-value-that-must-stay-hidden';
const caller =
  (core: Core) =>
  async (
    operation: CoreRequest['operation'],
    path: string,
    data?: Record<string, unknown>,
    more: Partial<CoreRequest> = {},
  ): Promise<CoreResponse> =>
    core.handle({ operation, path, token: 'root', ...(data ? { data } : {}), ...more });

describe('with a file device', () => {
  let core: Core;
  let folder: string;
  let call: ReturnType<typeof caller>;
  const text = async (): Promise<string> => readFile(join(folder, 'audit.log'), 'utf8');
  const lines = async (): Promise<Line[]> =>
    (await text())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Line);

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'core-audit-'));
    core = await checkedCore({
      storage: memoryStorage(),
      plugins: [doorLogin(), drawerEngine()],
      devRootToken: 'root-token-of-this-test',
      audit: { file: { type: 'file', options: { file_path: join(folder, 'audit.log') } } },
    });
    const plain = caller(core);
    call = async (operation, path, data, more) => plain(operation, path, data, { token: 'root-token-of-this-test', ...more });
    await call('update', 'sys/mounts/box', { type: 'drawer' });
    await call('update', 'sys/auth/door', { type: 'door' });
  });
  afterEach(async () => {
    await core.close();
    await rm(folder, { recursive: true });
  });

  test('a wrapped response, whose envelope has no id, names the one in the log', async () => {
    const plain = await call('read', 'sys/mounts');
    const wrapped = await call('read', 'sys/mounts', undefined, { wrapTtl: 60 });
    expect([wrapped.requestId, plain.callId]).toEqual(['', undefined]);
    const ids = (await lines()).slice(-4).map(({ request }) => request.id);
    expect(ids).toEqual([plain.requestId, plain.requestId, wrapped.callId, wrapped.callId]);
  });

  test('a path is written in its canonical form, however it was written', async () => {
    await call('read', 'box/drawer/');
    await call('read', 'sys/policies/acl/DEFAULT/');
    const paths = (await lines()).slice(-4).map(({ request }) => request.path);
    expect(paths).toEqual(['box/drawer', 'box/drawer', 'sys/policies/acl/default', 'sys/policies/acl/default']);
  });

  test('every call has one request line and one response line, whatever became of it', async () => {
    const { client_token: weak } = (await call('update', 'auth/token/create', { policies: ['none'] })).auth!;
    const answers: [string, CoreResponse][] = [
      ['a write', await call('update', 'box/drawer', { value: SECRET })],
      ['a read', await call('read', 'box/drawer')],
      ['a refused read', await call('read', 'box/drawer', undefined, { token: weak })],
      ['a call with an unknown token', await call('read', 'box/drawer', undefined, { token: 's.nobody' })],
      ['a call without a token', await call('read', 'box/drawer', undefined, { token: '' })],
      ['a wrong field', await call('update', 'box/drawer', { value: { no: 1 } })],
      ['a missing field', await call('update', 'box/drawer', {})],
      ['an unknown path', await call('read', 'box/nothing')],
      ['an unknown mount', await call('read', 'nowhere/x')],
      ['an unsupported operation', await call('delete', 'box/drawer')],
      ['a failing system', await call('read', 'box/hole')],
      ['a fault of the engine', await call('update', 'box/hole')],
      ['a login', await call('update', 'auth/door/login/ann', { password: PASSWORD }, { token: '' })],
      ['a refused login', await call('update', 'auth/door/login/ann', { password: 'wrong-password-of-ann' }, { token: '' })],
      ['a malformed path', await call('read', 'box/../x')],
      ['help', await call('help', 'box/drawer')],
      ['an unwrapping of nothing', await call('update', 'sys/wrapping/unwrap', { token: 'no-such-wrapping-token' }, { token: '' })],
    ];
    const written = await lines();
    for (const [what, answer] of answers) {
      const own = written.filter((line) => line.request.id === answer.requestId);
      expect([what, own.map((line) => line.type)]).toEqual([what, ['request', 'response']]);
    }
    expect(answers.map(([, { status }]) => status)).toEqual([
      204, 200, 403, 403, 403, 400, 400, 404, 404, 405, 500, 500, 200, 400, 400, 200, 400,
    ]);
  });

  test('what was refused says why, and whether the policies allowed it', async () => {
    const { client_token: weak } = (await call('update', 'auth/token/create', { policies: ['none'] })).auth!;
    const denied = await call('read', 'box/drawer', undefined, { token: weak });
    const own = (await lines()).filter((line) => line.request.id === denied.requestId);
    expect(own.map((line) => [line.error, line.auth.policy_results?.allowed])).toEqual([
      ['1 error occurred:\n\t* permission denied\n\n', false],
      ['1 error occurred:\n\t* permission denied\n\n', false],
    ]);
    const failed = await call('read', 'box/hole');
    const failing = (await lines()).filter((line) => line.request.id === failed.requestId);
    expect(failing.map((line) => line.error)).toEqual([undefined, '1 error occurred:\n\t* the hole is deep\n\n']);
  });

  test('no secret is in the file in clear', async () => {
    const made = (await call('update', 'auth/token/create', { policies: ['none'], id: 'a-token-chosen-by-hand' })).auth!;
    const login = (await call('update', 'auth/door/login/ann', { password: PASSWORD }, { token: '' })).auth!;
    await call('update', 'auth/door/login/ann', { password: 'wrong-password-of-ann' }, { token: '' });
    await call('update', 'box/drawer', { value: SECRET });
    await call('read', 'box/drawer');
    const wrapped = (await call('read', 'box/drawer', undefined, { wrapTtl: 60 })).wrapInfo!;
    const rewrapped = (await call('update', 'sys/wrapping/rewrap', { token: wrapped.token })).wrapInfo!;
    expect((await call('update', 'sys/wrapping/unwrap', { token: rewrapped.token }, { token: '' })).data).toEqual({ value: SECRET });
    await call('update', 'auth/token/lookup', { token: login.client_token });
    await call('update', 'auth/token/renew', { token: login.client_token });
    await call('read', 'auth/token/lookup-self', undefined, { token: login.client_token });
    await call('update', 'cubbyhole/mine', { deep: { deeper: [SECRET] } }, { token: login.client_token });
    await call('read', 'cubbyhole/mine', undefined, { token: login.client_token });
    await call('update', 'box/drawer', { value: [SECRET], other: SECRET });
    await call('update', 'auth/token/revoke', { token: made.client_token });
    const all = await text();
    for (const secret of [
      SECRET,
      PASSWORD,
      'wrong-password-of-ann',
      'root-token-of-this-test',
      'a-token-chosen-by-hand',
      login.client_token,
      login.accessor,
      wrapped.token,
      rewrapped.token,
    ]) {
      expect(all.split(secret).length - 1).toBe(0);
    }
    expect(all).toContain('hmac-sha256:');
  });

  test('seal status, health and the like are not audited', async () => {
    const before = (await lines()).length;
    for (const path of ['sys/seal-status', 'sys/health', 'sys/leader', 'sys/init']) expect((await call('read', path)).status).toBe(200);
    expect((await call('update', 'sys/unseal', { key: '!' })).status).toBe(400);
    expect(await lines()).toHaveLength(before);
  });
});

describe('with a device that a test breaks', () => {
  let core: Core;
  let device: FakeDevice;
  let call: ReturnType<typeof caller>;
  let entered: number;
  let linesWhenEntered: number;

  beforeEach(async () => {
    entered = 0;
    device = new FakeDevice();
    const enter = (): void => {
      entered += 1;
      linesWhenEntered = device.lines.length;
    };
    core = await checkedCore({
      storage: memoryStorage(),
      plugins: [doorLogin(enter), drawerEngine(enter), fakeAudit({ one: device })],
      devRootToken: 'root',
      audit: { one: { type: 'fake', options: { is: 'one' } } },
    });
    call = caller(core);
    await call('update', 'sys/mounts/box', { type: 'drawer' });
    await call('update', 'sys/auth/door', { type: 'door' });
  });
  afterEach(async () => core.close());

  test('the request is written before the handler runs, the response before the caller is answered', async () => {
    const before = device.lines.length;
    await call('update', 'box/drawer', { value: 'v' });
    expect(linesWhenEntered).toBe(before + 1);
    expect(device.lines).toHaveLength(before + 2);
    await call('update', 'auth/door/login/ann', { password: PASSWORD }, { token: '' });
    expect(linesWhenEntered).toBe(before + 3);
  });

  test('nothing is carried out while the only device cannot write, except what reports the seal', async () => {
    device.error = new Error('no space left');
    const refused = await call('update', 'box/drawer', { value: 'v' });
    expect([refused.status, refused.errors]).toEqual([500, ['1 error occurred:\n\t* internal error\n\n']]);
    expect((await call('update', 'auth/door/login/ann', { password: PASSWORD }, { token: '' })).status).toBe(500);
    expect((await call('read', 'sys/mounts', undefined, { token: 's.nobody' })).status).toBe(500);
    expect(entered).toBe(0);
    expect((await call('read', 'sys/seal-status')).status).toBe(200);
    expect((await call('read', 'sys/health')).status).toBe(200);
    device.error = undefined;
    expect((await call('read', 'box/drawer')).status).toBe(404);
  });

  test('an answer that cannot be written is withheld; what was done stays done', async () => {
    const writer = device.write.bind(device);
    device.write = async (written) => {
      if (written.some((line) => line.includes('"type":"response"'))) throw new Error('no space left');
      await writer(written);
    };
    const withheld = await call('update', 'box/drawer', { value: 'v' });
    expect([withheld.status, withheld.errors, withheld.data]).toEqual([500, ['internal error'], null]);
    device.write = writer;
    expect((await call('read', 'box/drawer')).data).toEqual({ value: 'v' });
  });
});
