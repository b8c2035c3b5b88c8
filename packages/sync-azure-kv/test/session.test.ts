import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { formatMark, type RemoteSecret } from '@strongroom/sync-sdk';
import { type AzureServer, startAzureServer, TEST_MARK, type TestSession } from '@strongroom/sync-testkit';
import { never, openSession } from './open-session.ts';

describe('a session with Key Vault', () => {
  let server: AzureServer;
  let session: TestSession;
  beforeAll(async () => {
    server = await startAzureServer();
  });
  afterAll(() => server?.stop());
  beforeEach(async () => {
    session = await openSession(server);
  });
  afterEach(async () => {
    await session.close();
    server.forget();
    server.secrets.settle = 0;
    server.permissions = ['get', 'list', 'set', 'delete', 'recover'];
    for (const entry of [...server.secrets.live(), ...server.secrets.deleted()]) server.secrets.purge(entry.name);
  });

  const read = async (name: string): Promise<RemoteSecret | undefined> => session.read({ name, signal: never });
  const versions = (name: string) => server.secrets.live().find((entry) => entry.name === name)?.versions ?? [];

  test('writes no version when value and tags are there already', async () => {
    const first = await session.write('name', 'one', { tags: { team: 'blue' } });
    const again = await session.write('name', 'one', { tags: { team: 'blue' }, current: first });
    expect(again.revision).toBe(first.revision);
    expect(versions('name')).toHaveLength(1);
    await session.write('name', 'one', { tags: { team: 'red' }, current: first });
    expect(versions('name')).toHaveLength(2);
  });

  test('keeps tags of others when it takes a secret over', async () => {
    server.secrets.set('name', { value: 'theirs', tags: { owner: 'finance' } });
    const found = await read('name');
    await session.write('name', 'ours', { current: found! });
    expect(versions('name').at(-1)?.tags).toEqual({ owner: 'finance', 'hashicorp:vault': '', 'strongroom-owner': formatMark(TEST_MARK) });
    expect(versions('name').map(({ value }) => value)).toEqual(['theirs', 'ours']);
  });

  test.each([
    ['a new value', async () => undefined],
    ['a value that follows a deletion', async () => void server.secrets.delete('name')],
  ])('keeps contentType, expiry and not-before that an operator set, with %s', async (_what, meanwhile) => {
    await session.write('name', 'one');
    const set = { contentType: 'application/json', expires: 1_900_000_000, notBefore: 1_700_000_000 };
    server.secrets.update('name', undefined, set);
    await meanwhile();
    await session.write('name', 'two', { current: (await read('name'))! });
    expect(versions('name').at(-1)).toMatchObject({ value: 'two', ...set });
  });

  test('replaces nothing whose owner has changed since the host looked', async () => {
    const ours = await session.write('name', 'one');
    const other = { ...TEST_MARK, association: 'c'.repeat(24) };
    server.secrets.set('name', { value: 'of another server', tags: { 'strongroom-owner': formatMark(other) } });
    await expect(session.write('name', 'two', { current: ours })).rejects.toMatchObject({ code: 'name_taken' });
    expect(versions('name').at(-1)?.value).toBe('of another server');
  });

  test('waits for a deletion, and recovers a deleted name before it sets it', async () => {
    const ours = await session.write('name', 'one');
    server.secrets.settle = 1;
    await session.remove({ name: 'name', current: ours, signal: never });
    expect(await read('name')).toMatchObject({ softDeleted: true, mark: TEST_MARK });
    server.secrets.settle = 2;
    const found = await read('name');
    await session.write('name', 'two', { current: found! });
    expect(versions('name').map(({ value }) => value)).toEqual(['one', 'two']);
  });

  test('a deleted secret of somebody else is not recovered unasked', async () => {
    server.secrets.set('name', { value: 'theirs' });
    server.secrets.delete('name');
    await expect(session.write('name', 'ours')).rejects.toMatchObject({ code: 'name_taken' });
    expect(server.secrets.deleted()).toHaveLength(1);
  });

  test('reads the owner of a secret that somebody disabled, and enables it with the next version', async () => {
    const ours = await session.write('name', 'one');
    server.secrets.update('name', undefined, { enabled: false });
    const found = await read('name');
    expect(found).toMatchObject({ mark: TEST_MARK, revision: `${ours.revision} (disabled)` });
    await session.write('name', 'one', { current: found! });
    expect(versions('name').at(-1)).toMatchObject({ value: 'one', enabled: true });
  });

  test('a missing permission is a ClientSideError with the code and the request id of Azure', async () => {
    server.permissions = ['get'];
    const error = await session.write('name', 'the value').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'client_side',
      providerCode: 'Forbidden/AccessDenied',
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect((error as Error).message).toContain('does not have secrets set permission');
    expect((error as { requestId: string }).requestId).toBe(server.calls.at(-1)?.requestId);
  });

  test('a conflict passes: it is an ExternalServiceError that the host tries again', async () => {
    server.fail({ status: 409, code: 'Conflict', message: 'The secret is being deleted.', on: 'PUT' });
    await session.read({ name: 'name', signal: never });
    await expect(session.write('name', 'one')).rejects.toMatchObject({ code: 'external_service', providerCode: 'Conflict' });
  });

  test('a wrong client secret and an unknown app are ClientSideErrors with the code of Entra ID, and no secret', async () => {
    const cases = [
      { change: { client_secret: 'a-wrong-client-secret' }, providerCode: 'AADSTS7000215' },
      { change: { client_id: '00000000-0000-0000-0000-000000000000' }, providerCode: 'AADSTS700016' },
    ];
    for (const { change, providerCode } of cases) {
      const wrong = await openSession(server, change);
      const error = await wrong.read({ name: 'a', signal: never }).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'client_side', providerCode, requestId: expect.stringMatching(/^[0-9a-f-]{36}$/) });
      expect((error as Error).message).not.toContain('a-wrong-client-secret');
      await wrong.close();
    }
  });

  test('a tenant_id that is not the tenant of the vault is a ClientSideError that says which is', async () => {
    const wrong = await openSession(server, { tenant_id: '00000000-0000-0000-0000-000000000001' });
    await expect(wrong.read({ name: 'a', signal: never })).rejects.toMatchObject({
      code: 'client_side',
      providerCode: 'wrong_tenant',
      message: `tenant_id is not the tenant of the vault, which is ${server.tenantId}`,
    });
    await wrong.close();
  });

  test('does not take over a secret that belongs to a certificate', async () => {
    server.secrets.set('name', { value: 'a certificate', managed: true });
    const current = await read('name');
    await expect(session.write('name', 'ours', { current: current! })).rejects.toMatchObject({
      code: 'client_side',
      providerCode: 'managed_secret',
      message: expect.stringContaining('belongs to a certificate'),
    });
    expect(versions('name').map(({ value }) => value)).toEqual(['a certificate']);
  });

  test("without client_secret, Azure's own chain is asked, and what it lacks is named", async () => {
    const { tenantId, client, ca } = server;
    process.env['AZURE_TOKEN_CREDENTIALS'] = 'EnvironmentCredential';
    const variables = { AZURE_TENANT_ID: tenantId, AZURE_CLIENT_ID: client.clientId, AZURE_CLIENT_SECRET: client.clientSecret };
    try {
      Object.assign(process.env, variables);
      const fromEnvironment = await openSession(server, { client_secret: undefined }, { ca });
      await fromEnvironment.write('name', 'one');
      expect(versions('name')).toHaveLength(1);
      await fromEnvironment.close();
      for (const name of Object.keys(variables)) delete process.env[name];
      const ambient = await openSession(server, { client_secret: undefined }, { ca });
      const error = await ambient.read({ name: 'a', signal: never }).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'client_side', providerCode: 'AggregateAuthenticationError' });
      expect((error as Error).message).toContain("client_secret is not set, and Azure's credential chain has no credential");
      await ambient.close();
    } finally {
      for (const name of ['AZURE_TOKEN_CREDENTIALS', ...Object.keys(variables)]) delete process.env[name];
    }
  });

  test('a token authority that cannot be reached, is busy or fails is an ExternalServiceError', async () => {
    const away = await openSession(server, {}, { authorityHost: 'https://127.0.0.1:1' });
    await expect(away.read({ name: 'a', signal: never })).rejects.toMatchObject({ code: 'external_service' });
    await away.close();
    server.fail({ status: 500, on: 'POST', times: 2 });
    await expect(read('a')).rejects.toMatchObject({ code: 'external_service', providerCode: '500' });
    expect(server.calls.filter(({ method }) => method === 'POST')).toHaveLength(1);
    server.forget();
    server.fail({ status: 429, retryAfter: 7, on: 'POST' });
    const busy = await openSession(server);
    await expect(busy.read({ name: 'a', signal: never })).rejects.toMatchObject({ code: 'throttled', retryAfterSeconds: 7 });
    await busy.close();
  });

  test('an answer that is lost leaves a version that the next put finds', async () => {
    server.fail({ drop: 'answer', on: 'PUT' });
    await session.read({ name: 'name', signal: never });
    await expect(session.write('name', 'one')).rejects.toMatchObject({ code: 'external_service' });
    await session.write('name', 'one');
    expect(versions('name')).toHaveLength(1);
  });

  test('refuses vaults outside the domain of their cloud, unless the operator lifts that', async () => {
    const strict = { disableChallengeResourceVerification: false };
    await expect(openSession(server, {}, strict)).rejects.toMatchObject({
      code: 'configuration_invalid',
      message: expect.stringContaining('vault.azure.net'),
    });
  });
});
