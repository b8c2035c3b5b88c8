import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { manualClock } from '@strongroom/engine-testkit';
import { makeCertificate } from '@strongroom/lab';
import { readSettings, type SealSession } from '@strongroom/seal-sdk';
import { transitSeal } from '../src/index.ts';
import { startTransit, type TransitServer } from './transit-server.ts';

const AAD = Buffer.from('core/root-key');
const signal = new AbortController().signal;
const moved = manualClock();
/** The pauses that were planned, in milliseconds. */
const pauses: number[] = [];
const clock = {
  ...moved,
  after: (millis: number, callback: () => void) => {
    pauses.push(millis);
    return moved.after(millis, callback);
  },
};
const warnings: string[] = [];
const log = { debug: () => undefined, info: () => undefined, error: () => undefined, warn: (text: string) => void warnings.push(text) };

let server: TransitServer | undefined;
let session: SealSession | undefined;
afterEach(async () => {
  await session?.close();
  await server?.stop();
  warnings.length = 0;
  pauses.length = 0;
});

async function open(block: Record<string, string>, env: Record<string, string> = {}): Promise<SealSession> {
  const read = readSettings(transitSeal.settings, { block, env, readFile: () => Buffer.alloc(0) });
  expect([...read.complaints, ...transitSeal.check!(read.values())]).toEqual([]);
  session = await transitSeal.open(read.values(), { log: log as never, clock });
  return session;
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise(setImmediate);
}

describe('the transit seal', () => {
  test('takes the settings and variables of the same seal elsewhere', async () => {
    server = await startTransit(['autounseal'], { namespace: 'ops' });
    const env = {
      VAULT_TRANSIT_SEAL_ADDR: server.address,
      VAULT_TRANSIT_SEAL_TOKEN: server.token,
      VAULT_TRANSIT_SEAL_KEY_NAME: 'autounseal',
      VAULT_TRANSIT_SEAL_MOUNT_PATH: '/kms/seal/',
      VAULT_NAMESPACE: 'ops',
      VAULT_TRANSIT_SEAL_DISABLE_RENEWAL: 'true',
    };
    const { keyId } = await (await open({ address: 'http://other.example' }, env)).wrap({ plain: Buffer.from('k'), aad: AAD, signal });
    expect([keyId, server.calls]).toEqual(['v1', ['PUT /v1/kms/seal/encrypt/autounseal']]);
  });

  test('speaks TLS to a server whose certificate it is given the authority of, and to no other', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'strongroom-transit-'));
    const ca = makeCertificate({ subject: 'CN=Root', authority: true });
    const own = makeCertificate({ subject: 'CN=localhost', names: ['DNS:localhost'], issuer: ca, extendedKeyUsage: [] });
    await writeFile(join(folder, 'ca.pem'), ca.pem);
    server = await startTransit(['unseal'], { tls: { cert: own.pem, key: own.key } });
    const block = { address: server.address, token: server.token, key_name: 'unseal', disable_renewal: 'true' };
    await expect((await open(block)).keyId({ signal })).rejects.toMatchObject({ code: 'seal_unavailable' });
    await session!.close();
    await expect((await open({ ...block, tls_ca_cert: join(folder, 'ca.pem') })).keyId({ signal })).resolves.toBe('v1');
    await rm(folder, { recursive: true });
  });

  test('renews its token at half of the lifetime, again after a failure, and stops at the end', async () => {
    server = await startTransit(['unseal']);
    await open({ address: server.address, token: server.token, key_name: 'unseal' });
    await clock.advance('1s');
    await until(() => pauses.length === 2);
    server.fail('throttled');
    await clock.advance('30m');
    await until(() => pauses.length === 3);
    expect(warnings).toEqual(['the token of the transit seal could not be renewed']);
    server.fail(undefined);
    await clock.advance('30s');
    await until(() => pauses.length === 4);
    expect(pauses).toEqual([0, 1_800_000, 30_000, 1_800_000]);
    await session!.close();
    await clock.advance('2h');
    expect(server.calls).toEqual(Array(3).fill('PUT /v1/auth/token/renew-self'));
  });

  test('leaves a root token alone', async () => {
    server = await startTransit(['unseal']);
    server.ttl = 'root';
    const opened = await open({ address: server.address, token: server.token, key_name: 'unseal' });
    await clock.advance('1s');
    await until(() => server!.calls.length === 1);
    // Answered after the renewal, over the same connections.
    await opened.keyId({ signal });
    await clock.advance('1h');
    expect([pauses, warnings]).toEqual([[0], []]);
  });

  test('says that the key or the mount is not there, and how long to pause', async () => {
    server = await startTransit(['unseal']);
    const block = { address: server.address, token: server.token, disable_renewal: 'true' };
    await expect((await open({ ...block, key_name: 'none' })).keyId({ signal })).rejects.toMatchObject({ code: 'seal_permission_denied' });
    await session!.close();
    const elsewhere = await open({ ...block, key_name: 'unseal', mount_path: 'nothing' });
    await expect(elsewhere.keyId({ signal })).rejects.toThrow('does not have the key or its mount');
    await session!.close();
    server.fail('throttled');
    await expect((await open({ ...block, key_name: 'unseal' })).keyId({ signal })).rejects.toMatchObject({ retryAfterSeconds: 7 });
  });

  test.each([
    [{ address: 'vault.example:8200', token: 't', key_name: 'k' }, 'address must be a URL'],
    [{ address: 'https://user:pw@vault.example', token: 't', key_name: 'k' }, 'address must be a URL'],
    [{ address: 'https://v', token: 't', key_name: 'a/b' }, 'key_name must be the name of a key'],
    [{ address: 'https://v', token: 't', key_name: 'k', tls_client_cert: '/c' }, 'come together'],
  ])('refuses %j', (block, complaint) => {
    const { values } = readSettings(transitSeal.settings, { block, env: {}, readFile: () => Buffer.alloc(0) });
    expect(transitSeal.check!(values()).join()).toContain(complaint);
  });
});
