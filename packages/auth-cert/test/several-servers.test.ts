import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { sharedMemory } from '@strongroom/engine-testkit';
import { makeCertificate, makeRevocationList } from '@strongroom/lab';
import { mounted, REFUSALS, type MountedCert } from './mounted.ts';

const root = makeCertificate({ subject: 'CN=Root', authority: true });
const alice = makeCertificate({ subject: 'CN=alice', issuer: root });

describe('several servers on one store', () => {
  let one: MountedCert;
  let other: MountedCert;
  beforeEach(async () => {
    const store = sharedMemory();
    one = await mounted({ storage: store.open() });
    other = await mounted({ storage: store.open() });
    // Both remember that there is nothing yet.
    for (const server of [one, other]) expect(await server.login(alice)).toMatchObject(REFUSALS.untrusted);
    await one.write('certs/eng', { certificate: root.pem, token_policies: 'eng', token_ttl: '10m' });
  });
  afterEach(async () => {
    await one.close();
    await other.close();
  });
  /** Another server learns of a change a moment later. */
  const soon = async (work: () => Promise<{ readonly status: number }>, status: number): Promise<void> => {
    for (let turn = 0; turn < 1_000; turn += 1) {
      if ((await work()).status === status) return;
      await new Promise((resolve) => setImmediate(resolve));
    }
    throw new Error(`the answer did not become ${status}`);
  };

  test('log in by the roles that either of them wrote, and renew the tokens of each other', async () => {
    await soon(() => other.login(alice), 200);
    const { auth } = await one.login(alice);
    expect(await other.renew(auth!.client_token, alice)).toMatchObject({ status: 200 });
    await other.write('certs/eng', { allowed_common_names: 'bob' });
    await soon(() => one.login(alice), 400);
    await other.delete('certs/eng');
    await soon(() => one.renew(auth!.client_token, alice), 400);
  });

  test('refuse what a list revokes that either of them took, and follow the configuration', async () => {
    await soon(() => other.login(alice), 200);
    const { auth } = await other.login(alice);
    const list = makeRevocationList(root, { revoked: [alice], thisUpdate: new Date('2029-12-31'), nextUpdate: new Date('2031-01-01') });
    await one.write('crls/root', { crl: list.toString('base64') });
    await soon(() => other.login(alice), 400);
    await one.delete('crls/root');
    await soon(() => other.login(alice), 200);
    await one.write('config', { disable_binding: true });
    await soon(() => other.renew(auth!.client_token), 200);
  });
});
