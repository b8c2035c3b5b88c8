import { BadRequest, InvalidRequest, UpstreamFailed, withDeadline, type EngineHost } from '@strongroom/engine-sdk';
import { openAssumedRole, type AssumedRoleRecord } from './assumed-role.ts';
import { during, outcomeOf } from './cloud-error.ts';
import type { AccessKey, CloudProvider, CloudSession, CloudSettings } from './cloud-provider.ts';
import { recordsIn, ROOT, type RootRecord } from './records.ts';
import type { StsPlacesRecord } from './sts-places.ts';
import { openWebIdentity, type WebIdentityRecord } from './web-identity.ts';
import { UserNames } from './user-names.ts';

/** Milliseconds after which a session that was replaced is closed: longer than a call can still be under way on it. */
const LINGER = 180_000;
/** How long somebody waits for the name of the account, without which the work goes on. Milliseconds. */
const PATIENCE = 5_000;

interface Opened {
  readonly record: RootRecord;
  readonly session: CloudSession;
  readonly names: UserNames;
}

/** The root configuration, and what was opened with it. Read from storage once, until it changes. */
export class Root {
  readonly #host: EngineHost;
  readonly #provider: CloudProvider;
  #opened: Opened | undefined;
  #opening: Promise<Opened> | undefined;
  /** Grows with every change: what was read before one is not kept. */
  #changes = 0;
  readonly #lingering = new Map<CloudSession, () => void>();

  constructor(host: EngineHost, provider: CloudProvider) {
    this.#host = host;
    this.#provider = provider;
  }

  /** @throws InvalidRequest without a configuration. */
  async require(): Promise<Opened> {
    if (this.#opened) return this.#opened;
    this.#opening ??= this.#read(this.#changes);
    const opening = this.#opening;
    try {
      return await opening;
    } finally {
      if (this.#opening === opening) this.#opening = undefined;
    }
  }

  /**
   * Asks the provider. What it refuses while the root credential is being replaced is asked once more with the one in its place: what was refused
   * was not done, and the credential may be all that was wrong.
   */
  async use<T>(work: (session: CloudSession) => Promise<T>): Promise<T> {
    const { session } = await this.require();
    try {
      return await work(session);
    } catch (error) {
      if (outcomeOf(error) !== 'refused') throw error;
      const { session: next } = await this.require();
      if (next === session) throw error;
      return work(next);
    }
  }

  /** The account that the root credential is of; undefined where the provider does not say. */
  async account(signal: AbortSignal): Promise<string | undefined> {
    const { session } = await this.require();
    try {
      const asked = { clock: this.#host.clock, millis: PATIENCE, parent: signal };
      return (await withDeadline(asked, async (limit) => session.ownAccount(limit))) || undefined;
    } catch (error) {
      this.#host.log.warn('the account of config/root could not be determined', { error: (error as Error).message });
      return undefined;
    }
  }

  /** A session as the root credential, or as the role that it assumes. @throws BadRequest where the provider has no such roles. */
  async sessionAs(assumed: AssumedRoleRecord): Promise<CloudSession> {
    const { session } = await this.require();
    const role = openAssumedRole(this.#host, assumed);
    if (!role) return session;
    if (!session.assuming)
      throw new BadRequest(`assume_role_arn: ${this.#provider.title} has no roles that can be assumed for static roles`);
    return session.assuming(role);
  }

  /**
   * A session in the account of the user: of the root credential, or of the role that it assumes. @throws UpstreamFailed where it is of another account:
   * what is in this one cannot be seen now, and is not gone.
   */
  async sessionFor(
    {
      user,
      account,
      assumed = {},
    }: { readonly user: string; readonly account: string | undefined; readonly assumed?: AssumedRoleRecord | undefined },
    signal: AbortSignal,
  ): Promise<CloudSession> {
    const session = await this.sessionAs(assumed);
    if (account === undefined || account === '') return session;
    const by = assumed.assume_role_arn === undefined ? 'config/root' : 'assume_role_arn';
    const here = await during(`error asking for the account of ${by}`, session.ownAccount(signal));
    if (here === '' || here === account) return session;
    throw new UpstreamFailed(
      `the user ${user} belongs to account ${account}, and ${by} is of account ${here} now; it can be changed or removed with a key of ${account}`,
    );
  }

  /** A session of this configuration; of its own, to be closed by the caller. */
  apart(record: CloudSettingsRecord): CloudSession {
    const webIdentity = openWebIdentity(this.#host, record);
    return this.#provider.open({ ...settingsOf(record), ...(webIdentity ? { webIdentity } : {}) });
  }

  /** Signs an identity token and drops it, where the configuration needs one. @throws BadRequest where the key or the issuer is not there */
  async tryToken(record: WebIdentityRecord): Promise<void> {
    await openWebIdentity(this.#host, record)?.token();
  }

  /** @throws BadRequest for a template that cannot be used. */
  names(template: string): UserNames {
    const { clock } = this.#host;
    return new UserNames(template || this.#provider.usernameTemplate, this.#provider.longestName, {
      now: () => clock.now(),
      randomBytes: (count) => this.#host.randomBytes(count),
    });
  }

  /** The configuration is another one now. */
  changed(): void {
    this.#changes += 1;
    this.#opening = undefined;
    const before = this.#opened;
    this.#opened = undefined;
    if (before) this.#linger(before.session);
  }

  close(): void {
    this.changed();
    for (const [session, cancel] of this.#lingering) {
      cancel();
      session.close();
    }
    this.#lingering.clear();
  }

  #linger(session: CloudSession): void {
    this.#lingering.set(
      session,
      this.#host.clock.after(LINGER, () => {
        this.#lingering.delete(session);
        session.close();
      }),
    );
  }

  async #read(at: number): Promise<Opened> {
    const record = await recordsIn(this.#host.storage).root.get(ROOT);
    if (!record) throw new InvalidRequest('no configuration found for config/root');
    const opened = { record, session: this.apart(record), names: this.names(record.username_template) };
    // Changed while it was read: good for the requests that began before the change.
    if (at === this.#changes) this.#opened = opened;
    else this.#linger(opened.session);
    return opened;
  }
}

type CloudSettingsRecord = AccessKey &
  Pick<CloudSettings, 'region' | 'iam_endpoint' | 'sts_endpoint' | 'max_retries'> &
  StsPlacesRecord &
  WebIdentityRecord;

function settingsOf({
  access_key,
  secret_key,
  region,
  iam_endpoint,
  sts_endpoint,
  max_retries,
  ...sts
}: CloudSettingsRecord): CloudSettings {
  return {
    ...(access_key === '' ? {} : { accessKey: { access_key, secret_key } }),
    region,
    iam_endpoint,
    sts_endpoint,
    sts_region: sts.sts_region ?? '',
    sts_fallback_endpoints: sts.sts_fallback_endpoints ?? [],
    sts_fallback_regions: sts.sts_fallback_regions ?? [],
    max_retries,
  };
}
