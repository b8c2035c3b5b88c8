// eslint-disable-next-line no-restricted-syntax -- etcd keeps the time of its tokens
import { setTimeout as delay } from 'node:timers/promises';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestCa, describeWhere, etcdMissing, startEtcd, type EtcdCluster } from '@strongroom/lab';
import type { StorageDriver } from '@strongroom/storage-sdk';
import { etcdStorage } from '../src/index.ts';

const put = (key: string, text = key) => ({ key, value: Buffer.from(text) });
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const password = 'pa:ss/w%rd-of-the-test';

/** A user of etcd with access to one prefix, and authentication switched on. */
async function lockDown(etcd: EtcdCluster, prefix: string): Promise<void> {
  await etcd.call('/v3/auth/user/add', { name: 'root', password: 'root' });
  await etcd.call('/v3/auth/role/add', { name: 'root' });
  await etcd.call('/v3/auth/user/grant', { user: 'root', role: 'root' });
  await etcd.call('/v3/auth/role/add', { name: 'strongroom' });
  const perm = { permType: 'READWRITE', key: base64(prefix), range_end: base64(`${prefix.slice(0, -1)}0`) };
  await etcd.call('/v3/auth/role/grant', { name: 'strongroom', perm });
  await etcd.call('/v3/auth/user/add', { name: 'strongroom', password });
  await etcd.call('/v3/auth/user/grant', { user: 'strongroom', role: 'strongroom' });
  await etcd.call('/v3/auth/enable');
}

describeWhere(etcdMissing(), 'a user of etcd', () => {
  let etcd: EtcdCluster;
  let driver: StorageDriver;

  beforeAll(async () => {
    // Tokens of calls end in the middle of the tests.
    etcd = await startEtcd({ flags: ['--auth-token-ttl=1'] });
    await lockDown(etcd, 'strongroom/');
    driver = await etcdStorage({ endpoints: etcd.endpoints, username: 'strongroom', password });
  }, 60_000);
  afterAll(async () => {
    await driver?.close();
    await etcd?.stop();
  }, 60_000);

  test('needs access to the prefix alone', async () => {
    await driver.commit({ put: [put('a')], notify: ['a'] });
    expect(await driver.get('a')).toBeDefined();
    expect(await driver.range({})).toHaveLength(1);
    const copy = await driver.copy!();
    expect(copy.entries).toBe(1);
    await copy.close();
    await (driver as unknown as { tidy(): Promise<void> }).tidy();
    await expect(etcdStorage({ endpoints: etcd.endpoints, username: 'strongroom', password, prefix: 'other' })).rejects.toThrow(
      /lacks a permission on the prefix/,
    );
  });

  test('that is wrong is refused, and neither name nor password is in the error', async () => {
    for (const login of [{ username: 'strongroom', password: 'wrong-of-the-test' }, { username: 'nobody-here', password }, {}]) {
      const error = await etcdStorage({ endpoints: etcd.endpoints, ...login }).then(
        () => undefined,
        (reason: unknown) => reason as Error,
      );
      expect(error?.message).toMatch(/etcd refuses the user name or password/);
      expect(String(error?.stack)).not.toMatch(/of-the-test|nobody-here/);
    }
  });

  test('logs in again when its token has ended', async () => {
    const token = async (): Promise<boolean> =>
      etcd.call('/v3/kv/range', { key: base64('strongroom/state') }, { token: given.token }).then(
        () => true,
        () => false,
      );
    const given = (await etcd.call('/v3/auth/authenticate', { name: 'strongroom', password })) as { token: string };
    await driver.get('a');
    // A call makes a token last longer: this one is asked about after the time of both.
    do await delay(1_500);
    while (await token());
    await driver.commit({ put: [put('after')] });
    expect(await driver.get('after')).toBeDefined();
  }, 30_000);

  test('logs in again when its token is no longer valid, also for the watch', async () => {
    const other = await etcdStorage({ endpoints: etcd.endpoints, username: 'strongroom', password });
    const heard: unknown[] = [];
    driver.changes((changed) => void heard.push(changed));
    // A restart forgets all tokens.
    await etcd.members[0]!.kill();
    await etcd.members[0]!.start();
    await other.commit({ put: [put('b')], notify: ['b'] });
    expect(await driver.get('b')).toBeDefined();
    while (heard.length === 0) await delay(20);
    // Whatever changes users changes what tokens are good for.
    const { token } = (await etcd.call('/v3/auth/authenticate', { name: 'root', password: 'root' })) as { token: string };
    await etcd.call('/v3/auth/user/add', { name: 'another', password: 'another' }, { token });
    await Promise.all(Array.from({ length: 20 }, (_, i) => driver.commit({ put: [put(`c/${i}`)] })));
    expect(await other.range({ prefix: 'c/' })).toHaveLength(20);
    await other.close();
  }, 30_000);
});

describeWhere(etcdMissing(), 'an etcd that wants TLS and client certificates', () => {
  test('is used with them, and not without, nor with an authority that is not its own', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'strongroom-etcd-tls-'));
    const file = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const ca = createTestCa();
    const server = ca.issue('127.0.0.1', ['IP:127.0.0.1']);
    const client = ca.issue('strongroom', ['IP:127.0.0.1']);
    const caFile = file('ca.pem', ca.certificate);
    const certFile = file('client.pem', client.cert);
    const keyFile = file('client.key', client.key);
    const tls = { certificate: file('server.pem', server.cert), key: file('server.key', server.key), authority: caFile };
    const etcd = await startEtcd({ tls, flags: ['--client-cert-auth'] });
    try {
      const driver = await etcdStorage({ endpoints: etcd.endpoints, caFile, certFile, keyFile });
      await driver.commit({ put: [put('a')] });
      expect(await driver.get('a')).toBeDefined();
      await driver.close();
      const stranger = file('stranger.pem', createTestCa().certificate);
      for (const options of [{ caFile }, { caFile: stranger, certFile, keyFile }])
        await expect(etcdStorage({ endpoints: etcd.endpoints, requestTimeoutMs: 500, ...options })).rejects.toThrow(
          /etcd cannot be reached/,
        );
    } finally {
      await etcd.stop();
      rmSync(folder, { recursive: true });
    }
  }, 60_000);
});
