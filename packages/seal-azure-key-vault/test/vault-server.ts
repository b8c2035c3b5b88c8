import { constants, type KeyObject, privateDecrypt, publicEncrypt, randomBytes } from 'node:crypto';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { makeCertificate, rsaKeyPair } from '@strongroom/lab';
import type { SealFailure } from '@strongroom/seal-sdk';

interface Version {
  readonly id: string;
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

const newVersion = (): Version => ({ id: randomBytes(16).toString('hex'), ...rsaKeyPair() });
const padding = { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' };

/** A token authority and a vault with RSA keys, over TLS: the parts that seals use, as Azure's own clients expect them. */
export async function startVault(names: readonly string[], secret: string) {
  const ca = makeCertificate({ subject: 'CN=Root', authority: true });
  const own = makeCertificate({ subject: 'CN=localhost', names: ['DNS:localhost'], issuer: ca, extendedKeyUsage: [] });
  const keys = new Map(names.map((name) => [name, [newVersion()]]));
  let failure: SealFailure | undefined;
  let url = '';

  type Answer = readonly [status: number, body: object, headers?: Record<string, string>];
  const refusal = (status: number, code: string, message: string, headers: Record<string, string> = {}): Answer => [
    status,
    { error: { code, message } },
    headers,
  ];
  const bundle = (name: string, { id, publicKey }: Version): object => {
    const { n, e } = publicKey.export({ format: 'jwk' });
    const operations = ['wrapKey', 'unwrapKey'];
    return {
      key: { kid: `${url}/keys/${name}/${id}`, kty: 'RSA', key_ops: operations, n, e },
      attributes: { enabled: true, created: 1, updated: 1 },
    };
  };
  const authority = (path: string, form: string): Answer | undefined => {
    const base = `${url}/tenant`;
    if (path.endsWith('/.well-known/openid-configuration')) {
      return [
        200,
        {
          issuer: `${base}/v2.0`,
          authorization_endpoint: `${base}/oauth2/v2.0/authorize`,
          token_endpoint: `${base}/oauth2/v2.0/token`,
          jwks_uri: `${base}/discovery/v2.0/keys`,
        },
      ];
    }
    if (!path.endsWith('/oauth2/v2.0/token')) return undefined;
    if (new URLSearchParams(form).get('client_secret') === secret)
      return [200, { token_type: 'Bearer', expires_in: 3_600, access_token: 'a-token' }];
    return [401, { error: 'invalid_client', error_description: 'AADSTS7000215: Invalid client secret provided.' }];
  };
  const vault = (path: string, authorized: boolean, body: string): Answer => {
    if (!authorized) {
      const challenge = `Bearer authorization="${url}/tenant", resource="https://vault.azure.net"`;
      return refusal(401, 'Unauthorized', 'AKV10000: Request is missing a Bearer or PoP token.', { 'www-authenticate': challenge });
    }
    if (failure === 'permission') return refusal(403, 'Forbidden', 'The user, group or application does not have keys wrapKey permission');
    if (failure === 'throttled')
      return refusal(429, 'Throttled', 'Request was not processed because too many requests were received.', { 'retry-after': '3' });
    const [, name = '', id, operation] = /^\/keys\/([^/]+)(?:\/([^/]*))?(?:\/([^/]+))?$/.exec(path) ?? [];
    const versions = keys.get(name);
    const found = id ? versions?.find((version) => version.id === id) : versions?.at(-1);
    if (!found) return refusal(404, 'KeyNotFound', `A key with (name/id) ${name}/${id ?? ''} was not found in this key vault.`);
    if (operation === undefined) return [200, bundle(name, found)];
    const { alg, value } = JSON.parse(body) as { alg: string; value: string };
    if (alg !== 'RSA-OAEP-256') return refusal(400, 'BadParameter', 'Property alg has an invalid value');
    const raw = Buffer.from(value, 'base64url');
    try {
      const result =
        operation === 'wrapkey'
          ? publicEncrypt({ key: found.publicKey, ...padding }, raw)
          : privateDecrypt({ key: found.privateKey, ...padding }, raw);
      return [200, { kid: `${url}/keys/${name}/${found.id}`, value: result.toString('base64url') }];
    } catch {
      return refusal(400, 'BadParameter', 'The parameter is incorrect.');
    }
  };

  const server = createServer({ cert: own.pem, key: own.key }, (request, response) => {
    if (failure === 'away') return void request.socket.destroy();
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const { pathname } = new URL(request.url ?? '/', url);
      const [status, answer, headers] =
        authority(pathname, body) ?? vault(pathname.toLowerCase(), request.headers.authorization === 'Bearer a-token', body);
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `https://localhost:${(server.address() as AddressInfo).port}`;
  return {
    url,
    ca: ca.pem,
    rotate: (name: string) => void keys.get(name)!.push(newVersion()),
    fail: (how: SealFailure | undefined) => {
      failure = how;
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
