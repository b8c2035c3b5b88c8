import { silentLog, systemClock } from '@strongroom/engine-sdk';
import { SealUnavailable, staticSeal } from '@strongroom/seal-sdk';
import type { ConfiguredSeal } from './configured-seal.ts';

/** The short form of a static seal, for programs that embed a core and have its key. */
export interface KeySeal {
  readonly type: 'static';
  /** 32 bytes, or where they come from: asked at each try to open. What it throws is logged, and the try repeated later. */
  readonly key: Uint8Array | (() => Promise<Uint8Array>);
  /** Still opens what an earlier key wrapped; the next start wraps it with `key`. */
  readonly previousKey?: Uint8Array;
}

/** The seal that the short form stands for. */
export function configuredKeySeal({ type, key, previousKey }: KeySeal): ConfiguredSeal {
  const open = async (): ReturnType<ConfiguredSeal['open']> =>
    staticSeal.open(
      {
        current_key: typeof key === 'function' ? await asked(key) : key,
        current_key_id: undefined,
        previous_key: previousKey,
        previous_key_id: undefined,
      },
      { clock: systemClock, log: silentLog },
    );
  return { type, open };
}

async function asked(key: () => Promise<Uint8Array>): Promise<Uint8Array> {
  try {
    return await key();
  } catch (error) {
    throw new SealUnavailable((error as Error).message, { cause: error });
  }
}
