import {
  AttachGroupPolicyCommand,
  CreateGroupCommand,
  DeleteAccessKeyCommand,
  DeleteUserCommand,
  GetUserCommand,
  GetUserPolicyCommand,
  ListAttachedUserPoliciesCommand,
  ListGroupsForUserCommand,
  PutGroupPolicyCommand,
  PutRolePolicyCommand,
  PutUserPolicyCommand,
} from '@aws-sdk/client-iam';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { TestMount } from '@strongroom/engine-testkit';
import { describeWithMoto, startMoto, type MotoServer } from '@strongroom/lab';
import { awsProvider } from '../src/index.ts';
import { UserNames } from '../src/user-names.ts';
import { AwsFront } from './aws-front.ts';
import { Beside, DEPLOY, mountCloud, pass, READ_ONLY, rootConfig, S3, type Key } from './cloud-mount.ts';

jest.setTimeout(60_000);

const EC2 = '{"Version":"2012-10-17","Statement":{"Sid":"own","Effect":"Allow","Action":"ec2:*","Resource":"*"}}';
type Issued = Key & { security_token: string | null; session_token?: string; arn?: string; ttl?: number; ready_at?: string };

describeWithMoto('creds and sts', () => {
  let moto: MotoServer;
  let front: AwsFront;
  let beside: Beside;
  let mount: TestMount;
  let root: Key;

  beforeAll(async () => {
    moto = await startMoto();
    front = await AwsFront.start(moto.endpoint);
    beside = new Beside(moto.endpoint);
    root = await beside.seed();
  }, 60_000);
  afterAll(async () => {
    await front?.stop();
    await moto?.stop();
  });
  beforeEach(async () => {
    front.reset();
    mount = await mountCloud();
    await mount.write('config/root', rootConfig(front.endpoint, root));
  });
  afterEach(async () => {
    await moto.enforce(Infinity);
    front.reset();
    await mount.call('update', 'sys/leases/revoke-prefix/aws', { data: { sync: true } });
    expect(await beside.madeUsers()).toEqual([]);
    await mount.close();
  });

  const role = async (data: Record<string, unknown>) => mount.write('roles/r', data);
  const creds = async (data: Record<string, unknown> = {}) => (await mount.read('creds/r', data)).data as Issued;
  const sts = async (data: Record<string, unknown> = {}) => (await mount.write('sts/r', data)).data as Issued;
  const refusal = async (path: string, data: Record<string, unknown> = {}) => {
    const { status, errors } = await mount.call('update', `aws/${path}`, { data });
    return `${status} ${errors?.join()}`;
  };
  const madeUser = async () => (await beside.madeUsers()).at(-1)!;

  test('the role must exist first', async () => {
    expect(await refusal('creds/none')).toBe('400 Role "none" not found');
    expect(await refusal('sts/none')).toBe('400 Role "none" not found');
  });

  test('the root configuration must exist first', async () => {
    const other = await mountCloud();
    await other.write('roles/r', { credential_type: 'iam_user', policy_arns: READ_ONLY });
    expect(await other.call('read', 'aws/creds/r')).toMatchObject({
      status: 400,
      errors: ['1 error occurred:\n\t* no configuration found for config/root\n\n'],
    });
    await other.close();
  });

  describe('iam_user', () => {
    test('policy_arns are attached, policy_document too under the name of the role, iam_groups joined, iam_tags and user_path set', async () => {
      await role({
        credential_type: 'iam_user',
        policy_arns: READ_ONLY,
        policy_document: S3,
        iam_groups: 'devs',
        iam_tags: 'team=core',
        user_path: '/app/',
      });
      const issued = await creds();
      expect(issued).toMatchObject({ access_key: expect.stringMatching(/^AKIA/), security_token: null });
      const UserName = await madeUser();
      expect(await beside.keysOf(UserName)).toEqual([issued.access_key]);
      const { User } = await beside.iam.send(new GetUserCommand({ UserName }));
      expect(User!.Path).toBe('/app/');
      expect(User!.Tags).toContainEqual({ Key: 'team', Value: 'core' });
      expect(User!.Tags!.map((tag) => tag.Key).sort()).toEqual(['strongroom:creation', 'strongroom:mount', 'team']);
      const { AttachedPolicies } = await beside.iam.send(new ListAttachedUserPoliciesCommand({ UserName }));
      expect(AttachedPolicies!.map((policy) => policy.PolicyArn)).toEqual([READ_ONLY]);
      const { PolicyDocument } = await beside.iam.send(new GetUserPolicyCommand({ UserName, PolicyName: 'r' }));
      expect(decodeURIComponent(PolicyDocument!)).toBe(S3);
      const { Groups } = await beside.iam.send(new ListGroupsForUserCommand({ UserName }));
      expect(Groups!.map((group) => group.GroupName)).toEqual(['devs']);
    });

    test('permissions_boundary_arn is set when the user is created, and none unless it is given', async () => {
      await role({ credential_type: 'iam_user', policy_arns: READ_ONLY });
      await creds();
      await role({ permissions_boundary_arn: READ_ONLY });
      await creds();
      const [without, bounded] = front.sent('CreateUser');
      expect(without).not.toHaveProperty('PermissionsBoundary');
      expect(without!['Path']).toBe('/');
      expect(bounded!['PermissionsBoundary']).toBe(READ_ONLY);
    });

    test('what a user may do is what its policies allow', async () => {
      await role({
        credential_type: 'iam_user',
        policy_document: '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"iam:ListUsers","Resource":"*"}]}',
      });
      const bearer = new Beside(moto.endpoint, await creds());
      await moto.enforce(0);
      expect(await bearer.users()).toContain('svc');
      await expect(bearer.keysOf('svc')).rejects.toMatchObject({ name: 'AccessDenied' });
    });

    test('lease and lease_max are those of config/lease, ttl is not for users', async () => {
      await role({ credential_type: 'iam_user', policy_arns: READ_ONLY });
      await mount.write('config/lease', { lease: '10m', lease_max: '30m' });
      const { leaseId, leaseDuration, renewable } = await mount.read('creds/r', { ttl: '5h' });
      expect({ leaseDuration, renewable }).toEqual({ leaseDuration: 600, renewable: true });
      const renew = async () => mount.call('update', 'sys/leases/renew', { data: { lease_id: leaseId, increment: 3_600 } });
      expect(await renew()).toMatchObject({ leaseDuration: 1_800 });
      await mount.write('config/lease', { lease: '10m', lease_max: '2h' });
      expect(await renew()).toMatchObject({ leaseDuration: 3_600 });
    });

    test('the end of the lease removes the user; deleting the role does not, and the lease goes on', async () => {
      await role({ credential_type: 'iam_user', policy_arns: READ_ONLY, iam_groups: 'devs', policy_document: S3 });
      await mount.write('config/lease', { lease: '10m', lease_max: '30m' });
      await creds();
      await mount.delete('roles/r');
      await mount.advance('9m');
      expect(await beside.madeUsers()).toHaveLength(1);
      await pass(mount, 120);
      expect(await beside.madeUsers()).toEqual([]);
    });

    test('a user that was removed by hand is removed: NoSuchEntity is success', async () => {
      await role({ credential_type: 'iam_user', policy_arns: READ_ONLY });
      const { leaseId, data } = await mount.read('creds/r');
      const UserName = await madeUser();
      await beside.iam.send(new DeleteAccessKeyCommand({ UserName, AccessKeyId: (data as Key).access_key }));
      const { AttachedPolicies } = await beside.iam.send(new ListAttachedUserPoliciesCommand({ UserName }));
      expect(AttachedPolicies).toHaveLength(1);
      const { DetachUserPolicyCommand } = await import('@aws-sdk/client-iam');
      await beside.iam.send(new DetachUserPolicyCommand({ UserName, PolicyArn: READ_ONLY }));
      await beside.iam.send(new DeleteUserCommand({ UserName }));
      expect(await mount.call('update', 'sys/leases/revoke', { data: { lease_id: leaseId, sync: true } })).toMatchObject({ status: 204 });
    });

    test('a user of the same name that somebody else made later is not touched', async () => {
      await role({ credential_type: 'iam_user', policy_document: S3 });
      const { leaseId, data } = await mount.read('creds/r');
      const UserName = await madeUser();
      const { DeleteUserPolicyCommand, CreateUserCommand } = await import('@aws-sdk/client-iam');
      await beside.iam.send(new DeleteAccessKeyCommand({ UserName, AccessKeyId: (data as Key).access_key }));
      await beside.iam.send(new DeleteUserPolicyCommand({ UserName, PolicyName: 'r' }));
      await beside.iam.send(new DeleteUserCommand({ UserName }));
      await beside.iam.send(new CreateUserCommand({ UserName }));
      await mount.call('update', 'sys/leases/revoke', { data: { lease_id: leaseId, sync: true } });
      expect(await beside.madeUsers()).toEqual([UserName]);
      await beside.iam.send(new DeleteUserCommand({ UserName }));
    });

    test.each([
      [
        'policy_arns',
        { policy_arns: 'arn:aws:iam::aws:policy/NoSuchPolicy' },
        'Error equipping IAM user: AWS: NoSuchEntity: Policy arn:aws:iam::aws:policy/NoSuchPolicy',
      ],
      ['policy_document', { policy_document: '{"Statement":"what"}' }, 'Error equipping IAM user: AWS: MalformedPolicyDocument: '],
      ['iam_groups', { policy_arns: READ_ONLY, iam_groups: 'nobody' }, 'Error equipping IAM user: AWS: NoSuchEntity: '],
    ])('%s that AWS refuses: its code and request id are in the answer, and no user is left', async (_field, data, text) => {
      await role({ credential_type: 'iam_user', ...data });
      const answer = await refusal('creds/r');
      expect(answer).toContain(`400 ${text}`);
      expect(answer).toMatch(/ \(request \w{20,}\)$/);
      await mount.core.settleSchedule();
      expect(await beside.madeUsers()).toEqual([]);
    });

    test('a name that is in use is refused, and the user who has it is not touched', async () => {
      await mount.write('config/root', rootConfig(front.endpoint, root, { username_template: 'vault-{{ .PolicyName }}' }));
      await role({ credential_type: 'iam_user', policy_arns: READ_ONLY });
      const first = await creds();
      expect(await refusal('creds/r')).toBe('400 a user of that name is in use: username_template gives names that repeat');
      const other = await mountCloud();
      await other.write('config/root', rootConfig(front.endpoint, root, { username_template: 'vault-{{ .PolicyName }}' }));
      await other.write('roles/r', { credential_type: 'iam_user', policy_arns: READ_ONLY });
      front.on('CreateUser', () => undefined);
      const { status, errors } = await other.call('read', 'aws/creds/r');
      expect(`${status} ${errors}`).toContain('EntityAlreadyExists');
      await other.advance('10m');
      expect(await beside.keysOf('vault-r')).toEqual([first.access_key]);
      await other.close();
    });

    test('ready_at is when AWS should know the key; wait_for_propagation answers when it does', async () => {
      await role({ credential_type: 'iam_user', policy_arns: READ_ONLY });
      const now = mount.clock.millis();
      expect(new Date((await creds()).ready_at!).getTime()).toBe(now + 10_000);
      expect(new Date((await creds({ wait_for_propagation: true })).ready_at!).getTime()).toBe(now);
      expect(front.calls.filter((call) => call.action === 'GetCallerIdentity' && call.key !== root.access_key)).toHaveLength(1);
    });
  });

  describe('username_template', () => {
    const names = (template: string) =>
      new UserNames(template, awsProvider.longestName, {
        now: () => new Date(1_700_000_000_000),
        randomBytes: (n) => new Uint8Array(n).fill(7),
      });

    test('the default gives 64 characters for IAM at the most and 32 for STS, and replaces what no name may hold', () => {
      const standard = names(awsProvider.usernameTemplate);
      expect(standard.next('IAM', 'ldap user/é', 'r:1')).toMatch(/^vault-ldap_user__-r_1-1700000000-\w{20}$/);
      const long = standard.next('IAM', 'd'.repeat(60), 'p'.repeat(60));
      expect(long).toMatch(/^vault-d{42}-1700000000-\w{4}$/);
      expect(long).toHaveLength(64);
      expect(standard.next('STS', 'someone', 'r')).toMatch(/^vault-1700000000-\w{15}$/);
    });

    test('DisplayName is the authenticated user and PolicyName the role', async () => {
      const username_template = 'vault-{{ .Type }}-{{ .DisplayName }}-{{ .PolicyName }}-{{ random 5 }}';
      await mount.write('config/root', rootConfig(front.endpoint, root, { username_template }));
      await role({ credential_type: 'iam_user', policy_arns: READ_ONLY });
      await creds();
      expect(await madeUser()).toMatch(/^vault-IAM-root-r-\w{5}$/);
    });

    test.each([
      ['IAM', 'iam_user', { policy_arns: READ_ONLY }, 65, 64],
      ['STS', 'federation_token', { policy_arns: READ_ONLY }, 33, 32],
      ['IAM', 'assumed_role', { role_arns: DEPLOY }, 65, 64],
    ])('a longer %s name, for %s, is a 500, and nothing is asked of AWS', async (kind, credential_type, more, length, most) => {
      await mount.write('config/root', rootConfig(front.endpoint, root, { username_template: `{{ random ${length} }}` }));
      await role({ credential_type, ...more });
      expect(await refusal('creds/r')).toBe(
        `500 1 error occurred:\n\t* the username generated by the template exceeds the ${kind} username length limits of ${most} chars\n\n`,
      );
      expect(front.calls).toEqual([]);
    });
  });

  describe('assumed_role', () => {
    test('the credential acts as the role, and is restricted to policy_arns and policy_document', async () => {
      await role({ credential_type: 'assumed_role', role_arns: DEPLOY, policy_arns: READ_ONLY, policy_document: S3 });
      const issued = await creds();
      expect(issued).toMatchObject({
        access_key: expect.stringMatching(/^ASIA/),
        security_token: issued.session_token,
        arn: expect.stringMatching(/^arn:aws:sts::123456789012:assumed-role\/deploy\/vault-root-r-/),
      });
      expect(await beside.identity(issued as Required<Issued>)).toBe(issued.arn);
      expect(front.sent('AssumeRole')[0]).toMatchObject({ Policy: S3, 'PolicyArns.member.1.arn': READ_ONLY });
    });

    test('what a session may do is what its role allows', async () => {
      await beside.iam.send(
        new PutRolePolicyCommand({
          RoleName: 'deploy',
          PolicyName: 'list',
          PolicyDocument: '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"iam:ListUsers","Resource":"*"}]}',
        }),
      );
      await role({ credential_type: 'assumed_role', role_arns: DEPLOY });
      const issued = await creds();
      const { IAMClient, ListUsersCommand, ListRolesCommand } = await import('@aws-sdk/client-iam');
      const bearer = new IAMClient({
        endpoint: moto.endpoint,
        region: 'us-east-1',
        credentials: { accessKeyId: issued.access_key, secretAccessKey: issued.secret_key, sessionToken: issued.session_token! },
      });
      await moto.enforce(0);
      await expect(bearer.send(new ListUsersCommand({}))).resolves.toBeDefined();
      await expect(bearer.send(new ListRolesCommand({}))).rejects.toMatchObject({ name: 'AccessDenied' });
    });

    test('role_arn must be one of the allowed ones, and is needed where there are several', async () => {
      await role({ credential_type: 'assumed_role', role_arns: [DEPLOY, `${DEPLOY}2`] });
      expect(await refusal('creds/r')).toBe('400 did not supply a role_arn parameter and unable to determine one');
      expect(await refusal('sts/r', { role_arn: `${DEPLOY}3` })).toBe(
        `400 role_arn "${DEPLOY}3" not in allowed role arns for Vault role "r"`,
      );
      expect((await sts({ role_arn: DEPLOY })).arn).toContain(':assumed-role/deploy/');
      await role({ role_arns: DEPLOY });
      expect((await sts()).arn).toContain(':assumed-role/deploy/');
    });

    test('role_session_name is made by the template where it is absent, and cut to 64 characters, with a warning', async () => {
      await role({ credential_type: 'assumed_role', role_arns: DEPLOY });
      expect((await sts({ role_session_name: 'build 7' })).arn).toMatch(/\/build_7$/);
      const { data, warnings } = await mount.write('sts/r', { role_session_name: 'n'.repeat(70) });
      expect((data as Issued).arn).toMatch(/\/n{64}$/);
      expect(warnings).toEqual(['the role session name was truncated to 64 characters to fit within IAM session name length limits']);
    });

    test('external_id and session_tags are sent', async () => {
      await role({ credential_type: 'assumed_role', role_arns: DEPLOY, external_id: 'tenant-7', session_tags: ['team=core'] });
      await creds();
      expect(front.sent('AssumeRole')[0]).toMatchObject({
        ExternalId: 'tenant-7',
        'Tags.member.1.Key': 'team',
        'Tags.member.1.Value': 'core',
      });
    });
  });

  describe('federation_token', () => {
    test('carries the role’s policies, and a name of 32 characters', async () => {
      await role({ credential_type: 'federation_token', policy_arns: READ_ONLY, policy_document: S3 });
      const issued = await creds();
      expect(issued.security_token).toBe(issued.session_token);
      expect(issued).not.toHaveProperty('arn');
      const [sent] = front.sent('GetFederationToken');
      expect(sent).toMatchObject({ Policy: S3, 'PolicyArns.member.1.arn': READ_ONLY });
      expect(sent!['Name']).toMatch(/^vault-\d{10}-\w{15}$/);
    });
  });

  describe('what AWS never gives is a 400 that names the field and the limit, before AWS is asked', () => {
    const assumed = { credential_type: 'assumed_role', role_arns: DEPLOY };
    const arns = Array.from({ length: 11 }, (_, i) => `arn:aws:iam::123456789012:policy/p${i}`);
    const long = `{"Statement":["${'x'.repeat(2_048)}"]}`;
    const lengths = 'ttl: AWS gives credentials of';
    test.each([
      [
        'a short ttl',
        assumed,
        { ttl: '899s' },
        `${lengths} assumed_role for 900 to 43200 s, and ttl, the role and the mount come to 899 s`,
      ],
      ['a long ttl', assumed, { ttl: '13h' }, `${lengths} assumed_role for 900 to 43200 s`],
      [
        'a session name of one character',
        assumed,
        { role_session_name: 'x' },
        'role_session_name must have at least 2 characters, and has 1',
      ],
      ['eleven policies', { ...assumed, policy_arns: arns }, {}, 'policy_arns: 11 policies in all, where AWS takes at most 10'],
      ['a long document', { ...assumed, policy_document: long }, {}, `policy_document: ${long.length} characters in all, where AWS takes`],
      [
        'a long federation',
        { credential_type: 'federation_token', policy_arns: READ_ONLY },
        { ttl: '37h' },
        `${lengths} federation_token for`,
      ],
    ])('%s', async (_what, fields, wish, text) => {
      await role(fields);
      const { status, errors } = await mount.call('update', 'aws/sts/r', { data: wish });
      expect([status, errors?.join()]).toEqual([400, expect.stringContaining(text)]);
      expect(front.calls).toEqual([]);
    });
  });

  describe('ttl', () => {
    const seconds = () => front.calls.at(-1)!.parameters['DurationSeconds'];
    test.each([
      ['assumed_role', { role_arns: DEPLOY }],
      ['federation_token', { policy_arns: READ_ONLY }],
    ])('of %s: what is asked for, then default_sts_ttl, then 3600s, at most max_sts_ttl', async (credential_type, more) => {
      await role({ credential_type, ...more });
      expect(await mount.read('creds/r')).toMatchObject({ leaseDuration: 3_600, renewable: false });
      expect(seconds()).toBe('3600');
      await role({ default_sts_ttl: '20m' });
      await sts();
      expect(seconds()).toBe('1200');
      await sts({ ttl: '45m' });
      expect(seconds()).toBe('2700');
      await role({ max_sts_ttl: '30m' });
      const { leaseDuration, warnings } = await mount.write('sts/r', { ttl: '45m' });
      expect([leaseDuration, warnings]).toEqual([1_800, [expect.stringContaining('2700 s')]]);
      expect(seconds()).toBe('1800');
    });

    test('that is shorter than asked for is a warning', async () => {
      await mount.write('roles/short', { credential_type: 'assumed_role', role_arns: DEPLOY, max_sts_ttl: '20m' });
      const { warnings, leaseDuration } = await mount.call('read', 'aws/creds/short', { data: { ttl: '2h' } });
      expect(leaseDuration).toBe(1_200);
      expect(warnings).toEqual(['7200 s were asked for, and max_sts_ttl of the role or the maximum of the mount allows 1200 s']);
    });

    test('that is shorter than asked for is a warning for users too, as is a ttl that they do not have', async () => {
      await mount.write('roles/plain', { credential_type: 'iam_user', policy_document: S3 });
      await mount.write('config/lease', { lease: '30m', lease_max: '1h' });
      const { warnings, leaseDuration } = await mount.call('read', 'aws/creds/plain', { data: { ttl: '2h' } });
      expect(leaseDuration).toBe(1_800);
      expect(warnings).toEqual(['7200 s were asked for, and config/lease or the maximum of the mount allows 1800 s']);
    });

    test('is at most what leases of the mount may last, so that no credential outlives its lease', async () => {
      await mount.call('update', 'sys/mounts/aws/tune', { data: { max_lease_ttl: '25m', default_lease_ttl: '20m' } });
      await role({ credential_type: 'assumed_role', role_arns: DEPLOY });
      expect(await mount.write('sts/r', { ttl: '2h' })).toMatchObject({ leaseDuration: 1_500 });
      expect(seconds()).toBe('1500');
    });

    test('revoking such a lease asks nothing of AWS', async () => {
      await role({ credential_type: 'assumed_role', role_arns: DEPLOY });
      const { leaseId } = await mount.read('creds/r');
      front.calls.length = 0;
      expect(await mount.call('update', 'sys/leases/revoke', { data: { lease_id: leaseId, sync: true } })).toMatchObject({ status: 204 });
      expect(front.calls).toEqual([]);
    });
  });

  test.each([
    ['assumed_role', 'AssumeRole', { role_arns: DEPLOY }],
    ['federation_token', 'GetFederationToken', { policy_arns: 'arn:aws:iam::aws:policy/AmazonS3FullAccess' }],
  ])('iam_groups of %s: the policies of the groups are combined with those of the role', async (credential_type, action, more) => {
    const GroupName = `members-of-${credential_type}`;
    await beside.iam.send(new CreateGroupCommand({ GroupName }));
    await beside.iam.send(new AttachGroupPolicyCommand({ GroupName, PolicyArn: READ_ONLY }));
    await beside.iam.send(new PutGroupPolicyCommand({ GroupName, PolicyName: 'ec2', PolicyDocument: EC2 }));
    await role({ credential_type, ...more, policy_document: S3, iam_groups: GroupName });
    await creds();
    const [sent] = front.sent(action);
    expect(JSON.parse(sent!['Policy']!)).toEqual({
      Version: '2012-10-17',
      Statement: [
        { Effect: 'Allow', Action: 's3:*', Resource: '*' },
        { Sid: 'own', Effect: 'Allow', Action: 'ec2:*', Resource: '*' },
      ],
    });
    const arns = Object.entries(sent!)
      .filter(([key]) => key.startsWith('PolicyArns.'))
      .map(([, value]) => value);
    expect(arns).toEqual([...[more].flatMap((given) => ('policy_arns' in given ? [given.policy_arns] : [])), READ_ONLY]);
  });

  test('iam_groups of assumed_role without any policy do not make a session that is not restricted', async () => {
    await role({ credential_type: 'assumed_role', role_arns: DEPLOY, iam_groups: 'devs' });
    const nothing = '400 iam_groups: devs have no policies, and the credential would not be restricted at all';
    expect(await refusal('creds/r')).toBe(nothing);
    expect(front.sent('AssumeRole')).toEqual([]);
  });

  test.each([
    ['iam_user', 'CreateUser'],
    ['federation_token', 'GetFederationToken'],
  ])('role_arn and role_session_name have no effect with %s, which warnings say', async (credential_type, action) => {
    await role({ credential_type, policy_arns: READ_ONLY });
    const { status, warnings } = await mount.write('sts/r', { role_arn: DEPLOY, role_session_name: 'build-7', ttl: '20m' });
    expect({ status, warnings }).toEqual({
      status: 200,
      warnings: [
        `role_arn has no effect with ${credential_type}: it is only for assumed_role`,
        `role_session_name has no effect with ${credential_type}: it is only for assumed_role`,
      ],
    });
    expect(front.sent(action)).toHaveLength(1);
    expect(front.sent('AssumeRole')).toEqual([]);
  });

  describe('legacy roles', () => {
    test('a policy: creds makes users, sts federation tokens', async () => {
      await role({ policy: S3 });
      expect(await creds()).toMatchObject({ security_token: null });
      await sts();
      expect(front.calls.at(-1)!.action).toBe('GetFederationToken');
    });
    test('the arn of a policy is for creds alone, the arn of a role for sts alone', async () => {
      await role({ arn: READ_ONLY });
      expect(await creds()).toMatchObject({ security_token: null });
      expect(await refusal('sts/r')).toBe(
        '400 attempted to retrieve iam_user credentials through the sts path; this is not allowed for legacy roles',
      );
      await role({ arn: DEPLOY });
      expect((await sts()).arn).toContain(':assumed-role/deploy/');
      expect(await refusal('creds/r')).toBe(
        '400 attempted to retrieve assumed_role credentials through the creds path; this is not allowed for legacy roles',
      );
    });
    test('other roles answer at both paths alike, by GET and by POST', async () => {
      await role({ credential_type: 'iam_user', policy_arns: READ_ONLY });
      for (const path of ['creds/r', 'sts/r']) {
        for (const operation of ['read', 'update'] as const) {
          expect(await mount.call(operation, `aws/${path}`)).toMatchObject({ status: 200, data: { security_token: null } });
        }
      }
    });
  });

  describe('preview', () => {
    const preview = async (data: Record<string, unknown> = {}) => mount.read('preview/r', data);

    test('of iam_user: name, policies, tags, path, groups and boundary, and nothing is asked of AWS', async () => {
      await role({ credential_type: 'iam_user', policy_arns: READ_ONLY, policy_document: S3, iam_groups: 'devs', iam_tags: 'team=core' });
      expect((await preview()).data).toEqual({
        credential_type: 'iam_user',
        username: expect.stringMatching(/^vault-root-r-\d{10}-\w{20}$/),
        user_path: '/',
        permissions_boundary_arn: '',
        iam_groups: ['devs'],
        tags: { team: 'core', 'strongroom:mount': expect.any(String), 'strongroom:creation': expect.any(String) },
        policy_arns: [READ_ONLY],
        policy_document: S3,
      });
      expect(front.calls).toEqual([]);
    });

    test('of assumed_role: the role, the session, the ttl and the merged policies', async () => {
      await beside.iam.send(new PutGroupPolicyCommand({ GroupName: 'devs', PolicyName: 'ec2', PolicyDocument: EC2 }));
      await role({ credential_type: 'assumed_role', role_arns: DEPLOY, iam_groups: 'devs', policy_document: S3, session_tags: 'a=b' });
      const { data, warnings } = await preview({ ttl: '20m', role_session_name: 's'.repeat(65) });
      expect(data).toMatchObject({ role_arn: DEPLOY, session_name: 's'.repeat(64), ttl: 1_200, tags: { a: 'b' }, external_id: '' });
      expect((JSON.parse((data as { policy_document: string }).policy_document) as { Statement: unknown[] }).Statement).toHaveLength(2);
      expect(warnings).toHaveLength(1);
      expect(front.calls.some((call) => call.action === 'AssumeRole')).toBe(false);
    });

    test('groups that cannot be read are a warning', async () => {
      await role({ credential_type: 'federation_token', iam_groups: 'nobody', policy_document: S3 });
      const { data, warnings } = await preview();
      expect(data).toMatchObject({ policy_document: S3 });
      expect(warnings![0]).toContain('Error reading the policies of iam_groups: AWS: NoSuchEntity');
    });

    test('path chooses what a role in the old form would make', async () => {
      await role({ policy: S3 });
      expect((await preview()).data).toMatchObject({ credential_type: 'iam_user' });
      expect((await preview({ path: 'sts' })).data).toMatchObject({ credential_type: 'federation_token' });
    });
  });

  describe('orphans', () => {
    const orphans = async () => {
      const { data } = await mount.call('list', 'aws/orphans');
      return (data as { key_info: Record<string, { reason: string }> } | null)?.key_info ?? {};
    };

    test('users of live leases and users of others are none, and cannot be removed there', async () => {
      await role({ credential_type: 'iam_user', policy_arns: READ_ONLY });
      await creds();
      expect(await orphans()).toEqual({});
      const name = await madeUser();
      expect(await mount.call('delete', `aws/orphans/${name}`)).toMatchObject({
        status: 400,
        errors: [`the user "${name}" is no orphan: its lease removes it`],
      });
      expect(await mount.call('delete', 'aws/orphans/svc')).toMatchObject({
        status: 404,
        errors: ['no user "svc" has the tag of this mount'],
      });
    });

    test('GET and DELETE need the capability sudo besides', async () => {
      await mount.call('update', 'sys/policies/acl/plain', {
        data: { policy: 'path "aws/orphans*" { capabilities = ["list", "delete"] }' },
      });
      const token = (await mount.call('update', 'auth/token/create', { data: { policies: ['plain'] } })).auth!.client_token;
      expect((await mount.call('list', 'aws/orphans', { token })).status).toBe(403);
      expect((await mount.call('delete', 'aws/orphans/svc', { token })).status).toBe(403);
    });

    test('a user whose lease was dropped by force is listed from then on, and removed with what hangs on it', async () => {
      await mount.write('config/lease', { lease: '1h', lease_max: '2h' });
      await role({ credential_type: 'iam_user', policy_arns: READ_ONLY });
      await creds();
      const UserName = await madeUser();
      await beside.iam.send(new PutUserPolicyCommand({ UserName, PolicyName: 'more', PolicyDocument: S3 }));
      front.on('GetUser', () => ({ status: 503, body: '' }));
      await mount.call('update', 'sys/leases/revoke-force/aws');
      front.reset();
      expect(await beside.madeUsers()).toEqual([UserName]);
      expect(await orphans()).toEqual({ [UserName]: { reason: 'lease over', created: expect.any(String) } });
      const { warnings } = await mount.call('list', 'aws/orphans');
      expect(warnings).toEqual([expect.stringMatching(/^a copy of this server, .* marks its users alike; remove users by name/)]);
      await mount.delete(`orphans/${UserName}`);
      expect(await beside.madeUsers()).toEqual([]);
      expect(await orphans()).toEqual({});
    });

    test('a user with the tag that the mount has no record of is listed and removed', async () => {
      await role({ credential_type: 'iam_user', policy_arns: READ_ONLY });
      await creds();
      const { User } = await beside.iam.send(new GetUserCommand({ UserName: await madeUser() }));
      const { CreateUserCommand } = await import('@aws-sdk/client-iam');
      const tag = User!.Tags!.find(({ Key }) => Key === 'strongroom:mount')!;
      await beside.iam.send(new CreateUserCommand({ UserName: 'lost+found@x', Tags: [tag] }));
      expect(await orphans()).toEqual({ 'lost+found@x': { reason: 'unknown', created: expect.any(String) } });
      await mount.delete('orphans/lost+found@x');
      expect(await beside.users()).not.toContain('lost+found@x');
    });
  });
});
