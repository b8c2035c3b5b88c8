import { randomUUID } from 'node:crypto';
import { ProviderRefusal } from './http-server.ts';

export interface KeyVaultVersion {
  readonly id: string;
  readonly value: string;
  readonly created: number;
  contentType: string | undefined;
  tags: Readonly<Record<string, string>>;
  enabled: boolean;
  /** Seconds since the epoch. A date that is over hinders nobody from reading the value. */
  expires: number | undefined;
  notBefore: number | undefined;
  updated: number;
}

export interface KeyVaultEntry {
  readonly name: string;
  /** Oldest first. */
  readonly versions: KeyVaultVersion[];
  /** Backs a certificate of the vault, which alone changes it. */
  readonly managed: boolean;
  /** Seconds since the epoch; present while the secret is soft-deleted. */
  deletedAt?: number;
  /** How many looks at the secret still find it on its way into, or out of, deletion. */
  settling: number;
}

export interface KeyVaultWrite {
  readonly value: string;
  readonly contentType?: string | undefined;
  readonly tags?: Readonly<Record<string, string>> | undefined;
  readonly enabled?: boolean | undefined;
  /** Seconds since the epoch. */
  readonly expires?: number | undefined;
  readonly notBefore?: number | undefined;
  /** As the vault itself does for a certificate. */
  readonly managed?: boolean | undefined;
}

export const KEY_VAULT_VALUE_LIMIT = 25 * 1024;
const MOST_TAGS = 15;
const LONGEST_CONTENT_TYPE = 255;

/** The secrets of one vault: names without case, versions, and soft delete as Key Vault has it. */
export class KeyVaultStore {
  readonly #entries = new Map<string, KeyVaultEntry>();
  readonly #now: () => number;
  /** How many looks a deletion or recovery takes to settle; 0: at once. */
  settle = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Names in use, soft-deleted ones left out. */
  live(): KeyVaultEntry[] {
    return [...this.#entries.values()].filter((entry) => entry.deletedAt === undefined);
  }

  deleted(): KeyVaultEntry[] {
    return [...this.#entries.values()].filter((entry) => entry.deletedAt !== undefined);
  }

  /** A new version has only what this write gives it: nothing is taken over from the version before. */
  set(name: string, write: KeyVaultWrite): KeyVaultEntry {
    if (!/^[0-9a-zA-Z-]{1,127}$/.test(name)) {
      throw badParameter(`The request URI contains an invalid name: ${name}`);
    }
    if (Buffer.byteLength(write.value) > KEY_VAULT_VALUE_LIMIT) throw badParameter('Secret value is too long.');
    checkAttributes(write);
    const tags = checkTags(write.tags ?? {});
    const entry = this.#entries.get(name.toLowerCase()) ?? { name, versions: [], settling: 0, managed: write.managed === true };
    if (entry.deletedAt !== undefined) {
      const [inner, phrase] =
        entry.settling > 0 ? ['ObjectIsBeingDeleted', 'being deleted'] : ['ObjectIsDeletedButRecoverable', 'deleted but recoverable'];
      throw conflict(`Secret ${name} is currently in a ${phrase} state, and its name cannot be reused.`, inner);
    }
    if (entry.managed && write.managed !== true) throw conflict(`Secret ${name} belongs to a certificate.`, 'ObjectIsManaged');
    if (entry.settling > 0) throw conflict(`Secret ${name} is currently being recovered.`, 'ObjectIsBeingRecovered');
    const now = this.#seconds();
    entry.versions.push({
      id: randomUUID().replaceAll('-', ''),
      value: write.value,
      contentType: write.contentType,
      tags,
      enabled: write.enabled ?? true,
      expires: write.expires,
      notBefore: write.notBefore,
      created: now,
      updated: now,
    });
    this.#entries.set(name.toLowerCase(), entry);
    return entry;
  }

  /** @throws SecretNotFound */
  require(name: string, version?: string): { entry: KeyVaultEntry; version: KeyVaultVersion } {
    const entry = this.#entries.get(name.toLowerCase());
    const found = version === undefined ? entry?.versions.at(-1) : entry?.versions.find(({ id }) => id === version);
    if (entry === undefined || found === undefined || entry.deletedAt !== undefined || this.#unsettled(entry)) throw secretNotFound(name);
    return { entry, version: found };
  }

  requireDeleted(name: string): KeyVaultEntry {
    const entry = this.#entries.get(name.toLowerCase());
    if (entry?.deletedAt === undefined || this.#unsettled(entry)) {
      throw new ProviderRefusal(404, 'SecretNotFound', `Deleted secret not found: ${name}`);
    }
    return entry;
  }

  update(
    name: string,
    version: string | undefined,
    change: Partial<Pick<KeyVaultVersion, 'tags' | 'enabled' | 'contentType' | 'expires' | 'notBefore'>>,
  ): KeyVaultVersion {
    const found = this.require(name, version).version;
    checkAttributes(change);
    if (change.tags !== undefined) found.tags = checkTags(change.tags);
    if (change.enabled !== undefined) found.enabled = change.enabled;
    if (change.contentType !== undefined) found.contentType = change.contentType;
    if (change.expires !== undefined) found.expires = change.expires;
    if (change.notBefore !== undefined) found.notBefore = change.notBefore;
    found.updated = this.#seconds();
    return found;
  }

  delete(name: string): KeyVaultEntry {
    const { entry } = this.require(name);
    entry.deletedAt = this.#seconds();
    entry.settling = this.settle;
    return entry;
  }

  recover(name: string): KeyVaultEntry {
    const entry = this.requireDeleted(name);
    delete entry.deletedAt;
    entry.settling = this.settle;
    return entry;
  }

  /** Also without the call's rules: what a test takes away for good. */
  purge(name: string): void {
    this.#entries.delete(name.toLowerCase());
  }

  #unsettled(entry: KeyVaultEntry): boolean {
    if (entry.settling === 0) return false;
    entry.settling -= 1;
    return true;
  }

  #seconds(): number {
    return Math.floor(this.#now() / 1000);
  }
}

function checkAttributes({
  contentType,
  expires,
  notBefore,
}: Partial<Pick<KeyVaultVersion, 'contentType' | 'expires' | 'notBefore'>>): void {
  if (contentType !== undefined && contentType.length > LONGEST_CONTENT_TYPE) throw badParameter('contentType is too long.');
  for (const [name, date] of Object.entries({ exp: expires, nbf: notBefore })) {
    if (date !== undefined && !Number.isInteger(date)) throw badParameter(`${name} must be a whole number of seconds.`);
  }
}

function checkTags(tags: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const entries = Object.entries(tags);
  if (entries.length > MOST_TAGS) throw badParameter(`Too many tags: at most ${MOST_TAGS} are allowed.`);
  const wrong = entries.find(([key, value]) => key === '' || key.length > 256 || typeof value !== 'string' || value.length > 256);
  if (wrong !== undefined) throw badParameter(`Invalid tag: ${wrong[0]}`);
  return { ...tags };
}

export function badParameter(message: string): ProviderRefusal {
  return new ProviderRefusal(400, 'BadParameter', message);
}

export function secretNotFound(name: string): ProviderRefusal {
  return new ProviderRefusal(404, 'SecretNotFound', `A secret with (name/id) ${name} was not found in this key vault.`);
}

const conflict = (message: string, inner: string): ProviderRefusal =>
  new ProviderRefusal(409, 'Conflict', message, { details: { innererror: { code: inner } } });
