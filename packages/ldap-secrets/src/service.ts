import { randomUUID } from 'node:crypto';
import { BadRequest, InvalidRequest, requireSecretsAgain, type EngineHost } from '@strongroom/engine-sdk';
import {
  type BindRotation,
  type Connection,
  createDirectory,
  type Directory,
  DirectoryFailed,
  directoryFailed,
  DirectoryMisused,
  isDn,
  isRefusedBind,
  keptSecrets,
  Lending,
  secretMoves,
  type ServiceOptions,
} from '@strongroom/ldap-client';
import { holderIn, requireSettledRotation, requireSudoForPasswords } from '@strongroom/rotation';
import { clientSettings, mergeConfig, serviceBinding, type LdapSecretsConfig, type SentConfig } from './config.ts';
import { claimsOf, managerName, ownerOf } from './managed-accounts.ts';
import { CONFIG, recordsIn, type Records } from './records.ts';
import { requireServiceAccount, requireUnneeded } from './self-managed.ts';

/** How long after a rotation the previous bindpass is tried as well: a change reaches the servers of a directory one after the other. Milliseconds. */
const PRIOR = 600_000;

/** What the mount is configured with, and the directory that is open for it. */
export interface OpenDirectory {
  readonly config: LdapSecretsConfig;
  readonly directory: Directory;
}

/** The configuration of a mount and its connections to the directory: one directory until the next write of the configuration. */
export class DirectoryService {
  /** What leases, intents and jobs of the mount have as their target. */
  readonly target: string;
  readonly #host: EngineHost;
  readonly #records: Records;
  readonly #directories: Lending<Directory>;
  #config: LdapSecretsConfig | undefined;
  /** The rotation of bindpass; set where that is made. */
  root: BindRotation<LdapSecretsConfig> | undefined;

  constructor(host: EngineHost) {
    this.#host = host;
    this.#records = recordsIn(host.storage);
    this.target = `the directory of ${host.mount.accessor}`;
    const { clock, log } = host;
    this.#directories = new Lending(
      async () => createDirectory(clientSettings(this.#config!), { clock, log }),
      (directory) => directory.close(),
    );
  }

  async read(): Promise<LdapSecretsConfig | undefined> {
    return this.#records.config.get(CONFIG);
  }

  /** @throws InvalidRequest where there is none. */
  async require(): Promise<LdapSecretsConfig> {
    const config = await this.read();
    if (!config) throw new InvalidRequest('the config is currently unset');
    return config;
  }

  /**
   * `sudo`: the caller may have stored passwords sent elsewhere. Resolves with the record. @throws BadRequest for what cannot be stored, and for another
   * address without bindpass, or where passwords of accounts are stored; TooManyRequests for another account or bindpass while bindpass is being rotated.
   */
  async write(sent: SentConfig, supplied: ReadonlySet<string>, sudo: boolean): Promise<LdapSecretsConfig> {
    const written = await this.#host.storage.transaction(async (tx) => {
      const records = recordsIn(tx);
      const before = await records.config.get(CONFIG);
      if (before) this.#root.requireQuietFor(before, sent);
      const next = mergeConfig(before, sent, supplied, randomUUID());
      if (before) {
        const changed = secretMoves(before, next);
        requireSecretsAgain({ changed, kept: keptSecrets(before, supplied), sudo });
        if (!sudo && (before.self_managed || next.self_managed)) requireSameAddress(changed);
        requireSettledRotation({ changed, open: next.root?.pending !== undefined, secret: 'bindpass', sudo });
        await requireSudoForPasswords({ changed, holder: async () => passwordHolder(records), sudo });
      } else {
        // A configuration that was deleted is forgotten, so that any is another one then.
        await requireSudoForPasswords({ changed: ['url'], holder: async () => passwordHolder(records), sudo });
      }
      if (next.self_managed) await requireUnneeded(records);
      else if (next.binddn !== before?.binddn || before.self_managed) await requireUnmanaged(records, next.binddn);
      await this.#root.store(tx, next, before);
      return next;
    });
    // What was wrong may be mended.
    await this.#host.retry(this.target);
    return written;
  }

  /** Resolves with the record that was there. @throws TooManyRequests while bindpass is being rotated: the new one would be lost with the configuration. */
  async delete(): Promise<LdapSecretsConfig | undefined> {
    const deleted = await this.#host.storage.transaction(async (tx) => this.#root.remove(tx));
    this.#config = undefined;
    this.#directories.retire();
    return deleted;
  }

  /** Lends the directory of the present configuration. @throws InvalidRequest where there is none. */
  async use<T>(work: (open: OpenDirectory) => Promise<T>): Promise<T> {
    const stored = await this.require();
    const config = stored.root?.pending ? await this.#root.settle(stored) : stored;
    return this.useAsIs(config, work);
  }

  /** The same for a configuration whose bindpass may be in doubt. */
  async useAsIs<T>(config: LdapSecretsConfig, work: (open: OpenDirectory) => Promise<T>): Promise<T> {
    if (config.edition !== this.#config?.edition) {
      this.#config = config;
      this.#directories.retire();
    }
    return this.#directories.use(async (directory) => work({ config, directory }));
  }

  /**
   * Runs the work on a connection that is bound as the managing account.
   * @throws DirectoryFailed for failures of the dial and of the bind; what the work throws otherwise.
   */
  async bound<T>({ config, directory }: OpenDirectory, work: (connection: Connection) => Promise<T>, use: ServiceOptions = {}): Promise<T> {
    requireServiceAccount(config);
    if (config.bindpass === '') throw new DirectoryMisused('unable to bind due to lack of configured password');
    let begun = false;
    const begin = async (connection: Connection): Promise<T> => {
      begun = true;
      return work(connection);
    };
    try {
      return await directory.withServiceConnection(serviceBinding(config), begin, use);
    } catch (error) {
      if (begun || !isRefusedBind(error)) throw begun ? error : directoryFailed(error, 'unsent');
      const prior = this.#priorPassword(config);
      if (prior === undefined) throw new DirectoryFailed(`failed to bind with current password: ${error.message}`, 'unsent', error);
      try {
        return await directory.withServiceConnection(serviceBinding(config, prior), begin, use);
      } catch (second) {
        if (begun || !isRefusedBind(second)) throw begun ? second : directoryFailed(second, 'unsent');
        throw new DirectoryFailed(`failed to bind with current and prior password: ${second.message}`, 'unsent', second);
      }
    }
  }

  /** Lends a connection as `bound` does, with the configuration. */
  async work<T>(work: (connection: Connection, open: OpenDirectory) => Promise<T>, use: ServiceOptions = {}): Promise<T> {
    return this.use(async (open) => this.bound(open, async (connection) => work(connection, open), use));
  }

  close(): void {
    this.#directories.close();
  }

  get #root(): BindRotation<LdapSecretsConfig> {
    return this.root!;
  }

  #priorPassword({ root }: LdapSecretsConfig): string | undefined {
    if (root?.previous === undefined) return undefined;
    return this.#host.clock.millis() - root.last_rotation < PRIOR ? root.previous : undefined;
  }
}

/** Accounts that log in themselves show their passwords to the server of the configuration. `changed`: what leads to another one. @throws BadRequest */
function requireSameAddress(changed: readonly string[]): void {
  if (changed.length === 0) return;
  throw new BadRequest(
    `self_managed: the passwords of static roles would be sent to what is new (${changed.join(', ')}); a token with sudo on this path may change that, or use another mount`,
  );
}

/** One of the accounts whose passwords the mount stores: a rotation may log in with them. */
async function passwordHolder(records: Records): Promise<string | undefined> {
  const role = await holderIn(records.staticRoles);
  if (role !== undefined) return managerName({ kind: 'static-role', owner: role });
  const account = await holderIn(records.accounts);
  return account === undefined ? undefined : managerName({ kind: 'library', owner: account });
}

/** A mount that logged in with an account that it rotates itself would lock itself out. @throws BadRequest */
async function requireUnmanaged(records: Records, binddn: string): Promise<void> {
  if (!isDn(binddn)) return;
  for (const key of claimsOf('', [binddn]).filter((name) => name.startsWith('dn/'))) {
    const owner = await ownerOf(records, key);
    if (owner === undefined) continue;
    throw new BadRequest(
      `binddn: ${owner} of this mount changes the password of this account, which would lock the mount out; remove it there first, or name another account`,
    );
  }
}
