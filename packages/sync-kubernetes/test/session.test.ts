import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { describeOnClusters } from '@strongroom/lab';
import { formatMark, nameComplaint, tagsComplaint, type RemoteSecret } from '@strongroom/sync-sdk';
import { openTestSession, TEST_MARK, type TestSession } from '@strongroom/sync-testkit';
import { createKubernetesDestination, kubernetesDestination, type KubernetesConnection } from '../src/index.ts';
import { connectionTo, SecretsOutside } from './secrets-outside.ts';

const never = new AbortController().signal;

describe('what is wrong without asking the API server', () => {
  const good: KubernetesConnection = {
    kubernetes_host: 'https://10.0.0.1:6443',
    kubernetes_ca_cert: undefined,
    service_account_jwt: 'token',
    namespace: 'prod',
    secret_type: 'Opaque',
  };
  const outside = createKubernetesDestination({ environment: {}, podFolder: '/no/pod/here' });

  test.each<[Partial<KubernetesConnection>, string]>([
    [{ kubernetes_host: undefined }, 'kubernetes_host is required outside a pod'],
    [{ kubernetes_host: '10.0.0.1:6443' }, 'kubernetes_host: "10.0.0.1:6443" is not the URL of an API server'],
    [{ kubernetes_ca_cert: 'nonsense' }, 'kubernetes_ca_cert: not a certificate'],
    [{ service_account_jwt: 'a b' }, 'service_account_jwt has a space'],
    [{ namespace: 'Team_A' }, 'namespace must be the name of a namespace'],
    [{ secret_type: 'a b' }, 'secret_type must be a type of Secrets'],
    [{ secret_type: 'kubernetes.io/service-account-token' }, 'the cluster itself fills such Secrets'],
  ])('%j is reported', (change, complaint) => {
    expect(outside.check!({ ...good, ...change }).join()).toContain(complaint);
  });

  test('outside a pod, a connection without a CA is refused when it is opened', async () => {
    await expect(openTestSession(outside, good)).rejects.toThrow('kubernetes_ca_cert: there is no ca.crt in /no/pod/here');
  });

  test.each([
    ['app.db-1', true],
    ['App', false],
    ['a_b', false],
    ['-a', false],
    ['a..b', false],
    ['a.-b', false],
    ['x'.repeat(253), true],
    ['x'.repeat(254), false],
  ])('whether %s is a name', (name, fits) => {
    expect(nameComplaint(kubernetesDestination.limits(good).name, name) === undefined).toBe(fits);
  });

  test.each([
    ['API_KEY.old-1', true],
    ['.dockerconfigjson', true],
    ['a b', false],
    ['ü', false],
    ['.', false],
    ['..', false],
    ['..x', false],
    ['...', false],
    ['x'.repeat(253), true],
    ['x'.repeat(254), false],
  ])('whether %s is a key', (key, fits) => {
    expect(nameComplaint(kubernetesDestination.limits(good).keys!, key) === undefined).toBe(fits);
  });

  test.each([
    [{ team: 'red', 'example.com/stage': '' }, true],
    [{ 'a b': 'x' }, false],
    [{ team: 'a b' }, false],
    [{ team: 'x'.repeat(64) }, false],
    [{ 'strongroom.io/owner': 'x' }, false],
    [{ 'app.kubernetes.io/managed-by': 'helm' }, false],
  ])('whether %j are labels', (tags, fits) => {
    expect(tagsComplaint(kubernetesDestination.limits(good).tags!, tags) === undefined).toBe(fits);
  });

  test.each([
    ['vault-kv_1/App/db', 'vault-kv-1-app-db'],
    ['a/./b', 'a.b'],
    ['/x/', 'x'],
  ])('%s becomes the name %s', (rendered, name) => {
    expect(kubernetesDestination.limits(good).name.normalize(rendered)).toBe(name);
  });
});

describeOnClusters('Secrets', (start) => {
  const outside = new SecretsOutside();
  let session: TestSession;
  beforeAll(async () => void (outside.cluster = await start()), 120_000);
  beforeEach(async () => {
    await outside.empty();
    session = await openTestSession(kubernetesDestination, connectionTo(outside.cluster));
  });
  afterEach(async () => session.close());
  afterAll(async () => outside.cluster?.stop());

  const write = async (fields: Record<string, string>, current?: RemoteSecret): Promise<RemoteSecret> =>
    session.write('app', JSON.stringify(fields), { fields, ...(current ? { current } : {}) });
  const read = async (): Promise<RemoteSecret> => (await session.read({ name: 'app', signal: never }))!;
  const failure = async (work: Promise<unknown>): Promise<{ code?: string; message: string }> => {
    const error = (await work.then(
      () => new Error('it succeeds'),
      (thrown: unknown) => thrown,
    )) as Error & { code?: string };
    return { ...(error.code === undefined ? {} : { code: error.code }), message: error.message };
  };

  test('a Secret has one key for each key of the secret, the labels, and the mark as an annotation', async () => {
    await session.write('app', '{}', { fields: { user: 'shop', password: 'grüße\n' }, tags: { team: 'red' } });
    const { data, type, metadata } = (await outside.see('app'))!;
    expect({ data, type }).toEqual({ data: { user: 'shop', password: 'grüße\n' }, type: 'Opaque' });
    expect(metadata.labels).toEqual({
      team: 'red',
      'app.kubernetes.io/managed-by': 'strongroom',
      hashicorp: 'vault',
      'strongroom.io/destination': TEST_MARK.destination,
    });
    expect(metadata.annotations).toEqual({ 'strongroom.io/owner': formatMark(TEST_MARK) });
  });

  test('keys and labels that are gone go from the Secret, and what others have labelled stays', async () => {
    await session.write('app', '{}', { fields: { a: '1', b: '2' }, tags: { team: 'red' } });
    await outside.set('app', {}, { metadata: { labels: { argo: 'x' } } });
    await write({ a: '1' }, await read());
    const { data, metadata } = (await outside.see('app'))!;
    expect(data).toEqual({ a: '1' });
    expect(metadata.labels).toMatchObject({ argo: 'x' });
    expect(metadata.labels).not.toHaveProperty('team');
  });

  test('a key that somebody else has set or changed is replaced, once it was seen', async () => {
    await write({ a: '1', b: '2' });
    await outside.set('app', { a: 'edited', c: 'added' });
    const found = await read();
    await write({ b: '2' }, found);
    expect((await outside.see('app'))!.data).toEqual({ b: '2' });
  });

  test('an edit between the look and the write is not lost', async () => {
    await write({ a: '1' });
    const before = await read();
    await outside.set('app', { a: 'edited' });
    expect(await failure(write({ a: '2' }, before))).toEqual({
      code: 'name_taken',
      message: 'somebody else has made or changed the Secret prod/app meanwhile',
    });
    expect((await outside.see('app'))!.data).toEqual({ a: 'edited' });
  });

  test('a Secret that was made again is neither changed nor removed', async () => {
    await write({ a: '1' });
    const before = await read();
    await outside.remove('app');
    expect(await failure(write({ a: '2' }, before))).toMatchObject({ code: 'name_taken' });
    await outside.set('app', { theirs: 'x' });
    expect(await failure(write({ a: '2' }, before))).toMatchObject({ code: 'name_taken' });
    expect(await failure(session.remove({ name: 'app', current: before, signal: never }))).toMatchObject({ code: 'name_taken' });
    expect((await outside.see('app'))!.data).toEqual({ theirs: 'x' });
  });

  test('a Secret with other keys is not joined when it should be created', async () => {
    await outside.set('app', { theirs: 'x' });
    expect(await failure(write({ a: '1' }))).toMatchObject({ code: 'name_taken' });
    expect((await outside.see('app'))!.data).toEqual({ theirs: 'x' });
  });

  test('an immutable Secret is reported and not replaced', async () => {
    await write({ a: '1' });
    await outside.set('app', {}, { immutable: true });
    const found = await read();
    expect(await failure(write({ a: '2' }, found))).toEqual({
      code: 'client_side',
      message: 'the Secret prod/app is immutable and is not replaced: delete it, or have another name with secret_name_template',
    });
    expect((await outside.see('app'))!.metadata.uid).toBe(found.identity);
    await session.remove({ name: 'app', current: found, signal: never });
    expect(await outside.see('app')).toBeUndefined();
  });

  test('a Secret of another type is reported and not replaced', async () => {
    await outside.set('app', { a: '1' }, { type: 'example.com/other' });
    expect(await failure(write({ a: '2' }, await read()))).toMatchObject({
      code: 'client_side',
      message: expect.stringContaining('the Secret prod/app has another type than Opaque'),
    });
  });

  test('a type wants its keys', async () => {
    const tls = await openTestSession(kubernetesDestination, connectionTo(outside.cluster, { secret_type: 'kubernetes.io/tls' }));
    try {
      const { code, message } = await failure(tls.write('cert', '{}', { fields: { 'tls.crt': 'x' } }));
      expect({ code, message }).toEqual({ code: 'client_side', message: expect.stringContaining('data[tls.key]: Required value') });
      expect(await outside.see('cert')).toBeUndefined();
    } finally {
      await tls.close();
    }
  });

  test('a namespace that does not exist is named', async () => {
    const lost = await openTestSession(kubernetesDestination, connectionTo(outside.cluster, { namespace: 'nowhere' }));
    try {
      expect(await failure(lost.write('app', 'x'))).toMatchObject({
        code: 'client_side',
        message: expect.stringContaining('namespaces "nowhere" not found'),
      });
    } finally {
      await lost.close();
    }
  });

  test('no value comes back: calls ask for metadata alone', async () => {
    await write({ a: 'a-value-of-its-own' });
    const { body } = await outside.cluster.ask({
      method: 'GET',
      path: '/api/v1/namespaces/prod/secrets/app',
      accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
    });
    expect(JSON.stringify(body)).not.toContain(Buffer.from('a-value-of-its-own').toString('base64'));
    expect(body['kind']).toBe('PartialObjectMetadata');
  });
});
