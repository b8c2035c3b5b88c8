import { createHash } from 'node:crypto';
import { API_VERSION } from '@strongroom/engine-sdk';
import { decrypt, encrypt } from './envelope.ts';
import { isSealError, SealUnavailable } from './errors.ts';
import { SealCalls } from './seal-calls.ts';
import type { SealPlugin, SealSession } from './seal-plugin.ts';
import { setting, type SettingValues } from './settings.ts';

const variables = (name: string): { readonly env: readonly string[] } => ({
  env: [`BAO_STATIC_SEAL_${name}`, `VAULT_STATIC_SEAL_${name}`],
});

const SETTINGS = {
  current_key: setting.key('The key that wraps: 32 bytes.', { required: true, ...variables('CURRENT_KEY') }),
  current_key_id: setting.text('Names the key. Left out, a digest of the key does.', variables('CURRENT_KEY_ID')),
  previous_key: setting.key('An earlier key, which still opens what it has wrapped.', variables('PREVIOUS_KEY')),
  previous_key_id: setting.text('Names the previous key.', variables('PREVIOUS_KEY_ID')),
};

/** The seal `static`: the key is in the configuration, in an environment variable or in a file. */
export const staticSeal: SealPlugin<typeof SETTINGS> = {
  kind: 'seal',
  name: 'static',
  title: 'static key',
  apiVersion: API_VERSION,
  code: [new URL('.', import.meta.url).href],
  settings: SETTINGS,
  check({ current_key_id: current, previous_key_id: previous, previous_key: key }) {
    return [
      ...(previous !== undefined && previous === current ? ['previous_key_id is the same as current_key_id'] : []),
      ...((key === undefined) === (previous === undefined) ? [] : ['previous_key and previous_key_id come together']),
    ];
  },
  open: async (values) => openStatic(values),
};

function openStatic({
  current_key: key,
  current_key_id: id,
  previous_key: previous,
}: Partial<SettingValues<typeof SETTINGS>> & { current_key: Uint8Array }): SealSession {
  const keys = [key, ...(previous ? [previous] : [])];
  const keyId = id ?? `sha256:${createHash('sha256').update('static seal').update(key).digest('hex').slice(0, 16)}`;
  const calls = new SealCalls((error) => new SealUnavailable(`the static seal failed: ${String(error)}`, { cause: error }));
  return {
    wrap: async ({ plain, aad, signal }) => calls.run(signal, async () => ({ blob: encrypt(key, plain, aad), keyId })),
    unwrap: async ({ blob, aad, signal }) => calls.run(signal, async () => decryptWithAny(keys, blob, aad)),
    keyId: async ({ signal }) => calls.run(signal, async () => keyId),
    close: async () => {
      calls.close();
    },
  };
}

/** @throws SealWrongKey when no key opens it */
function decryptWithAny(keys: readonly Uint8Array[], blob: Uint8Array, aad: Uint8Array): Uint8Array {
  const [key, ...others] = keys;
  try {
    return decrypt(key!, blob, aad);
  } catch (error) {
    if (others.length === 0 || !isSealError(error, 'seal_wrong_key')) throw error;
    return decryptWithAny(others, blob, aad);
  }
}
