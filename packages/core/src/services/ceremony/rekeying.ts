import { randomBytes, randomUUID } from 'node:crypto';
import { BadRequest, type Clock, type Log } from '@strongroom/engine-sdk';
import { sealWith, unsealWith } from '../../kernel/barrier/sealed-box.ts';
import type { RecordReader } from '../../kernel/storage/records.ts';
import type { Store, StoreTransaction } from '../../kernel/storage/store.ts';
import type { Seal } from '../seal/seal.ts';
import { checkShares } from '../seal/seal-config.ts';
import { combineShares, splitKey } from '../seal/unseal-key.ts';
import { buffersOf, requireShare, withShare, type GivenShares } from './given-shares.ts';
import { insist } from './insist.ts';
import { protectShares, type NewShares } from './new-shares.ts';
import type { PgpKeys } from './pgp-keys.ts';
import { requireNonce, wrongShares, type RekeyPurpose } from './purpose.ts';
import { REKEYS, type RekeyRecord } from './rekey-record.ts';
import { backupOf, BACKUPS, type ShareBackup } from './share-backup.ts';

/** A rekey that gets no present share for so long ends. One whose new shares wait for their verification waits on. Milliseconds. */
const IDLE = 86_400_000;

/** What is rekeyed: `root` is what opens the store, `recovery` what operators show to an automatic seal. */
export type RekeyTarget = 'root' | 'recovery';

export interface ShareOrder {
  readonly shares: number;
  readonly threshold: number;
  readonly pgpKeys: readonly string[];
  readonly backup: boolean;
  readonly verification: boolean;
}

/** A rekey whose present shares are complete and right. */
export interface Rekeyed {
  readonly rekey: RekeyRecord;
  readonly made: NewShares;
  /** The new shares count only after they were given once, with this nonce. */
  readonly verificationNonce: string | undefined;
}

type Verifying = RekeyRecord & Required<Pick<RekeyRecord, 'pending'>>;

/**
 * New shares for the operators who show enough of their present ones. Until the new ones count, which is one commit, the present ones are in force: whatever
 * ends a server before that loses no key. The root key of an automatic seal has no shares: there, rekeying `root` replaces it.
 */
export class Rekeying {
  readonly target: RekeyTarget;
  readonly #seal: Seal;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #pgp: PgpKeys;

  constructor(target: RekeyTarget, parts: { seal: Seal; store: Store; clock: Clock; log: Log; pgp: PgpKeys }) {
    this.target = target;
    this.#seal = parts.seal;
    this.#store = parts.store;
    this.#clock = parts.clock;
    this.#log = parts.log;
    this.#pgp = parts.pgp;
  }

  /** How many present shares it takes. */
  async required(): Promise<number> {
    return (await this.#seal.needed()).threshold;
  }

  /** The rekey under way. @throws BadRequest where the seal has no such shares */
  async current(purpose: RekeyPurpose): Promise<RekeyRecord | undefined> {
    return this.#found(this.#store, purpose);
  }

  /** Every key is checked before anything is written. @throws BadRequest, also where there are no present shares yet */
  async start(order: ShareOrder, purpose: RekeyPurpose): Promise<RekeyRecord> {
    this.#requireSupport(purpose);
    if ((await this.required()) === 0) throw noShares();
    return this.#begin(order, purpose);
  }

  /** The first recovery shares, where the initialization postponed them: no present share authorizes them, so the caller's token has to. @throws BadRequest */
  async first(order: ShareOrder, purpose: RekeyPurpose): Promise<Rekeyed> {
    this.#requireSupport(purpose);
    if (this.target === 'root' || (await this.required()) > 0) throw new BadRequest('there are shares already: give them');
    return this.#complete(await this.#begin(order, purpose), purpose);
  }

  async #begin(order: ShareOrder, purpose: RekeyPurpose): Promise<RekeyRecord> {
    const prefix = `invalid ${purpose.settings} configuration`;
    const replaces = this.#replacesRootKey;
    if (replaces && (order.pgpKeys.length > 0 || order.backup || order.verification)) {
      throw new BadRequest(
        `${prefix}: the root key of a ${this.#seal.type} seal has no shares, so pgp_keys, backup and require_verification do not apply`,
      );
    }
    if (!replaces) checkShares(order.shares, order.threshold, purpose.settings);
    if (order.backup && order.pgpKeys.length === 0) {
      throw new BadRequest('cannot request a backup of the new keys without providing PGP keys for encryption');
    }
    const keys = await this.#pgp.readAll(order.pgpKeys, order.shares, prefix);
    const now = this.#clock.millis();
    const rekey: RekeyRecord = {
      nonce: randomUUID(),
      seal: this.#seal.type,
      shares: replaces ? 1 : order.shares,
      threshold: replaces ? 1 : order.threshold,
      pgp_keys: [...order.pgpKeys],
      fingerprints: keys.map(({ fingerprint }) => fingerprint),
      backup: order.backup,
      verification: order.verification,
      begun: now,
      touched: now,
      given: [],
    };
    return this.#store.transaction(async (tx) => {
      const running = await REKEYS.get(tx, this.target);
      if (running && this.#goesOn(running)) throw new BadRequest(`${purpose.name} already in progress`);
      REKEYS.put(tx, this.target, rekey);
      return rekey;
    });
  }

  /** Takes a present share; with the last one needed, makes the new ones. @throws BadRequest */
  async give(share: Buffer, nonce: string, purpose: RekeyPurpose): Promise<RekeyRecord | Rekeyed> {
    const required = await this.required();
    const collected = await this.#store.transaction(async (tx) => {
      const rekey = await this.#running(tx, purpose);
      if (rekey.pending) {
        throw new BadRequest(
          `${purpose.name} operation already finished; verification must be performed; nonce for the verification operation is ${JSON.stringify(rekey.pending.nonce)}`,
        );
      }
      requireNonce(nonce, rekey.nonce, purpose);
      const given = withShare(rekey.given, share, purpose);
      const complete = given.length >= required;
      const next = { ...rekey, given: complete ? [] : given, touched: this.#clock.millis() };
      REKEYS.put(tx, this.target, next);
      return { rekey: next, given: complete ? given : undefined };
    });
    const { rekey, given } = collected;
    if (!given) return rekey;
    if (!(await this.#seal.proves(buffersOf(given)))) throw wrongShares(purpose);
    return this.#complete(rekey, purpose);
  }

  /** Gives up: the present shares stay in force. */
  async cancel(purpose: RekeyPurpose): Promise<void> {
    this.#requireSupport(purpose);
    await this.#store.transaction(async (tx) => {
      const found = await REKEYS.get(tx, this.target);
      if (!found) return;
      REKEYS.delete(tx, this.target);
      if (found.pending?.replaced) BACKUPS.put(tx, this.target, found.pending.replaced);
    });
  }

  /** A rekey whose new shares wait for their verification. @throws BadRequest where there is none */
  async verification(purpose: RekeyPurpose): Promise<Verifying> {
    return verifying(await this.current(purpose), purpose);
  }

  /** Takes a new share; with enough of them, the new shares count. A wrong set starts the verification over, with a new nonce. @throws BadRequest */
  async verify(share: Buffer, nonce: string, purpose: RekeyPurpose): Promise<{ rekey: Verifying; complete: boolean }> {
    requireShare(share);
    const hex = share.toString('hex');
    const collected = await this.#store.transaction(async (tx) => {
      const rekey = verifying(await this.#found(tx, purpose), purpose);
      const { pending } = rekey;
      requireNonce(nonce, pending.nonce, { name: purpose.name, operation: 'this verify operation' });
      if (pending.given.includes(hex)) {
        this.#putPending(tx, rekey, { nonce: randomUUID(), given: [] });
        return { rekey, problem: new BadRequest('failed to compute key for verification: duplicate part detected') };
      }
      const given = [...pending.given, hex];
      const complete = given.length >= rekey.threshold;
      const next = this.#putPending(tx, rekey, { nonce: pending.nonce, given: complete ? [] : given });
      return { rekey: next, given: complete ? given : undefined };
    });
    if (collected.problem) throw collected.problem;
    const { rekey, given } = collected;
    if (!given) return { rekey, complete: false };
    const key = await this.#provenKey(rekey, given);
    if (!key) {
      await this.restartVerification(purpose);
      throw wrongShares({ name: `${purpose.name} verification` });
    }
    await this.#install(rekey, key, purpose);
    return { rekey, complete: true };
  }

  /** Forgets the new shares given so far. */
  async restartVerification(purpose: RekeyPurpose): Promise<Verifying> {
    return this.#store.transaction(async (tx) =>
      this.#putPending(tx, verifying(await this.#found(tx, purpose), purpose), { nonce: randomUUID(), given: [] }),
    );
  }

  async backup(): Promise<ShareBackup | undefined> {
    return BACKUPS.get(this.#store, this.target);
  }

  async deleteBackup(): Promise<void> {
    await this.#store.transaction(async (tx) => BACKUPS.delete(tx, this.target));
  }

  /** Rekeying the root of an automatic seal: there are no shares to make. */
  get #replacesRootKey(): boolean {
    return this.target === 'root' && this.#seal.automatic;
  }

  #requireSupport({ unsupported }: RekeyPurpose): void {
    if (this.target === 'recovery' && !this.#seal.automatic) throw new BadRequest(unsupported);
  }

  #goesOn(rekey: RekeyRecord): boolean {
    return rekey.seal === this.#seal.type && (rekey.pending !== undefined || this.#clock.millis() - rekey.touched < IDLE);
  }

  async #running(tx: StoreTransaction, purpose: RekeyPurpose): Promise<RekeyRecord> {
    const found = await this.#found(tx, purpose);
    if (!found) throw new BadRequest(purpose.none);
    return found;
  }

  async #found(from: RecordReader, purpose: RekeyPurpose): Promise<RekeyRecord | undefined> {
    this.#requireSupport(purpose);
    const found = await REKEYS.get(from, this.target);
    return found && this.#goesOn(found) ? found : undefined;
  }

  async #complete(rekey: RekeyRecord, purpose: RekeyPurpose): Promise<Rekeyed> {
    if (this.#replacesRootKey) {
      await insist(async () => this.#seal.replaceRootKey());
      await this.#store.transaction(async (tx) => REKEYS.delete(tx, this.target));
      return { rekey, made: { shares: [], fingerprints: undefined }, verificationNonce: undefined };
    }
    const keys = await this.#pgp.readAll(rekey.pgp_keys, rekey.shares, `${purpose.name} failed`, new Date(rekey.begun));
    const key = randomBytes(32);
    const made = await protectShares(await splitKey(key, rekey.shares, rekey.threshold), keys);
    const backup = rekey.backup ? backupOf(rekey.nonce, made) : undefined;
    if (!rekey.verification) {
      await this.#install(rekey, key, purpose, backup);
      return { rekey, made, verificationNonce: undefined };
    }
    const verificationNonce = randomUUID();
    await this.#store.transaction(async (tx) => {
      const current = await this.#running(tx, purpose);
      if (current.nonce !== rekey.nonce || current.pending) throw new BadRequest(purpose.none);
      const replaced = backup && (await BACKUPS.get(tx, this.target));
      const proof = sealWith(key, REKEYS.key(this.target), Buffer.alloc(0)).toString('base64');
      const pending = { nonce: verificationNonce, proof, given: [], ...(replaced ? { replaced } : {}) };
      REKEYS.put(tx, this.target, { ...rekey, given: [], pending });
      if (backup) BACKUPS.put(tx, this.target, backup);
    });
    return { rekey, made, verificationNonce };
  }

  /** The new key counts, the rekey is over, and its backup is stored: in one commit. */
  async #install(rekey: RekeyRecord, key: Buffer, purpose: RekeyPurpose, backup?: ShareBackup): Promise<void> {
    const at = REKEYS.key(this.target);
    await insist(async () => {
      const found = await this.#store.read<RekeyRecord>(at);
      if (found?.record.nonce !== rekey.nonce) throw new BadRequest(purpose.none);
      await this.#seal.replaceKey(key, rekey.shares, rekey.threshold, {
        expect: [{ key: at, version: found.version }],
        delete: [at],
        put: backup ? [await this.#store.encode(BACKUPS.key(this.target), backup)] : [],
      });
    });
    this.#log.info('new key shares are in force', { target: this.target, shares: rekey.shares, threshold: rekey.threshold });
  }

  #putPending(tx: StoreTransaction, rekey: Verifying, change: { nonce: string; given: GivenShares }): Verifying {
    const next = { ...rekey, touched: this.#clock.millis(), pending: { ...rekey.pending, ...change } };
    REKEYS.put(tx, this.target, next);
    return next;
  }

  /** The key of the new shares, if they are those that were made. */
  async #provenKey({ pending }: Verifying, given: GivenShares): Promise<Buffer | undefined> {
    try {
      const key = await combineShares(buffersOf(given));
      unsealWith(key, REKEYS.key(this.target), Buffer.from(pending.proof, 'base64'));
      return key;
    } catch {
      return undefined;
    }
  }
}

/** Of a server whose initialization postponed its recovery keys. */
export function noShares(): BadRequest {
  return new BadRequest('this server has no recovery keys yet: a token makes the first ones at sys/rotate/recovery/init');
}

function verifying(rekey: RekeyRecord | undefined, purpose: RekeyPurpose): Verifying {
  if (!rekey) throw new BadRequest(purpose.unconfigured);
  if (!rekey.pending) throw new BadRequest(`no ${purpose.name} verification in progress`);
  return { ...rekey, pending: rekey.pending };
}
