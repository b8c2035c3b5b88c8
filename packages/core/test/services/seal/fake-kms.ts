import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { SealPermissionDenied, SealThrottled, SealUnavailable, SealWrongKey, type SealSession } from '@strongroom/seal-sdk';
import type { ConfiguredSeal } from '../../../src/index.ts';

export type KmsFailure = 'away' | 'permission' | 'throttled';

const ERRORS: Readonly<Record<KmsFailure, () => Error>> = {
  away: () => new SealUnavailable('connect ECONNREFUSED 10.1.2.3:443'),
  permission: () => new SealPermissionDenied('AccessDeniedException on arn:aws:kms:key/1'),
  throttled: () => new SealThrottled('ThrottlingException', { retryAfterSeconds: 30 }),
};

/** A key service in this process, with versions of one key. */
export class FakeKms {
  readonly #versions = [randomBytes(32)];
  failure: KmsFailure | undefined;
  calls = 0;
  /** Every other plaintext is answered than the one that was wrapped: shorter, or other bytes. */
  lie: ((plain: Buffer) => Buffer) | undefined;
  /** No call is answered before its signal is aborted. */
  hangs = false;
  /** Ciphertexts are cut before they are answered. */
  cuts = false;

  rotate(): void {
    this.#versions.push(randomBytes(32));
  }

  /** A version that was disabled opens nothing any more. */
  forget(version: number): void {
    this.#versions[version - 1] = Buffer.alloc(0);
  }

  /** This service as a seal of the configuration. */
  seal(type: string, more: Partial<ConfiguredSeal> = {}): ConfiguredSeal {
    return { type, open: async () => this.#session(), ...more };
  }

  #session(): SealSession {
    const answer = <T>(work: () => T): Promise<T> => {
      this.calls += 1;
      if (this.hangs) return new Promise(() => undefined);
      if (this.failure) return Promise.reject(ERRORS[this.failure]());
      return Promise.resolve().then(work);
    };
    return {
      wrap: async ({ plain, aad }) =>
        answer(() => {
          const nonce = randomBytes(12);
          const cipher = createCipheriv('aes-256-gcm', this.#versions.at(-1)!, nonce).setAAD(aad);
          const body = Buffer.concat([cipher.update(plain), cipher.final()]);
          const blob = Buffer.concat([Buffer.of(this.#versions.length), nonce, body, cipher.getAuthTag()]);
          return { blob: this.cuts ? blob.subarray(0, -4) : blob, keyId: String(this.#versions.length) };
        }),
      unwrap: async ({ blob, aad }) =>
        answer(() => {
          try {
            const decipher = createDecipheriv('aes-256-gcm', this.#versions[blob[0]! - 1]!, blob.subarray(1, 13)).setAAD(aad);
            decipher.setAuthTag(blob.subarray(-16));
            const plain = Buffer.concat([decipher.update(blob.subarray(13, -16)), decipher.final()]);
            return this.lie ? this.lie(plain) : plain;
          } catch {
            throw new SealWrongKey('the blob is of another key');
          }
        }),
      keyId: async () => answer(() => String(this.#versions.length)),
      close: async () => undefined,
    };
  }
}
