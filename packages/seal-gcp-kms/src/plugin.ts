import { crc32c } from '@aws-crypto/crc32c';
import { API_VERSION } from '@strongroom/engine-sdk';
import { SealCalls, type SealPlugin, type SealSession, SealUnavailable } from '@strongroom/seal-sdk';
import type { KeyManagementServiceClient } from '@google-cloud/kms';
import { translateGoogleError } from './google-error.ts';
import { type GcpKmsSettings, settingFaults, SETTINGS } from './settings.ts';

/** What the operator decides for every seal of this kind. */
export interface GcpKmsOptions {
  /** In place of cloudkms.googleapis.com and port 443, without TLS: for emulators. */
  readonly endpoint?: { readonly host: string; readonly port: number };
}

/** The host retries, with backoff. Milliseconds. */
const ONCE = { timeout: 30_000, retry: null };

/** The seal `gcpckms` with the operator's options. */
export function createGcpKmsSeal(options: GcpKmsOptions = {}): SealPlugin<typeof SETTINGS> {
  return {
    kind: 'seal',
    name: 'gcpckms',
    title: 'Google Cloud KMS',
    apiVersion: API_VERSION,
    code: [new URL('.', import.meta.url).href, '@google-cloud/kms', 'google-gax', '@grpc/grpc-js', 'google-auth-library'],
    settings: SETTINGS,
    check: settingFaults,
    open: async (values) => openKms(values, options),
  };
}

/** The seal `gcpckms`: Google Cloud KMS wraps the key. */
export const gcpKmsSeal: SealPlugin<typeof SETTINGS> = createGcpKmsSeal();

async function openKms(settings: GcpKmsSettings, { endpoint }: GcpKmsOptions): Promise<SealSession> {
  const client = await openClient(settings, endpoint);
  const name = client.cryptoKeyPath(settings.project, settings.region, settings.key_ring, settings.crypto_key);
  const calls = new SealCalls(translateGoogleError);

  const encrypt = async (plain: Uint8Array, aad: Uint8Array): Promise<{ blob: Uint8Array; keyId: string }> => {
    const request = {
      name,
      plaintext: plain,
      plaintextCrc32c: { value: crc32c(plain) },
      additionalAuthenticatedData: aad,
      additionalAuthenticatedDataCrc32c: { value: crc32c(aad) },
    };
    const [answer] = await client.encrypt(request, ONCE as never);
    const blob = bytesOf(answer.ciphertext);
    if (!answer.name || answer.verifiedPlaintextCrc32c !== true || sum(answer.ciphertextCrc32c) !== crc32c(blob)) throw damaged();
    return { blob, keyId: answer.name };
  };

  return {
    wrap: async ({ plain, aad, signal }) => calls.run(signal, async () => encrypt(plain, aad)),
    unwrap: async ({ blob, aad, signal }) =>
      calls.run(signal, async () => {
        const request = {
          name,
          ciphertext: blob,
          ciphertextCrc32c: { value: crc32c(blob) },
          additionalAuthenticatedData: aad,
          additionalAuthenticatedDataCrc32c: { value: crc32c(aad) },
        };
        const [answer] = await client.decrypt(request, ONCE as never);
        const plain = bytesOf(answer.plaintext);
        if (sum(answer.plaintextCrc32c) !== crc32c(plain)) throw damaged();
        return plain;
      }),
    // The role that encrypts and decrypts may not read the key itself.
    keyId: async ({ signal }) => calls.run(signal, async () => (await encrypt(Buffer.from('version'), new Uint8Array())).keyId),
    close: async () => {
      if (calls.close()) await client.close();
    },
  };
}

async function openClient(settings: GcpKmsSettings, endpoint: GcpKmsOptions['endpoint']): Promise<KeyManagementServiceClient> {
  const { KeyManagementServiceClient: Client } = await import('@google-cloud/kms');
  const options: Record<string, unknown> = {
    projectId: settings.project,
    ...(settings.credentials === undefined ? {} : { keyFilename: settings.credentials }),
  };
  if (endpoint !== undefined) {
    const { grpc } = await import('google-gax');
    Object.assign(options, { servicePath: endpoint.host, port: endpoint.port, sslCreds: grpc.credentials.createInsecure() });
  }
  return new Client(options as ConstructorParameters<typeof Client>[0]);
}

function bytesOf(value: unknown): Uint8Array {
  if (typeof value === 'string') return Buffer.from(value, 'base64');
  return value instanceof Uint8Array ? value : new Uint8Array();
}

function sum(value: unknown): number {
  return Number((value as { value?: unknown } | null | undefined)?.value ?? -1);
}

function damaged(): SealUnavailable {
  return new SealUnavailable('Google Cloud KMS answered what was damaged on its way');
}
