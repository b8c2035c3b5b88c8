import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mountForTest } from '@strongroom/engine-testkit';
import { createTestCa } from '@strongroom/lab';
import { memoryStorage, type StorageDriver } from '@strongroom/storage-sdk';
import { kubernetesAuthWith } from '../src/index.ts';
import { appRole, forStrongroom, mounted, type MountedKubernetes } from './mounted.ts';

let folder: string;
let storage: StorageDriver;
let mount: MountedKubernetes;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pod-'));
  storage = memoryStorage();
  mount = await mounted({ podFolder: folder, storage });
  await mount.write('role/app', appRole);
});
afterEach(async () => {
  await mount.stop();
  await rm(folder, { recursive: true, force: true });
});

const write = async (name: 'ca.crt' | 'token', text: string): Promise<void> => writeFile(join(folder, name), text);
/** A token that may review, by another name than the last one. */
const reviewer = (name: string): string => {
  mount.api.allowReviews('kube-system', name);
  return mount.api.issue({ namespace: 'kube-system', name, expires: 1e6 });
};
const login = async () => mount.login('app', mount.api.issue(forStrongroom));
const asker = (): string => mount.api.requests.at(-1)!.bearer;

describe('in a pod', () => {
  test('the host is all that has to be configured', async () => {
    const token = reviewer('strongroom');
    await write('ca.crt', mount.api.ca);
    await write('token', `${token}\n`);
    await mount.clock.advance('1m');
    expect((await mount.write('config', { kubernetes_host: mount.api.url, token_reviewer_jwt: '' })).warnings ?? []).toEqual([]);
    expect((await login()).status).toBe(200);
    expect(asker()).toBe(token);
  });

  test('the token is read again each minute, and the CA each hour', async () => {
    const [first, second] = [reviewer('first'), reviewer('second')];
    await write('ca.crt', mount.api.ca);
    await write('token', first);
    await mount.clock.advance('1m');
    await mount.write('config', { kubernetes_host: mount.api.url, token_reviewer_jwt: '' });
    await login();
    await write('token', second);
    await mount.clock.advance('59s');
    await login();
    expect(asker()).toBe(first);
    await mount.clock.advance('1s');
    await login();
    expect(asker()).toBe(second);

    await write('ca.crt', createTestCa().certificate);
    await mount.clock.advance('58m');
    expect((await login()).status).toBe(200);
    await mount.clock.advance('1m');
    expect((await login()).status).toBe(500);
  });

  test('a file that vanishes leaves what was read', async () => {
    await write('ca.crt', mount.api.ca);
    await write('token', reviewer('strongroom'));
    await mount.clock.advance('1m');
    await mount.write('config', { kubernetes_host: mount.api.url, token_reviewer_jwt: '' });
    await login();
    await rm(join(folder, 'token'));
    await rm(join(folder, 'ca.crt'));
    await mount.clock.advance('2h');
    expect((await login()).status).toBe(200);
  });

  test("the pod's token goes to no server that another CA than the pod's vouches for, and the write says so", async () => {
    await write('ca.crt', createTestCa().certificate);
    await write('token', reviewer('strongroom'));
    await mount.clock.advance('1m');
    const { warnings } = await mount.write('config', { ...mount.config, token_reviewer_jwt: '' });
    expect(warnings!.join()).toContain("another CA than the pod's");
    const own = mount.api.issue(forStrongroom);
    await mount.login('app', own);
    expect(asker()).toBe(own);
    await mount.write('config', { kubernetes_host: mount.api.url.replace('https', 'http'), token_reviewer_jwt: '' });
    await mount.login('app', own);
    expect(mount.api.requests).toHaveLength(1);
  });

  test('a server that has left its pod reaches no API server, and tells callers no more than that', async () => {
    await write('ca.crt', mount.api.ca);
    await mount.clock.advance('1m');
    await mount.write('config', { kubernetes_host: mount.api.url, token_reviewer_jwt: '' });
    await rm(folder, { recursive: true });
    const second = await mountForTest(kubernetesAuthWith({ podFolder: folder }), { storage, clock: mount.clock });
    try {
      const answer = await second.call('update', 'auth/kubernetes/login', {
        data: { role: 'app', jwt: mount.api.issue(forStrongroom) },
        token: '',
      });
      expect(answer).toMatchObject({ status: 500, errors: [expect.stringContaining('the Kubernetes API server cannot be reached')] });
      expect(answer.errors!.join()).not.toContain(folder);
    } finally {
      await second.close();
    }
  });

  test("the pod's CA that is sent word for word is the pod's CA", async () => {
    const token = reviewer('strongroom');
    await write('ca.crt', mount.api.ca);
    await write('token', token);
    await mount.clock.advance('1m');
    await mount.write('config', { kubernetes_host: mount.api.url, kubernetes_ca_cert: mount.api.ca.trim(), token_reviewer_jwt: '' });
    await login();
    expect(asker()).toBe(token);
  });

  test('disable_local_ca_jwt leaves both files alone', async () => {
    await write('ca.crt', mount.api.ca);
    await write('token', reviewer('strongroom'));
    await mount.clock.advance('1m');
    await mount.write('config', { ...mount.config, token_reviewer_jwt: '', disable_local_ca_jwt: true });
    const own = mount.api.issue(forStrongroom);
    await mount.login('app', own);
    expect(asker()).toBe(own);
  });
});
