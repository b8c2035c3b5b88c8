import type { Log } from '@strongroom/engine-sdk';
import { Conflict, type StorageDriver } from '@strongroom/storage-sdk';
import { sameSecret } from './same-secret.ts';
import { SealFailure } from './seal-failure.ts';
import type { SealHandle } from './seal-handle.ts';
import { SEAL_WRAPS, storedWraps, unwrapWith, wrapsEntry, wrapWith, type SealWrap } from './seal-wraps.ts';

/** How often a change of the wraps is tried while other servers change them too. */
const TRIES = 5;

interface Parts {
  readonly driver: StorageDriver;
  readonly log: Log;
  readonly enabled: readonly SealHandle[];
}

/**
 * Writes the wrap of this seal where it is missing, is of an earlier version of its key, or does not open; removes those of seals that are not enabled. Nothing
 * happens where another server has migrated the store. @throws SealFailure
 */
export async function renewWrap(
  { driver, log, enabled }: Parts,
  seal: SealHandle,
  opened: { readonly sealKey: Buffer; readonly wrapsId: string },
): Promise<void> {
  const { wrapsId: id } = opened;
  // The server may be sealed meanwhile, which wipes the key.
  const sealKey = Buffer.from(opened.sealKey);
  const names = enabled.map(({ name }) => name);
  for (let tries = 0; tries < TRIES; tries += 1) {
    const stored = await storedWraps(driver);
    if (stored?.id !== id) return;
    const own = stored.wraps.find(({ name }) => name === seal.name);
    const gone = stored.wraps.filter(({ name }) => !names.includes(name));
    const good = await isGood(seal, id, own, sealKey);
    if (good && gone.length === 0) return;
    const wrap = good ? own! : await wrapWith(seal, id, sealKey);
    const others = stored.wraps.filter(({ name }) => name !== seal.name && names.includes(name));
    try {
      await driver.commit({
        expect: [{ key: SEAL_WRAPS, version: stored.version }],
        put: [wrapsEntry({ id, wraps: [...others, wrap] })],
      });
    } catch (error) {
      if (error instanceof Conflict) continue;
      throw error;
    }
    if (!good) log.info('the seal key was rewrapped', { seal: seal.name, key: wrap.key_id, previous: own?.key_id ?? 'none' });
    for (const { name } of gone) log.info('a seal that is not enabled no longer opens the store', { seal: name });
    return;
  }
}

/** Whether the newest version of the key made this wrap, and it opens. @throws SealFailure where the seal cannot say */
async function isGood(seal: SealHandle, id: string, wrap: SealWrap | undefined, sealKey: Buffer): Promise<boolean> {
  if (!wrap || wrap.type !== seal.type || wrap.key_id !== (await seal.keyId())) return false;
  try {
    return sameSecret(await unwrapWith(seal, id, wrap), sealKey);
  } catch (error) {
    if (error instanceof SealFailure && error.kind === 'wrong key') return false;
    throw error;
  }
}
