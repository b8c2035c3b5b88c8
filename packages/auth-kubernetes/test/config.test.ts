import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createTestCa } from '@strongroom/lab';
import { CallFailed } from '@strongroom/engine-testkit';
import { appRole, forStrongroom, mounted, type MountedKubernetes } from './mounted.ts';

let mount: MountedKubernetes;
beforeAll(async () => {
  mount = await mounted();
  await mount.write('role/app', appRole);
});
afterAll(async () => mount.stop());
beforeEach(async () => void (await mount.write('config', mount.config)));

async function refusal(data: Record<string, unknown>): Promise<string> {
  const error: unknown = await mount.write('config', data).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(CallFailed);
  expect((error as CallFailed).response.status).toBe(400);
  return (error as CallFailed).response.errors!.join();
}

const shown = async () => (await mount.read('config')).data as Record<string, unknown>;
const without = (...names: string[]) => Object.fromEntries(Object.entries(mount.config).filter(([name]) => !names.includes(name)));

/** A token that may write the configuration, without sudo. */
async function writer(): Promise<string> {
  await mount.call('update', 'sys/policies/acl/writer', {
    data: { policy: 'path "auth/kubernetes/*" { capabilities = ["create", "update", "read"] }' },
  });
  const { auth } = await mount.call('update', 'auth/token/create', { data: { policies: ['writer'] } });
  return auth!.client_token;
}

describe('a write of the configuration', () => {
  test('replaces all parameters that it does not send, but keeps the token of the reviewer', async () => {
    await mount.write('config', { ...mount.config, issuer: 'https://issuer.example', pem_keys: [mount.api.publicKey] });
    await mount.write('config', without('token_reviewer_jwt'));
    expect(await shown()).toEqual({
      kubernetes_host: mount.api.url,
      kubernetes_ca_cert: mount.api.ca,
      token_reviewer_jwt_set: true,
      pem_keys: [],
      disable_local_ca_jwt: false,
      issuer: '',
      disable_iss_validation: true,
    });
    expect((await mount.login('app', mount.api.issue(forStrongroom))).status).toBe(200);
  });

  test('removes the token of the reviewer where it is sent empty, and where the host is another one', async () => {
    await mount.write('config', { ...mount.config, token_reviewer_jwt: '' });
    expect(await shown()).toMatchObject({ token_reviewer_jwt_set: false });
    await mount.write('config', mount.config);
    await mount.write('config', { ...without('token_reviewer_jwt'), kubernetes_host: 'https://elsewhere.example' });
    expect(await shown()).toMatchObject({ token_reviewer_jwt_set: false });
  });

  test('with another CA sends the token of the reviewer again, unless the caller has sudo', async () => {
    const changed = { kubernetes_host: mount.api.url, kubernetes_ca_cert: createTestCa().certificate };
    const token = await writer();
    const answer = await mount.call('update', 'auth/kubernetes/config', { data: changed, token });
    expect(answer).toMatchObject({ status: 400, errors: [expect.stringMatching(/kubernetes_ca_cert.*token_reviewer_jwt/)] });
    const again = { ...changed, token_reviewer_jwt: mount.api.reviewer };
    expect((await mount.call('update', 'auth/kubernetes/config', { data: again, token })).status).toBe(204);
    expect((await mount.call('update', 'auth/kubernetes/config', { data: without('token_reviewer_jwt') })).status).toBe(204);
  });

  test('turns the check of issuers on where it sets an issuer, and off where it says so', async () => {
    await mount.write('config', { ...mount.config, issuer: 'https://issuer.example' });
    expect(await shown()).toMatchObject({ disable_iss_validation: false });
    await mount.write('config', { ...mount.config, issuer: 'https://issuer.example', disable_iss_validation: true });
    expect(await shown()).toMatchObject({ disable_iss_validation: true });
  });

  test('takes a host with a path, as proxies in front of several clusters have it', async () => {
    await mount.write('config', { ...mount.config, kubernetes_host: `${mount.api.url}/k8s/clusters/c-1/` });
    await mount.login('app', mount.api.issue(forStrongroom));
    expect(mount.api.requests.at(-1)!.path).toBe('/k8s/clusters/c-1/apis/authentication.k8s.io/v1/tokenreviews');
  });

  test('warns of a host without encryption, except on this machine', async () => {
    const { warnings } = await mount.write('config', { ...mount.config, kubernetes_host: 'http://10.0.0.1' });
    expect(warnings!.join()).toContain('https');
    expect((await mount.write('config', { ...mount.config, kubernetes_host: 'http://127.0.0.1:8001' })).warnings ?? []).toEqual([]);
  });

  const wrong: readonly (readonly [Record<string, unknown>, RegExp])[] = [
    [{}, /^no host provided$/],
    [{ kubernetes_host: ' ' }, /^no host provided$/],
    [{ kubernetes_host: 'kubernetes.default:443' }, /kubernetes_host.*https/],
    [{ kubernetes_host: 'ftp://x' }, /kubernetes_host/],
    [{ kubernetes_host: 'https://user:pw@x' }, /kubernetes_host/],
    [{ kubernetes_host: 'https://x?y=1' }, /kubernetes_host/],
    [{ kubernetes_host: 'https://x', disable_local_ca_jwt: true }, /^kubernetes_ca_cert must be given when disable_local_ca_jwt is true$/],
    [{ kubernetes_host: 'https://x' }, /kubernetes_ca_cert: there is no ca\.crt/],
    [{ kubernetes_host: 'https://x', kubernetes_ca_cert: 'zz' }, /kubernetes_ca_cert/],
    [
      { kubernetes_host: 'https://x', kubernetes_ca_cert: '-----BEGIN CERTIFICATE-----\nzz\n-----END CERTIFICATE-----' },
      /kubernetes_ca_cert/,
    ],
  ];
  for (const [data, text] of wrong)
    test(`is refused: ${String(text)} for ${JSON.stringify(data).slice(0, 60)}`, async () => expect(await refusal(data)).toMatch(text));

  test('is refused for keys that are none, and for a reviewer that is no token', async () => {
    const { privateKey } = (await import('node:crypto')).generateKeyPairSync('ed25519');
    const ed25519 = privateKey.export({ type: 'pkcs8', format: 'pem' });
    for (const key of ['zz', ed25519])
      expect(await refusal({ ...mount.config, pem_keys: [mount.api.publicKey, key] })).toBe('data does not contain any valid public keys');
    expect(await refusal({ ...mount.config, token_reviewer_jwt: 'a b' })).toContain('token_reviewer_jwt');
  });
});
