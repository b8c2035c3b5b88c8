import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { manualClock, mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { describeOnClusters, type ClusterRequest, type KubernetesCluster } from '@strongroom/lab';
import { engine, READS_PODS } from './kubernetes-mount.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const KINDS = ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'];
/** The rights that docs/engines/kubernetes-secrets.md names. */
const RIGHTS = [
  { apiGroups: [''], resources: ['serviceaccounts/token'], verbs: ['create'] },
  { apiGroups: [''], resources: ['serviceaccounts'], verbs: ['list', 'get', 'create', 'delete'] },
  { apiGroups: [''], resources: ['namespaces'], verbs: ['get'] },
  { apiGroups: ['rbac.authorization.k8s.io'], resources: KINDS, verbs: ['list', 'get', 'create', 'delete'] },
  { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles', 'clusterroles'], verbs: ['bind', 'escalate'] },
];

interface Credential {
  readonly service_account_name: string;
  readonly service_account_namespace: string;
  readonly service_account_token: string;
}

describeOnClusters('a cluster, managed by an account with the rights of the documentation', (start) => {
  let cluster: KubernetesCluster;
  let jwt: string;
  let mount: TestMount;

  const done = async (request: ClusterRequest): Promise<Readonly<Record<string, unknown>>> => {
    const { code, body } = await cluster.ask(request);
    if (code >= 300) throw new Error(`${request.method} ${request.path}: ${code} ${JSON.stringify(body)}`);
    return body;
  };
  const create = async (path: string, body: object) => done({ method: 'POST', path, body });
  const account = async (name: string) => create('/api/v1/namespaces/prod/serviceaccounts', object('ServiceAccount', name, 'v1'));

  beforeAll(async () => {
    cluster = await start();
    await account('strongroom');
    await account('app');
    await create(`${RBAC}/clusterroles`, { ...object('ClusterRole', 'strongroom'), rules: RIGHTS });
    await create(`${RBAC}/clusterroles`, { ...object('ClusterRole', 'pod-reader'), rules: [rule('pods', 'list')] });
    await create(`${RBAC}/clusterrolebindings`, {
      ...object('ClusterRoleBinding', 'strongroom'),
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'strongroom' },
      subjects: [{ kind: 'ServiceAccount', name: 'strongroom', namespace: 'prod' }],
    });
    const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 86_400 } };
    const { status } = await create('/api/v1/namespaces/prod/serviceaccounts/strongroom/token', request);
    jwt = (status as { token: string }).token;
  }, 120_000);
  afterAll(async () => cluster?.stop());

  beforeEach(async () => {
    mount = await mountForTest(engine, { path: 'kubernetes', clock: manualClock(new Date()) });
    await configure();
    await mount.write('roles/pods', READS_PODS);
    await mount.write('roles/bound', {
      allowed_kubernetes_namespaces: '*',
      kubernetes_role_name: 'pod-reader',
      kubernetes_role_type: 'clusterrole',
    });
    await mount.write('roles/app', { allowed_kubernetes_namespaces: 'prod', service_account_name: 'app' });
  });
  afterEach(async () => {
    cluster.become('well');
    cluster.watch(() => undefined);
    await mount.close();
  });

  const configure = async () =>
    mount.write('config', { kubernetes_host: cluster.url, kubernetes_ca_cert: cluster.ca, service_account_jwt: jwt });
  const credential = async (role: string, wish: object = { kubernetes_namespace: 'prod' }): Promise<Credential> =>
    (await mount.write(`creds/${role}`, wish as Record<string, unknown>)).data as unknown as Credential;
  const refusal = async (role: string, wish: Record<string, unknown>): Promise<string> => {
    const { status, errors } = await mount.call('update', `kubernetes/creds/${role}`, { data: wish });
    return `${status} ${errors?.join() ?? ''}`;
  };
  /** What the holder of a token may do; `unauthorized` where the API server knows the token no more. */
  const mayList = async ({ service_account_token: bearer }: Credential, resource: string, namespace: string) => {
    const spec = { resourceAttributes: { verb: 'list', group: '', resource, namespace } };
    const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec };
    const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
    const answer = await cluster.ask({ method: 'POST', path, body, bearer });
    return answer.code === 401 ? 'unauthorized' : (answer.body['status'] as { allowed: boolean }).allowed;
  };
  /** The objects that leases have made. */
  const left = async (): Promise<string[]> => {
    const paths = ['/api/v1/serviceaccounts', ...KINDS.map((kind) => `${RBAC}/${kind}`)];
    const lists = await Promise.all(paths.map(async (path) => done({ method: 'GET', path })));
    return lists
      .flatMap(({ items }) => (items ?? []) as { metadata: { name: string } }[])
      .map(({ metadata }) => metadata.name)
      .filter((name) => name.startsWith('v-'));
  };

  test('config/test finds that the account of the documentation may do what all kinds of roles need', async () => {
    const { data, warnings } = await mount.write('config/test', {});
    expect(data).toMatchObject({ ok: true, steps: ['connect', 'tls', 'login', 'rights'].map((step) => ({ step, ok: true })) });
    expect(warnings).toBeNull();
  });

  test('config/test names what an account lacks, and stores nothing', async () => {
    const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3_600 } };
    const { status } = await create('/api/v1/namespaces/prod/serviceaccounts/app/token', request);
    const service_account_jwt = (status as { token: string }).token;
    const tested = await mount.write('config/test', { service_account_jwt, role: 'app' });
    expect(tested.data).toMatchObject({
      ok: false,
      steps: [{ ok: true }, { ok: true }, { ok: true }, { step: 'rights', ok: false, missing: ['create serviceaccounts/token in prod'] }],
    });
    const all = await mount.write('config/test', { service_account_jwt });
    const { missing } = (all.data as { steps: { missing?: string[] }[] }).steps.at(-1)!;
    expect(missing).toEqual(
      expect.arrayContaining(['create serviceaccounts in all namespaces', 'delete rolebindings in all namespaces', 'create roles in prod']),
    );
    expect(all.warnings).toEqual([
      'without the right to bind clusterroles, the account can give only rights that it has itself',
      expect.stringMatching(/^without the right to escalate roles/),
    ]);
    const refused = await mount.write('config/test', { service_account_jwt: 'of-nobody' });
    expect(refused.data).toMatchObject({
      ok: false,
      steps: [{ ok: true }, { ok: true }, { step: 'login', ok: false, fault: true, error: expect.stringContaining('401') }],
    });
    expect(JSON.stringify(refused.data)).not.toContain('of-nobody');
    expect((await mount.write('config/test', {})).data).toMatchObject({ ok: true });
  });

  test('generated rules hold in their namespace until the lease is revoked, and nothing is left then', async () => {
    const made = await credential('pods');
    expect(await mayList(made, 'pods', 'prod')).toBe(true);
    expect(await mayList(made, 'secrets', 'prod')).toBe(false);
    expect(await mayList(made, 'pods', 'default')).toBe(false);
    expect(await left()).toHaveLength(3);
    await mount.call('update', 'sys/leases/revoke-prefix/kubernetes/creds', {});
    expect([false, 'unauthorized']).toContain(await mayList(made, 'pods', 'prod'));
    expect(await left()).toEqual([]);
  });

  test('a binding to an existing ClusterRole holds in one namespace, or in the whole cluster', async () => {
    const narrow = await credential('bound');
    expect([await mayList(narrow, 'pods', 'prod'), await mayList(narrow, 'pods', 'default')]).toEqual([true, false]);
    const wide = await credential('bound', { kubernetes_namespace: 'prod', cluster_role_binding: true });
    expect([await mayList(wide, 'pods', 'prod'), await mayList(wide, 'pods', 'default')]).toEqual([true, true]);
    await mount.call('update', 'sys/leases/revoke-prefix/kubernetes/creds', {});
    expect(await left()).toEqual([]);
  });

  test('a token of an existing account has the audiences and the life that were asked for, and its account stays', async () => {
    const made = await credential('app', { audiences: 'vault', ttl: '20m' });
    const claims = JSON.parse(Buffer.from(made.service_account_token.split('.')[1]!, 'base64url').toString()) as {
      aud: string[];
      exp: number;
      iat: number;
    };
    expect(claims).toMatchObject({ aud: ['vault'] });
    expect(claims.exp - claims.iat).toBe(1_200);
    await mount.call('update', 'sys/leases/revoke-prefix/kubernetes/creds', {});
    expect((await cluster.ask({ method: 'GET', path: '/api/v1/namespaces/prod/serviceaccounts/app' })).code).toBe(200);
  });

  test('namespaces are allowed by their labels', async () => {
    const selector = '{"matchLabels":{"team":"red"}}';
    await mount.write('roles/red', { allowed_kubernetes_namespace_selector: selector, kubernetes_role_name: 'any' });
    expect(await refusal('red', { kubernetes_namespace: 'prod' })).toMatch(/^400 kubernetes_namespace 'prod' is not present/);
    await credential('red', { kubernetes_namespace: 'default' });
    await mount.call('update', 'sys/leases/revoke-prefix/kubernetes/creds', {});
  });

  test('what the API server refuses half-way is undone at once', async () => {
    cluster.watch(({ method, path }, when) => (when === 'before' && method === 'POST' && path.endsWith('/rolebindings') ? 403 : undefined));
    expect(await refusal('pods', { kubernetes_namespace: 'prod' })).toMatch(
      /^500 [^]*the Kubernetes API server refuses to create the RoleBinding prod\/v-root-pods-/,
    );
    expect(await left()).toEqual([]);
  });

  test('rules that are no rules are a 400 with the words of the API server, and nothing is left', async () => {
    const rules = '{"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":[]}]}';
    const { status, errors } = await mount.call('update', 'kubernetes/roles/empty', {
      data: { allowed_kubernetes_namespaces: 'prod', generated_role_rules: rules },
    });
    const answer = status < 300 ? await refusal('empty', { kubernetes_namespace: 'prod' }) : `${status} ${errors?.join()}`;
    expect(answer).toMatch(/^400 [^]*verbs/);
    expect(await left()).toEqual([]);
  });

  test('a lease that ends while the API server is away is revoked once the configuration is written again', async () => {
    await credential('pods', { kubernetes_namespace: 'prod', ttl: '15m' });
    cluster.become('failing');
    await mount.advance('15m');
    expect(await left()).toHaveLength(3);
    cluster.become('well');
    // What waits for the API server is tried at once.
    await configure();
    await mount.advance('1s');
    expect(await left()).toEqual([]);
  });

  test('objects of a lease that was dropped are orphans, and can be removed', async () => {
    await credential('pods');
    cluster.watch(({ method }) => (method === 'DELETE' ? 403 : undefined));
    await mount.call('update', 'sys/leases/revoke-force/kubernetes/creds', {});
    cluster.watch(() => undefined);
    const { usernames } = (await mount.read('orphans')).data as { usernames: string[] };
    expect(usernames).toHaveLength(1);
    expect((await mount.write('orphans', { usernames })).data).toEqual({ removed: usernames, gone: [], pending: {} });
    expect(await left()).toEqual([]);
  });
});

function object(kind: string, name: string, apiVersion = 'rbac.authorization.k8s.io/v1'): object {
  return { apiVersion, kind, metadata: { name } };
}

function rule(resource: string, verb: string): object {
  return { apiGroups: [''], resources: [resource], verbs: [verb] };
}
