import { createAppAuth } from '@octokit/auth-app';
import { Octokit } from '@octokit/rest';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import sodium from 'libsodium-wrappers';
import { type GithubServer, startGithubServer } from '../../src/servers/github-server.ts';

describe('the server that emulates GitHub, to the official client', () => {
  let server: GithubServer;
  const clock = { skew: 0 };
  const repository = { owner: 'acme', repo: 'shop' };
  beforeAll(async () => {
    server = await startGithubServer({ now: () => Date.now() + clock.skew, rateLimit: 200 });
    server.addRepository('acme', 'shop', ['production']);
    server.addOrganization('acme');
    await sodium.ready;
  });
  afterAll(() => server?.stop());
  afterEach(() => {
    clock.skew = 0;
    server.forget();
    for (const where of ['acme/shop', 'acme/shop/production', 'acme']) {
      const scope = server.scope(where);
      for (const secret of scope.all()) scope.delete(secret.name);
    }
  });

  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const client = (auth = server.token): Octokit => new Octokit({ auth, baseUrl: server.url, log });
  function seal(value: string, key: string): string {
    const box = sodium.crypto_box_seal(value, sodium.from_base64(key, sodium.base64_variants.ORIGINAL));
    return sodium.to_base64(box, sodium.base64_variants.ORIGINAL);
  }

  test('takes a sealed secret of a repository, opens it, and never gives its value back', async () => {
    const github = client();
    const { data: key } = await github.rest.actions.getRepoPublicKey(repository);
    const secret = { ...repository, secret_name: 'TOKEN', encrypted_value: seal('the value', key.key), key_id: key.key_id };
    expect((await github.rest.actions.createOrUpdateRepoSecret(secret)).status).toBe(201);
    expect((await github.rest.actions.createOrUpdateRepoSecret(secret)).status).toBe(204);
    expect(server.scope('acme/shop').find('token')?.value).toBe('the value');
    const { data } = await github.rest.actions.getRepoSecret({ ...repository, secret_name: 'TOKEN' });
    expect(Object.keys(data)).toEqual(['name', 'created_at', 'updated_at']);
    await github.rest.actions.deleteRepoSecret({ ...repository, secret_name: 'TOKEN' });
    const gone = github.rest.actions.deleteRepoSecret({ ...repository, secret_name: 'TOKEN' });
    await expect(gone).rejects.toMatchObject({ status: 404 });
    expect(server.faults).toEqual([]);
  });

  test('keeps secrets of environments and organizations apart, each under a key of its own', async () => {
    const github = client();
    const place = { ...repository, environment_name: 'production' };
    const environment = (await github.rest.actions.getEnvironmentPublicKey(place)).data;
    const organization = (await github.rest.actions.getOrgPublicKey({ org: 'acme' })).data;
    const sealed = (key: { key: string; key_id: string }) => ({ encrypted_value: seal('x', key.key), key_id: key.key_id });
    await github.rest.actions.createOrUpdateEnvironmentSecret({ ...place, secret_name: 'A', ...sealed(environment) });
    const { id } = (await github.rest.repos.get(repository)).data;
    await github.rest.actions.createOrUpdateOrgSecret({
      org: 'acme',
      secret_name: 'B',
      visibility: 'selected',
      selected_repository_ids: [id],
      ...sealed(organization),
    });
    const chosen = await github.rest.actions.listSelectedReposForOrgSecret({ org: 'acme', secret_name: 'B' });
    expect(chosen.data.repositories.map(({ full_name }) => full_name)).toEqual(['acme/shop']);
    expect((await github.rest.actions.getOrgSecret({ org: 'acme', secret_name: 'B' })).data.visibility).toBe('selected');
    expect(server.scope('acme/shop').all()).toEqual([]);
    const swapped = github.rest.actions.createOrUpdateEnvironmentSecret({ ...place, secret_name: 'A', ...sealed(organization) });
    await expect(swapped).rejects.toMatchObject({ status: 422 });
    expect(server.faults).toEqual([]);
  });

  test('lists page by page', async () => {
    const scope = server.scope('acme/shop');
    for (let index = 0; index < 45; index += 1) scope.put(`NAME_${index}`, { value: 'x' });
    const all = await client().paginate(client().rest.actions.listRepoSecrets, repository);
    expect(all).toHaveLength(45);
    expect(server.calls).toHaveLength(2);
  });

  test('refuses what is not described, is not sealed, has a wrong name, is too large or one too many', async () => {
    const github = client();
    const scope = server.scope('acme/shop');
    const put = (secret_name: string, body: object) =>
      github.request('PUT /repos/{owner}/{repo}/actions/secrets/{secret_name}', { ...repository, secret_name, ...body } as never);
    const good = (value: string) => ({ encrypted_value: seal(value, scope.publicKey), key_id: scope.keyId });
    await expect(put('A', { encrypted_value: 'not base64', key_id: scope.keyId })).rejects.toMatchObject({ status: 422 });
    await expect(put('A', { encrypted_value: 'aaaa' })).rejects.toMatchObject({ status: 422 });
    expect(server.faults).toHaveLength(2);
    await expect(put('A', { encrypted_value: 'aaaa', key_id: scope.keyId })).rejects.toThrow('Improperly encrypted');
    for (const name of ['1A', 'A-B', 'GITHUB_A']) await expect(put(name, good('x'))).rejects.toThrow('Secret names');
    await put('A', good('x'.repeat(48 * 1024)));
    await expect(put('A', good('x'.repeat(48 * 1024 + 1)))).rejects.toThrow('too large');
    for (let index = 1; index < 100; index += 1) scope.put(`N${index}`, { value: 'x' });
    await expect(put('B', good('x'))).rejects.toThrow('100 secrets');
    await put('A', good('y'));
  });

  test('tells 401, 403 and 404 apart, each with a request id', async () => {
    const get = (auth: string, repo = 'shop') => client(auth).rest.actions.listRepoSecrets({ owner: 'acme', repo });
    await expect(get('nonsense')).rejects.toMatchObject({ status: 401 });
    await expect(get(server.addWeakToken())).rejects.toMatchObject({ status: 403 });
    const missing = await get(server.token, 'none').catch((error: unknown) => error);
    expect(missing).toMatchObject({
      status: 404,
      response: { headers: { 'x-github-request-id': expect.stringMatching(/^[0-9A-F:]{20,}$/) } },
    });
  });

  test('gives an installation of an app a token, for a JWT that the app signed', async () => {
    const auth = (privateKey: string) => ({
      authStrategy: createAppAuth,
      auth: { appId: server.app.appId, privateKey, installationId: server.app.installationId },
      baseUrl: server.url,
      log,
    });
    expect((await new Octokit(auth(server.app.privateKey)).rest.actions.listRepoSecrets(repository)).status).toBe(200);
    const other = await startGithubServer();
    try {
      await expect(new Octokit(auth(other.app.privateKey)).rest.actions.listRepoSecrets(repository)).rejects.toMatchObject({ status: 401 });
    } finally {
      await other.stop();
    }
    clock.skew = 20 * 60_000;
    await expect(new Octokit(auth(server.app.privateKey)).rest.actions.listRepoSecrets(repository)).rejects.toMatchObject({ status: 401 });
  });

  test('limits the rate of a token, and asks for a pause as a secondary limit does', async () => {
    server.fail({ status: 403, code: 'secondary', retryAfter: 7 });
    const secondary = await client()
      .rest.actions.listRepoSecrets(repository)
      .catch((error: unknown) => error);
    expect(secondary).toMatchObject({
      status: 403,
      message: expect.stringContaining('secondary rate limit'),
      response: { headers: { 'retry-after': '7' } },
    });
    const small = await startGithubServer({ rateLimit: 1 });
    try {
      small.addRepository('acme', 'shop');
      const github = new Octokit({ auth: small.token, baseUrl: `${small.url}/api/v3`, log });
      const { headers } = await github.rest.actions.listRepoSecrets(repository);
      expect(headers['x-ratelimit-remaining']).toBe('0');
      await expect(github.rest.actions.listRepoSecrets(repository)).rejects.toThrow('API rate limit exceeded');
    } finally {
      await small.stop();
    }
  });

  test('keeps no value in what it records', async () => {
    const scope = server.scope('acme/shop');
    const body = { encrypted_value: seal('the value', scope.publicKey), key_id: scope.keyId };
    await client().rest.actions.createOrUpdateRepoSecret({ ...repository, secret_name: 'A', ...body });
    expect(JSON.stringify(server.calls)).not.toContain(body.encrypted_value);
  });
});
