import {
  InvalidRequest,
  issue,
  type EngineHost,
  type EngineRequest,
  type Intent,
  type OpenIntent,
  type OutsideThing,
  type SecretType,
  type Transaction,
} from '@strongroom/engine-sdk';
import {
  type Connection,
  DirectoryFailed,
  LdapError,
  type LdifRecord,
  directoryFailed,
  makePassword,
  outcomeOf,
  parseLdif,
  textOf,
} from '@strongroom/ldap-client';
import { Type, type Static } from 'typebox';
import type { LdapSecretsConfig } from './config.ts';
import { ownEntries, renderRole, type RenderedRole } from './dynamic-role.ts';
import { deleteEntries, existingEntries, notDeleted, runLdif, runLdifThrough, wasDoneBefore } from './ldif-run.ts';
import type { AccountMark } from './account-mark.ts';
import { accountKey, recordsIn, type DynamicRoleRecord, type MadeAccount } from './records.ts';
import { RoleTemplates, type RoleEnvironment } from './role-templates.ts';
import type { DirectoryService } from './service.ts';

/** Longer than a request with all its deadlines: seconds. */
const INTENT_AGE = 180;

const Creation = Type.Object({
  role: Type.String(),
  username: Type.String(),
  /** Entries that are this account's and nobody else's. */
  entries: Type.Array(Type.String()),
  rollback_ldif: Type.String(),
  deletion_ldif: Type.String(),
});
type Creation = Static<typeof Creation>;

const Internal = Type.Object({
  role: Type.String(),
  username: Type.String(),
  entries: Type.Array(Type.String()),
  /** As it was at the issue: for roles that are changed or gone at revocation. */
  deletion_ldif: Type.String(),
});

type Account = Omit<Static<typeof Internal>, 'role'>;

interface KnownTemplates {
  readonly role: DynamicRoleRecord;
  readonly templates: RoleTemplates;
  readonly unique: boolean;
}

/** A creation that is about to happen. */
interface Begun {
  readonly intent: OpenIntent;
  /** What was recorded under the name before: an account whose lease was revoked by force, and whose entries may be gone. */
  readonly orphan?: MadeAccount;
}

/** Accounts that are made for a lease and taken away with it. */
export class DynamicAccounts {
  readonly intent: Intent<typeof Creation>;
  readonly secret: SecretType<typeof Internal>;
  readonly environment: RoleEnvironment;
  readonly #host: EngineHost;
  readonly #service: DirectoryService;
  readonly #templates = new Map<string, KnownTemplates>();

  constructor(host: EngineHost, service: DirectoryService, mark: AccountMark) {
    this.#host = host;
    this.#service = service;
    this.environment = { now: () => host.clock.now(), randomBytes: (count) => host.randomBytes(count), random: mark.random };
    const target = (): string => service.target;
    this.intent = {
      kind: 'create-account',
      entry: Creation,
      minAgeSeconds: INTENT_AGE,
      target,
      rollback: async (entry, _storage, signal) => this.#undo(entry, signal),
      outside: outsideAccount,
    };
    this.secret = {
      type: 'creds',
      internal: Internal,
      target,
      renew: async (lease) => {
        const role = await recordsIn(host.storage).roles.get(lease.internal.role);
        if (!role) throw new InvalidRequest('unable to renew: role does not exist');
        return this.#terms(role, await service.require());
      },
      revoke: async ({ internal, signal }) => this.#takeAway(internal, signal),
      revoked: async ({ username }, tx) => this.#free(tx, username),
      outside: outsideAccount,
      // The account may be there still, as an orphan. Its name may come again when its entries are gone.
      dropped: async (account, tx) => recordsIn(tx).made.put(accountKey(account.username), { ...account, dropped: true }),
    };
  }

  /** Makes an account of the role: first what is about to happen is stored, then the directory is touched, then the core stores the lease. */
  async create(req: EngineRequest, roleName: string, role: DynamicRoleRecord) {
    const config = await this.#service.require();
    const { templates, unique } = this.#templatesOf(roleName, role);
    const password = await makePassword(this.#host, config);
    const terms = this.#terms(role, config);
    const issued = this.#host.clock.millis();
    const expires = issued + this.#host.limit(terms).ttl * 1_000;
    const account = renderRole(templates, { displayName: req.caller.displayName, roleName, password, issued, expires }, this.environment);
    const entries = ownEntries(account);
    const { username, creation, rollback_ldif, deletion_ldif } = account;
    const begun = await this.#intend({ role: roleName, username, entries, rollback_ldif, deletion_ldif });
    const done: LdifRecord[] = [];
    try {
      await this.#service.work(
        async (connection) => {
          if (!unique) await requireFree(connection, entries, req.signal);
          await runLdif(connection, creation, done, req.signal);
        },
        { signal: req.signal },
      );
    } catch (error) {
      await this.#failed(begun, account, done, error);
      throw creationFailed(error, creation[done.length]);
    }
    return {
      data: { username, password, distinguished_names: creation.map(({ dn }) => dn) },
      secret: issue(this.secret, { internal: { role: roleName, username, entries, deletion_ldif }, terms, fulfils: begun.intent }),
    };
  }

  /** How long leases of the role live: by its own terms, or else by those of the configuration, where there is one. */
  async termsOf(role: DynamicRoleRecord): Promise<{ ttl: number; maxTtl: number }> {
    return this.#terms(role, await this.#service.read());
  }

  #terms(
    role: DynamicRoleRecord,
    config: Pick<LdapSecretsConfig, 'ttl' | 'max_ttl'> = { ttl: 0, max_ttl: 0 },
  ): { ttl: number; maxTtl: number } {
    return { ttl: role.default_ttl || config.ttl, maxTtl: role.max_ttl || config.max_ttl };
  }

  #templatesOf(name: string, role: DynamicRoleRecord): KnownTemplates {
    const known = this.#templates.get(name);
    if (known && sameTemplates(known.role, role)) return known;
    const templates = new RoleTemplates(role, this.environment);
    const fresh = { role, templates, unique: templates.hasUniqueNames(this.environment) };
    this.#templates.set(name, fresh);
    return fresh;
  }

  /** The account is recorded before it is made. Its name is its own from then on: the undo of a failed creation would otherwise take another account away. */
  async #intend(entry: Creation): Promise<Begun> {
    const { rollback_ldif: _ofTheIntent, ...account } = entry;
    return this.#host.storage.transaction(async (tx) => {
      const { made } = recordsIn(tx);
      const key = accountKey(entry.username);
      const known = await made.get(key);
      if (known && (known.removing || !known.dropped)) {
        throw new InvalidRequest('an account of that name is in use: username_template gives names that repeat');
      }
      await made.put(key, account);
      return { intent: await tx.intend(this.intent, entry), ...(known ? { orphan: known } : {}) };
    });
  }

  /** A call whose outcome is unknown is left to the journal; what was refused is undone now, and by the journal where that fails. */
  async #failed({ intent, orphan }: Begun, account: RenderedRole, done: readonly LdifRecord[], error: unknown): Promise<void> {
    const outcome = outcomeOf(error);
    if (outcome === 'unknown') return;
    let undone = true;
    // Where the first record was refused nothing was made, and what stands under the name is another's.
    if (outcome === 'refused' && done.length > 0) {
      const added = done.filter(({ type }) => type === 'add').map(({ dn }) => dn);
      undone = await this.#rollBack(account, added);
    }
    await this.#host.storage.transaction(async (tx) => {
      if (!undone) return tx.abandon(intent);
      if (orphan) await recordsIn(tx).made.put(accountKey(account.username), orphan);
      else await this.#free(tx, account.username);
      return tx.settle(intent);
    });
  }

  /** Not by the signal of the request: what was begun is cleaned up also when its caller is gone. */
  async #rollBack({ rollback_ldif }: RenderedRole, added: readonly string[]): Promise<boolean> {
    const { signal } = new AbortController();
    try {
      await this.#service.work(
        async (connection) => {
          const refused = await runLdifThrough(connection, parseLdif(rollback_ldif), signal);
          for (const { record, error } of refused) this.#warn('a record of rollback_ldif was refused', record, error);
          await deleteEntries(connection, added, signal);
        },
        { signal, idempotent: true },
      );
      return true;
    } catch (error) {
      this.#host.log.warn('a failed creation could not be rolled back yet', { error: textOf(error) });
      return false;
    }
  }

  /** The journal's undo: the request is long over, and how far it came is not known. */
  async #undo({ username, entries, rollback_ldif, deletion_ldif }: Creation, signal: AbortSignal): Promise<void> {
    await this.#onDirectory(signal, async (connection) => {
      const refused = [
        ...(await runLdifThrough(connection, parseLdif(rollback_ldif), signal)),
        ...(await runLdifThrough(connection, parseLdif(deletion_ldif), signal)),
      ];
      await deleteEntries(connection, entries, signal);
      const failed = refused.find((one) => !wasDoneBefore(one));
      if (entries.length === 0 && failed) throw failed.error;
    });
    await this.#host.storage.transaction(async (tx) => this.#free(tx, username));
  }

  /** Takes the account away, and forgets it. @throws DirectoryFailed */
  async remove(account: Account, signal: AbortSignal): Promise<void> {
    await this.#takeAway(account, signal);
    await recordsIn(this.#host.storage).made.delete(accountKey(account.username));
  }

  /** By its deletion_ldif, and what that leaves by name. What is gone already is fine. @throws DirectoryFailed */
  async #takeAway({ entries, deletion_ldif }: Account, signal: AbortSignal): Promise<void> {
    await this.#onDirectory(signal, async (connection) => {
      const deletion = parseLdif(deletion_ldif);
      const refused = await runLdifThrough(connection, deletion, signal);
      const failed = refused.filter((one) => !wasDoneBefore(one));
      for (const { record, error } of failed) this.#warn('a record of deletion_ldif was refused', record, error);
      // With its entries gone the account is of no use to anybody; what else is left is for the operator.
      if (entries.length > 0) await this.#deleteLeft(connection, notDeleted(entries, deletion, refused), signal);
      else if (failed[0]) throw failed[0].error;
    });
  }

  /** Deletes the entries that deletion_ldif has left, by their names. @throws DirectoryFailed that says which are there still, and why */
  async #deleteLeft(connection: Connection, entries: readonly string[], signal: AbortSignal): Promise<void> {
    const left = await existingEntries(connection, entries, signal);
    if (left.length === 0) return;
    this.#host.log.warn('deletion_ldif left entries of an account; they are deleted by name', {
      mount: this.#host.mount.path,
      entries: left,
    });
    try {
      await deleteEntries(connection, left, signal);
    } catch (error) {
      if (!(error instanceof LdapError) || !error.answered) throw error;
      const there = (await existingEntries(connection, left, signal)).map((dn) => JSON.stringify(dn)).join(' and ');
      const text = `after deletion_ldif ${there} is still there, and cannot be deleted: ${error.message}`;
      throw new DirectoryFailed(text, outcomeOf(error), error);
    }
  }

  async #free(tx: Transaction, username: string): Promise<void> {
    await recordsIn(tx).made.delete(accountKey(username));
  }

  async #onDirectory(signal: AbortSignal, work: (connection: Connection) => Promise<void>): Promise<void> {
    try {
      await this.#service.work(work, { signal, idempotent: true });
    } catch (error) {
      throw directoryFailed(error);
    }
  }

  #warn(what: string, { line, dn }: LdifRecord, error: LdapError): void {
    this.#host.log.warn(what, { mount: this.#host.mount.path, line, dn, error: error.message });
  }
}

function sameTemplates(a: DynamicRoleRecord, b: DynamicRoleRecord): boolean {
  return (
    a.creation_ldif === b.creation_ldif &&
    a.deletion_ldif === b.deletion_ldif &&
    a.rollback_ldif === b.rollback_ldif &&
    a.username_template === b.username_template
  );
}

/** The entries of an account, or its name where none holds it. */
function outsideAccount({ role, username, entries }: Pick<Creation, 'role' | 'username' | 'entries'>): OutsideThing {
  const [first = username, ...more] = entries;
  const rest = more.length === 0 ? '' : `, with ${more.join(' and ')}`;
  return { kind: 'directory account', name: first, detail: `made by the role "${role}"${rest}` };
}

async function requireFree(connection: Connection, entries: readonly string[], signal: AbortSignal): Promise<void> {
  const [taken] = await existingEntries(connection, entries, signal);
  if (taken === undefined) return;
  throw new InvalidRequest(`failed to create user: ${taken} exists already, and username_template gives names that repeat`);
}

/** The directory's own text, with the record that it is about. */
function creationFailed(error: unknown, record: LdifRecord | undefined): unknown {
  if (!(error instanceof LdapError)) return error;
  const where = record === undefined ? '' : `creation_ldif line ${record.line}: `;
  return new DirectoryFailed(`failed to create user: failed to execute statements: ${where}${error.message}`, outcomeOf(error), error);
}
