import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { EngineHost } from '@strongroom/engine-sdk';
import { mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { recordsIn } from '../src/records.ts';
import { awsEngine } from '../src/index.ts';
import { DEPLOY, mountCloud, READ_ONLY, S3 } from './cloud-mount.ts';

const LEGACY = 'Detected use of legacy role or policy parameter. Please upgrade to use the new parameters.';

describe('roles', () => {
  let mount: TestMount;
  beforeEach(async () => {
    mount = await mountCloud();
  });
  afterEach(async () => mount.close());

  const write = async (data: Record<string, unknown>) => mount.call('update', 'aws/roles/r', { data });
  const read = async (name = 'r') => (await mount.read(`roles/${name}`)).data as Record<string, unknown>;
  /** The texts of a refusal of the role's data. */
  const problems = async (data: Record<string, unknown>): Promise<string[]> => {
    const { status, errors } = await write(data);
    expect(status).toBe(400);
    const wrapped = /^error\(s\) validating supplied role data: (".*")$/.exec(errors![0]!);
    if (!wrapped) return errors as string[];
    const [head, ...lines] = (JSON.parse(wrapped[1]!) as string).trimEnd().split('\n\t* ');
    expect(head).toBe(lines.length === 1 ? '1 error occurred:' : `${lines.length} errors occurred:`);
    return lines;
  };

  const user = { credential_type: 'iam_user', policy_arns: READ_ONLY };
  const assumed = { credential_type: 'assumed_role', role_arns: DEPLOY };
  const federated = { credential_type: 'federation_token', policy_document: S3 };

  test('GET and DELETE of a role that does not exist are 404', async () => {
    expect(await mount.call('read', 'aws/roles/none')).toMatchObject({ status: 404, errors: [] });
    expect(await mount.call('delete', 'aws/roles/none')).toMatchObject({ status: 404, errors: ['Role "none" not found'] });
  });

  test('LIST shows the names, by pages too; it is 404 without roles', async () => {
    expect((await mount.call('list', 'aws/roles')).status).toBe(404);
    for (const name of ['c', 'a', 'b@example']) await mount.write(`roles/${name}`, user);
    expect((await mount.list('roles')).data).toEqual({ keys: ['a', 'b@example', 'c'] });
    expect((await mount.list('roles', { after: 'a', limit: 1 })).data).toEqual({ keys: ['b@example'] });
  });

  test('DELETE removes a role', async () => {
    await mount.write('roles/r', user);
    expect((await mount.delete('roles/r')).status).toBe(204);
    expect((await mount.call('read', 'aws/roles/r')).status).toBe(404);
  });

  test('a write to an existing role changes what it sends and keeps the rest', async () => {
    await mount.write('roles/r', { ...user, iam_groups: 'devs', user_path: '/a/' });
    await mount.write('roles/r', { iam_groups: 'ops,devs' });
    expect(await read()).toMatchObject({
      credential_type: 'iam_user',
      policy_arns: [READ_ONLY],
      iam_groups: ['ops', 'devs'],
      user_path: '/a/',
    });
    await mount.write('roles/r', { iam_groups: '' });
    expect(await read()).toMatchObject({ iam_groups: null });
  });

  describe('credential_type', () => {
    test('is required', async () => {
      expect(await problems({ policy_arns: READ_ONLY })).toEqual(['did not supply credential_type']);
    });
    test.each([
      ['iam_user', user],
      ['assumed_role', assumed],
      ['federation_token', federated],
    ])('%s is taken and shown', async (type, role) => {
      await mount.write('roles/r', role);
      expect(await read()).toMatchObject({ credential_type: type });
    });
    test.each(['session', 'odd', 'iam_user,federation_token'])('%s is refused', async (credential_type) => {
      expect(await problems({ ...user, credential_type })).toEqual([`unrecognized credential type: ${credential_type}`]);
    });
  });

  describe('role_arns', () => {
    test('are taken as a list or with commas', async () => {
      const arns = [DEPLOY, `${DEPLOY}2`];
      await mount.write('roles/r', { ...assumed, role_arns: arns.join(',') });
      expect(await read()).toMatchObject({ role_arns: arns });
      await mount.write('roles/r', { ...assumed, role_arns: [arns[1]] });
      expect(await read()).toMatchObject({ role_arns: [arns[1]] });
    });
    test('are required for assumed_role', async () => {
      expect(await problems({ credential_type: 'assumed_role' })).toEqual(['must specify role_arns with assumed_role credential_type']);
    });
    test.each([
      ['iam_user', user],
      ['federation_token', federated],
    ])('are prohibited for %s', async (_type, role) => {
      expect(await problems({ ...role, role_arns: DEPLOY })).toEqual(["cannot supply role_arns when credential_type isn't assumed_role"]);
    });
    test('must be ARNs', async () => {
      expect(await problems({ ...assumed, role_arns: 'deploy' })).toEqual(['role_arns: "deploy" is not an ARN']);
    });
  });

  describe('policy_arns and policy_document', () => {
    test.each(['iam_user', 'federation_token'])('one of them is required for %s', async (credential_type) => {
      expect(await problems({ credential_type })).toEqual([
        `must specify at least one of policy_arns or policy_document with ${credential_type} credential_type`,
      ]);
      expect(await write({ credential_type, policy_arns: [READ_ONLY] })).toMatchObject({ status: 204 });
      expect(await write({ credential_type, policy_arns: [], policy_document: S3 })).toMatchObject({ status: 204 });
    });
    test('neither is required for assumed_role', async () => {
      expect(await write(assumed)).toMatchObject({ status: 204 });
    });
    test('policy_arns are taken with commas and must be ARNs', async () => {
      await mount.write('roles/r', { ...user, policy_arns: `${READ_ONLY},${READ_ONLY}2` });
      expect(await read()).toMatchObject({ policy_arns: [READ_ONLY, `${READ_ONLY}2`] });
      expect(await problems({ ...user, policy_arns: 'ReadOnlyAccess' })).toEqual(['policy_arns: "ReadOnlyAccess" is not an ARN']);
    });
    test('policy_document is stored without the space between its parts, and else as it was written', async () => {
      const written = '{\n  "Version": "2012-10-17",\n  "Statement": [ { "Sid": "a \\" b", "Effect":"Allow" } ]\t}';
      await mount.write('roles/r', { ...user, policy_document: written });
      expect(await read()).toMatchObject({ policy_document: '{"Version":"2012-10-17","Statement":[{"Sid":"a \\" b","Effect":"Allow"}]}' });
    });
    test.each(['not json', '[1]', '"text"', '{"a":'])('policy_document %j is refused', async (policy_document) => {
      expect(await problems({ ...user, policy_document })).toEqual([`cannot parse policy document: ${JSON.stringify(policy_document)}`]);
    });
  });

  test('iam_groups are taken for all three types', async () => {
    for (const role of [user, assumed, federated]) {
      await mount.write('roles/r', { role_arns: '', ...role, iam_groups: ['devs', 'ops'] });
      expect(await read()).toMatchObject({ iam_groups: ['devs', 'ops'] });
    }
  });

  describe('iam_tags', () => {
    test('are taken as key=value, and as an object', async () => {
      await mount.write('roles/r', { ...user, iam_tags: ['team=core', 'stage=a=b'] });
      expect(await read()).toMatchObject({ iam_tags: { team: 'core', stage: 'a=b' } });
      await mount.write('roles/r', { iam_tags: { team: 'edge' } });
      expect(await read()).toMatchObject({ iam_tags: { team: 'edge' } });
    });
    test('must not look like the tags of the server', async () => {
      expect(await problems({ ...user, iam_tags: 'strongroom:mount=x' })).toEqual([
        "iam_tags: tags that begin with strongroom: are the server's own",
      ]);
    });
    test('have no effect for other types, which a warning says', async () => {
      expect((await mount.write('roles/r', { ...assumed, iam_tags: 'a=b' })).warnings).toEqual([
        'iam_tags has no effect with assumed_role: only users that are made are tagged',
      ]);
    });
  });

  describe.each(['default_sts_ttl', 'max_sts_ttl'])('%s', (field) => {
    test('is a duration for assumed_role and federation_token', async () => {
      for (const role of [assumed, federated]) {
        await mount.write('roles/r', { role_arns: '', policy_document: '', ...role, [field]: '30m' });
        expect(await read()).toMatchObject({ [field]: 1_800 });
      }
    });
    test('is refused for iam_user', async () => {
      expect(await problems({ ...user, [field]: '1h' })).toEqual([
        `${field} parameter only valid for assumed_role and federation_token credential types`,
      ]);
    });
  });

  test('default_sts_ttl must not be longer than max_sts_ttl', async () => {
    expect(await problems({ ...assumed, default_sts_ttl: '2h', max_sts_ttl: '1h' })).toEqual([
      '"default_sts_ttl" value must be less than or equal to "max_sts_ttl" value',
    ]);
  });

  describe('user_path', () => {
    test.each(['/', '/app/', '/a/b/'])('%s is taken for iam_user', async (user_path) => {
      await mount.write('roles/r', { ...user, user_path });
      expect(await read()).toMatchObject({ user_path });
    });
    test.each(['app', '/app', 'app/', '/a b/', `/${'x'.repeat(511)}/`])('%s is refused', async (user_path) => {
      expect(await problems({ ...user, user_path })).toEqual([
        'The specified value for user_path is invalid. It must match "^\\\\/([\\\\x21-\\\\x7F]{0,510}\\\\/)?$" regexp',
      ]);
    });
    test('is refused for other types', async () => {
      expect(await problems({ ...federated, user_path: '/x/' })).toEqual(['user_path parameter only valid for iam_user credential type']);
    });
  });

  describe('permissions_boundary_arn', () => {
    test('is an ARN, for iam_user', async () => {
      await mount.write('roles/r', { ...user, permissions_boundary_arn: READ_ONLY });
      expect(await read()).toMatchObject({ permissions_boundary_arn: READ_ONLY });
      expect(await problems({ ...user, permissions_boundary_arn: 'x' })).toEqual(['permissions_boundary_arn: "x" is not an ARN']);
    });
    test('is refused for other types', async () => {
      expect(await problems({ ...assumed, permissions_boundary_arn: READ_ONLY })).toEqual([
        "cannot supply permissions_boundary_arn when credential_type isn't iam_user",
      ]);
    });
  });

  describe.each([
    ['external_id', 'tenant-7', 'tenant-7'],
    ['session_tags', 'team=core', { team: 'core' }],
  ])('%s', (field, sent, shown) => {
    test('is taken for assumed_role', async () => {
      await mount.write('roles/r', { ...assumed, [field]: sent });
      expect(await read()).toMatchObject({ [field]: shown });
    });
    test('is refused for other types', async () => {
      expect(await problems({ ...user, [field]: sent })).toEqual([`cannot supply ${field} when credential_type isn't assumed_role`]);
    });
  });

  describe('what IAM or STS would refuse later is refused at write, with the name of the field', () => {
    const long = 'x'.repeat(129);
    test.each<[Record<string, unknown>, string]>([
      [
        { ...assumed, role_arns: READ_ONLY },
        `role_arns: "${READ_ONLY}" is not the ARN of a role, such as arn:aws:iam::123456789012:role/name`,
      ],
      [{ ...assumed, role_arns: 'arn:aws:iam::12345:role/x' }, 'role_arns: "arn:aws:iam::12345:role/x" is not the ARN of a role'],
      [{ ...user, policy_arns: DEPLOY }, `policy_arns: "${DEPLOY}" is not the ARN of a policy`],
      [{ ...user, permissions_boundary_arn: DEPLOY }, `permissions_boundary_arn: "${DEPLOY}" is not the ARN of a policy`],
      [{ ...user, user_path: '//' }, 'The specified value for user_path is invalid'],
      [{ ...user, iam_groups: 'a b' }, 'iam_groups: "a b" cannot be the name of a group'],
      [{ ...user, iam_tags: { Team: 'a', team: 'b' } }, 'iam_tags: "team" and "Team" are one key to AWS'],
      [{ ...user, iam_tags: { [long]: 'a' } }, `iam_tags: "${long}" cannot be the key of a tag`],
      [{ ...user, iam_tags: { 'aws:team': 'a' } }, 'iam_tags: "aws:team" cannot be the key of a tag'],
      [{ ...user, iam_tags: { team: 'a!' } }, 'iam_tags: "team" has a value that no tag can have'],
      [
        { ...user, iam_tags: Object.fromEntries(Array.from({ length: 49 }, (_, i) => [`t${i}`, 'x'])) },
        'iam_tags: 49 tags, where AWS takes 48',
      ],
      [{ ...assumed, session_tags: { Team: 'a', team: 'b' } }, 'session_tags: "team" and "Team" are one key to AWS'],
      [{ ...assumed, external_id: 'x' }, 'external_id must have 2 to 1224 characters'],
    ])('%j', async (data, text) => {
      expect((await problems(data)).join()).toContain(text);
      expect((await mount.call('read', 'aws/roles/r')).status).toBe(404);
    });
  });

  test.each<[Record<string, unknown>, string]>([
    [{ ...user, policy_document: '{}' }, 'policy_document has no Statement, without which AWS refuses it'],
    [
      { ...user, policy_document: `{"Statement":["${'x'.repeat(2_048)}"]}` },
      'policy_document has 2066 characters, where AWS takes at most 2048',
    ],
    [{ ...assumed, default_sts_ttl: '10m' }, 'default_sts_ttl: AWS gives no credential of less than 900 s'],
    [{ ...assumed, max_sts_ttl: '13h' }, 'max_sts_ttl: AWS gives no credential of assumed_role for more than 43200 s'],
    [{ ...federated, max_sts_ttl: '37h' }, 'max_sts_ttl: AWS gives no credential of federation_token for more than 129600 s'],
    [
      { ...user, policy_arns: Array.from({ length: 11 }, (_, i) => `${READ_ONLY}${i}`) },
      'policy_arns: 11 are given, where AWS takes 10 unless it has raised the quota',
    ],
  ])('what AWS may refuse later is stored with a warning: %j', async (data, text) => {
    expect((await mount.write('roles/r', data)).warnings).toEqual([text]);
  });

  test('a field that is not known is said in a warning, with the nearest one that is', async () => {
    const { status, warnings } = await mount.call('update', 'aws/roles/r', { data: { ...user, permission_boundary_arn: READ_ONLY } });
    expect(status).toBe(200);
    expect(warnings?.join()).toContain('permission_boundary_arn');
    expect(warnings?.join()).toContain('permissions_boundary_arn');
    expect(await read()).toMatchObject({ permissions_boundary_arn: '' });
  });

  test('everything that is wrong is said at once', async () => {
    expect(await problems({ ...federated, user_path: 'x', role_arns: DEPLOY, permissions_boundary_arn: READ_ONLY })).toHaveLength(4);
  });

  describe('legacy policy and arn', () => {
    test('policy makes a role of two types, with a warning', async () => {
      expect((await mount.write('roles/r', { policy: `  ${S3}` })).warnings).toEqual([LEGACY]);
      expect(await read()).toMatchObject({ credential_type: 'iam_user,federation_token', policy_document: S3, policy_arns: null });
    });
    test('arn of a policy makes users, arn of a role is assumed', async () => {
      await mount.write('roles/r', { arn: READ_ONLY });
      expect(await read()).toMatchObject({ credential_type: 'iam_user', policy_arns: [READ_ONLY] });
      await mount.write('roles/r', { arn: DEPLOY });
      expect(await read()).toMatchObject({ credential_type: 'assumed_role', role_arns: [DEPLOY] });
    });
    test('they exclude each other and all other parameters', async () => {
      expect(await problems({ policy: S3, arn: READ_ONLY })).toEqual(['policy and arn exclude each other: a legacy role has one of them']);
      expect(await problems({ policy: S3, credential_type: 'iam_user' })).toEqual([
        'cannot supply deprecated role or policy parameters with an explicit credential_type',
      ]);
      expect(await problems({ arn: READ_ONLY, iam_groups: 'devs', user_path: '/a/' })).toEqual([
        'cannot supply deprecated role or policy parameters with iam_groups, user_path',
      ]);
    });
    test.each(['not json', 'arn:aws:iam::123456789012:user/ann', 'arn:aws:s3:::bucket'])('%s is refused', async (text) => {
      const field = text.startsWith('arn:') ? 'arn' : 'policy';
      expect(await problems({ [field]: text })).toEqual([`unable to parse supplied data: ${JSON.stringify(text)}`]);
    });
    test('a new write to such a role is whole: nothing of the old form is kept', async () => {
      await mount.write('roles/r', { policy: S3 });
      expect(await problems({ iam_groups: 'devs' })).toEqual(['did not supply credential_type']);
      await mount.write('roles/r', user);
      expect(await read()).toMatchObject({ credential_type: 'iam_user', policy_document: '' });
    });
  });

  test('a stored role of the old form that cannot be understood shows its text under invalid_data, and issues nothing', async () => {
    let host!: EngineHost;
    const engine = { ...awsEngine, create: (given: EngineHost) => awsEngine.create((host = given)) };
    const own = await mountForTest(engine);
    await recordsIn(host.storage).roles.put('old', { legacy: 'AdministratorAccess' });
    expect((await own.read('roles/old')).data).toMatchObject({ credential_type: '', invalid_data: 'AdministratorAccess' });
    expect(await own.call('read', 'aws/creds/old')).toMatchObject({
      status: 400,
      errors: [expect.stringContaining('the data of role "old" are invalid; see invalid_data of the role, and write it again')],
    });
    await own.close();
  });
});
