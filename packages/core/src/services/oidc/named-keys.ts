import { BadRequest, type Clock, type Schedule, type StorageView, type Transaction } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { newKeyPair, signedToken, type KeyPair, type PublicKey } from './key-pair.ts';
import {
  begun,
  builtInKey,
  DEFAULT_KEY,
  publishedKeys,
  rescheduled,
  rotated,
  signersOf,
  unwrittenKey,
  verifiesUntil,
} from './key-stages.ts';
import { isName, oidcRecords, requireShortName, type NamedKey, type OidcRecords } from './oidc-records.ts';
import { SharedRuns } from './shared-runs.ts';
import { isAlgorithm, type Algorithm } from './signing-algorithm.ts';

const SHORTEST_PERIOD = 60;
const LONGEST_VERIFICATION = 10;
const Nothing = Type.Object({});

/** What keys are used for. */
export type KeyUse = 'role' | 'client';

/** A write; undefined is "not sent". */
export interface KeyFields {
  readonly algorithm?: string | undefined;
  readonly rotation_period?: number | undefined;
  readonly verification_ttl?: number | undefined;
  readonly allowed_client_ids?: readonly string[] | undefined;
}

/** What verifiers fetch. */
export interface KeySet {
  readonly keys: readonly PublicKey[];
  /** Milliseconds since the epoch: until then no key signs that is not in the set. Undefined where there is no key. */
  readonly nextRotation: number | undefined;
}

/** What a change makes of a key; `pairs` are the algorithms of the new keys that it needs. */
interface KeyChange {
  readonly pairs: readonly Algorithm[];
  make(fresh: readonly KeyPair[]): NamedKey;
}

/**
 * The named keys that sign identity tokens. Each has a key that signs and a next one, which is published for a whole period before it signs. A rotation is one
 * commit: it promotes the next key, stores a new next one and retires the one that signed, so there is no moment at which a signature cannot be verified.
 */
export class NamedKeys {
  readonly #storage: () => StorageView;
  readonly #clock: Clock;
  /** Anybody may ask for them. */
  readonly #sets = new SharedRuns<KeySet>();

  /** `storage`: that of the mount `identity/`, which also has the jobs. */
  constructor(parts: { storage: () => StorageView; clock: Clock }) {
    this.#storage = parts.storage;
    this.#clock = parts.clock;
  }

  /** One job a key: each is rotated by one process, whichever comes first. */
  readonly rotations: Schedule<typeof Nothing> = {
    kind: 'identity-key-rotation',
    entry: Nothing,
    run: async (_entry, _storage, _signal, { id }) => {
      const key = await this.#change(id, (stored, now) => {
        const signers = stored && signersOf(stored);
        if (!stored || !signers || stored.next_rotation > now) return undefined;
        return { pairs: [stored.algorithm], make: ([fresh]) => rotated(stored, signers, fresh!, now) };
      });
      return key?.current && new Date(key.next_rotation);
    },
  };

  async get(name: string, records: OidcRecords = this.#records): Promise<NamedKey | undefined> {
    return isName(name) ? ((await records.keys.get(name)) ?? builtInKey(name)) : undefined;
  }

  async names(): Promise<string[]> {
    const names = await this.#records.keys.list();
    return names.includes(DEFAULT_KEY) ? names : [...names, DEFAULT_KEY].sort();
  }

  /**
   * Another algorithm is that of the next key from now on; the current one goes on signing until the next rotation, so that verifiers know the new key
   * before they meet it. @throws BadRequest
   */
  async save(name: string, fields: KeyFields): Promise<void> {
    requireShortName(name);
    await this.#change(
      name,
      (stored, now) => {
        const before = stored ?? builtInKey(name) ?? unwrittenKey;
        const written = rescheduled(withFields(before, fields), now);
        const shorter = written.current && written.verification_ttl < before.verification_ttl;
        const key = shorter ? { ...written, verifies_until: verifiesUntil(before, now) } : written;
        const signers = signersOf(key);
        if (!signers) return beginning(key, now);
        if (signers.next.algorithm === key.algorithm) return { pairs: [], make: () => key };
        return { pairs: [key.algorithm], make: ([next]) => ({ ...key, next: next! }) };
      },
      (key, records) => requireLongEnough(name, key, records),
    );
  }

  /** Unknown ones are no error. @throws BadRequest while a role or a client uses it, and for `default` */
  async remove(name: string): Promise<void> {
    if (name === DEFAULT_KEY) throw new BadRequest(`deletion of key ${JSON.stringify(name)} not allowed`);
    await this.#storage().transaction(async (tx) => {
      const records = oidcRecords(tx);
      if (!(await records.keys.get(name))) return;
      for (const use of ['role', 'client'] as const) {
        const users = await usersOf(records, name, use);
        if (users.length > 0)
          throw new BadRequest(
            `unable to delete key ${JSON.stringify(name)} because it is currently referenced by these ${use}s: ${users.join(', ')}`,
          );
      }
      await records.keys.delete(name);
      await tx.unschedule(this.rotations, name);
    });
  }

  /** At once. `verificationTtl`: seconds for which the key that signed stays published; its own by default. @throws BadRequest */
  async rotate(name: string, verificationTtl?: number): Promise<void> {
    await this.#change(name, (stored, now) => {
      const key = stored ?? builtInKey(name);
      if (!key) throw new BadRequest(`no named key found at ${JSON.stringify(name)}`);
      const signers = signersOf(key);
      if (!signers) return beginning(key, now);
      return { pairs: [key.algorithm], make: ([fresh]) => rotated(key, signers, fresh!, now, verificationTtl) };
    });
  }

  /** Makes the keys of a named key that has none yet. */
  async begin(name: string): Promise<void> {
    const key = await this.get(name);
    if (!key || key.current) return;
    await this.#change(name, (stored, now) => {
      if (stored?.current) return undefined;
      return beginning(stored ?? key, now);
    });
  }

  /** Within the transaction that stores the user. The key cannot be removed at the same time. Undefined: there is none. */
  async use(records: OidcRecords, name: string, use: KeyUse, user: string): Promise<NamedKey | undefined> {
    const key = isName(name) ? await records.keys.get(name) : undefined;
    if (!key) return undefined;
    // A removal that does not see this user yet meets another version of the key.
    await records.keys.put(name, key);
    await records.keyUsers.put(`${name}/${use}/${user}`, {});
    return key;
  }

  async disuse(records: OidcRecords, name: string, use: KeyUse, user: string): Promise<void> {
    await records.keyUsers.delete(`${name}/${use}/${user}`);
  }

  /** As `disuse`, for a role that takes another key: its tokens of up to `ttl` seconds can be verified until they end. */
  async leave(records: OidcRecords, name: string, role: string, ttl: number): Promise<void> {
    await this.disuse(records, name, 'role', role);
    const key = await records.keys.get(name);
    if (key) await records.keys.put(name, { ...key, left_until: Math.max(key.left_until ?? 0, this.#clock.millis() + ttl * 1_000) });
  }

  /** Signed by the current key. */
  async sign(key: NamedKey, claims: Readonly<Record<string, unknown>>): Promise<string> {
    if (!key.current) throw new BadRequest('the key has not been used yet; write it, or rotate it');
    return signedToken(key.current, claims);
  }

  /** From now on the server signs with it by itself, so it is published. @throws BadRequest */
  async forServer(name: string): Promise<NamedKey> {
    await this.begin(name);
    const found = await this.get(name);
    if (!found) throw new BadRequest(`no named key found at ${JSON.stringify(name)}`);
    if (found.signs_for_server) return found;
    return (await this.#change(name, (stored) => stored && { pairs: [], make: () => ({ ...stored, signs_for_server: true }) }))!;
  }

  /** The key by its id, if it verifies anything now. */
  async published(kid: string): Promise<PublicKey | undefined> {
    const now = this.#clock.millis();
    for (const [, key] of await this.#records.keys.entries()) {
      const found = publishedKeys(key, now).find((one) => one['kid'] === kid);
      if (found) return found;
    }
    return undefined;
  }

  /** The keys that roles sign with, or signed with for what is still good. */
  async setOfRoles(): Promise<KeySet> {
    return this.#sets.run('roles', async () =>
      this.#set(async (name, key, now) => (key.left_until ?? 0) > now || (await isUsed(this.#records, name, 'role'))),
    );
  }

  /** The keys that the server signs with itself. */
  async setOfServer(): Promise<KeySet> {
    return this.#sets.run('server', async () => this.#set(async (_name, key) => key.signs_for_server === true));
  }

  /** The keys of some clients; `*` is those of all. */
  async setOfClients(keys: ReadonlySet<string> | '*'): Promise<KeySet> {
    return this.#set(async (name) => (keys === '*' ? isUsed(this.#records, name, 'client') : keys.has(name)));
  }

  async #set(wanted: (name: string, key: NamedKey, now: number) => Promise<boolean>): Promise<KeySet> {
    const now = this.#clock.millis();
    const found: NamedKey[] = [];
    for (const [name, key] of await this.#records.keys.entries()) if (key.current && (await wanted(name, key, now))) found.push(key);
    return {
      keys: found.flatMap((key) => publishedKeys(key, now)),
      nextRotation: found.length === 0 ? undefined : Math.min(...found.map((key) => key.next_rotation)),
    };
  }

  get #records(): OidcRecords {
    return oidcRecords(this.#storage());
  }

  /**
   * Changes one key in one commit. New keys are made before it, since that takes long; where another process was faster and others are needed, they are made
   * again. `decide` gives undefined to leave the key. Resolves with the key as it is then.
   */
  async #change(
    name: string,
    decide: (stored: NamedKey | undefined, now: number) => KeyChange | undefined,
    check: (key: NamedKey, records: OidcRecords) => Promise<void> = async () => undefined,
  ): Promise<NamedKey | undefined> {
    for (;;) {
      const wanted = decide(await this.#records.keys.get(name), this.#clock.millis())?.pairs ?? [];
      const fresh = await Promise.all(wanted.map(newKeyPair));
      const done = await this.#storage().transaction(async (tx) => {
        const records = oidcRecords(tx);
        const stored = await records.keys.get(name);
        const change = decide(stored, this.#clock.millis());
        if (!change) return { key: stored };
        if (change.pairs.join() !== wanted.join()) return undefined;
        const key = change.make(fresh);
        await check(key, records);
        await records.keys.put(name, key);
        await this.#schedule(tx, name, key);
        return { key };
      });
      if (done) return done.key;
    }
  }

  async #schedule(tx: Transaction, name: string, { current, next_rotation }: NamedKey): Promise<void> {
    if (current) await tx.schedule(this.rotations, name, new Date(next_rotation), {});
  }
}

function beginning(key: NamedKey, now: number): KeyChange {
  return { pairs: [key.algorithm, key.algorithm], make: ([current, next]) => begun(key, { current: current!, next: next! }, now) };
}

function withFields(before: NamedKey, fields: KeyFields): NamedKey {
  const key = {
    ...before,
    rotation_period: fields.rotation_period ?? before.rotation_period,
    verification_ttl: fields.verification_ttl ?? before.verification_ttl,
    allowed_client_ids: [...new Set(fields.allowed_client_ids ?? before.allowed_client_ids)],
  };
  const algorithm = fields.algorithm ?? before.algorithm;
  if (key.rotation_period < SHORTEST_PERIOD) throw new BadRequest('rotation_period must be at least one minute');
  if (key.verification_ttl > LONGEST_VERIFICATION * key.rotation_period)
    throw new BadRequest('verification_ttl cannot be longer than 10x rotation_period');
  if (!isAlgorithm(algorithm)) throw new BadRequest(`unknown signing algorithm ${JSON.stringify(algorithm)}`);
  return { ...key, algorithm };
}

/** No token may outlive the key that verifies it. @throws BadRequest */
async function requireLongEnough(name: string, { verification_ttl }: NamedKey, records: OidcRecords): Promise<void> {
  const refuse = (users: string): never => {
    throw new BadRequest(
      `unable to update key ${JSON.stringify(name)} because it is currently referenced by one or more ${users} greater than ${verification_ttl} seconds`,
    );
  };
  for (const role of await usersOf(records, name, 'role')) {
    if (((await records.roles.get(role))?.ttl ?? 0) > verification_ttl) refuse('roles with a token ttl');
  }
  for (const client of await usersOf(records, name, 'client')) {
    if (((await records.clients.get(client))?.id_token_ttl ?? 0) > verification_ttl) refuse('clients with an id_token_ttl');
  }
}

async function usersOf(records: OidcRecords, key: string, use: KeyUse): Promise<string[]> {
  const prefix = `${key}/${use}/`;
  return (await records.keyUsers.list({ prefix })).map((id) => id.slice(prefix.length));
}

async function isUsed(records: OidcRecords, key: string, use: KeyUse): Promise<boolean> {
  return (await records.keyUsers.list({ prefix: `${key}/${use}/`, limit: 1 })).length > 0;
}
