/** The two halves of a long-lived credential. */
export interface AccessKey {
  readonly access_key: string;
  readonly secret_key: string;
}

/** A role that is assumed with a signed token, which the provider verifies with published keys. */
export interface WebIdentity {
  readonly roleArn: string;
  readonly sessionName: string;
  /** A new token for each use. */
  token(): Promise<string>;
}

/** A role, mostly of another account, that the root credential assumes. */
export interface AssumedRole {
  readonly roleArn: string;
  readonly sessionName: string;
  /** '' for none. */
  readonly externalId: string;
}

/** Where a provider is reached, and as whom. Empty texts are not given. */
export interface CloudSettings {
  /** Absent: what the provider finds by itself, in its environment, its files or from the machine it runs on. */
  readonly accessKey?: AccessKey;
  /** In place of an access key. */
  readonly webIdentity?: WebIdentity;
  readonly region: string;
  readonly iam_endpoint: string;
  readonly sts_endpoint: string;
  /** '' for `region`. */
  readonly sts_region: string;
  /** As many endpoints as regions, which are tried in this order where `sts_endpoint` does not answer. */
  readonly sts_fallback_endpoints: readonly string[];
  readonly sts_fallback_regions: readonly string[];
  /** -1: as many as the provider's client library makes. */
  readonly max_retries: number;
}

/** What an operator may name users by: a type of credential each, with a length of its own. */
export type NameKind = 'IAM' | 'STS';

/** A cloud with users, keys of users, and credentials that end by themselves. */
export interface CloudProvider {
  /** The mount type. */
  readonly name: string;
  /** What messages call it. */
  readonly title: string;
  readonly version: string;
  /** The template of generated names where none is configured; its data are Type, DisplayName and PolicyName. */
  readonly usernameTemplate: string;
  /** The most characters that names may have. */
  readonly longestName: Readonly<Record<NameKind, number>>;
  /** The most keys that a user may have. */
  readonly keysPerUser: number;
  /** The canonical form of the names that the provider takes for one user. Absent: names are compared as they are written. */
  canonicalUser?(name: string): string;
  /** What of the settings may not be as it is meant, for a warning; each names its field. */
  settingsWarnings?(settings: Pick<CloudSettings, 'region'>): readonly string[];
  /** Reaches nobody yet. */
  open(settings: CloudSettings): CloudSession;
}

export interface NewUser {
  readonly name: string;
  readonly path: string;
  /** '' for none. */
  readonly boundary: string;
  readonly tags: Readonly<Record<string, string>>;
}

/** What a user is given after it was made. */
export interface UserRights {
  readonly policyArns: readonly string[];
  /** '' for none. */
  readonly policyDocument: string;
  /** The name under which the document is attached. */
  readonly policyName: string;
  readonly groups: readonly string[];
}

export interface MadeUser {
  /** The provider's own id: a user of the same name that is made later has another. */
  readonly id: string;
  /** The account that it belongs to. */
  readonly account: string;
}

/** How to know a user again: by its id, or where that is not known by a tag. */
export interface UserMark {
  readonly id?: string | undefined;
  readonly tag: readonly [key: string, value: string];
}

export interface TaggedUser {
  readonly name: string;
  readonly id: string;
  readonly created: Date;
  readonly tags: Readonly<Record<string, string>>;
}

export interface OwnUser {
  readonly name: string;
  /** '' where the provider does not say. */
  readonly account: string;
}

export interface ListedKey {
  readonly id: string;
  readonly created: Date;
}

/** What a temporary credential is restricted to. */
export interface SessionPolicies {
  readonly policyArns: readonly string[];
  /** '' for none. */
  readonly policyDocument: string;
}

export interface RoleSession extends SessionPolicies {
  readonly roleArn: string;
  readonly name: string;
  readonly seconds: number;
  /** '' for none. */
  readonly externalId: string;
  readonly tags: Readonly<Record<string, string>>;
}

export interface FederatedSession extends SessionPolicies {
  readonly name: string;
  readonly seconds: number;
}

/** With both or neither of serial number and code. */
export interface OwnSession {
  readonly seconds: number;
  /** '' for none. */
  readonly mfaSerialNumber: string;
  readonly mfaCode: string;
}

export interface TemporaryCredential extends AccessKey {
  readonly session_token: string;
  readonly expires: Date;
  /** Who its bearer is. */
  readonly arn: string;
}

/**
 * A provider as one root credential sees it. Every call rejects with one of the classes of `cloud-error.ts`, whose texts hold the provider's
 * code and the id of the request, and no secret. What is to be taken away and is not there counts as success.
 */
export interface CloudSession {
  /** Never sent twice: what was lost on the way has an unknown outcome. */
  createUser(user: NewUser, signal: AbortSignal): Promise<MadeUser>;
  /** May be repeated. */
  equipUser(name: string, rights: UserRights, signal: AbortSignal): Promise<void>;
  /**
   * Removes a user with all that hangs on it. `absent`: there is none of this name. `foreign`: there is one, which is not the marked one and is
   * left as it is.
   */
  removeUser(name: string, mark: UserMark, signal: AbortSignal): Promise<'removed' | 'absent' | 'foreign'>;
  /** The users that have this tag, whoever made them. Slow: looks at every user of the account. */
  taggedUsers(key: string, value: string, signal: AbortSignal): Promise<TaggedUser[]>;

  /** Never sent twice. */
  createKey(user: string, signal: AbortSignal): Promise<AccessKey>;
  listKeys(user: string, signal: AbortSignal): Promise<ListedKey[]>;
  deactivateKey(user: string, id: string, signal: AbortSignal): Promise<void>;
  deleteKey(user: string, id: string, signal: AbortSignal): Promise<void>;
  /** Whether the provider lets somebody in with this key by now. */
  accepts(key: AccessKey, signal: AbortSignal): Promise<boolean>;

  assumeRole(session: RoleSession, signal: AbortSignal): Promise<TemporaryCredential>;
  federate(session: FederatedSession, signal: AbortSignal): Promise<TemporaryCredential>;
  /** A session of the root credential itself, with a second factor where one is given. */
  sessionToken(session: OwnSession, signal: AbortSignal): Promise<TemporaryCredential>;
  /** What members of these groups may do: attached policies and documents, in the order of the groups. */
  groupPolicies(groups: readonly string[], signal: AbortSignal): Promise<{ arns: string[]; documents: string[] }>;

  /** The user whose key this session uses; its name is '' where it is the account's own. */
  ownUser(signal: AbortSignal): Promise<OwnUser>;
  /** The account that this session works in. */
  ownAccount(signal: AbortSignal): Promise<string>;
  /**
   * The provider as this role sees it, which is assumed with the credential of this session. The same session for the same role; it is closed with this
   * one. Absent where the provider has no such roles.
   */
  assuming?(role: AssumedRole): CloudSession;
  /** Idempotent. Calls under way may fail. */
  close(): void;
}
