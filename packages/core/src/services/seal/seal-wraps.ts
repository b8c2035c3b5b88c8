import { randomUUID } from 'node:crypto';
import type { Entry, StorageDriver } from '@strongroom/storage-sdk';
import { sameSecret } from './same-secret.ts';
import { SealFailure, WrongAnswer } from './seal-failure.ts';
import type { SealHandle } from './seal-handle.ts';

export const SEAL_WRAPS = 'core/seal-wraps';

/** The seal key as one seal wrapped it. */
export interface SealWrap {
  readonly name: string;
  readonly type: string;
  /** The version of the seal's key. */
  readonly key_id: string;
  /** Base64. */
  readonly blob: string;
}

/** All wraps of one seal key; stored in clear, since they are needed before anything can be decrypted. */
export interface SealWraps {
  /** Another one for each seal key. */
  readonly id: string;
  readonly wraps: readonly SealWrap[];
}

/** The wraps, and the version of the record. */
export interface StoredWraps extends SealWraps {
  readonly version: number;
}

/** A seal key that one of the seals opened. */
export interface OpenedWrap {
  readonly key: Buffer;
  readonly by: SealHandle;
}

/** Undefined where no automatic seal has wrapped anything, or an earlier version of the server did. */
export async function storedWraps(driver: StorageDriver): Promise<StoredWraps | undefined> {
  const stored = await driver.get(SEAL_WRAPS);
  return stored && { ...(JSON.parse(Buffer.from(stored.value).toString()) as SealWraps), version: stored.version };
}

export function wrapsEntry({ id, wraps }: SealWraps): Entry {
  return { key: SEAL_WRAPS, value: Buffer.from(JSON.stringify({ id, wraps })) };
}

/** A name for the wraps of a new seal key. */
export function newWrapsId(): string {
  return randomUUID();
}

/** Opens the wrap before it counts: what cannot be opened again must not take the place of what can. @throws SealFailure */
export async function wrapWith(seal: SealHandle, id: string, key: Uint8Array): Promise<SealWrap> {
  const { blob, keyId } = await seal.wrap(key, aadOf(id));
  const opened = await seal.unwrap(blob, aadOf(id));
  if (!sameSecret(opened, key)) throw new SealFailure(seal.name, new WrongAnswer());
  opened.fill(0);
  return { name: seal.name, type: seal.type, key_id: keyId, blob: Buffer.from(blob).toString('base64') };
}

/** By every seal. @throws SealFailure of the first that fails */
export async function wrapWithAll(seals: readonly SealHandle[], id: string, key: Uint8Array): Promise<SealWraps> {
  return { id, wraps: await Promise.all(seals.map(async (seal) => wrapWith(seal, id, key))) };
}

/** @throws SealFailure */
export async function unwrapWith(seal: SealHandle, id: string, wrap: SealWrap): Promise<Buffer> {
  return seal.unwrap(Buffer.from(wrap.blob, 'base64'), aadOf(id));
}

/**
 * Opens the seal key with the first seal that can, in their order: `fits` decides whether that is the key. A wrap is tried with every seal of its type, since
 * blocks may be renamed. The failures are those of the seals that were asked; none for a seal that wrapped nothing.
 */
export async function unwrapWithAny(
  seals: readonly SealHandle[],
  { id, wraps }: SealWraps,
  fits: (key: Buffer) => boolean,
): Promise<{ readonly opened?: OpenedWrap; readonly failures: readonly SealFailure[] }> {
  const failures: SealFailure[] = [];
  for (const seal of seals) {
    const own = wraps
      .filter(({ type }) => type === seal.type)
      .toSorted((a, b) => Number(b.name === seal.name) - Number(a.name === seal.name));
    for (const wrap of own) {
      try {
        const key = await unwrapWith(seal, id, wrap);
        if (fits(key)) return { opened: { key, by: seal }, failures };
        throw new SealFailure(seal.name, new WrongAnswer());
      } catch (error) {
        if (!(error instanceof SealFailure)) throw error;
        failures.push(error);
        if (error.kind !== 'wrong key') break;
      }
    }
  }
  return { failures };
}

/** Binds each wrap to its seal key. */
function aadOf(id: string): string {
  return `${SEAL_WRAPS}/${id}`;
}
