import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { makeCertificate, makeRevocationList } from '@strongroom/lab';
import { mounted, REFUSALS, type MountedCert } from './mounted.ts';

const root = makeCertificate({ subject: 'CN=Root', authority: true });
const alice = makeCertificate({ subject: 'CN=alice', issuer: root });
const refused = (reason: string): object => ({ status: 400, errors: [`1 error occurred:\n\t* failed to renew entry: ${reason}\n\n`] });

describe('the renewal of a certificate login', () => {
  let mount: MountedCert;
  let token: string;
  beforeEach(async () => {
    mount = await mounted();
    await mount.write('certs/eng', { certificate: root.pem, token_policies: 'eng', token_ttl: '10m' });
    token = (await mount.login(alice)).auth!.client_token;
  });
  afterEach(() => mount.close());

  test('takes the lifetimes that the role has now', async () => {
    expect((await mount.renew(token, alice)).auth).toMatchObject({ lease_duration: 600, policies: ['default', 'eng'] });
    await mount.write('certs/eng', { token_ttl: '5m' });
    expect((await mount.renew(token, alice)).auth).toMatchObject({ lease_duration: 300 });
  });

  test('needs the very certificate of the login: not none, not another one of the same name, not one of the same key', async () => {
    expect(await mount.renew(token)).toMatchObject(REFUSALS.none);
    const mismatch = refused('client identity during renewal not matching client identity used during login');
    expect(await mount.renew(token, makeCertificate({ subject: 'CN=alice', issuer: root }))).toMatchObject(mismatch);
    expect(await mount.renew(token, makeCertificate({ subject: 'CN=alice', issuer: root, keyOf: alice }))).toMatchObject(mismatch);
    await mount.write('config', { disable_binding: true });
    expect(await mount.renew(token)).toMatchObject({ status: 200 });
  });

  test('needs a certificate that could still log in with the role', async () => {
    await mount.write('certs/eng', { allowed_common_names: 'bob' });
    expect(await mount.renew(token, alice)).toMatchObject(REFUSALS.unfit);
    await mount.write('certs/eng', { allowed_common_names: '' });
    const list = makeRevocationList(root, { revoked: [alice], thisUpdate: new Date('2029-12-31'), nextUpdate: new Date('2031-01-01') });
    await mount.write('crls/root', { crl: list.toString('base64') });
    expect(await mount.renew(token, alice)).toMatchObject(REFUSALS.unfit);
    await mount.delete('crls/root');
    expect(await mount.renew(token, alice)).toMatchObject({ status: 200 });
  });

  test('needs the policies of the login, in whatever order and case', async () => {
    await mount.write('certs/eng', { token_policies: 'ENG, default' });
    expect(await mount.renew(token, alice)).toMatchObject({ status: 200 });
    await mount.write('certs/eng', { token_policies: 'eng,more' });
    expect(await mount.renew(token, alice)).toMatchObject(refused('policies have changed, not renewing'));
  });

  test('ends with the role', async () => {
    await mount.delete('certs/eng');
    expect(await mount.renew(token, alice)).toMatchObject(refused('role "eng" does not exist during renewal'));
  });

  test('holds for whoever renews: by the token, and by its accessor', async () => {
    const data = { token };
    expect(await mount.call('update', 'auth/token/renew', { data })).toMatchObject(REFUSALS.none);
    expect(await mount.call('update', 'auth/token/renew', { data, certificates: alice.path })).toMatchObject({ status: 200 });
    const { accessor } = (await mount.login(alice)).auth!;
    expect(await mount.call('update', 'auth/token/renew-accessor', { data: { accessor } })).toMatchObject(REFUSALS.none);
  });
});
