import { ClientSecretCredential } from '@azure/identity';
import { SecretClient, type SecretClientOptions } from '@azure/keyvault-secrets';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type AzureServer, startAzureServer } from '../../src/servers/azure-server.ts';

describe('the server that emulates Azure Key Vault, to the official client', () => {
  let server: AzureServer;
  const clock = { skew: 0 };
  beforeAll(async () => {
    server = await startAzureServer({ now: () => Date.now() + clock.skew, pageSize: 3 });
  });
  afterAll(() => server?.stop());
  beforeEach(() => {
    server.forget();
    server.secrets.settle = 0;
    server.permissions = ['get', 'list', 'set', 'delete', 'recover', 'purge'];
    for (const entry of [...server.secrets.live(), ...server.secrets.deleted()]) server.secrets.purge(entry.name);
  });

  function client(secret = server.client.clientSecret, tenant = server.tenantId): SecretClient {
    const options: SecretClientOptions = { tlsOptions: { ca: server.ca }, retryOptions: { maxRetries: 0 } };
    const credential = new ClientSecretCredential(tenant, server.client.clientId, secret, {
      ...options,
      authorityHost: server.url,
      disableInstanceDiscovery: true,
    });
    return new SecretClient(server.url, credential, { ...options, disableChallengeResourceVerification: true });
  }

  test('challenges the first request, and takes the token that its authority signs', async () => {
    await client().setSecret('first', 'one');
    expect(server.calls.map(({ method, path, status }) => `${method} ${path.replace(server.tenantId, 'tenant')} ${status}`)).toEqual([
      'PUT /secrets/first 401',
      'GET /tenant/v2.0/.well-known/openid-configuration 200',
      'POST /tenant/oauth2/v2.0/token 200',
      'PUT /secrets/first 200',
    ]);
  });

  test('keeps content type, expiry and not-before of each version, and gives a new version none of them by itself', async () => {
    const vault = client();
    const [expiresOn, notBefore] = [new Date('2031-01-01T00:00:00Z'), new Date('2026-01-01T00:00:00Z')];
    const one = await vault.setSecret('name', 'one', { contentType: 'text/plain', expiresOn, notBefore });
    expect((await vault.getSecret('name')).properties).toMatchObject({ contentType: 'text/plain', expiresOn, notBefore });
    const { properties: two } = await vault.setSecret('name', 'two');
    for (const field of ['contentType', 'expiresOn', 'notBefore'] as const) expect(two[field]).toBeUndefined();
    const later = new Date('2032-01-01T00:00:00Z');
    await vault.updateSecretProperties('name', two.version!, { expiresOn: later });
    expect((await vault.getSecret('name')).properties.expiresOn).toEqual(later);
    expect((await vault.getSecret('name', { version: one.properties.version! })).properties.expiresOn).toEqual(expiresOn);
  });

  test('sets, gets, lists page by page, keeps versions, and takes tags', async () => {
    const vault = client();
    const one = await vault.setSecret('name', 'one', { tags: { a: '1' }, contentType: 'text/plain' });
    const two = await vault.setSecret('name', 'two');
    expect(two.properties.version).not.toBe(one.properties.version);
    expect(await vault.getSecret('NAME')).toMatchObject({ value: 'two' });
    expect(await vault.getSecret('name', { version: one.properties.version! })).toMatchObject({
      value: 'one',
      properties: { tags: { a: '1' } },
    });
    await vault.updateSecretProperties('name', two.properties.version!, { tags: { b: '2' } });
    expect((await vault.getSecret('name')).properties.tags).toEqual({ b: '2' });
    const versions: (string | undefined)[] = [];
    for await (const version of vault.listPropertiesOfSecretVersions('name')) versions.push(version.version);
    expect(versions).toEqual([one.properties.version, two.properties.version]);
    for (const index of [1, 2, 3, 4, 5, 6]) await vault.setSecret(`other-${index}`, 'x');
    const names: string[] = [];
    for await (const properties of vault.listPropertiesOfSecrets()) names.push(properties.name);
    expect(names).toHaveLength(7);
  });

  test('a deleted name cannot be set until it is recovered or purged', async () => {
    const vault = client();
    await vault.setSecret('name', 'one', { tags: { a: '1' } });
    server.secrets.settle = 1;
    const deleting = await vault.beginDeleteSecret('name', { intervalInMs: 1 });
    await expect(vault.setSecret('name', 'two')).rejects.toMatchObject({ statusCode: 409, code: 'Conflict' });
    await deleting.pollUntilDone();
    await expect(vault.getSecret('name')).rejects.toMatchObject({ statusCode: 404, code: 'SecretNotFound' });
    await expect(vault.setSecret('name', 'two')).rejects.toThrow('deleted but recoverable');
    expect((await vault.getDeletedSecret('name')).properties).toMatchObject({ tags: { a: '1' }, recoveryId: expect.any(String) });
    await (await vault.beginRecoverDeletedSecret('name', { intervalInMs: 1 })).pollUntilDone();
    await vault.setSecret('name', 'two');
    server.secrets.settle = 0;
    await (await vault.beginDeleteSecret('name', { intervalInMs: 1 })).pollUntilDone();
    await vault.purgeDeletedSecret('name');
    expect((await vault.setSecret('name', 'three')).properties.tags).toEqual({});
  });

  test('refuses a wrong client secret, another tenant, a missing permission, wrong names and values that are too long', async () => {
    await expect(client('wrong').getSecret('a')).rejects.toThrow('AADSTS7000215');
    await expect(client(undefined, '00000000-0000-0000-0000-000000000000').getSecret('a')).rejects.toThrow();
    server.permissions = ['get'];
    await expect(client().setSecret('a', 'b')).rejects.toMatchObject({ statusCode: 403, code: 'Forbidden' });
    server.permissions = ['set'];
    await expect(client().setSecret('a_b', 'c')).rejects.toMatchObject({ statusCode: 400, code: 'BadParameter' });
    await client().setSecret('largest', 'é'.repeat(12_800));
    await expect(client().setSecret('larger', `${'é'.repeat(12_800)}!`)).rejects.toMatchObject({ statusCode: 400, code: 'BadParameter' });
    const tags = Object.fromEntries(Array.from({ length: 16 }, (_, index) => [`tag-${index}`, '']));
    await expect(client().setSecret('tagged', 'x', { tags })).rejects.toMatchObject({ statusCode: 400 });
  });

  test('an expired token is refused', async () => {
    const vault = client();
    await vault.setSecret('a', 'b');
    clock.skew = 2 * 3_600_000;
    try {
      await expect(vault.getSecret('a')).rejects.toMatchObject({ statusCode: 401 });
    } finally {
      clock.skew = 0;
    }
  });

  test('fails on request: with a pause, a broken connection before and after the work', async () => {
    const vault = client();
    await vault.setSecret('a', 'one');
    server.fail({ status: 429, code: 'Throttled', retryAfter: 7 });
    await expect(vault.getSecret('a')).rejects.toMatchObject({ statusCode: 429, code: 'Throttled' });
    server.fail({ drop: 'request', on: 'PUT /secrets/a' });
    await expect(vault.setSecret('a', 'two')).rejects.toThrow();
    expect((await vault.getSecret('a')).value).toBe('one');
    server.fail({ drop: 'answer' });
    await expect(vault.setSecret('a', 'two')).rejects.toThrow();
    expect((await vault.getSecret('a')).value).toBe('two');
  });

  test('keeps no value in what it records', async () => {
    await client().setSecret('a', 'the-value-itself');
    expect(JSON.stringify(server.calls)).not.toContain('the-value-itself');
    expect(JSON.stringify(server.calls)).not.toContain(server.client.clientSecret);
    expect(server.calls.at(-1)?.requestId).toMatch(/^[0-9a-f-]{36}$/);
  });
});
