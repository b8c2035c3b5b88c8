import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { appRole, forStrongroom, mounted, type MountedKubernetes } from './mounted.ts';

let mount: MountedKubernetes;
beforeAll(async () => (mount = await mounted()));
afterAll(async () => mount.stop());
beforeEach(async () => {
  await mount.write('config', mount.config);
  await mount.delete('role/app');
  await mount.write('role/app', appRole);
  mount.api.label('default', { team: 'red' });
  mount.api.allowReviews('default', 'app', false);
  mount.api.requests.length = 0;
  mount.lines.length = 0;
});

const refused = { status: 403, errors: ['permission denied'] };
const why = (): string => String(mount.lines.at(-1)?.fields['error']);

describe('a login with the token of a service account', () => {
  test('gives a token with the policies of the role, and names the account', async () => {
    const { auth } = await mount.login('app', mount.api.issue(forStrongroom));
    expect(auth).toMatchObject({
      policies: ['app', 'default'],
      metadata: {
        role: 'app',
        service_account_name: 'app',
        service_account_namespace: 'default',
        service_account_secret_name: '',
        service_account_uid: mount.api.uidOf('default', 'app'),
      },
    });
    const { data } = await mount.call('read', 'auth/token/lookup-self', { token: auth!.client_token });
    expect(data).toMatchObject({ display_name: 'kubernetes-default-app' });
  });

  test('sends the API server the token for the audience of the role, and asks with the reviewer', async () => {
    await mount.login('app', mount.api.issue(forStrongroom));
    expect(mount.api.requests).toEqual([
      { method: 'POST', path: '/apis/authentication.k8s.io/v1/tokenreviews', bearer: mount.api.reviewer },
    ]);
  });

  test('knows the role whatever its case, and the metadata has the one name', async () => {
    const { auth } = await mount.login('APP', mount.api.issue(forStrongroom));
    expect(auth!.metadata).toMatchObject({ role: 'app' });
  });

  test('ignores the end of a line, as a file may have it', async () => {
    expect((await mount.login('app', `${mount.api.issue(forStrongroom)}\n`)).status).toBe(200);
  });

  test('accepts an audience that is one text', async () => {
    expect((await mount.login('app', mount.api.issue({ audiences: 'strongroom' }))).status).toBe(200);
  });

  test('asks with the token itself where there is no reviewer', async () => {
    const { token_reviewer_jwt: _without, ...config } = mount.config;
    await mount.write('config', { ...config, token_reviewer_jwt: '' });
    await mount.write('role/own', { ...appRole, audience: '' });
    const own = mount.api.issue();
    expect(await mount.login('own', own)).toMatchObject(refused);
    expect(why()).toContain('cannot create resource "tokenreviews"');
    mount.api.allowReviews('default', 'app');
    expect((await mount.login('own', own)).status).toBe(200);
    expect(mount.api.requests.at(-1)!.bearer).toBe(own);
  });

  test('takes globs in names and namespaces, which end at nothing', async () => {
    await mount.write('role/app', { ...appRole, bound_service_account_names: 'web-*', bound_service_account_namespaces: 'team-*-prod' });
    const of = (namespace: string, name: string) => mount.login('app', mount.api.issue({ ...forStrongroom, namespace, name }));
    expect((await of('team-red-prod', 'web-1')).status).toBe(200);
    expect((await of('team-a-b-prod', 'web-')).status).toBe(403);
    expect((await of('team-red-prod', 'xweb-1')).status).toBe(403);
    expect((await of('team-red-dev', 'web-1')).status).toBe(403);
  });

  test('a token of a secret has no times and no audience, and logs in where the role asks for none', async () => {
    await mount.write('role/old', { ...appRole, audience: '' });
    const { auth } = await mount.login('old', mount.api.issue({ legacy: true }));
    expect(auth!.metadata).toMatchObject({ service_account_secret_name: 'app-token-abcde' });
  });

  test('before the first write of config is a 400', async () => {
    await mount.call('update', 'sys/auth/second', { data: { type: 'kubernetes' } });
    const answer = await mount.call('update', 'auth/second/login', { data: { role: 'app', jwt: 'x' }, token: '' });
    expect(answer).toMatchObject({ status: 400, errors: [expect.stringContaining('kubernetes_host')] });
  });

  test('is not there for a read', async () => {
    expect((await mount.call('read', 'auth/kubernetes/login')).status).toBe(405);
  });
});

describe('what identifies an account', () => {
  const entityOf = async (role: string, request: Parameters<MountedKubernetes['api']['issue']>[0]): Promise<string> =>
    (await mount.login(role, mount.api.issue({ ...forStrongroom, ...request }))).auth!.entity_id;

  test('is its uid: an account that is deleted and created again is another one', async () => {
    const first = await entityOf('app', {});
    expect(await entityOf('app', {})).toBe(first);
    mount.api.deleteAccount('default', 'app');
    expect(await entityOf('app', {})).not.toBe(first);
  });

  test('or its namespace and name', async () => {
    await mount.write('role/app', { ...appRole, alias_name_source: 'serviceaccount_name' });
    const first = await entityOf('app', {});
    mount.api.deleteAccount('default', 'app');
    expect(await entityOf('app', {})).toBe(first);
    const { data } = await mount.call('read', `identity/entity/id/${first}`);
    expect(data).toMatchObject({
      aliases: [{ name: 'default/app', metadata: { service_account_name: 'app', service_account_namespace: 'default' } }],
    });
  });
});

describe('a login is refused', () => {
  const cases: readonly (readonly [string, Parameters<MountedKubernetes['api']['issue']>[0], Record<string, unknown>, string])[] = [
    ['for a token that the cluster has not signed', { forged: true }, {}, 'invalid bearer token'],
    ['for a token of another audience', { audiences: ['vault'] }, {}, 'not for the audience strongroom but for vault'],
    ['for a name that the role does not bind', { name: 'other' }, {}, 'service account name not authorized'],
    ['for a namespace that the role does not bind', { namespace: 'prod' }, {}, 'namespace not authorized'],
    ['for an address outside token_bound_cidrs', {}, { token_bound_cidrs: '10.0.0.0/8' }, '127.0.0.1 is outside token_bound_cidrs'],
    [
      'for a namespace whose labels do not fit',
      { namespace: 'prod' },
      { bound_service_account_namespace_selector: '{"matchLabels":{"team":"red"}}' },
      'namespace not authorized',
    ],
    [
      'for a namespace that does not exist',
      { namespace: 'gone' },
      { bound_service_account_namespace_selector: '{"matchLabels":{"team":"red"}}' },
      'does not exist',
    ],
  ];
  for (const [title, request, role, reason] of cases) {
    test(`${title}, and the log alone says so`, async () => {
      await mount.write('role/app', { ...appRole, ...role });
      expect(await mount.login('app', mount.api.issue({ ...forStrongroom, ...request }))).toMatchObject(refused);
      expect(why()).toContain(reason);
      expect(mount.lines.at(-1)).toMatchObject({ level: 'info', fields: { mount: 'auth/kubernetes/' } });
    });
  }

  test('for an unknown role, with the same calls as for a role that does not fit', async () => {
    const jwt = mount.api.issue({ ...forStrongroom, name: 'other' });
    expect(await mount.login('app', jwt)).toMatchObject(refused);
    expect(await mount.login('none', jwt)).toMatchObject(refused);
    expect(await mount.login('none', mount.api.issue({ ...forStrongroom, forged: true }))).toMatchObject(refused);
    expect(await mount.login('__proto__', jwt)).toMatchObject(refused);
    expect(mount.api.requests.map(({ path }) => path)).toEqual(
      Array.from({ length: 4 }, () => '/apis/authentication.k8s.io/v1/tokenreviews'),
    );
  });

  test('for what is no name of a role, as for an unknown one', async () => {
    await mount.write('role/k', appRole);
    for (const role of ['x'.repeat(5_000), 'a\0b', '\ud800', '../app', ' app', 'app/', '\u212a']) {
      expect(await mount.login(role, mount.api.issue(forStrongroom))).toMatchObject(refused);
      expect(why()).toBe('there is no such role');
      expect(String(mount.lines.at(-1)!.fields['role']).length).toBeLessThanOrEqual(100);
    }
    await mount.delete('role/k');
  });

  test('for a token with thousands of audiences, without a call', async () => {
    const audiences = Array.from({ length: 1_000 }, (_, i) => `audience-${i}`);
    expect(await mount.login('app', mount.api.issue({ audiences }))).toMatchObject(refused);
    expect(mount.api.requests).toEqual([]);
  });

  test('for a deleted account', async () => {
    const jwt = mount.api.issue(forStrongroom);
    mount.api.deleteAccount('default', 'app');
    expect(await mount.login('app', jwt)).toMatchObject(refused);
    expect(why()).toContain('invalidated');
  });

  test('for rubbish, unsigned tokens and tokens of other algorithms, without a call', async () => {
    const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const [, payload, signature] = mount.api.issue(forStrongroom).split('.') as [string, string, string];
    const tokens = [
      'zz',
      'a.b.c',
      `${payload}.${payload}.`,
      ...['none', 'HS256', 'EdDSA', 5].map((alg) => `${encode({ alg })}.${payload}.${signature}`),
    ];
    for (const jwt of tokens) expect(await mount.login('app', jwt)).toMatchObject(refused);
    expect(mount.api.requests).toEqual([]);
  });

  test('for a token of more than 32 KiB, without a call', async () => {
    const long = mount.api.issue({ ...forStrongroom, claims: { more: 'x'.repeat(32_768) } });
    expect(await mount.login('app', long)).toMatchObject(refused);
    expect(mount.api.requests).toEqual([]);
  });

  test('for the times of the token, with a text, without a call, and with a minute of tolerance', async () => {
    const of = async (times: Parameters<MountedKubernetes['api']['issue']>[0]) =>
      (await mount.login('app', mount.api.issue({ ...forStrongroom, ...times }))).errors;
    expect(await of({ expires: -61 })).toEqual(['invalid expiration time (exp) claim: token is expired']);
    expect(await of({ notBefore: 61 })).toEqual(['invalid not before (nbf) claim: token not yet valid']);
    expect(await of({ issuedAt: 61 })).toEqual(['invalid issued at (iat) claim: token issued in the future']);
    expect(mount.api.requests).toEqual([]);
    expect(await of({ issuedAt: 59 })).toBeUndefined();
  });

  test('for a namespace in the token that is no name: it is never part of an address', async () => {
    await mount.write('role/app', {
      ...appRole,
      bound_service_account_names: '*',
      bound_service_account_namespaces: '',
      bound_service_account_namespace_selector: 'matchLabels: {team: red}',
    });
    for (const namespace of ['../../lab/log?x=', 'a/b', 'A', 'x'.repeat(64), '', 'a%2fb']) {
      const claims = { 'kubernetes.io': { namespace, serviceaccount: { name: 'app', uid: mount.api.uidOf('default', 'app') } } };
      expect(await mount.login('app', mount.api.issue({ ...forStrongroom, claims }))).toMatchObject(refused);
    }
    expect(mount.api.requests).toEqual([]);
  });

  test('where the review names another account than the token does', async () => {
    const claims = { 'kubernetes.io': { namespace: 'default', serviceaccount: { name: 'app', uid: 'another-uid' } } };
    expect(await mount.login('app', mount.api.issue({ ...forStrongroom, claims }))).toMatchObject(refused);
  });
});

describe('pem_keys and issuer', () => {
  test('a signature that no key of pem_keys has made is refused without a call', async () => {
    await mount.write('config', { ...mount.config, pem_keys: [mount.api.publicKey] });
    expect(await mount.login('app', mount.api.issue({ ...forStrongroom, forged: true }))).toMatchObject(refused);
    expect(mount.api.requests).toEqual([]);
    expect((await mount.login('app', mount.api.issue(forStrongroom))).status).toBe(200);
  });

  test('an issuer that is set is checked, unless the check is turned off', async () => {
    const issuer = 'https://elsewhere.example';
    await mount.write('config', { ...mount.config, issuer });
    expect((await mount.read('config')).data).toMatchObject({ issuer, disable_iss_validation: false });
    const jwt = mount.api.issue(forStrongroom);
    expect(await mount.login('app', jwt)).toMatchObject({ status: 403, errors: ['invalid issuer (iss) claim'] });
    await mount.write('config', { ...mount.config, issuer, disable_iss_validation: true });
    expect((await mount.login('app', jwt)).status).toBe(200);
  });
});

describe('a namespace selector', () => {
  const red = { ...appRole, bound_service_account_namespaces: '' };

  test('lets in the namespaces whose labels fit, beside those of the list', async () => {
    const selector = 'matchExpressions:\n- {key: team, operator: In, values: [blue]}\n';
    await mount.write('role/app', {
      ...appRole,
      bound_service_account_namespaces: 'default',
      bound_service_account_namespace_selector: selector,
    });
    expect((await mount.login('app', mount.api.issue({ ...forStrongroom, namespace: 'prod' }))).status).toBe(200);
    expect(mount.api.requests.map(({ path }) => path)).toContain('/api/v1/namespaces/prod');
    expect((await mount.login('app', mount.api.issue(forStrongroom))).status).toBe(200);
    expect(mount.api.requests.map(({ path }) => path)).not.toContain('/api/v1/namespaces/default');
  });

  test('follows the labels as they are now', async () => {
    await mount.write('role/app', { ...red, bound_service_account_namespace_selector: 'matchLabels: {team: red}' });
    const jwt = mount.api.issue(forStrongroom);
    expect((await mount.login('app', jwt)).status).toBe(200);
    mount.api.label('default', { team: 'blue' });
    expect((await mount.login('app', jwt)).status).toBe(403);
  });

  test('needs a reviewer, because accounts may not read namespaces', async () => {
    await mount.write('role/app', { ...red, audience: '', bound_service_account_namespace_selector: 'matchLabels: {team: red}' });
    await mount.write('config', { ...mount.config, token_reviewer_jwt: '' });
    mount.api.allowReviews('default', 'app');
    expect(await mount.login('app', mount.api.issue())).toMatchObject(refused);
    expect(why()).toContain('token_reviewer_jwt has to be set for namespace selectors');
  });
});
