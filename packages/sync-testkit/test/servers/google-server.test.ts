import { v1 } from '@google-cloud/secret-manager';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { credentials } from '@grpc/grpc-js';
import { Impersonated, JWT } from 'google-auth-library';
import { type GoogleServer, startGoogleServer } from '../../src/servers/google-server.ts';

describe('the server that emulates Google Secret Manager, to the official client', () => {
  let server: GoogleServer;
  const open: v1.SecretManagerServiceClient[] = [];
  const clock = { skew: 0 };
  const once = { retry: null as never };
  beforeAll(async () => {
    server = await startGoogleServer({ now: () => Date.now() + clock.skew, pageSize: 3 });
  });
  afterAll(() => server?.stop());
  afterEach(async () => {
    clock.skew = 0;
    server.forget();
    server.permissions.clear();
    for (const secret of server.secrets.all()) server.secrets.delete(secret.id, '');
    for (const client of open.splice(0)) await client.close();
  });

  function connect(key = server.account, audience = 'secretmanager.googleapis.com'): v1.SecretManagerServiceClient {
    const auth = new JWT({ email: key.client_email, key: key.private_key, keyId: key.private_key_id });
    auth.defaultServicePath = audience;
    const caller = credentials.createFromGoogleCredential({
      getRequestHeaders: async (url) => Object.fromEntries((await auth.getRequestHeaders(url)).entries()),
    });
    const sslCreds = credentials.combineChannelCredentials(credentials.createSsl(Buffer.from(server.ca)), caller);
    const client = new v1.SecretManagerServiceClient({
      apiEndpoint: server.host,
      port: server.port,
      sslCreds,
      projectId: server.projectId,
    });
    open.push(client);
    return client;
  }
  const parent = (): string => `projects/${server.projectId}`;
  const create = (client: v1.SecretManagerServiceClient, secretId: string, secret: object = { replication: { automatic: {} } }) =>
    client.createSecret({ parent: parent(), secretId, secret });

  test('creates secrets with labels and annotations, adds versions and gives them back', async () => {
    const client = connect();
    const [made] = await create(client, 'a', { replication: { automatic: {} }, labels: { team: 'one' }, annotations: { 'a.b': 'c' } });
    expect(made).toMatchObject({ labels: { team: 'one' }, annotations: { 'a.b': 'c' }, etag: expect.stringMatching(/^".+"$/) });
    await client.addSecretVersion({ parent: `${parent()}/secrets/a`, payload: { data: Buffer.from('first') } });
    const [second] = await client.addSecretVersion({ parent: `${parent()}/secrets/a`, payload: { data: Buffer.from('second') } });
    expect(second.name).toMatch(/\/secrets\/a\/versions\/2$/);
    const [latest] = await client.accessSecretVersion({ name: `${parent()}/secrets/a/versions/latest` });
    expect(String(latest.payload?.data)).toBe('second');
  });

  test('names what is missing, what is there already and what does not fit', async () => {
    const client = connect();
    await expect(client.getSecret({ name: `${parent()}/secrets/none` })).rejects.toMatchObject({ code: 5, reason: 'NOT_FOUND' });
    await create(client, 'a');
    await expect(create(client, 'a')).rejects.toMatchObject({ code: 6 });
    await expect(create(client, 'a/b')).rejects.toMatchObject({ code: 3 });
    await expect(create(client, 'b', {})).rejects.toThrow('replication');
    await expect(create(client, 'b', { replication: { automatic: {} }, labels: { Upper: '' } })).rejects.toMatchObject({ code: 3 });
    const add = (data: Buffer) => client.addSecretVersion({ parent: `${parent()}/secrets/a`, payload: { data } });
    await add(Buffer.alloc(65_536, 1));
    await expect(add(Buffer.alloc(65_537, 1))).rejects.toMatchObject({ code: 3 });
    await expect(add(Buffer.alloc(0))).rejects.toThrow('[payload] is required');
    const payload = { data: Buffer.from('123456789'), dataCrc32c: 0xe3069283 };
    await client.addSecretVersion({ parent: `${parent()}/secrets/a`, payload });
    const wrong = client.addSecretVersion({ parent: `${parent()}/secrets/a`, payload: { ...payload, dataCrc32c: 1 } });
    await expect(wrong).rejects.toMatchObject({ code: 3 });
  });

  test('holds replication and its keys to the rules of locations', async () => {
    const client = connect();
    const key = (location: string) => `projects/p/locations/${location}/keyRings/r/cryptoKeys/k`;
    const replicas = (...locations: [string, string][]) => ({
      replication: {
        userManaged: { replicas: locations.map(([location, at]) => ({ location, customerManagedEncryption: { kmsKeyName: key(at) } })) },
      },
    });
    await create(client, 'a', replicas(['europe-west1', 'europe-west1'], ['us-east1', 'us-east1']));
    await expect(create(client, 'b', replicas(['europe-west1', 'us-east1']))).rejects.toMatchObject({ code: 3 });
    await create(client, 'c', { replication: { automatic: { customerManagedEncryption: { kmsKeyName: key('global') } } } });
    expect(server.secrets.find('a')?.replication.userManaged?.replicas).toHaveLength(2);
  });

  test('updates labels only with the right etag, and lists by label, page by page', async () => {
    const client = connect();
    for (const id of ['a', 'b', 'c', 'd', 'e']) await create(client, id, { replication: { automatic: {} }, labels: { mark: id } });
    await create(client, 'other');
    const [before] = await client.getSecret({ name: `${parent()}/secrets/a` });
    const change = (etag: string) =>
      client.updateSecret({ secret: { name: before.name!, labels: { mark: 'new' }, etag }, updateMask: { paths: ['labels'] } });
    await expect(change('"wrong"')).rejects.toMatchObject({ code: 9 });
    await change(before.etag!);
    await expect(change(before.etag!)).rejects.toMatchObject({ code: 9 });
    const names: string[] = [];
    for await (const secret of client.listSecretsAsync({ parent: parent(), filter: 'labels.mark:*' })) names.push(secret.name!);
    expect(names.map((name) => name.split('/').at(-1))).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  test('disables, enables and destroys versions', async () => {
    const client = connect();
    await create(client, 'a');
    const name = `${parent()}/secrets/a/versions/1`;
    await client.addSecretVersion({ parent: `${parent()}/secrets/a`, payload: { data: Buffer.from('x') } });
    await client.disableSecretVersion({ name });
    await expect(client.accessSecretVersion({ name })).rejects.toMatchObject({ code: 9 });
    await client.enableSecretVersion({ name });
    await client.accessSecretVersion({ name });
    expect((await client.destroySecretVersion({ name }))[0]).toMatchObject({ state: 'DESTROYED' });
    await expect(client.enableSecretVersion({ name })).rejects.toMatchObject({ code: 9 });
    await client.deleteSecret({ name: `${parent()}/secrets/a` });
    await expect(client.getSecret({ name: `${parent()}/secrets/a` })).rejects.toMatchObject({ code: 5 });
  });

  test('takes only tokens that the account signed for this service, and that are still valid', async () => {
    await create(connect(), 'a');
    const stranger = { ...server.account, private_key: server.accounts.create('somebody').private_key };
    await expect(create(connect(stranger), 'b')).rejects.toMatchObject({ code: 16 });
    await expect(create(connect(server.account, 'pubsub.googleapis.com'), 'b')).rejects.toThrow('audience');
    clock.skew = 2 * 3_600_000;
    await expect(create(connect(), 'b')).rejects.toThrow('expired');
  });

  test('denies what an account may not do', async () => {
    server.permissions.set(server.account.client_email, ['secrets.create']);
    await create(connect(), 'a');
    const denied = connect().getSecret({ name: `${parent()}/secrets/a` });
    await expect(denied).rejects.toMatchObject({ code: 7, message: expect.stringContaining('secretmanager.secrets.get') });
  });

  test('fails on request: exhausted with a pause, and connections cut before and after the work', async () => {
    const client = connect();
    server.fail({ status: 'RESOURCE_EXHAUSTED', retryAfter: 7 });
    const exhausted = await client.getSecret({ name: `${parent()}/secrets/a` }, once).catch((error: unknown) => error);
    expect(exhausted).toMatchObject({ code: 8 });
    expect(JSON.stringify((exhausted as { statusDetails: unknown }).statusDetails)).toContain('{"retryDelay":{"seconds":"7","nanos":0}}');
    server.fail({ drop: 'request', on: 'createSecret' });
    await expect(create(connect(), 'a')).rejects.toMatchObject({ code: 14 });
    expect(server.secrets.find('a')).toBeUndefined();
    server.fail({ drop: 'answer', on: 'createSecret' });
    await expect(create(connect(), 'a')).rejects.toMatchObject({ code: 14 });
    expect(server.secrets.find('a')).toBeDefined();
  });

  test('exchanges a signed assertion for a token, and that for the token of an account it may impersonate', async () => {
    const target = server.accounts.create('target').client_email;
    const { Agent, fetch } = await import('undici');
    const dispatcher = new Agent({ connect: { ca: server.ca } });
    const fetchImplementation = ((input: URL, init: RequestInit) => {
      const address = new URL(new URL(input).pathname, server.authority.url);
      const { method, headers, body } = init;
      return fetch(address, { method: method!, headers: Object.fromEntries(new Headers(headers)), body: body as string, dispatcher });
    }) as never;
    const { client_email: email, private_key: key } = server.account;
    const source = new JWT({ email, key, scopes: [SCOPE], transporterOptions: { fetchImplementation } });
    const impersonated = new Impersonated({ sourceClient: source, targetPrincipal: target, targetScopes: [SCOPE] });
    await expect(impersonated.getAccessToken()).rejects.toThrow('iam.serviceAccounts.getAccessToken');
    server.accounts.allowImpersonation(email, target);
    const { token } = await impersonated.getAccessToken();
    expect(server.accounts.authenticate(`Bearer ${token}`, 'any')).toEqual({ email: target });
    expect(server.authority.calls.map(({ path, status }) => `${path.split(':').at(-1)} ${status}`)).toEqual([
      '/token 200',
      'generateAccessToken 403',
      'generateAccessToken 200',
    ]);
    await dispatcher.close();
  });
});

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
