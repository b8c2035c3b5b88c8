import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { CoreResponse } from '@strongroom/core';
import type { ApiMood } from '@strongroom/lab';
import { LIMITS } from '@strongroom/kubernetes-client';
import { appRole, forStrongroom, mounted, type MountedKubernetes } from './mounted.ts';

let mount: MountedKubernetes;
beforeEach(async () => {
  mount = await mounted();
  await mount.write('role/app', appRole);
});
afterEach(async () => mount.stop());

const login = async (): Promise<CoreResponse> => mount.login('app', mount.api.issue(forStrongroom));
const warnings = () => mount.lines.filter(({ level }) => level === 'warn');

/** Resolves when the API server has so many requests. */
async function received(count: number): Promise<void> {
  while (mount.api.requests.length < count) await new Promise((resolve) => setImmediate(resolve));
}

describe('an API server that does not do its part', () => {
  const moods: readonly (readonly [ApiMood, RegExp, RegExp])[] = [
    ['hanging up', /cannot be reached/, /other side closed|ECONNRESET|socket/],
    ['failing', /answered with an error/, /status 500: etcdserver/],
    ['busy', /answered with an error/, /status 429: too many requests/],
    ['rubbish', /answered with an error/, /status 201: the answer is not JSON/],
    ['endless', /cannot be reached/, /exceeded/i],
  ];
  for (const [mood, text, cause] of moods) {
    test(`and is ${String(mood)} is a 500 that names it, with the cause in the log`, async () => {
      mount.api.become(mood);
      const answer = await login();
      expect(answer).toMatchObject({ status: 500, errors: [expect.stringMatching(/the Kubernetes API server/)] });
      expect(answer.errors!.join()).toMatch(text);
      expect(answer.errors!.join()).not.toContain('127.0.0.1');
      expect(warnings()).toEqual([
        expect.objectContaining({
          fields: expect.objectContaining({ step: 'token review', url: mount.api.url, error: expect.stringMatching(cause) }),
        }),
      ]);
    });
  }

  test('and refuses its reviewer is a 500, whatever the token', async () => {
    await mount.write('config', { ...mount.config, token_reviewer_jwt: mount.api.issue({ name: 'nobody' }) });
    expect(await login()).toMatchObject({ status: 500, errors: [expect.stringContaining('refuses the token reviewer')] });
    expect(warnings()[0]!.fields['error']).toContain('403');
    await mount.write('config', { ...mount.config, token_reviewer_jwt: 'expired' });
    expect(await login()).toMatchObject({ status: 500, errors: [expect.stringContaining('refuses the token reviewer')] });
    expect(warnings()[1]!.fields['error']).toContain('401');
  });

  test('and has another certificate than the CA vouches for gets no token', async () => {
    const { certificate } = (await import('@strongroom/lab')).createTestCa();
    await mount.write('config', { ...mount.config, kubernetes_ca_cert: certificate });
    expect(await login()).toMatchObject({ status: 500, errors: [expect.stringContaining('cannot be reached')] });
    expect(warnings()[0]!.fields['error']).toMatch(/certificate/);
    expect(mount.api.requests).toEqual([]);
  });

  test('and hangs holds a login for ten seconds', async () => {
    mount.api.become('silent');
    const waiting = login();
    await received(1);
    await mount.clock.advance('10s');
    expect(await waiting).toMatchObject({ status: 500, errors: [expect.stringContaining('did not answer in time')] });
  });

  test('is not called for two seconds after five failures', async () => {
    mount.api.become('failing');
    for (let i = 0; i < 5; i += 1) expect((await login()).status).toBe(500);
    const refused = await login();
    expect(refused).toMatchObject({ status: 503, headers: { 'Retry-After': '2' } });
    expect(refused.errors!.join()).toContain('Kubernetes API server');
    expect(mount.api.requests).toHaveLength(5);
    mount.api.become('well');
    await mount.clock.advance('2s');
    expect((await login()).status).toBe(200);
    expect((await login()).status).toBe(200);
  });

  test('is tried at once where the configuration names another one', async () => {
    await mount.write('config', { ...mount.config, kubernetes_host: 'https://127.0.0.1:1' });
    for (let i = 0; i < 5; i += 1) expect((await login()).status).toBe(500);
    expect((await login()).status).toBe(503);
    await mount.write('config', mount.config);
    expect((await login()).status).toBe(200);
  });

  test('refusals of tokens are no failures of it', async () => {
    for (let i = 0; i < 10; i += 1)
      expect((await mount.login('app', mount.api.issue({ ...forStrongroom, forged: true }))).status).toBe(403);
    expect((await login()).status).toBe(200);
  });

  test('harms no other mount, and no other path of its own', async () => {
    await mount.call('update', 'sys/auth/second', { data: { type: 'kubernetes' } });
    const other = await (await import('@strongroom/lab')).startKubernetesApi({ now: () => mount.clock.millis() });
    try {
      const config = { kubernetes_host: other.url, kubernetes_ca_cert: other.ca, token_reviewer_jwt: other.reviewer };
      await mount.call('update', 'auth/second/config', { data: config });
      await mount.call('update', 'auth/second/role/app', { data: appRole });
      mount.api.become('silent');
      const waiting = Array.from({ length: 100 }, login);
      await received(LIMITS.connections);
      const second = await mount.call('update', 'auth/second/login', { data: { role: 'app', jwt: other.issue(forStrongroom) }, token: '' });
      expect(second.status).toBe(200);
      expect((await mount.call('read', 'auth/kubernetes/role/app')).status).toBe(200);
      await mount.clock.advance('10s');
      for (const { status } of await Promise.all(waiting)) expect(status).toBe(500);
    } finally {
      await other.stop();
    }
  });

  test('does not keep the mount from being removed', async () => {
    mount.api.become('silent');
    const waiting = login();
    await received(1);
    const removal = mount.call('delete', 'sys/auth/kubernetes');
    await mount.advance('10s');
    expect((await waiting).status).toBeGreaterThanOrEqual(500);
    expect((await removal).status).toBe(204);
  });
});

describe('logins share one pool of connections', () => {
  test('a hundred at one time open no more than its sixteen, and all succeed', async () => {
    mount.api.become({ slow: 5 });
    const answers = await Promise.all(Array.from({ length: 100 }, login));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 100 }, () => 200));
    expect(mount.api.connections).toBeLessThanOrEqual(LIMITS.connections);
    expect(mount.api.mostAtOnce).toBeLessThanOrEqual(LIMITS.connections);
  });

  test('one after the other keep using the first ones', async () => {
    for (let i = 0; i < 20; i += 1) await login();
    expect(mount.api.connections).toBeLessThanOrEqual(2);
  });

  test('what finds the queue full is a 503, without a call', async () => {
    mount.api.become('silent');
    const places = LIMITS.connections + LIMITS.queued;
    const waiting = Array.from({ length: places }, login);
    await received(LIMITS.connections);
    const answers = await Promise.all([login(), login()]);
    for (const answer of answers) expect(answer).toMatchObject({ status: 503, headers: { 'Retry-After': '1' } });
    expect(mount.api.requests).toHaveLength(LIMITS.connections);
    await mount.clock.advance('10s');
    await Promise.all(waiting);
  });

  test('those under way end on the old connections when the configuration changes', async () => {
    mount.api.become({ slow: 50 });
    const before = login();
    await received(1);
    await mount.write('config', { ...mount.config, pem_keys: [mount.api.publicKey] });
    mount.api.become('well');
    expect((await login()).status).toBe(200);
    expect((await before).status).toBe(200);
  });
});
