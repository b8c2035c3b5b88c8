import { API_VERSION } from '@strongroom/engine-sdk';
import { SealCalls, type SealPlugin, type SealSession, SealUnavailable, SealWrongKey } from '@strongroom/seal-sdk';
import type { KMSClient } from '@aws-sdk/client-kms';
import { settingFaults, SETTINGS, type AwsKmsSettings } from './settings.ts';
import { translateAwsError } from './aws-error.ts';

/** Milliseconds. The host's deadline is shorter for single calls. */
const CONNECTING = 5_000;
const ANSWERING = 30_000;

/** The seal `awskms`: AWS KMS wraps the key. */
export const awsKmsSeal: SealPlugin<typeof SETTINGS> = {
  kind: 'seal',
  name: 'awskms',
  title: 'AWS KMS',
  apiVersion: API_VERSION,
  code: [new URL('.', import.meta.url).href, '@aws-sdk/client-kms'],
  settings: SETTINGS,
  check: settingFaults,
  open: async (values) => openKms(values),
};

async function openKms(settings: AwsKmsSettings): Promise<SealSession> {
  const sdk = await import('@aws-sdk/client-kms');
  const client: KMSClient = new sdk.KMSClient({
    region: settings.region,
    // The host retries, with backoff.
    maxAttempts: 1,
    requestHandler: { connectionTimeout: CONNECTING, requestTimeout: ANSWERING, throwOnRequestTimeout: true },
    ...(settings.endpoint === undefined ? {} : { endpoint: settings.endpoint }),
    ...(settings.access_key === undefined || settings.secret_key === undefined
      ? {}
      : {
          credentials: {
            accessKeyId: settings.access_key,
            secretAccessKey: settings.secret_key,
            ...(settings.session_token === undefined ? {} : { sessionToken: settings.session_token }),
          },
        }),
  });
  const calls = new SealCalls(translateAwsError, { secret_key: settings.secret_key, session_token: settings.session_token });
  /** KMS takes texts, and shows them in CloudTrail: where in the store the blob belongs. */
  const context = (aad: Uint8Array): Record<string, string> => ({ 'strongroom-aad': Buffer.from(aad).toString('base64') });
  /** The key, and where AWS says it which of its materials encrypts: both change without the setting, an alias and a rotation. */
  const versionOf = async (key: string, signal: AbortSignal): Promise<string> => {
    const { KeyMetadata: found } = await client.send(new sdk.DescribeKeyCommand({ KeyId: key }), { abortSignal: signal });
    if (!found?.Arn) throw new SealUnavailable('AWS KMS answered no key');
    return found.CurrentKeyMaterialId === undefined ? found.Arn : `${found.Arn}/${found.CurrentKeyMaterialId}`;
  };

  return {
    wrap: async ({ plain, aad, signal }) =>
      calls.run(signal, async () => {
        const request = new sdk.EncryptCommand({ KeyId: settings.kms_key_id, Plaintext: plain, EncryptionContext: context(aad) });
        const { CiphertextBlob: blob, KeyId: key } = await client.send(request, { abortSignal: signal });
        if (!blob || !key) throw new SealUnavailable('AWS KMS answered no ciphertext');
        return { blob, keyId: await versionOf(key, signal) };
      }),
    unwrap: async ({ blob, aad, signal }) =>
      calls.run(signal, async () => {
        if (blob.length === 0) throw new SealWrongKey('the blob is empty');
        // The blob names its key: an alias may lead to another one by now.
        const request = new sdk.DecryptCommand({ CiphertextBlob: blob, EncryptionContext: context(aad) });
        const { Plaintext: plain } = await client.send(request, { abortSignal: signal });
        if (!plain) throw new SealUnavailable('AWS KMS answered no plaintext');
        return plain;
      }),
    keyId: async ({ signal }) => calls.run(signal, async () => versionOf(settings.kms_key_id, signal)),
    close: async () => {
      if (calls.close()) client.destroy();
    },
  };
}
