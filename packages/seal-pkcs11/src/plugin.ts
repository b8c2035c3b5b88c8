import { constants, createPublicKey, publicEncrypt, randomBytes } from 'node:crypto';
import { accessSync } from 'node:fs';
import { createRequire } from 'node:module';
import { API_VERSION } from '@strongroom/engine-sdk';
import {
  openEnvelope,
  SealCalls,
  sealEnvelope,
  SealSettingsInvalid,
  SealWrongKey,
  type SealPlugin,
  type SealSession,
} from '@strongroom/seal-sdk';
import { ModuleClient } from './module-client.ts';
import { translateModuleError } from './module-error.ts';
import type { KeyReference } from './module-thread.ts';
import { mechanismOf, type Pkcs11Settings, settingFaults, SETTINGS } from './settings.ts';

const IV = 12;

/** The seal `pkcs11`: a key in a hardware module, or in SoftHSM, wraps the key. */
export const pkcs11Seal: SealPlugin<typeof SETTINGS> = {
  kind: 'seal',
  name: 'pkcs11',
  title: 'PKCS #11 module',
  apiVersion: API_VERSION,
  code: [new URL('.', import.meta.url).href, 'pkcs11js'],
  settings: SETTINGS,
  check: settingFaults,
  open: async (values) => openModule(values),
};

function openModule(settings: Pkcs11Settings): SealSession {
  const client = new ModuleClient({
    binding: bindingPath(),
    lib: readable(settings.lib),
    slot: settings.slot,
    tokenLabel: settings.token_label,
    pin: settings.pin,
  });
  const symmetric = mechanismOf(settings) === 'aes-gcm';
  const calls = new SealCalls(translateModuleError, { pin: settings.pin });
  const configured: KeyReference = {
    ...(settings.key_label === undefined ? {} : { label: settings.key_label }),
    ...(settings.key_id === undefined ? {} : { id: settings.key_id.replace(/^0x/i, '').toLowerCase() }),
  };
  const current = async (): Promise<Required<KeyReference>> => client.ask({ does: 'find', key: configured, secret: symmetric });

  const wrapKey = async (key: Uint8Array, reference: Required<KeyReference>): Promise<Buffer> => {
    if (symmetric) {
      const iv = randomBytes(IV);
      return Buffer.concat([iv, await client.ask<Uint8Array>({ does: 'encrypt', key: reference, data: key, iv })]);
    }
    const { n, e } = await client.ask<{ n: string; e: string }>({ does: 'public', key: reference });
    const publicKey = createPublicKey({ key: { kty: 'RSA', n, e }, format: 'jwk' });
    return publicEncrypt({ key: publicKey, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: settings.rsa_oaep_hash }, key);
  };
  const unwrapKey = async (wrapped: Uint8Array, reference: KeyReference): Promise<Uint8Array> =>
    symmetric
      ? client.ask({ does: 'decrypt', key: reference, data: wrapped.subarray(IV), iv: wrapped.subarray(0, IV) })
      : client.ask({ does: 'unwrap', key: reference, data: wrapped, hash: settings.rsa_oaep_hash });

  return {
    wrap: async ({ plain, aad, signal }) =>
      calls.run(signal, async () => {
        const reference = await current();
        const name = nameOf(reference);
        const blob = await sealEnvelope(plain, aad, async (key) => {
          const wrapped = await wrapKey(key, reference);
          return Buffer.concat([Buffer.of(Buffer.byteLength(name)), Buffer.from(name), wrapped]);
        });
        return { blob, keyId: name };
      }),
    unwrap: async ({ blob, aad, signal }) =>
      calls.run(signal, async () =>
        openEnvelope(blob, aad, async (wrapped) => {
          const end = 1 + (wrapped[0] ?? 0);
          return unwrapKey(wrapped.subarray(end), referenceOf(Buffer.from(wrapped.subarray(1, end)).toString()));
        }),
      ),
    keyId: async ({ signal }) => calls.run(signal, async () => nameOf(await current())),
    close: async () => {
      if (calls.close()) await client.close();
    },
  };
}

/** `01:label`. A blob names its key, so that another one can be configured. */
function nameOf({ id, label }: Required<KeyReference>): string {
  return `${id}:${label}`.slice(0, 200);
}

function referenceOf(name: string): KeyReference {
  const [, id = '', label = ''] = /^([0-9a-f]*):(.*)$/s.exec(name) ?? [];
  if (id === '' && label === '') throw new SealWrongKey('the blob names no key of a PKCS #11 module');
  return { ...(id === '' ? {} : { id }), ...(label === '' ? {} : { label }) };
}

function bindingPath(): string {
  try {
    return createRequire(import.meta.url).resolve('pkcs11js');
  } catch {
    throw new SealSettingsInvalid(
      'pkcs11js is not installed. It is compiled at installation, which takes a C++ compiler and Python: npm install pkcs11js',
    );
  }
}

function readable(lib: string): string {
  try {
    accessSync(lib);
    return lib;
  } catch (error) {
    throw new SealSettingsInvalid(`lib names ${JSON.stringify(lib)}, which cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}
