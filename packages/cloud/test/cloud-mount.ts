import {
  CreateAccessKeyCommand,
  CreateGroupCommand,
  CreateRoleCommand,
  CreateUserCommand,
  IAMClient,
  ListAccessKeysCommand,
  ListUsersCommand,
} from '@aws-sdk/client-iam';
import { AssumeRoleCommand, GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { manualClock, mountForTest, type TestMount, type TestMountOptions } from '@strongroom/engine-testkit';
import { awsEngine } from '../src/index.ts';

export const REGION = 'us-east-1';
export const READ_ONLY = 'arn:aws:iam::aws:policy/ReadOnlyAccess';
export const DEPLOY = 'arn:aws:iam::123456789012:role/deploy';
export const S3 = '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:*","Resource":"*"}]}';

export interface Key {
  readonly access_key: string;
  readonly secret_key: string;
}

/** A client beside the engine, to see and to prepare what is at the provider. */
export class Beside {
  readonly iam: IAMClient;
  readonly #endpoint: string;

  constructor(endpoint: string, key: Key = { access_key: 'AKIAOPERATOROUTSIDE', secret_key: 'none' }) {
    this.#endpoint = endpoint;
    this.iam = new IAMClient({ endpoint, region: REGION, credentials: credentials(key) });
  }

  /** User svc with its only key, users static1 and static2, group devs, role deploy. */
  async seed(): Promise<Key> {
    for (const UserName of ['svc', 'static1', 'static2']) await this.iam.send(new CreateUserCommand({ UserName }));
    await this.iam.send(new CreateGroupCommand({ GroupName: 'devs' }));
    const trust = '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"*"},"Action":"sts:AssumeRole"}]}';
    await this.iam.send(new CreateRoleCommand({ RoleName: 'deploy', AssumeRolePolicyDocument: trust }));
    return this.createKey('svc');
  }

  async createKey(UserName: string): Promise<Key> {
    const { AccessKey } = await this.iam.send(new CreateAccessKeyCommand({ UserName }));
    return { access_key: AccessKey!.AccessKeyId!, secret_key: AccessKey!.SecretAccessKey! };
  }

  async users(): Promise<string[]> {
    const { Users } = await this.iam.send(new ListUsersCommand({}));
    return (Users ?? []).map((user) => user.UserName!).sort();
  }

  /** The users that an engine made. */
  async madeUsers(): Promise<string[]> {
    return (await this.users()).filter((name) => name.startsWith('vault-'));
  }

  async keysOf(UserName: string): Promise<string[]> {
    const { AccessKeyMetadata } = await this.iam.send(new ListAccessKeysCommand({ UserName }));
    return (AccessKeyMetadata ?? []).map((key) => key.AccessKeyId!).sort();
  }

  /** Who somebody with this key is. */
  async identity(key: Key & { session_token?: string }): Promise<string> {
    const sts = new STSClient({ endpoint: this.#endpoint, region: REGION, credentials: credentials(key) });
    return (await sts.send(new GetCallerIdentityCommand({}))).Arn!;
  }
}

function credentials(key: Key & { session_token?: string }) {
  return {
    accessKeyId: key.access_key,
    secretAccessKey: key.secret_key,
    ...(key.session_token === undefined ? {} : { sessionToken: key.session_token }),
  };
}

/** A client that is an administrator of another account, which moto knows by the role that was assumed. */
export async function besideIn(endpoint: string, account: string): Promise<Beside> {
  const sts = new STSClient({ endpoint, region: REGION, credentials: { accessKeyId: 'AKIAOPERATOROUTSIDE', secretAccessKey: 'none' } });
  const command = { RoleArn: `arn:aws:iam::${account}:role/admin`, RoleSessionName: 'admin' };
  const { Credentials } = await sts.send(new AssumeRoleCommand(command));
  return new Beside(endpoint, { access_key: Credentials!.AccessKeyId!, secret_key: Credentials!.SecretAccessKey! });
}

export function rootConfig(endpoint: string, key: Key, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { ...key, region: REGION, iam_endpoint: endpoint, sts_endpoint: endpoint, ...more };
}

/** The engine at `aws/`, its clock where the real one is, since the provider has no other. */
export async function mountCloud(options: Partial<TestMountOptions> = {}): Promise<TestMount> {
  return mountForTest(awsEngine, { clock: manualClock(new Date()), ...options });
}

/**
 * Moves the clock in steps that are shorter than the deadline of a call: the provider answers in real time, and a leap of the clock over a call
 * would end it.
 */
export async function pass(mount: TestMount, seconds: number, step = 30): Promise<void> {
  for (let left = seconds; left > 0; left -= step) await mount.advance(Math.min(step, left));
}
