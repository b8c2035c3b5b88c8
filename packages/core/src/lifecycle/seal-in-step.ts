import type { Siblings } from '../kernel/siblings.ts';
import type { Seal, UnsealAttempt } from '../services/seal/seal.ts';

/** Milliseconds in which a process that starts hears how the others are. */
const FIRST_ANSWERS = 2_000;

/** How a process of a server is, for another one that starts. */
interface SealedOrOpen {
  /** Absent while sealed. */
  readonly sealKey?: Uint8Array | undefined;
  readonly sealedByHand: boolean;
  readonly attempt: UnsealAttempt;
}

/** The process whose seal this is. */
export interface SealOwner {
  readonly open: boolean;
  readonly sealedByHand: boolean;
  /** Opens with the key of another process, if it is still that of the store. */
  join(sealKey: Uint8Array): Promise<boolean>;
  /** Seals as an operator asked another process to. */
  sealToo(): void;
}

/** Keeps the processes of one server open or sealed together, and hands on the shares that operators give to any of them. */
export class SealInStep {
  readonly #siblings: Siblings;
  readonly #seal: Seal;
  readonly #owner: SealOwner;

  constructor(siblings: Siblings, seal: Seal, owner: SealOwner) {
    this.#siblings = siblings;
    this.#seal = seal;
    this.#owner = owner;
    siblings.answer('seal/state', (): SealedOrOpen => ({
      sealKey: this.#sealKey,
      sealedByHand: owner.sealedByHand,
      attempt: seal.attempt,
    }));
    siblings.answer<Uint8Array>('seal/open', async (sealKey) => owner.join(sealKey));
    siblings.answer('seal/seal', () => owner.sealToo());
    siblings.answer<UnsealAttempt>('seal/attempt', (attempt) => {
      seal.attempt = attempt;
    });
    siblings.answer<Uint8Array>('seal/key', async (sealKey) => seal.takeSealKey(sealKey));
    seal.keyReplaced = async (sealKey) => void (await siblings.ask('seal/key', sealKey));
  }

  /** At the start: does as the others. True where that says whether this process is open or sealed. */
  async follow(): Promise<boolean> {
    const others = await this.#siblings.ask<SealedOrOpen>('seal/state', undefined, FIRST_ANSWERS);
    for (const { sealKey } of others) if (sealKey && (await this.#owner.join(sealKey))) return true;
    const given = others.find(({ attempt }) => attempt.shares.length > 0);
    if (given) this.#seal.attempt = given.attempt;
    if (!others.some(({ sealedByHand }) => sealedByHand)) return false;
    this.#owner.sealToo();
    return true;
  }

  /** Runs work on the shares given so far while no other process does, and tells the others what came of it. */
  onShares(work: () => Promise<void>): Promise<void> {
    return this.#siblings.inTurn('seal/shares', async () => {
      try {
        await work();
      } finally {
        await this.#siblings.ask('seal/attempt', this.#seal.attempt);
        await this.opened();
      }
    });
  }

  /** The others open, where this process is open. */
  async opened(): Promise<void> {
    const sealKey = this.#sealKey;
    if (sealKey) await this.#siblings.ask('seal/open', sealKey);
  }

  /** The others are sealed. */
  async sealed(): Promise<void> {
    await this.#siblings.ask('seal/seal');
  }

  get #sealKey(): Uint8Array | undefined {
    return this.#owner.open ? this.#seal.sealKey : undefined;
  }
}
