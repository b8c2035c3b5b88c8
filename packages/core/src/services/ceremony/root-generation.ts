import { randomUUID } from 'node:crypto';
import { BadRequest, type Clock, type Log } from '@strongroom/engine-sdk';
import { randomBase62 } from '../../kernel/random/random-base62.ts';
import type { Store, StoreTransaction } from '../../kernel/storage/store.ts';
import type { Seal } from '../seal/seal.ts';
import { buffersOf, withShare } from './given-shares.ts';
import { oneTimePad } from './one-time-pad.ts';
import type { PgpKeys } from './pgp-keys.ts';
import { requireNonce, ROOT_TOKEN, wrongShares } from './purpose.ts';
import { noShares } from './rekeying.ts';
import { ROOT_GENERATION, type RootGenerationRecord } from './root-generation-record.ts';

/** Length of a service token: `s.` and 24 characters. */
export const OTP_LENGTH = 26;
/** An attempt that gets no share for so long ends, so that one whose nonce is lost blocks nobody for ever. Milliseconds. */
const IDLE = 86_400_000;

/** A root token for operators who lost theirs, given their shares. It comes encoded with a one-time password, or encrypted to a PGP key. */
export class RootGeneration {
  readonly #seal: Seal;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #pgp: PgpKeys;

  constructor(parts: { seal: Seal; store: Store; clock: Clock; log: Log; pgp: PgpKeys }) {
    this.#seal = parts.seal;
    this.#store = parts.store;
    this.#clock = parts.clock;
    this.#log = parts.log;
    this.#pgp = parts.pgp;
  }

  /** How many shares it takes. */
  async required(): Promise<number> {
    return (await this.#seal.needed()).threshold;
  }

  async current(): Promise<RootGenerationRecord | undefined> {
    return this.#goesOn(await ROOT_GENERATION.get(this.#store));
  }

  /** Without password and key, makes a password; the answer alone has it. @throws BadRequest */
  async start(order: { otp: string; pgpKey: string }): Promise<{ attempt: RootGenerationRecord; made: string | undefined }> {
    if (await this.current()) throw running();
    if ((await this.required()) === 0) throw noShares();
    if (order.otp !== '' && order.pgpKey !== '') throw new BadRequest('otp and pgp_key exclude each other: send one of them');
    if (order.otp !== '' && Buffer.byteLength(order.otp) !== OTP_LENGTH) throw new BadRequest('OTP string has incorrect length');
    const key = order.pgpKey === '' ? undefined : await this.#readKey(order.pgpKey);
    const made = key || order.otp !== '' ? undefined : randomBase62(OTP_LENGTH);
    const now = this.#clock.millis();
    const attempt: RootGenerationRecord = {
      nonce: randomUUID(),
      ...(key ? { pgp_key: order.pgpKey } : { otp: made ?? order.otp }),
      fingerprint: key?.fingerprint ?? '',
      begun: now,
      touched: now,
      given: [],
    };
    await this.#store.transaction(async (tx) => {
      if (this.#goesOn(await ROOT_GENERATION.get(tx))) throw running();
      ROOT_GENERATION.put(tx, attempt);
    });
    return { attempt, made };
  }

  /**
   * Takes a share; with the last one needed, ends the attempt and resolves with the encoded token. `tell`: whether the caller may know the nonce, asked when
   * theirs is wrong. @throws BadRequest
   */
  async give(
    share: Buffer,
    nonce: string,
    { tell, newToken }: { tell: () => Promise<boolean>; newToken: () => Promise<string> },
  ): Promise<{ attempt: RootGenerationRecord; encoded: string | undefined }> {
    const required = await this.required();
    const { attempt, given } = await this.#store.transaction(async (tx) => {
      const attempt = await this.#running(tx);
      if (nonce !== attempt.nonce) requireNonce(nonce, attempt.nonce, ROOT_TOKEN, await tell());
      const given = withShare(attempt.given, share, ROOT_TOKEN);
      const complete = given.length >= required;
      const next = { ...attempt, given: complete ? [] : given, touched: this.#clock.millis() };
      ROOT_GENERATION.put(tx, next);
      return { attempt: next, given: complete ? given : undefined };
    });
    if (!given) return { attempt, encoded: undefined };
    if (!(await this.#seal.proves(buffersOf(given)))) throw wrongShares(ROOT_TOKEN);
    const encode = await this.#encoder(attempt);
    // One attempt makes one token, whatever another server does meanwhile.
    await this.#store.transaction(async (tx) => {
      if ((await this.#running(tx)).nonce !== attempt.nonce) throw none();
      tx.delete(ROOT_GENERATION.key);
    });
    const encoded = await encode(await newToken());
    this.#log.info('a root token was made of key shares');
    return { attempt, encoded };
  }

  /** Ends this attempt, if it is the one under way. */
  async cancel(nonce: string): Promise<void> {
    await this.#store.transaction(async (tx) => {
      if ((await ROOT_GENERATION.get(tx))?.nonce === nonce) tx.delete(ROOT_GENERATION.key);
    });
  }

  /**
   * Ends whatever attempt there is: when a server of the store opens, so that a stranger who starts attempts cannot keep operators without a token from it
   * for ever.
   */
  async end(): Promise<void> {
    await this.#store.transaction(async (tx) => {
      if (await ROOT_GENERATION.get(tx)) tx.delete(ROOT_GENERATION.key);
    });
  }

  async #readKey(text: string): ReturnType<PgpKeys['read']> {
    try {
      return await this.#pgp.read(text);
    } catch (error) {
      throw error instanceof BadRequest ? new BadRequest(`error parsing PGP key: ${error.message}`) : error;
    }
  }

  async #encoder({ otp, pgp_key: pgpKey, begun }: RootGenerationRecord): Promise<(token: string) => Promise<string>> {
    if (pgpKey === undefined) return async (token) => oneTimePad(Buffer.from(token), otp!).toString('base64').replace(/=+$/, '');
    const key = await this.#pgp.read(pgpKey, new Date(begun));
    return async (token) => Buffer.from(await key.encrypt(Buffer.from(token))).toString('base64');
  }

  #goesOn(attempt: RootGenerationRecord | undefined): RootGenerationRecord | undefined {
    return attempt && this.#clock.millis() - attempt.touched < IDLE ? attempt : undefined;
  }

  async #running(tx: StoreTransaction): Promise<RootGenerationRecord> {
    const attempt = this.#goesOn(await ROOT_GENERATION.get(tx));
    if (!attempt) throw none();
    return attempt;
  }
}

function running(): BadRequest {
  return new BadRequest('root generation already in progress for this namespace');
}

function none(): BadRequest {
  return new BadRequest(ROOT_TOKEN.none);
}
