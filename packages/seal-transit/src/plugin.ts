import { API_VERSION } from '@strongroom/engine-sdk';
import {
  openEnvelope,
  SealCalls,
  sealEnvelope,
  SealPermissionDenied,
  SealUnavailable,
  SealWrongKey,
  type SealError,
  type SealHost,
  type SealPlugin,
  type SealSession,
} from '@strongroom/seal-sdk';
import { TokenRenewal } from './renewal.ts';
import { settingFaults, SETTINGS, type TransitSettings } from './settings.ts';
import { TransitClient, TransitRefusal } from './transit-client.ts';

/** The seal `transit`: another Strongroom, OpenBao or Vault wraps the key. */
export const transitSeal: SealPlugin<typeof SETTINGS> = {
  kind: 'seal',
  name: 'transit',
  title: 'transit engine',
  apiVersion: API_VERSION,
  code: [new URL('.', import.meta.url).href, 'undici'],
  settings: SETTINGS,
  check: settingFaults,
  open: async (values, host) => openTransit(values, host),
};

function openTransit(settings: TransitSettings, host: SealHost): SealSession {
  const client = new TransitClient(settings);
  const calls = new SealCalls(translate, { token: settings.token });
  const mount = settings.mount_path.replace(/^\/+|\/+$/g, '');
  const renewal = new TokenRenewal(client, host);
  if (!settings.disable_renewal) renewal.start();

  const encrypt = async (plain: Uint8Array, signal: AbortSignal): Promise<string> => {
    const body = { plaintext: Buffer.from(plain).toString('base64') };
    return textOf(await client.put(`${mount}/encrypt/${settings.key_name}`, body, signal), 'ciphertext');
  };
  const decrypt = async (ciphertext: string, signal: AbortSignal): Promise<Buffer> => {
    const answer = await client.put(`${mount}/decrypt/${settings.key_name}`, { ciphertext }, signal);
    return Buffer.from(textOf(answer, 'plaintext'), 'base64');
  };

  return {
    wrap: async ({ plain, aad, signal }) =>
      calls.run(signal, async () => {
        let keyId = '';
        const blob = await sealEnvelope(plain, aad, async (key) => {
          const ciphertext = await encrypt(key, signal);
          keyId = versionOf(ciphertext);
          return Buffer.from(ciphertext);
        });
        return { blob, keyId };
      }),
    unwrap: async ({ blob, aad, signal }) =>
      calls.run(signal, async () => openEnvelope(blob, aad, async (wrapped) => decrypt(Buffer.from(wrapped).toString(), signal))),
    // A policy for a seal rarely allows to read the key, but always to encrypt with it.
    keyId: async ({ signal }) => calls.run(signal, async () => versionOf(await encrypt(Buffer.from('version'), signal))),
    close: async () => {
      if (!calls.close()) return;
      renewal.stop();
      await client.close();
    },
  };
}

/** The version in `vault:v3:…`. */
function versionOf(ciphertext: string): string {
  const [, version] = /^[a-z]+:(v\d+):/.exec(ciphertext) ?? [];
  if (version === undefined) throw new SealUnavailable('the transit server answered no ciphertext');
  return version;
}

function textOf(answer: Record<string, unknown>, key: string): string {
  const value = (answer['data'] as Record<string, unknown> | undefined)?.[key];
  if (typeof value !== 'string') throw new SealUnavailable(`the transit server answered without ${key}: is this the right address?`);
  return value;
}

function translate(error: unknown): SealError {
  if (!(error instanceof TransitRefusal)) {
    return new SealUnavailable(`the transit server cannot be reached: ${(error as Error).message}`, { cause: error });
  }
  const options = { serviceCode: String(error.status) };
  if (error.status === 404 || /key not found|no handler|unsupported path/i.test(error.message))
    return new SealPermissionDenied(`the transit server does not have the key or its mount: ${error.message}`, options);
  return new SealWrongKey(`the transit server does not open this: ${error.message}`, options);
}
