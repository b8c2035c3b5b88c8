import { randomUUID } from 'node:crypto';
import { BadRequest } from '@strongroom/engine-sdk';
import type { Seal } from './seal.ts';

/** Operators giving their shares one by one, for something that needs all of them: new shares, or a root token. */
export class ShareCollection {
  readonly nonce = randomUUID();
  readonly #seal: Seal;
  readonly #purpose: string;
  #shares: Buffer[] = [];

  constructor(seal: Seal, purpose: string) {
    this.#seal = seal;
    this.#purpose = purpose;
  }

  get progress(): number {
    return this.#shares.length;
  }

  /** `tell`: the caller may know the nonce, so the refusal says what it is. @throws BadRequest for a nonce of another collection */
  requireNonce(nonce: string, tell = true): void {
    if (nonce === this.nonce) return;
    throw new BadRequest(
      tell
        ? `incorrect nonce supplied; nonce for this ${this.#purpose} operation is ${JSON.stringify(this.nonce)}`
        : `incorrect nonce supplied; the answer that started this ${this.#purpose} operation has the right one`,
    );
  }

  /** True when the shares are complete and right; they are forgotten then. The nonce is checked before. @throws BadRequest */
  async add(share: Buffer, nonce: string): Promise<boolean> {
    this.requireNonce(nonce);
    if (share.length < 16) throw new BadRequest('key is shorter than minimum 16 bytes');
    const { threshold } = await this.#seal.needed();
    if (this.#shares.some((known) => known.equals(share))) {
      throw new BadRequest('given key has already been provided during this generation operation');
    }
    this.#shares.push(share);
    if (this.#shares.length < threshold) return false;
    const shares = this.#shares;
    this.#shares = [];
    if (!(await this.#seal.proves(shares))) throw new BadRequest(`${this.#purpose} failed; incorrect key shares supplied`);
    return true;
  }
}
