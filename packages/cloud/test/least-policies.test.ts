import { readFileSync } from 'node:fs';
import { CreatePolicyCommand, CreateUserCommand, PutUserPolicyCommand } from '@aws-sdk/client-iam';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import type { TestMount } from '@strongroom/engine-testkit';
import { DEPLOY, mountCloud, pass, rootConfig, S3, type Key } from './cloud-mount.ts';
import { describeWithAws } from './describe-with-aws.ts';

jest.setTimeout(60_000);

const page = readFileSync(new URL('../../../docs/engines/aws.md', import.meta.url), 'utf8');

/** The first policy below a heading of the documentation. */
function policyOf(heading: string): string {
  const section = page.slice(page.indexOf(`\n## ${heading}`) + 1);
  const [, policy] = /```json\n([^]*?)```/.exec(section.slice(0, section.indexOf('\n## ', 1))) ?? [];
  return policy!;
}

describeWithAws('the least policy that the documentation names', (aws) => {
  let mount: TestMount;

  beforeEach(async () => {
    mount = await mountCloud();
    await mount.write('config/root', rootConfig(aws.front.endpoint, aws.root, { max_retries: 0 }));
  });
  afterEach(async () => mount.close());

  /** From now on the root user may do this and nothing else. moto knows actions alone, and asks for them on all resources. */
  const allow = async (policy: string): Promise<void> => {
    const { Version, Statement } = JSON.parse(policy) as { Version: string; Statement: object[] };
    const document = JSON.stringify({ Version, Statement: Statement.map((statement) => ({ ...statement, Resource: '*' })) });
    await aws.beside.iam.send(new PutUserPolicyCommand({ UserName: 'svc', PolicyName: 'least', PolicyDocument: document }));
    await aws.moto.enforce(0);
  };
  /** The actions that were asked for, as policies name them. GetCallerIdentity needs no right. */
  const asked = (): string[] =>
    [...new Set(aws.front.calls.map(({ action }) => action))]
      .filter((action) => action !== 'GetCallerIdentity')
      .map((action) => (/^(Assume|GetFederation)/.test(action) ? `sts:${action}` : `iam:${action}`))
      .sort();
  const allowed = (policy: string): string[] =>
    (JSON.parse(policy) as { Statement: { Action: string | string[] }[] }).Statement.flatMap(({ Action }) => Action).sort();

  test('is enough for iam_user, from the creation of the user to its removal, and no more than is used', async () => {
    const policy = policyOf('Users: `iam_user`');
    await mount.write('config/lease', { lease: '5m', lease_max: '10m' });
    const role = { credential_type: 'iam_user', policy_document: S3, iam_groups: 'devs', iam_tags: 'team=core', user_path: '/app/' };
    await aws.beside.iam.send(new CreatePolicyCommand({ PolicyName: 's3', PolicyDocument: S3 }));
    await mount.write('roles/r', { ...role, policy_arns: 'arn:aws:iam::123456789012:policy/s3' });
    await allow(policy);
    await mount.read('creds/r');
    await pass(mount, 330);
    await aws.moto.enforce(Infinity);
    expect(await aws.beside.madeUsers()).toEqual([]);
    // The right to tag is asked for by CreateUser with tags.
    expect(allowed(policy)).toEqual([...asked(), 'iam:TagUser'].sort());
  });

  test('is enough for assumed_role, and no more than is used', async () => {
    const policy = policyOf('Sessions of roles: `assumed_role`');
    await mount.write('roles/r', { credential_type: 'assumed_role', role_arns: DEPLOY });
    await allow(policy);
    expect((await mount.read('creds/r')).data).toMatchObject({ arn: expect.stringContaining(':assumed-role/deploy/') });
    expect(allowed(policy)).toEqual(asked());
  });

  test('is enough for federation_token, and no more than is used', async () => {
    const policy = policyOf('Federation tokens: `federation_token`');
    await mount.write('roles/r', { credential_type: 'federation_token', policy_document: S3 });
    await allow(policy);
    expect((await mount.read('creds/r')).data).toMatchObject({ session_token: expect.any(String) });
    expect(allowed(policy)).toEqual(asked());
  });

  test('is enough for static roles, from the first key to the last, and no more than is used', async () => {
    const policy = policyOf('Keys of existing users: static roles');
    await aws.beside.iam.send(new CreateUserCommand({ UserName: 'mailer' }));
    await allow(policy);
    await mount.write('static-roles/r', { username: 'mailer', rotation_period: '1h' });
    await mount.write('rotate-role/r');
    await mount.delete('static-roles/r');
    await aws.moto.enforce(Infinity);
    expect(await aws.beside.keysOf('mailer')).toEqual([]);
    expect(allowed(policy)).toEqual(asked());
  });

  test('is enough for rotate-root, and no more than is used', async () => {
    const policy = policyOf('Rotating the root credential');
    await allow(policy);
    const { access_key } = (await mount.write('config/rotate-root')).data as Key;
    await aws.moto.enforce(Infinity);
    expect(await aws.beside.keysOf('svc')).toEqual([access_key]);
    expect(allowed(policy)).toEqual(asked());
  });

  test('without it the call is refused, so that these tests mean something', async () => {
    await mount.write('roles/r', { credential_type: 'federation_token', policy_document: S3 });
    await allow(policyOf('Sessions of roles: `assumed_role`'));
    expect(await mount.call('read', 'aws/creds/r')).toMatchObject({ status: 400, errors: [expect.stringContaining('AWS: AccessDenied')] });
  });
});
