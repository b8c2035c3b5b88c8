import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { StorageView } from '@strongroom/engine-sdk';
import { Type } from 'typebox';

const Key = Type.Object({ key: Type.String() });

/**
 * Digests of role ids and secret ids, keyed by a key of the mount. Records are found by them: no id is ever compared, and a stolen store does not tell
 * whether a guess is right.
 */
export class Digests {
  #key: KeyObject | undefined;

  /** Loads the key of the mount, or makes it once. */
  async open(storage: StorageView, randomBytes: (count: number) => Uint8Array): Promise<void> {
    const stored = await storage.transaction(async (tx) => {
      const keys = tx.collection('digest-key/', Key);
      const found = await keys.get('current');
      if (found) return found.key;
      const key = Buffer.from(randomBytes(32)).toString('base64');
      await keys.put('current', { key });
      return key;
    });
    this.#key = createSecretKey(Buffer.from(stored, 'base64'));
  }

  close(): void {
    this.#key = undefined;
  }

  ofRoleId(roleId: string): string {
    return this.#digest(`role-id\0${roleId}`);
  }

  /** `role`: the key of the role. The same secret id may exist in several roles. */
  ofSecretId(role: string, secretId: string): string {
    return this.#digest(`secret-id\0${role}\0${secretId}`);
  }

  #digest(text: string): string {
    if (!this.#key) throw new Error('the key of the mount is not loaded');
    return createHmac('sha256', this.#key).update(text).digest('base64url');
  }
}
