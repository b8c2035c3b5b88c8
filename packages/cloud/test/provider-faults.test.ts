import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { TestMount } from '@strongroom/engine-testkit';
import { AwsFront, awsError, awsResult, credentialsXml, REQUEST_ID, type SeenCall, type Shape } from './aws-front.ts';
import { DEPLOY, mountCloud, pass, READ_ONLY, rootConfig } from './cloud-mount.ts';

jest.setTimeout(60_000);

const KEY = { access_key: 'AKIAROOTROOTROOTROOT', secret_key: 'secret-of-the-root' };
const ABSENT = awsError(404, 'NoSuchEntity', 'The user with name x cannot be found.');
const THROTTLED = awsError(400, 'Throttling', 'Rate exceeded');

/** What AWS really answers, from its documentation and from recordings, where the emulator of the other tests does not. */
describe('AWS as it answers', () => {
  let front: AwsFront;
  let mount: TestMount;
  beforeAll(async () => {
    front = await AwsFront.start();
  });
  afterAll(async () => front.stop());
  beforeEach(async () => {
    front.reset();
    mount = await mountCloud();
    await mount.write('config/root', rootConfig(front.endpoint, KEY, { max_retries: 0 }));
    await mount.write('roles/user', { credential_type: 'iam_user', policy_arns: READ_ONLY });
    await mount.write('roles/deploy', { credential_type: 'assumed_role', role_arns: DEPLOY });
  });
  afterEach(async () => mount.close());

  const session = () => awsResult('AssumeRole', credentialsXml(new Date(Date.now() + 3_600_000)));
  /** A user that is made, seen and taken away without difficulty. */
  const users = (): void => {
    front.on('CreateUser', ({ parameters }) =>
      awsResult(
        'CreateUser',
        `<User><UserId>AIDAEXAMPLE</UserId><Arn>arn:aws:iam::123456789012:user/${parameters['UserName']}</Arn></User>`,
      ),
    );
    for (const action of [
      'AttachUserPolicy',
      'DeleteUser',
      'DeleteAccessKey',
      'DetachUserPolicy',
      'DeleteUserPolicy',
      'RemoveUserFromGroup',
    ]) {
      front.on(action, () => awsResult(action, ''));
    }
    front.on('CreateAccessKey', () =>
      awsResult(
        'CreateAccessKey',
        '<AccessKey><AccessKeyId>AKIANEWNEWNEWNEWNEW0</AccessKeyId><SecretAccessKey>new-secret</SecretAccessKey></AccessKey>',
      ),
    );
    front.on('GetUser', () => awsResult('GetUser', `<User><UserId>AIDAEXAMPLE</UserId>${tagsXml()}</User>`));
    front.on('ListAccessKeys', () => awsResult('ListAccessKeys', '<AccessKeyMetadata/><IsTruncated>false</IsTruncated>'));
    front.on('ListAttachedUserPolicies', () =>
      awsResult('ListAttachedUserPolicies', '<AttachedPolicies/><IsTruncated>false</IsTruncated>'),
    );
    front.on('ListUserPolicies', () => awsResult('ListUserPolicies', '<PolicyNames/><IsTruncated>false</IsTruncated>'));
    front.on('GetCallerIdentity', () => awsResult('GetCallerIdentity', '<Account>123456789012</Account>'));
    front.on('ListGroupsForUser', () => awsResult('ListGroupsForUser', '<Groups/><IsTruncated>false</IsTruncated>'));
  };
  /** The tags that the last user was made with. */
  const tagsXml = (): string => {
    const sent = front.sent('CreateUser').at(-1) ?? {};
    const keys = Object.keys(sent).filter((name) => /^Tags\.member\.\d+\.Key$/.test(name));
    const members = keys.map((name) => `<member><Key>${sent[name]}</Key><Value>${sent[name.replace('Key', 'Value')]}</Value></member>`);
    return `<Tags>${members.join('')}</Tags>`;
  };
  const actions = (): string[] => front.calls.map((call) => call.action);

  describe('throttling', () => {
    test('is the provider’s: 502 with its code and request id, and Retry-After', async () => {
      front.on('AssumeRole', () => THROTTLED);
      expect(await mount.call('read', 'aws/creds/deploy')).toMatchObject({
        status: 502,
        errors: [`1 error occurred:\n\t* Error assuming role: AWS: Throttling: Rate exceeded (request ${REQUEST_ID})\n\n`],
        headers: { 'Retry-After': '5' },
      });
    });

    test.each(['Throttling', 'ThrottlingException', 'RequestLimitExceeded', 'TooManyRequestsException', 'SlowDown'])(
      '%s is throttling, and the Retry-After of the provider is passed on',
      async (code) => {
        front.on('AssumeRole', () => awsError(code === 'SlowDown' ? 503 : 400, code, 'Rate exceeded', { 'retry-after': '17' }));
        expect(await mount.call('read', 'aws/creds/deploy')).toMatchObject({ status: 502, headers: { 'Retry-After': '17' } });
      },
    );

    test('is retried max_retries times at the pace that the provider asks for, also for what is never sent twice otherwise', async () => {
      users();
      await mount.write('config/root', rootConfig(front.endpoint, KEY, { max_retries: 1 }));
      const seen: number[] = [];
      const made = awsResult('CreateUser', '<User><UserId>AIDAEXAMPLE</UserId></User>');
      front.on('CreateUser', (): Shape => {
        seen.push(performance.now());
        return seen.length === 1 ? awsError(400, 'Throttling', 'Rate exceeded', { 'retry-after': '1' }) : made;
      });
      expect((await mount.call('read', 'aws/creds/user')).status).toBe(200);
      expect(seen).toHaveLength(2);
      expect(seen[1]! - seen[0]!).toBeGreaterThan(950);
    });

    test('of a step after the user was made: the user is taken away again', async () => {
      users();
      front.on('AttachUserPolicy', () => THROTTLED);
      expect(await mount.call('read', 'aws/creds/user')).toMatchObject({ status: 502, headers: { 'Retry-After': '5' } });
      await mount.core.settleSchedule();
      expect(actions()).toContain('DeleteUser');
    });
  });

  test('LimitExceeded is not throttling: it is answered at once', async () => {
    users();
    await mount.write('config/root', rootConfig(front.endpoint, KEY, { max_retries: 5 }));
    front.on('CreateUser', () => awsError(409, 'LimitExceeded', 'Cannot exceed quota for UsersPerAccount: 5000'));
    expect(await mount.call('read', 'aws/creds/user')).toMatchObject({
      status: 400,
      errors: [`Error creating IAM user: AWS: LimitExceeded: Cannot exceed quota for UsersPerAccount: 5000 (request ${REQUEST_ID})`],
    });
    expect(front.sent('CreateUser')).toHaveLength(1);
  });

  test.each([
    ['AccessDenied', 403, 400],
    ['ValidationError', 400, 400],
    ['PackedPolicyTooLarge', 400, 400],
    ['RegionDisabledException', 403, 400],
    ['InvalidClientTokenId', 403, 500],
    ['ExpiredToken', 403, 500],
    ['ServiceFailure', 500, 500],
    ['ServiceUnavailable', 503, 500],
  ])(
    '%s is reported with its code: a refusal is the request’s fault, a failure or an unknown root credential is not',
    async (code, sent, status) => {
      front.on('AssumeRole', () => awsError(sent, code, 'as AWS says it'));
      const answer = await mount.call('read', 'aws/creds/deploy');
      expect(answer.status).toBe(status);
      expect(answer.errors![0]).toContain(`Error assuming role: AWS: ${code}: as AWS says it (request ${REQUEST_ID})`);
    },
  );

  test('a page of a proxy is reported as an answer that cannot be read', async () => {
    front.on('AssumeRole', () => ({ status: 502, body: '<html><body>Bad gateway</body></html>' }));
    const { status, errors } = await mount.call('read', 'aws/creds/deploy');
    expect({ status, text: errors![0] }).toEqual({ status: 500, text: expect.stringContaining('Error assuming role: AWS: ') });
  });

  test('a provider that is not reached is named, and nothing is left to be undone', async () => {
    const gone = await AwsFront.start();
    const endpoint = gone.endpoint;
    await gone.stop();
    await mount.write('config/root', rootConfig(endpoint, KEY, { max_retries: 0 }));
    const { status, errors } = await mount.call('read', 'aws/creds/user');
    expect(status).toBe(500);
    expect(errors![0]).toContain('Error creating IAM user: AWS: ECONNREFUSED');
    expect((await mount.call('delete', 'sys/mounts/aws')).status).toBe(204);
  });

  test('an endpoint that speaks no TLS is reported in one line', async () => {
    const endpoint = front.endpoint.replace('http:', 'https:');
    await mount.write('config/root', rootConfig(endpoint, KEY, { max_retries: 0 }));
    const { status, errors } = await mount.call('read', 'aws/creds/deploy');
    expect(status).toBe(500);
    expect(errors![0]).toMatch(/^1 error occurred:\n\t\* Error assuming role: AWS: EPROTO: write EPROTO [^\n]*\n\n$/);
  });

  describe('consistency that comes late', () => {
    test('wait_for_propagation tries the key with GetCallerIdentity until AWS knows it', async () => {
      users();
      let tries = 0;
      front.on('GetCallerIdentity', (call: SeenCall) => {
        expect(call.key).toBe('AKIANEWNEWNEWNEWNEW0');
        tries += 1;
        if (tries < 4) return awsError(403, 'InvalidClientTokenId', 'The security token included in the request is invalid.');
        return awsResult('GetCallerIdentity', '<Arn>arn:aws:iam::123456789012:user/x</Arn>');
      });
      const answer = mount.call('read', 'aws/creds/user', { data: { wait_for_propagation: true } });
      while (tries < 4) {
        await mount.clock.advance(1);
        // eslint-disable-next-line no-restricted-syntax -- the call goes over a socket
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      expect(await answer).toMatchObject({ status: 200, warnings: null, data: { ready_at: mount.clock.now().toISOString() } });
    });

    test('a key that AWS does not know for long is answered all the same, with a warning', async () => {
      users();
      front.on('GetCallerIdentity', () => awsError(403, 'InvalidClientTokenId', 'The security token included in the request is invalid.'));
      let answered = false;
      const answer = mount.call('read', 'aws/creds/user', { data: { wait_for_propagation: true } });
      void answer.then(() => (answered = true));
      while (!answered) {
        await mount.clock.advance(1);
        // eslint-disable-next-line no-restricted-syntax -- the call goes over a socket
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      expect(await answer).toMatchObject({
        status: 200,
        warnings: ['the provider does not accept the new key yet; try it again in a while'],
      });
    });

    test('a new user that cannot be seen when its lease is revoked is looked for again, and removed', async () => {
      users();
      const { leaseId } = await mount.read('creds/user');
      front.on('GetUser', () => ABSENT);
      expect((await mount.call('update', 'sys/leases/revoke', { data: { lease_id: leaseId, sync: true } })).status).toBe(204);
      expect(actions()).not.toContain('DeleteUser');
      // Now it can be seen.
      front.on('GetUser', () => awsResult('GetUser', `<User><UserId>AIDAEXAMPLE</UserId>${tagsXml()}</User>`));
      await pass(mount, 150);
      expect(actions()).toContain('DeleteUser');
    });
  });

  test('a user whose creation has an unknown outcome is removed by the tag that it was made with', async () => {
    users();
    front.on('CreateUser', () => awsError(500, 'ServiceFailure', 'The request processing has failed'));
    expect((await mount.call('read', 'aws/creds/user')).status).toBe(500);
    const sent = front.sent('CreateUser');
    expect(sent).toHaveLength(1);
    expect(sent[0]).toMatchObject({ 'Tags.member.1.Key': 'strongroom:mount', 'Tags.member.2.Key': 'strongroom:creation' });
    await pass(mount, 150);
    expect(actions()).not.toContain('DeleteUser');
    await pass(mount, 60);
    expect(front.sent('DeleteUser')).toEqual([{ UserName: sent[0]!['UserName'] }]);
  });

  test('a user that belongs to another account than config/root is now is not taken for removed', async () => {
    users();
    const { leaseId } = await mount.read('creds/user');
    await mount.advance('5m');
    front.on('GetUser', () => ABSENT);
    front.on('GetCallerIdentity', () => awsResult('GetCallerIdentity', '<Account>999999999999</Account>'));
    await mount.write('config/root', rootConfig(front.endpoint, KEY, { max_retries: 0 }));
    const { status, errors } = await mount.call('update', 'sys/leases/revoke', { data: { lease_id: leaseId, sync: true } });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(errors!.join()).toContain('belongs to account 123456789012, and config/root is of account 999999999999 now');
    expect((await mount.call('update', 'sys/leases/lookup', { data: { lease_id: leaseId } })).status).toBe(200);
    // As soon as the account is the right one again, NoSuchEntity is success.
    front.on('GetCallerIdentity', () => awsResult('GetCallerIdentity', '<Account>123456789012</Account>'));
    await mount.write('config/root', rootConfig(front.endpoint, KEY, { max_retries: 0 }));
    await pass(mount, 400);
    expect((await mount.call('update', 'sys/leases/lookup', { data: { lease_id: leaseId } })).status).toBe(400);
  });

  test.each([
    ['whose outcome is unknown', 'CreateUser', 500, 180],
    ['that was abandoned before AWS shows it', 'AttachUserPolicy', 403, 120],
  ] as const)(
    'a creation %s is undone in its own account alone, whatever config/root is of meanwhile',
    async (_when, action, status, age) => {
      users();
      const shown = (): Shape => awsResult('GetUser', `<User><UserId>AIDAEXAMPLE</UserId>${tagsXml()}</User>`);
      front.on('GetUser', () => ABSENT);
      front.on(action, () => awsError(status, 'Failed', 'The request processing has failed'));
      expect((await mount.call('read', 'aws/creds/user')).status).toBeGreaterThanOrEqual(400);
      await mount.core.settleSchedule();
      const configure = async () => mount.write('config/root', rootConfig(front.endpoint, KEY, { max_retries: 0 }));
      front.on('GetCallerIdentity', () => awsResult('GetCallerIdentity', '<Account>999999999999</Account>'));
      await configure();
      await pass(mount, age + 60);
      expect(front.sent('DeleteUser')).toEqual([]);
      front.on('GetUser', shown);
      front.on('GetCallerIdentity', () => awsResult('GetCallerIdentity', '<Account>123456789012</Account>'));
      await configure();
      await pass(mount, 300);
      expect(front.sent('DeleteUser')).toEqual([{ UserName: front.sent('CreateUser')[0]!['UserName'] }]);
    },
  );

  test.each([
    ['AssumeRole', 'deploy', 'the most that the role gives', '12h', 43_200, 3_600],
    ['GetFederationToken', 'report', 'the most that it gives the account itself', '36h', 129_600, 3_600],
  ])('%s for role %s that gives %s: the lease is no longer than the credential', async (action, role, _most, ttl, asked, given) => {
    await mount.call('update', 'sys/mounts/aws/tune', { data: { max_lease_ttl: '48h' } });
    await mount.write('roles/report', { credential_type: 'federation_token', policy_arns: READ_ONLY });
    front.on(action, () => awsResult(action, credentialsXml(new Date(mount.clock.millis() + given * 1_000))));
    const { data, leaseDuration, warnings } = await mount.write(`sts/${role}`, { ttl });
    expect(front.sent(action)[0]!['DurationSeconds']).toBe(String(asked));
    expect({ ttl: (data as { ttl: number }).ttl, leaseDuration }).toEqual({ ttl: given, leaseDuration: given });
    expect(warnings).toEqual([`the provider gave a credential of ${given} s, where ${asked} s were asked for`]);
    await mount.advance(given + 1);
    expect(await mount.call('list', `sys/leases/lookup/aws/sts/${role}`)).toMatchObject({ status: 404 });
  });

  test('an STS that does not answer GetCallerIdentity holds up a new user for 5 s, not for its deadline', async () => {
    users();
    const asked = new Promise<void>((resolve) => {
      front.on('GetCallerIdentity', () => (resolve(), 'silence'));
    });
    const creating = mount.call('read', 'aws/creds/user');
    await asked;
    expect(actions()).not.toContain('CreateUser');
    await mount.clock.advance(5);
    expect((await creating).status).toBe(200);
    // By the real clock the SDK waits for 30 s.
  }, 25_000);

  test('a user that is not seen is not taken for removed while AWS does not say whose account config/root is of', async () => {
    users();
    const { leaseId } = await mount.read('creds/user');
    await mount.write('config/root', rootConfig(front.endpoint, KEY, { max_retries: 0 }));
    front.on('GetUser', () => ABSENT);
    front.on('GetCallerIdentity', () => awsError(503, 'ServiceUnavailable', 'Service is unavailable'));
    const { errors } = await mount.call('update', 'sys/leases/revoke', { data: { lease_id: leaseId, sync: true } });
    expect(errors!.join()).toContain('error asking for the account of config/root: AWS: ServiceUnavailable');
    expect((await mount.call('update', 'sys/leases/lookup', { data: { lease_id: leaseId } })).status).toBe(200);
  });

  describe('removing a user', () => {
    /** What hangs on the user, as IAM lists it: two pages of each kind. */
    const hanging = (): { left: Set<string> } => {
      const left = new Set<string>();
      const kinds: [list: string, wrapper: string, member: (name: string) => string, remove: string, parameter: string, names: string[]][] =
        [
          [
            'ListAccessKeys',
            'AccessKeyMetadata',
            (n) => `<member><AccessKeyId>${n}</AccessKeyId></member>`,
            'DeleteAccessKey',
            'AccessKeyId',
            ['AKIAAAAAAAAAAAAAAAA1', 'AKIAAAAAAAAAAAAAAAA2'],
          ],
          [
            'ListAttachedUserPolicies',
            'AttachedPolicies',
            (n) => `<member><PolicyArn>${n}</PolicyArn></member>`,
            'DetachUserPolicy',
            'PolicyArn',
            [READ_ONLY, `${READ_ONLY}2`],
          ],
          ['ListUserPolicies', 'PolicyNames', (n) => `<member>${n}</member>`, 'DeleteUserPolicy', 'PolicyName', ['inline1', 'inline2']],
          [
            'ListGroupsForUser',
            'Groups',
            (n) => `<member><GroupName>${n}</GroupName></member>`,
            'RemoveUserFromGroup',
            'GroupName',
            ['group1', 'group2'],
          ],
          [
            'ListMFADevices',
            'MFADevices',
            (n) => `<member><SerialNumber>${n}</SerialNumber></member>`,
            'DeactivateMFADevice',
            'SerialNumber',
            ['arn:aws:iam::123456789012:mfa/phone', 'GAHT12345678'],
          ],
          [
            'ListSSHPublicKeys',
            'SSHPublicKeys',
            (n) => `<member><SSHPublicKeyId>${n}</SSHPublicKeyId></member>`,
            'DeleteSSHPublicKey',
            'SSHPublicKeyId',
            ['APKAEXAMPLE1', 'APKAEXAMPLE2'],
          ],
          [
            'ListSigningCertificates',
            'Certificates',
            (n) => `<member><CertificateId>${n}</CertificateId></member>`,
            'DeleteSigningCertificate',
            'CertificateId',
            ['CERT1', 'CERT2'],
          ],
          [
            'ListServiceSpecificCredentials',
            'ServiceSpecificCredentials',
            (n) => `<member><ServiceSpecificCredentialId>${n}</ServiceSpecificCredentialId></member>`,
            'DeleteServiceSpecificCredential',
            'ServiceSpecificCredentialId',
            ['ACCAEXAMPLE1', 'ACCAEXAMPLE2'],
          ],
        ];
      for (const [list, wrapper, member, remove, parameter, names] of kinds) {
        for (const name of names) left.add(name);
        front.on(list, ({ parameters }) => {
          const second = parameters['Marker'] === 'page-2';
          const more = second ? '<IsTruncated>false</IsTruncated>' : '<IsTruncated>true</IsTruncated><Marker>page-2</Marker>';
          const name = names[second ? 1 : 0]!;
          return awsResult(list, `<${wrapper}>${left.has(name) ? member(name) : ''}</${wrapper}>${more}`);
        });
        front.on(remove, ({ parameters }) => (left.delete(parameters[parameter]!) ? awsResult(remove, '') : ABSENT));
      }
      for (const [action, name] of [
        ['DeleteLoginProfile', 'the login profile'],
        ['DeleteVirtualMFADevice', 'the virtual device'],
        ['DeleteUserPermissionsBoundary', 'the boundary'],
      ] as const) {
        left.add(name);
        front.on(action, () => (left.delete(name) ? awsResult(action, '') : ABSENT));
      }
      front.on('DeleteUser', () =>
        left.size === 0
          ? awsResult('DeleteUser', '')
          : awsError(409, 'DeleteConflict', 'Cannot delete entity, must delete login profile first.'),
      );
      return { left };
    };
    const revoke = async (leaseId: string) => mount.call('update', 'sys/leases/revoke', { data: { lease_id: leaseId, sync: true } });

    test('takes keys, policies, groups, login profile, MFA devices, SSH keys, certificates, service credentials and boundary, page by page', async () => {
      users();
      const { leaseId } = await mount.read('creds/user');
      const { left } = hanging();
      expect(await revoke(leaseId)).toMatchObject({ status: 204 });
      expect([...left]).toEqual([]);
      expect(front.sent('DeleteVirtualMFADevice')).toEqual([{ SerialNumber: 'arn:aws:iam::123456789012:mfa/phone' }]);
    });

    test('what cannot be taken away is named with AWS’s code, and the lease stays and is tried again', async () => {
      users();
      const { leaseId } = await mount.read('creds/user');
      const { left } = hanging();
      front.on('ListServiceSpecificCredentials', () =>
        awsError(403, 'AccessDenied', 'not authorized to perform: iam:ListServiceSpecificCredentials'),
      );
      const answer = await revoke(leaseId);
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.errors!.join()).toContain(
        'error removing IAM user: AWS: AccessDenied: not authorized to perform: iam:ListServiceSpecificCredentials',
      );
      left.clear();
      await pass(mount, 60);
      expect((await mount.call('update', 'sys/leases/lookup', { data: { lease_id: leaseId } })).status).toBe(400);
    });

    test('that loses a race with another removal is success', async () => {
      users();
      const { leaseId } = await mount.read('creds/user');
      hanging();
      for (const action of ['ListAccessKeys', 'ListUserPolicies', 'DetachUserPolicy', 'RemoveUserFromGroup', 'DeleteUser'])
        front.on(action, () => ABSENT);
      expect(await revoke(leaseId)).toMatchObject({ status: 204 });
    });
  });

  test('50 requests at a time do not wait for one another', async () => {
    let holding = 0;
    let release!: () => void;
    const all = new Promise<void>((resolve) => (release = resolve));
    front.on('AssumeRole', async () => {
      holding += 1;
      if (holding === 50) release();
      // Nobody is answered before all have asked.
      await all;
      return session();
    });
    const answers = await Promise.all(Array.from({ length: 50 }, async () => mount.call('read', 'aws/creds/deploy')));
    expect(answers.every((answer) => answer.status === 200)).toBe(true);
    expect(holding).toBe(50);
  });

  test('no text that reaches a caller or a status holds a secret', async () => {
    users();
    const texts: string[] = [];
    for (const [action, path] of [
      ['CreateUser', 'creds/user'],
      ['AssumeRole', 'creds/deploy'],
    ] as const) {
      front.on(action, () => awsError(403, 'SignatureDoesNotMatch', `The canonical string was ${KEY.secret_key}`));
      texts.push(...(await mount.call('read', `aws/${path}`)).errors!);
    }
    expect(texts).toHaveLength(2);
    expect(texts.join()).not.toContain(KEY.secret_key);
    expect(texts.join()).toContain('***');
  });
});
