import { createHash } from 'node:crypto';
import type { Clock, Schedule, StorageView } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { randomBase62 } from '../../kernel/random/random-base62.ts';
import { oidcRecords, type Grant } from './oidc-records.ts';

const CODE_LENGTH = 32;
/** Milliseconds. */
const LIFETIME = 300_000;
const Nothing = Type.Object({});

/** Authorization codes. They are in the store, so a client may exchange one at another server than the one that issued it. */
export class Grants {
  readonly #storage: () => StorageView;
  readonly #clock: Clock;

  constructor(parts: { storage: () => StorageView; clock: Clock }) {
    this.#storage = parts.storage;
    this.#clock = parts.clock;
  }

  /** Removes codes that nobody exchanged. */
  readonly expiry: Schedule<typeof Nothing> = {
    kind: 'identity-code-expiry',
    entry: Nothing,
    run: async (_entry, _storage, _signal, { id }) => {
      await oidcRecords(this.#storage()).grants.delete(id);
      return undefined;
    },
  };

  /** Resolves with the code. */
  async issue(grant: Omit<Grant, 'expires'>): Promise<string> {
    const code = randomBase62(CODE_LENGTH);
    const expires = this.#clock.millis() + LIFETIME;
    await this.#storage().transaction(async (tx) => {
      await oidcRecords(tx).grants.put(idOf(code), { ...grant, expires });
      await tx.schedule(this.expiry, idOf(code), new Date(expires), {});
    });
    return code;
  }

  /**
   * Takes the grant of a code: of several calls with one code, one gets it, whatever then comes of the exchange. `isTheirs` says whether the caller may; the code
   * stays where it says no by throwing. Undefined: there is none any more.
   */
  async take(code: string, isTheirs: (grant: Grant) => void): Promise<Grant | undefined> {
    const id = idOf(code);
    return this.#storage().transaction(async (tx) => {
      const { grants } = oidcRecords(tx);
      const grant = await grants.get(id);
      if (!grant || grant.expires <= this.#clock.millis()) return undefined;
      isTheirs(grant);
      await grants.delete(id);
      await tx.unschedule(this.expiry, id);
      return grant;
    });
  }
}

function idOf(code: string): string {
  return createHash('sha256').update(code).digest('base64url');
}
