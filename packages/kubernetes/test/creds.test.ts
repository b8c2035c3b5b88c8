import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { manualClock, mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { describeOnClusters, type KubernetesCluster } from '@strongroom/lab';
import { configFor, engine, READS_PODS } from './kubernetes-mount.ts';
import { done, madeIn, sweep } from './made-objects.ts';

interface Credential {
  readonly service_account_name: string;
  readonly service_account_namespace: string;
  readonly service_account_token: string;
}

describeOnClusters('credentials of Kubernetes', (start) => {
  let cluster: KubernetesCluster;
  let mount: TestMount;

  beforeAll(async () => {
    cluster = await start();
    const app = { kind: 'ServiceAccount', apiVersion: 'v1', metadata: { name: 'app' } };
    await done(cluster, { method: 'POST', path: '/api/v1/namespaces/default/serviceaccounts', body: app });
  }, 120_000);
  afterAll(async () => cluster?.stop());
  beforeEach(async () => {
    mount = await mountForTest(engine, { path: 'kubernetes', clock: manualClock(new Date()) });
    await mount.write('config', configFor(cluster));
    await mount.write('roles/app', {
      allowed_kubernetes_namespaces: 'default',
      service_account_name: 'app',
      token_default_audiences: 'vault',
    });
    await mount.write('roles/bound', {
      allowed_kubernetes_namespaces: '*',
      kubernetes_role_name: 'view',
      kubernetes_role_type: 'clusterrole',
    });
    await mount.write('roles/pods', { ...READS_PODS, extra_labels: 'team=red', extra_annotations: 'why=test', token_max_ttl: '2h' });
  });
  afterEach(async () => {
    cluster.become('well');
    cluster.watch(() => undefined);
    await mount.close();
    await sweep(cluster);
  });

  const create = async (role: string, wish: Record<string, unknown> = {}) =>
    mount.call('update', `kubernetes/creds/${role}`, { data: wish });
  const good = async (role: string, wish: Record<string, unknown> = {}) => {
    const answer = await create(role, wish);
    expect({ status: answer.status, errors: answer.errors }).toEqual({ status: 200, errors: undefined });
    return { ...answer, made: answer.data as unknown as Credential };
  };
  const refused = async (role: string, wish: Record<string, unknown> = {}): Promise<string> => {
    const { status, errors } = await create(role, wish);
    return `${status} ${(errors?.join() ?? '').replace(/^1 error occurred:\n\t\* /, '')}`;
  };
  /** Whether the holder of the token may list pods; `unauthorized` where the API server knows the token no more. */
  const mayList = async ({ service_account_token: bearer }: Credential, namespace: string) => {
    const spec = { resourceAttributes: { verb: 'list', group: '', resource: 'pods', namespace } };
    const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec };
    const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
    const answer = await cluster.ask({ method: 'POST', path, body, bearer });
    return answer.code === 401 ? 'unauthorized' : (answer.body['status'] as { allowed: boolean }).allowed;
  };

  test('a token of an existing account creates nothing else, and has the audiences of the role', async () => {
    const { made } = await good('app');
    expect(made).toMatchObject({ service_account_name: 'app', service_account_namespace: 'default' });
    const claims = JSON.parse(Buffer.from(made.service_account_token.split('.')[1]!, 'base64url').toString()) as { aud: unknown };
    expect(claims.aud).toEqual(['vault']);
    expect(await madeIn(cluster)).toEqual([]);
  });

  test('generated rules hold in the namespace while the lease lasts, and nothing is left when it is over', async () => {
    const { made, leaseId } = await good('pods', { kubernetes_namespace: 'prod', ttl: '15m' });
    expect(made.service_account_name).toMatch(/^v-root-pods-\d+-[a-z0-9]{24}$/);
    expect([await mayList(made, 'prod'), await mayList(made, 'default')]).toEqual([true, false]);
    expect(await madeIn(cluster)).toHaveLength(3);
    expect(leaseId).toContain('kubernetes/creds/pods/');
    await mount.advance('15m');
    expect(await madeIn(cluster)).toEqual([]);
    expect([false, 'unauthorized']).toContain(await mayList(made, 'prod'));
  });

  test('a lease may be shorter than the shortest token where its account ends with it', async () => {
    await good('pods', { kubernetes_namespace: 'prod', ttl: '1m' });
    expect(await madeIn(cluster)).toHaveLength(3);
    await mount.advance('1m');
    expect(await madeIn(cluster)).toEqual([]);
  });

  test('a token of an existing account for less than ten minutes is refused, at the role and at the call', async () => {
    expect(await refused('app', { ttl: '5m' })).toMatch(/^400 ttl: 300s is less than the 600s \(10 minutes\)/);
    const { status, errors } = await mount.call('update', 'kubernetes/roles/app', { data: { token_max_ttl: '5m' } });
    expect([status, errors?.join()]).toEqual([400, expect.stringContaining('token_max_ttl: the API server issues no tokens for less')]);
  });

  test('a binding in the whole cluster needs a ClusterRole', async () => {
    expect(await refused('pods', { kubernetes_namespace: 'prod', cluster_role_binding: true })).toBe(
      '400 a ClusterRoleBinding cannot ref a Role',
    );
    await good('bound', { kubernetes_namespace: 'prod', cluster_role_binding: true });
    expect((await madeIn(cluster)).map((name) => name.split(' ')[0])).toEqual(['ServiceAccount', 'ClusterRoleBinding']);
  });

  test('a ttl above the maximum is cut, and the answer says so', async () => {
    const { warnings } = await good('pods', { kubernetes_namespace: 'prod', ttl: '3h' });
    expect(warnings?.join()).toContain('ttl of 10800s is greater than token_max_ttl');
  });

  test.each([
    ['pods', {}, /^400 'kubernetes_namespace' is required unless/],
    ['pods', { kubernetes_namespace: 'other' }, /^400 kubernetes_namespace 'other' is not present in role's allowed_kubernetes_namespaces/],
    ['bound', { kubernetes_namespace: '../x' }, /^400 kubernetes_namespace: "\.\.\/x" is not a name of a namespace/],
    ['bound', { kubernetes_namespace: 'missing' }, /^400 .*namespaces "missing" not found/],
    ['nobody', { kubernetes_namespace: 'prod' }, /^400 role 'nobody' does not exist/],
    ['app', { cluster_role_binding: true }, /^400 cluster_role_binding: the role creates tokens only/],
  ])('role %s refuses %j', async (role, wish, expected) => {
    expect(await refused(role, wish)).toMatch(expected);
    expect(await madeIn(cluster)).toEqual([]);
  });

  test('namespaces are also allowed by their labels', async () => {
    const selector = '{"matchLabels":{"team":"red"}}';
    await mount.write('roles/red', { allowed_kubernetes_namespace_selector: selector, kubernetes_role_name: 'view' });
    await good('red', { kubernetes_namespace: 'default' });
    expect(await refused('red', { kubernetes_namespace: 'prod' })).toMatch(/^400 kubernetes_namespace 'prod' is not present/);
  });

  test('what is refused half-way is undone at once', async () => {
    cluster.watch(({ method, path }, when) => (when === 'before' && method === 'POST' && path.endsWith('/rolebindings') ? 403 : undefined));
    expect(await refused('pods', { kubernetes_namespace: 'prod' })).toMatch(
      /^500 .*the Kubernetes API server refuses to create the RoleBinding prod\/v-root-pods-/,
    );
    expect(await madeIn(cluster)).toEqual([]);
  });

  test('an object that somebody else made under the name stays', async () => {
    const { made } = await good('bound', { kubernetes_namespace: 'prod' });
    const path = `/api/v1/namespaces/prod/serviceaccounts`;
    await done(cluster, { method: 'DELETE', path: `${path}/${made.service_account_name}` });
    const theirs = { kind: 'ServiceAccount', apiVersion: 'v1', metadata: { name: made.service_account_name } };
    await done(cluster, { method: 'POST', path, body: theirs });
    await mount.call('update', 'sys/leases/revoke-prefix/kubernetes/creds', {});
    await mount.advance('1m');
    expect(await madeIn(cluster)).toEqual([`ServiceAccount prod/${made.service_account_name}`]);
  });

  test('a preview shows the calls and makes none', async () => {
    cluster.requests.length = 0;
    const { data } = await mount.call('update', 'kubernetes/roles/pods/preview', { data: { kubernetes_namespace: 'prod' } });
    const { calls } = data as { calls: { path: string }[] };
    expect(calls.map(({ path }) => path.replace(/v-root-[^/]+/, 'NAME'))).toEqual([
      '/api/v1/namespaces/prod/serviceaccounts',
      '/apis/rbac.authorization.k8s.io/v1/namespaces/prod/roles',
      '/apis/rbac.authorization.k8s.io/v1/namespaces/prod/rolebindings',
      '/api/v1/namespaces/prod/serviceaccounts/NAME/token',
    ]);
    expect(cluster.requests).toEqual([]);
  });

  test('an API server that is down is a 5xx that names it, and tells no secret', async () => {
    cluster.become('hanging up');
    const answer = await refused('pods', { kubernetes_namespace: 'prod' });
    expect(answer).toMatch(/^500 .*the Kubernetes API server cannot be reached/);
    expect(answer).not.toContain(cluster.manager);
    cluster.become('well');
    await mount.advance('10m');
    expect(await madeIn(cluster)).toEqual([]);
  });
});
