import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { f } from '@strongroom/engine-sdk';
import { ConfigurationInvalid } from '@strongroom/sync-sdk';
import { type Static, Type } from 'typebox';

/** What `sys/sync/github-apps/<name>` takes. */
export const GithubApp = Type.Object({
  app_id: f.int('Id of the app.', { required: true, minimum: 1 }),
  private_key: f.secret('Private key of the app, PEM, as GitHub gives it out.', { required: true }),
});

export type GithubApp = Static<typeof GithubApp>;

/** The key's fingerprint, as GitHub shows it beside the app's keys. @throws ConfigurationInvalid for a key that cannot sign. */
export function describeApp(app: GithubApp): { readonly fingerprint: string } {
  const der = createPublicKey(requireKey(app.private_key)).export({ type: 'spki', format: 'der' });
  return { fingerprint: `SHA256:${createHash('sha256').update(der).digest('base64')}` };
}

/** The key in the form that the app library takes: PKCS #8. */
export function appKey(app: GithubApp): string {
  return requireKey(app.private_key).export({ type: 'pkcs8', format: 'pem' }) as string;
}

function requireKey(pem: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    throw new ConfigurationInvalid('private_key is not a PEM private key');
  }
  if (key.asymmetricKeyType !== 'rsa') throw new ConfigurationInvalid('private_key must be an RSA key, as GitHub gives them to apps');
  return key;
}
