import {
  BadRequest,
  EngineError,
  TooManyRequests,
  type Collection,
  type EngineHost,
  type ManagedAccount,
  type StorageView,
  type Transaction,
} from '@strongroom/engine-sdk';
import {
  claimAccount,
  manualPlan,
  present,
  rotatesByItself,
  Rotation,
  type Change,
  type Proof,
  type RotationStatus,
  type StateLens,
} from '@strongroom/rotation';
import { applyPasswordChange, proveBind, type BoundLender } from './account-password.ts';
import { bindAccountSearch, changesRootIn, planOfBind, unsettled, type BindAccount, type SentBindAccount } from './bind-account.ts';
import { namedAccount } from './account-identity.ts';
import { DirectoryFailed, DirectoryMisused, outcomeOf, textOf } from './directory-failed.ts';
import type { Directory } from './directory.ts';
import { isDn } from './dn.ts';
import { findAccount } from './find-account.ts';
import type { DirectorySchema } from './schema.ts';
import { serverUrls } from './server-urls.ts';

/** How the registry of managed accounts and refusals call the rotation of bindpass; never changed. */
const ROOT_MANAGER = 'the root credential';

/** The directory of a configuration, open for the work of a rotation. */
export interface OpenBind {
  readonly directory: Directory;
  /** Bound as the account. */
  readonly bound: BoundLender;
}

/** What differs between the mounts that rotate the password of their bind account. */
export interface BindRotationOptions<R extends BindAccount> {
  /** Of the configuration's record, in `records`. */
  readonly id: string;
  /** What circuit breakers and jobs have as their target. */
  readonly target: string;
  /** The path below the mount that rotates on demand. */
  readonly retry: string;
  records(storage: Pick<StorageView, 'collection'>): Collection<R>;
  /** @throws InvalidRequest without an account whose password can be rotated. */
  require(): Promise<R>;
  make(config: R): Promise<string>;
  schema(config: R): DirectorySchema;
  /** The name that is bound. */
  bindName(config: R): string;
  /** Opens the directory of this very record, whose bindpass may be in doubt. */
  open<T>(config: R, work: (open: OpenBind) => Promise<T>): Promise<T>;
}

/** Rotation of the password that a mount itself logs in with, on demand and by plan. */
export class BindRotation<R extends BindAccount> {
  readonly rotation: Rotation<R, string>;
  readonly #host: EngineHost;
  readonly #options: BindRotationOptions<R>;

  constructor(host: EngineHost, options: BindRotationOptions<R>) {
    this.#host = host;
    this.#options = options;
    this.rotation = new Rotation<R, string>(host, {
      kind: 'rotate-root',
      noun: 'root credential of',
      about: (_id, { binddn }) => ({ noun: 'root credential', name: binddn, path: 'config', retry: options.retry }),
      reported: () => ({ name: 'config', paths: ['config'] }),
      lens: bindLens<R>(),
      records: (storage) => options.records(storage),
      plan: (config) => planOfBind(config),
      target: () => options.target,
      make: async (_id, config) => options.make(config),
      apply: async (change) => this.#apply(change),
      outcomeOf,
      messageOf: textOf,
      prove: async (change) => this.#prove(change),
      unproven: (_id, _config, text) => new DirectoryFailed(text, 'unknown'),
      claims: {
        by: () => ROOT_MANAGER,
        called: ({ binddn }) => binddn,
        identify: async (_id, config, signal) => this.#identify(config, signal),
      },
      ofItself: true,
      keepsPrevious: true,
      missing: () => new DirectoryMisused('the config is currently unset'),
    });
  }

  /**
   * `adopt` takes the account over from whoever manages it now. @throws InvalidRequest without a configuration, BadRequest where another one manages the
   * account, TooManyRequests while another process rotates, DirectoryFailed.
   */
  async rotate(signal: AbortSignal, adopt = false): Promise<void> {
    const config = await this.#options.require();
    if (adopt) await this.#adopt(config, signal);
    try {
      await this.rotation.rotate(this.#options.id, signal);
    } catch (error) {
      throw error instanceof EngineError ? error : new DirectoryFailed(textOf(error), outcomeOf(error), error);
    }
  }

  /** The record, once it is found out which bindpass is taken, as far as that can be told now. */
  async settle(config: R): Promise<R> {
    return (await this.rotation.settle(this.#options.id, config, new AbortController().signal)).record;
  }

  async status(config: R): Promise<RotationStatus> {
    return this.rotation.status(this.#options.id, config);
  }

  /** @throws TooManyRequests for another account or bindpass while bindpass is being rotated. */
  requireQuietFor(before: R, sent: SentBindAccount): void {
    const changed = changesRootIn(before, sent);
    if (changed) this.#requireQuiet(before, `${changed} cannot be changed`);
  }

  /** Stores a configuration that was written over `before`, inside the transaction of the write. @throws BadRequest for a plan without a password to rotate. */
  async store(tx: Transaction, next: R, before: R | undefined): Promise<void> {
    const { id } = this.#options;
    if (rotatesByItself(next.plan)) {
      for (const field of ['binddn', 'bindpass'] as const) {
        if (next[field] === '')
          throw new BadRequest(`rotation_period and rotation_schedule rotate the password of binddn: ${field} is not set`);
      }
    }
    const claimed = before?.root?.managed_account;
    if (claimed && !next.root?.managed_account) await tx.release(claimed, ROOT_MANAGER);
    const isSameAccount = before?.binddn === next.binddn;
    await this.rotation.update(tx, id, { ...next, plan: isSameAccount ? planOfBind(before) : manualPlan }, next);
  }

  /** Deletes the record, with its job and its claim. @throws TooManyRequests while bindpass is being rotated: the new one would be lost with it. */
  async remove(tx: Transaction): Promise<R | undefined> {
    const before = await this.#options.records(tx).get(this.#options.id);
    if (before) this.#requireQuiet(before, 'the config cannot be deleted');
    await this.rotation.remove(tx, this.#options.id);
    return before;
  }

  /** Whether the server alone knows bindpass. */
  async isOwnSecret(config: R): Promise<boolean> {
    if (config.root?.previous === undefined) return false;
    return (await this.rotation.managedBy(this.#host.storage, this.#options.id, config)) === undefined;
  }

  #requireQuiet({ root }: R, refused: string): void {
    if (root?.pending === undefined || root.pending.until <= this.#host.clock.millis()) return;
    throw new TooManyRequests(`${refused} while bindpass is being rotated; try again`, { headers: { 'Retry-After': '1' } });
  }

  /** In the registry of managed accounts; undefined while it is not known. An account that may not look at itself goes by its name. */
  async #identify(config: R, signal: AbortSignal): Promise<ManagedAccount | undefined> {
    const { binddn, url } = config;
    const urls = serverUrls(url);
    try {
      const located = await this.#options.open(unsettled(config), async ({ bound }) =>
        bound(async (connection) => findAccount(connection, bindAccountSearch(config), urls, signal), { signal, idempotent: true }),
      );
      return located.account;
    } catch (error) {
      return error instanceof DirectoryMisused && isDn(binddn) ? namedAccount(binddn, urls) : undefined;
    }
  }

  async #adopt(seen: R, signal: AbortSignal): Promise<void> {
    const account = seen.root?.managed_account ?? (await this.#identify(seen, signal));
    if (!account) return;
    const { id, records } = this.#options;
    await this.#host.storage.transaction(async (tx) => {
      const inside = records(tx);
      const config = await inside.get(id);
      if (config?.binddn !== seen.binddn) return;
      await claimAccount(tx, { account, by: ROOT_MANAGER, called: config.binddn, adopt: true });
      const root = { ...(config.root ?? { last_rotation: 0, next_rotation: 0 }), managed_account: account };
      await inside.put(id, { ...config, root });
    });
  }

  async #apply({ record, candidate, signal }: Change<R, string>): Promise<void> {
    const search = bindAccountSearch(record);
    const urls = serverUrls(record.url);
    await this.#options.open(unsettled(record), async ({ bound }) => {
      await applyPasswordChange(
        bound,
        {
          find: async (connection) => ('dn' in search ? search : findAccount(connection, search, urls, signal)),
          changes: this.#options.schema(record).passwordChange(candidate),
        },
        signal,
      );
    });
  }

  async #prove({ record, candidate, signal }: Change<R, string>): Promise<Proof> {
    const current = record.bindpass;
    const name = this.#options.bindName(record);
    return this.#options.open(record, async ({ directory }) => proveBind(directory, name, { candidate, current }, signal));
  }
}

function bindLens<R extends BindAccount>(): StateLens<R, string> {
  return {
    state: ({ root, bindpass }) => ({ ...(root ?? { last_rotation: 0, next_rotation: 0 }), current: bindpass }),
    withState: (config, { current, ...root }) => ({ ...config, bindpass: current ?? config.bindpass, root: present(root) }),
  };
}
