import { mapConcurrently } from '@strongroom/engine-sdk';
import { setMaxListeners } from 'node:events';
import type {
  AccessKey,
  AssumedRole,
  CloudSession,
  CloudSettings,
  FederatedSession,
  ListedKey,
  MadeUser,
  NewUser,
  OwnSession,
  OwnUser,
  RoleSession,
  SessionPolicies,
  TaggedUser,
  TemporaryCredential,
  UserMark,
  UserRights,
} from '../cloud-provider.ts';
import { isCloudError } from '../cloud-error.ts';
import { openClients, type AwsClients } from './aws-clients.ts';
import { faultOf, isUnknownCredential } from './aws-faults.ts';
import { loadAwsSdk, type AwsSdk } from './aws-sdk.ts';
import { allPages } from './pages.ts';
import { gone, UserRemoval } from './user-removal.ts';

/** How many users' tags are asked for at a time. */
const TAG_CONCURRENCY = 8;

/** AWS, by the SDK. Nothing is loaded or opened before the first call. */
export class AwsSession implements CloudSession {
  readonly #settings: CloudSettings;
  readonly #role: AssumedRole | undefined;
  readonly #assumed = new Map<string, AwsSession>();
  #open: Promise<{ sdk: AwsSdk; clients: AwsClients }> | undefined;
  #account: string | undefined;
  #closed = false;

  /** `role`: who the calls are made as, in place of the credential of the settings. */
  constructor(settings: CloudSettings, role?: AssumedRole) {
    this.#settings = settings;
    this.#role = role;
  }

  async createUser({ name, path, boundary, tags }: NewUser, abortSignal: AbortSignal): Promise<MadeUser> {
    return this.#call(async ({ sdk, clients }) => {
      const command = new sdk.iam.CreateUserCommand({
        UserName: name,
        Path: path,
        Tags: tagList(tags),
        ...(boundary === '' ? {} : { PermissionsBoundary: boundary }),
      });
      const { User } = await clients.iamOnce.send(command, { abortSignal });
      return { id: User?.UserId ?? '', account: accountIn(User?.Arn) };
    });
  }

  async equipUser(
    UserName: string,
    { policyArns, policyDocument, policyName, groups }: UserRights,
    abortSignal: AbortSignal,
  ): Promise<void> {
    manyCalls(abortSignal);
    await this.#call(async ({ sdk: { iam }, clients }) => {
      // Each is a call of its own, and none depends on another.
      await settled([
        ...policyArns.map(async (PolicyArn) => clients.iam.send(new iam.AttachUserPolicyCommand({ UserName, PolicyArn }), { abortSignal })),
        ...groups.map(async (GroupName) => clients.iam.send(new iam.AddUserToGroupCommand({ UserName, GroupName }), { abortSignal })),
        ...(policyDocument === ''
          ? []
          : [
              clients.iam.send(new iam.PutUserPolicyCommand({ UserName, PolicyName: policyName, PolicyDocument: policyDocument }), {
                abortSignal,
              }),
            ]),
      ]);
    });
  }

  async removeUser(name: string, mark: UserMark, abortSignal: AbortSignal): Promise<'removed' | 'absent' | 'foreign'> {
    manyCalls(abortSignal);
    return this.#call(async ({ sdk, clients }) => {
      const found = await gone(clients.iam.send(new sdk.iam.GetUserCommand({ UserName: name }), { abortSignal }));
      if (!found?.User) return 'absent';
      const { UserId, Tags } = found.User;
      const [key, value] = mark.tag;
      const tagged = Tags?.some((tag) => tag.Key === key && tag.Value === value) === true;
      if (!tagged && (mark.id === undefined || mark.id !== UserId)) return 'foreign';
      await new UserRemoval(sdk, clients.iam, name, abortSignal).run();
      return 'removed';
    });
  }

  async taggedUsers(key: string, value: string, abortSignal: AbortSignal): Promise<TaggedUser[]> {
    manyCalls(abortSignal);
    return this.#call(async ({ sdk: { iam }, clients }) => {
      const users = await allPages(
        async (from) => clients.iam.send(new iam.ListUsersCommand({ ...from, MaxItems: 1_000 }), { abortSignal }),
        (page) => page.Users,
      );
      const tagged: TaggedUser[] = [];
      // A list of users comes without tags.
      await mapConcurrently(users, TAG_CONCURRENCY, async ({ UserName, UserId, CreateDate }) => {
        const list = await gone(
          allPages(
            async (from) => clients.iam.send(new iam.ListUserTagsCommand({ UserName, ...from }), { abortSignal }),
            (page) => page.Tags,
          ),
        );
        const tags = Object.fromEntries((list ?? []).map((tag) => [tag.Key ?? '', tag.Value ?? '']));
        if (tags[key] === value) tagged.push({ name: UserName ?? '', id: UserId ?? '', created: CreateDate ?? new Date(0), tags });
      });
      return tagged.sort((a, b) => (a.name < b.name ? -1 : 1));
    });
  }

  async createKey(UserName: string, abortSignal: AbortSignal): Promise<AccessKey> {
    return this.#call(async ({ sdk, clients }) => {
      const { AccessKey: key } = await clients.iamOnce.send(new sdk.iam.CreateAccessKeyCommand({ UserName }), { abortSignal });
      return { access_key: key?.AccessKeyId ?? '', secret_key: key?.SecretAccessKey ?? '' };
    });
  }

  async listKeys(UserName: string, abortSignal: AbortSignal): Promise<ListedKey[]> {
    return this.#call(async ({ sdk: { iam }, clients }) => {
      const keys = await allPages(
        async (from) => clients.iam.send(new iam.ListAccessKeysCommand({ UserName, ...from }), { abortSignal }),
        (page) => page.AccessKeyMetadata,
      );
      return keys.map(({ AccessKeyId, CreateDate }) => ({ id: AccessKeyId ?? '', created: CreateDate ?? new Date(0) }));
    });
  }

  async deactivateKey(UserName: string, AccessKeyId: string, abortSignal: AbortSignal): Promise<void> {
    await this.#call(async ({ sdk: { iam }, clients }) =>
      gone(clients.iam.send(new iam.UpdateAccessKeyCommand({ UserName, AccessKeyId, Status: 'Inactive' }), { abortSignal })),
    );
  }

  async deleteKey(UserName: string, AccessKeyId: string, abortSignal: AbortSignal): Promise<void> {
    await this.#call(async ({ sdk: { iam }, clients }) =>
      gone(clients.iam.send(new iam.DeleteAccessKeyCommand({ UserName, AccessKeyId }), { abortSignal })),
    );
  }

  async accepts(key: AccessKey, abortSignal: AbortSignal): Promise<boolean> {
    return this.#call(async ({ sdk, clients }) => {
      const client = clients.stsAs(key);
      try {
        await client.ask(async (sts) => sts.send(new sdk.sts.GetCallerIdentityCommand({}), { abortSignal }));
        return true;
      } catch (error) {
        if (isUnknownCredential(error)) return false;
        throw error;
      } finally {
        client.destroy();
      }
    }, key);
  }

  async assumeRole({ roleArn, name, seconds, externalId, tags, ...policies }: RoleSession, abortSignal: AbortSignal) {
    return this.#call(async ({ sdk, clients }) => {
      const command = new sdk.sts.AssumeRoleCommand({
        RoleArn: roleArn,
        RoleSessionName: name,
        DurationSeconds: seconds,
        ...restriction(policies),
        ...(externalId === '' ? {} : { ExternalId: externalId }),
        ...(Object.keys(tags).length === 0 ? {} : { Tags: tagList(tags) }),
      });
      const { Credentials, AssumedRoleUser } = await clients.sts.ask(async (sts) => sts.send(command, { abortSignal }));
      return temporary(Credentials, AssumedRoleUser?.Arn);
    });
  }

  async federate({ name, seconds, ...policies }: FederatedSession, abortSignal: AbortSignal): Promise<TemporaryCredential> {
    return this.#call(async ({ sdk, clients }) => {
      const command = new sdk.sts.GetFederationTokenCommand({ Name: name, DurationSeconds: seconds, ...restriction(policies) });
      const { Credentials, FederatedUser } = await clients.sts.ask(async (sts) => sts.send(command, { abortSignal }));
      return temporary(Credentials, FederatedUser?.Arn);
    });
  }

  async sessionToken({ seconds, mfaSerialNumber, mfaCode }: OwnSession, abortSignal: AbortSignal): Promise<TemporaryCredential> {
    return this.#call(async ({ sdk, clients }) => {
      const factor = mfaSerialNumber === '' ? {} : { SerialNumber: mfaSerialNumber, TokenCode: mfaCode };
      const command = new sdk.sts.GetSessionTokenCommand({ DurationSeconds: seconds, ...factor });
      const { Credentials } = await clients.sts.ask(async (sts) => sts.send(command, { abortSignal }));
      return temporary(Credentials);
    });
  }

  async groupPolicies(groups: readonly string[], abortSignal: AbortSignal): Promise<{ arns: string[]; documents: string[] }> {
    manyCalls(abortSignal);
    return this.#call(async ({ sdk: { iam }, clients }) => {
      const each = await Promise.all(
        groups.map(async (GroupName) => {
          const [attached, names] = await Promise.all([
            allPages(
              async (from) => clients.iam.send(new iam.ListAttachedGroupPoliciesCommand({ GroupName, ...from }), { abortSignal }),
              (page) => page.AttachedPolicies,
            ),
            allPages(
              async (from) => clients.iam.send(new iam.ListGroupPoliciesCommand({ GroupName, ...from }), { abortSignal }),
              (page) => page.PolicyNames,
            ),
          ]);
          const documents = await Promise.all(
            names.map(async (PolicyName) => {
              const answer = await clients.iam.send(new iam.GetGroupPolicyCommand({ GroupName, PolicyName }), { abortSignal });
              return plainDocument(answer.PolicyDocument ?? '');
            }),
          );
          return { arns: attached.map(({ PolicyArn }) => PolicyArn ?? ''), documents };
        }),
      );
      return { arns: each.flatMap(({ arns }) => arns), documents: each.flatMap(({ documents }) => documents) };
    });
  }

  async ownUser(abortSignal: AbortSignal): Promise<OwnUser> {
    return this.#call(async ({ sdk, clients }) => {
      const { User } = await clients.iam.send(new sdk.iam.GetUserCommand({}), { abortSignal });
      return { name: User?.UserName ?? '', account: accountIn(User?.Arn) };
    });
  }

  async ownAccount(abortSignal: AbortSignal): Promise<string> {
    this.#account ??= await this.#call(async ({ sdk, clients }) => {
      const { Account } = await clients.sts.ask(async (sts) => sts.send(new sdk.sts.GetCallerIdentityCommand({}), { abortSignal }));
      return Account ?? '';
    });
    return this.#account;
  }

  assuming(role: AssumedRole): CloudSession {
    const key = JSON.stringify([role.roleArn, role.sessionName, role.externalId]);
    const session = this.#assumed.get(key) ?? new AwsSession(this.#settings, role);
    this.#assumed.set(key, session);
    if (this.#closed) session.close();
    return session;
  }

  close(): void {
    this.#closed = true;
    for (const session of this.#assumed.values()) session.close();
    void this.#open?.then(
      ({ clients }) => {
        clients.destroy();
      },
      () => undefined,
    );
  }

  async #call<T>(work: (open: { sdk: AwsSdk; clients: AwsClients }) => Promise<T>, key?: AccessKey): Promise<T> {
    try {
      this.#open ??= this.#connect();
      return await work(await this.#open);
    } catch (error) {
      if (isCloudError(error)) throw error;
      throw faultOf(error, [this.#settings.accessKey?.secret_key ?? '', key?.secret_key ?? '']);
    }
  }

  async #connect(): Promise<{ sdk: AwsSdk; clients: AwsClients }> {
    const [sdk, clients] = await Promise.all([loadAwsSdk(), openClients(this.#settings, this.#role)]);
    if (this.#closed) clients.destroy();
    return { sdk, clients };
  }
}

/** Before calls that go out side by side: each listens to the signal more than once, and Node takes more than ten for a leak. */
function manyCalls(signal: AbortSignal): void {
  setMaxListeners(Infinity, signal);
}

/** Resolves or rejects once all have come to an end, so that nothing is still under way when the user is removed again. */
async function settled(calls: readonly Promise<unknown>[]): Promise<void> {
  const outcomes = await Promise.allSettled(calls);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

function restriction({ policyArns, policyDocument }: SessionPolicies): { Policy?: string; PolicyArns?: { arn: string }[] } {
  return {
    ...(policyDocument === '' ? {} : { Policy: policyDocument }),
    ...(policyArns.length === 0 ? {} : { PolicyArns: policyArns.map((arn) => ({ arn })) }),
  };
}

function tagList(tags: Readonly<Record<string, string>>): { Key: string; Value: string }[] {
  return Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
}

/** `arn:aws:iam::ACCOUNT:user/…` */
function accountIn(arn = ''): string {
  return arn.split(':')[4] ?? '';
}

/** IAM encodes the documents that it answers like parts of a URL; not every emulator of IAM does. */
function plainDocument(text: string): string {
  return text.startsWith('%') ? decodeURIComponent(text) : text;
}

interface SdkCredentials {
  readonly AccessKeyId?: string | undefined;
  readonly SecretAccessKey?: string | undefined;
  readonly SessionToken?: string | undefined;
  readonly Expiration?: Date | undefined;
}

function temporary(credentials: SdkCredentials | undefined, arn = ''): TemporaryCredential {
  return {
    access_key: credentials?.AccessKeyId ?? '',
    secret_key: credentials?.SecretAccessKey ?? '',
    session_token: credentials?.SessionToken ?? '',
    expires: credentials?.Expiration ?? new Date(0),
    arn,
  };
}
