import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sharedMemory } from '@strongroom/engine-testkit';
import { startOidcIssuer, type OidcIssuer } from '@strongroom/lab';
import { anyone, mounted, type MountedJwt } from './mounted.ts';

describe('a login with a signed token', () => {
  let issuer: OidcIssuer;
  let mount: MountedJwt;

  beforeAll(async () => {
    issuer = await startOidcIssuer();
    mount = await mounted(issuer);
    await mount.write('config', { jwks_url: issuer.jwksUrl, default_role: 'Usual' });
    await mount.write('role/usual', { ...anyone, token_policies: 'usual', token_ttl: '10m', token_max_ttl: '1h' });
  });
  afterAll(async () => {
    await mount.close();
    await issuer.stop();
  });

  const token = (claims: object = {}): string => issuer.sign({ sub: 'alice', aud: 'strongroom', ...claims });

  test('without a role means the default role', async () => {
    expect((await mount.login('', token())).auth).toMatchObject({ policies: ['default', 'usual'], metadata: { role: 'usual' } });
    expect((await mount.login('USUAL', token())).auth?.metadata).toEqual({ role: 'usual' });
  });

  test('may come as text with white space around it', async () => {
    expect((await mount.login('usual', ` ${token()}\n`)).status).toBe(200);
  });

  test('gives the alias, its metadata and the groups of the claims', async () => {
    await mount.write('role/mapped', {
      ...anyone,
      groups_claim: '/access/groups',
      claim_mappings: { email: 'mail', '/deep/team': 'team', missing: 'nothing' },
    });
    const claims = { email: 'alice@example.org', deep: { team: 'red' }, access: { groups: ['eng', ''] } };
    const { auth } = await mount.login('mapped', token(claims));
    expect(auth!.metadata).toEqual({ role: 'mapped', mail: 'alice@example.org', team: 'red' });
    const { data } = await mount.call('read', `identity/entity/id/${auth!.entity_id}`);
    expect((data as { aliases: object[] }).aliases[0]).toMatchObject({
      name: 'alice',
      metadata: { mail: 'alice@example.org', team: 'red' },
    });
  });

  test('puts who logs in into the external groups that the claim names', async () => {
    await mount.write('role/grouped', { ...anyone, groups_claim: 'groups' });
    const accessor = Object.values((await mount.call('read', 'sys/auth')).data as Record<string, { type: string; accessor: string }>).find(
      ({ type }) => type === 'jwt',
    )!.accessor;
    const group = await mount.call('update', 'identity/group', { data: { name: 'engineers', type: 'external', policies: 'deploy' } });
    const { id } = group.data as { id: string };
    await mount.call('update', 'identity/group-alias', { data: { name: 'eng', mount_accessor: accessor, canonical_id: id } });
    expect((await mount.login('grouped', token({ groups: ['eng'] }))).auth?.identity_policies).toEqual(['deploy']);
    expect((await mount.login('grouped', token({ groups: 'eng' }))).auth?.identity_policies).toEqual(['deploy']);
    expect((await mount.login('grouped', token({ groups: ['Eng'] }))).auth?.identity_policies).toBeUndefined();
  });

  test.each<[object, string]>([
    [{ groups: 5 }, 'failed to fetch groups: "groups" claim is neither a text nor a list of texts'],
    [{ groups: ['a', 5] }, 'value 5 in groups claim could not be parsed as string'],
    [{}, 'failed to fetch groups: "groups" claim not found in token'],
  ])('with the groups %j is refused', async (claims, text) => {
    await mount.write('role/strict-groups', { ...anyone, groups_claim: 'groups' });
    expect((await mount.login('strict-groups', token(claims))).errors).toEqual([text]);
  });

  test.each([
    ['secureauth', 'eng,ops'],
    ['ibmisam', 'eng ops'],
  ])('finds several groups in one text of %s', async (provider, groups) => {
    const own = await mounted(issuer);
    issuer.clock = () => Math.floor(mount.clock.millis() / 1_000);
    await own.write('config', { jwks_url: issuer.jwksUrl, provider_config: { provider } });
    await own.write('role/ci', { ...anyone, groups_claim: 'groups' });
    const tested = await own.write('config/test', { jwt: token({ groups }), role: 'ci' });
    expect(tested.data).toMatchObject({ ok: true, groups: ['eng', 'ops'] });
    await own.close();
  });

  test.each<[unknown, string]>([
    [5, 'claim "sub" could not be converted to string'],
    [['alice'], 'claim "sub" could not be converted to string'],
    ['', 'missing name in alias'],
    ['alice ', 'claim "sub" has control characters, or spaces at its ends'],
    ['al\u0000ice', 'claim "sub" has control characters, or spaces at its ends'],
    [undefined, 'claim "sub" not found in token'],
  ])('as %j is refused', async (sub, text) => {
    const { status, errors } = await mount.login('usual', token({ sub }));
    expect(status).toBe(400);
    expect(errors!.join()).toContain(text);
  });

  test('names that differ in case are different entities', async () => {
    const [one, two] = [await mount.login('usual', token({ sub: 'bob' })), await mount.login('usual', token({ sub: 'Bob' }))];
    expect(one.auth!.entity_id).not.toBe(two.auth!.entity_id);
  });

  test('that waits for a second factor ends when its role is deleted', async () => {
    await mount.write('role/waiting', anyone);
    const { data } = await mount.call('update', 'identity/mfa/method/totp', { data: { issuer: 'Test' } });
    const { method_id } = data as { method_id: string };
    const enforcement = 'identity/mfa/login-enforcement/jwt';
    await mount.call('update', enforcement, { data: { mfa_method_ids: [method_id], auth_method_types: ['jwt'] } });
    const { pendingAuth } = await mount.login('waiting', token());
    const { mfa_request_id } = pendingAuth!.mfa_requirement;
    // Without the enforcement no code is needed.
    await mount.call('delete', enforcement);
    await mount.delete('role/waiting');
    const answer = await mount.call('update', 'sys/mfa/validate', { token: '', data: { mfa_request_id } });
    expect([answer.status, answer.auth]).toEqual([400, null]);
  });

  test('renews by the role as it is now, and not once the role is gone', async () => {
    await mount.write('role/short', { ...anyone, token_ttl: '10m' });
    const { auth } = await mount.login('short', token());
    await mount.write('role/short', { role_type: 'jwt', token_ttl: '20m' });
    expect((await mount.renew(auth!.client_token)).auth!.lease_duration).toBe(1_200);
    await mount.delete('role/short');
    const { status, errors } = await mount.renew(auth!.client_token);
    expect({ status, errors }).toEqual({
      status: 400,
      errors: ['1 error occurred:\n\t* failed to renew entry: role short does not exist during renewal\n\n'],
    });
  });

  test('is a POST: a GET is refused', async () => {
    expect((await mount.call('read', `${mount.path}/login`, { token: '' })).status).toBe(405);
  });

  test.each([
    ['nothing', '', 'missing token'],
    ['two parts', 'a.b', 'compact JWS format must have three parts'],
    ['no JSON', 'a.b.c', 'the header is not JSON'],
    ['a list as header', `${Buffer.from('[]').toString('base64url')}.b.c`, 'the header is not an object'],
    ['a very long text', 'a'.repeat(70_000), 'longer than 65536 characters'],
  ])('with %s instead of a token is refused', async (_what, jwt, text) => {
    const { status, errors } = await mount.login('usual', jwt);
    expect(status).toBe(400);
    expect(errors!.join()).toContain(text);
  });

  test('with a header that has critical extensions is refused', async () => {
    const jwt = issuer.sign({ sub: 'alice', aud: 'strongroom' }, { header: { crit: ['b64'], b64: false } });
    expect((await mount.login('usual', jwt)).errors!.join()).toContain('extensions that are unknown here');
  });

  describe('tells nobody which roles there are:', () => {
    const answers = async (jwt: string, remoteAddress?: string): Promise<unknown[]> =>
      Promise.all(
        ['usual', 'unknown', 'person', 'toString'].map(async (role) => {
          const { status, errors } = await mount.login(role, jwt, remoteAddress);
          return { status, errors };
        }),
      );

    beforeEach(async () => {
      await mount.write('role/person', { user_claim: 'sub', allowed_redirect_uris: 'http://localhost:8250/oidc/callback' });
    });

    test.each([
      ['a foreign signature', () => issuer.sign({ sub: 'alice' }, { forged: true })],
      ['an unknown key', () => issuer.sign({ sub: 'alice' }, { header: { kid: 'none' } })],
      ['no signature', () => issuer.sign({ sub: 'alice' }, { alg: 'none' })],
      ['rubbish', () => 'rubbish'],
      ['nothing', () => ''],
    ])('with %s, all names are answered alike', async (_what, jwt) => {
      const [first, ...others] = await answers(jwt());
      for (const answer of others) expect(answer).toEqual(first);
    });

    test('from an address that a role does not accept, too', async () => {
      await mount.write('role/usual', { role_type: 'jwt', token_bound_cidrs: '127.0.0.0/8' });
      const [first, ...others] = await answers(issuer.sign({ sub: 'alice' }, { forged: true }), '192.0.2.1');
      for (const answer of others) expect(answer).toEqual(first);
    });

    test('a token of the issuer that a role refuses is answered alike too, where the configuration hides reasons', async () => {
      const own = await mounted(issuer);
      await own.write('config', { jwks_url: issuer.jwksUrl, hide_refusal_reasons: true });
      await own.write('role/usual', { ...anyone, bound_claims: { level: 5 } });
      const of = async (role: string, claims: object): Promise<unknown> => {
        const { status, errors } = await own.login(role, token(claims));
        return { status, errors };
      };
      expect((await own.login('usual', token({ level: 5 }))).status).toBe(200);
      expect(await of('usual', { level: 4 })).toEqual(await of('unknown', { level: 4 }));
      expect(own.lines.some(({ message }) => message === 'a role did not accept a token')).toBe(true);
      expect((await own.read('config')).data).toMatchObject({ hide_refusal_reasons: true });
      await own.close();
      issuer.clock = () => Math.floor(mount.clock.millis() / 1_000);
    });

    test('and the log says what was wrong', async () => {
      await mount.login('unknown', token());
      expect(mount.lines.at(-1)).toMatchObject({ level: 'info', fields: { role: 'unknown' } });
    });
  });

  describe('to a role that accepts each token once', () => {
    beforeEach(async () => {
      await mount.write('role/once', { ...anyone, reject_replays: true });
    });

    test('succeeds once among a hundred side by side', async () => {
      const jwt = token({ jti: 'a' });
      const statuses = await Promise.all(Array.from({ length: 100 }, async () => (await mount.login('once', jwt)).status));
      expect(statuses.filter((status) => status === 200)).toHaveLength(1);
      expect((await mount.login('once', jwt)).errors).toEqual([
        'error validating token: the token was used before, and the role accepts each token once',
      ]);
    });

    test('succeeds once on two servers of one store', async () => {
      const store = sharedMemory();
      const first = await mounted(issuer, { storage: store.open() });
      await first.write('config', { jwks_url: issuer.jwksUrl });
      await first.write('role/once', { ...anyone, reject_replays: true });
      const other = await mounted(issuer, { storage: store.open() });
      const jwt = token({ jti: 'shared' });
      const statuses = await Promise.all([first, other].map(async (one) => (await one.login('once', jwt)).status));
      expect(statuses.sort()).toEqual([200, 400]);
      await first.close();
      await other.close();
      issuer.clock = () => Math.floor(mount.clock.millis() / 1_000);
    });

    test('needs a token with a jti', async () => {
      expect((await mount.login('once', token())).errors!.join()).toContain('no identifier (jti) claim in token');
    });

    test('a refused login uses nothing up', async () => {
      await mount.write('role/strict', { ...anyone, reject_replays: true, bound_claims: { level: 5 } });
      expect((await mount.login('strict', token({ jti: 'b', level: 4 }))).status).toBe(400);
      expect((await mount.login('once', token({ jti: 'b', level: 4 }))).status).toBe(200);
    });

    test('is forgotten once the token has expired', async () => {
      const own = await mounted(issuer);
      await own.write('config', { jwks_url: issuer.jwksUrl });
      await own.write('role/once', { ...anyone, reject_replays: true });
      expect((await own.login('once', issuer.sign({ sub: 'alice', aud: 'strongroom', jti: 'c' }))).status).toBe(200);
      const jobs = async (): Promise<number> => {
        const { data } = await own.call('read', 'sys/schedule');
        return (data as { jobs: { kind: string }[] }).jobs.filter(({ kind }) => kind === 'forget-used-tokens').length;
      };
      expect(await jobs()).toBe(1);
      await own.advance(3_700);
      await own.advance(3_700);
      expect(await jobs()).toBe(0);
      await own.close();
      issuer.clock = () => Math.floor(mount.clock.millis() / 1_000);
    });
  });

  test('to a role that limits the age of tokens needs a young one', async () => {
    await mount.write('role/young', { ...anyone, max_token_age: '2m' });
    const now = issuer.clock();
    expect((await mount.login('young', token({ iat: now - 170 }))).status).toBe(200);
    expect((await mount.login('young', token({ iat: now - 190 }))).errors).toEqual([
      'error validating token: invalid issued at (iat) claim: token is older than the role allows',
    ]);
  });
});
