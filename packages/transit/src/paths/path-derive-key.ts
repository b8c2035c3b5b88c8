import { BadRequest, f, NoContent, path, type AnyPath, type EngineHost } from '@strongroom/engine-sdk';
import { createPublicKey, diffieHellman, randomBytes, type KeyObject } from 'node:crypto';
import { hkdfSha256 } from '../crypto/hkdf.ts';
import { keyType } from '../crypto/key-types.ts';
import { HMAC_BYTES } from '../crypto/new-version.ts';
import { requireLive, typeOf, type KeyStore } from '../keys/key-store.ts';
import type { VersionRecord } from '../stored/records.ts';
import { name } from './shared-fields.ts';

const DERIVABLE = ['aes128-gcm96', 'aes256-gcm96', 'chacha20-poly1305', 'xchacha20-poly1305'];

/** `derive-key/<name>`: a symmetric key that two parties agree on without sending it. */
export function deriveKeyPaths(host: EngineHost, keys: KeyStore): AnyPath[] {
  return [
    path('derive-key/{name}', {
      synopsis: 'Agrees on a key with another party.',
      description:
        'ECDH with the public key of the other party, then HKDF with SHA-256 (RFC 5869) without salt and info. A key that is there gets the result as its next version.',
      fields: {
        name,
        base_key_name: f.string('Name of the ECDSA key whose private key takes part.'),
        base_key_version: f.int('Its version; 0 for the latest.', { default: 0 }),
        peer_public_key: f.string('PEM of the public key of the other party, on the same curve.'),
        derived_key_type: f.string(`${DERIVABLE.join(', ')}.`, { default: 'aes256-gcm96' }),
        key_derivation_algorithm: f.string('ecdh.', { default: 'ecdh' }),
      },
    }).update({
      summary: 'Derives a key, or its next version.',
      response: NoContent,
      handle: async ({ data, storage }) => {
        if (data.key_derivation_algorithm !== 'ecdh')
          throw new BadRequest(`key derivation algorithm ${data.key_derivation_algorithm} not supported: it must be ecdh`);
        const type = DERIVABLE.includes(data.derived_key_type) ? keyType(data.derived_key_type) : undefined;
        if (!type)
          throw new BadRequest(`unknown key type ${data.derived_key_type}: derived_key_type must be one of ${DERIVABLE.join(', ')}`);
        const base = data.base_key_name ? await keys.find(storage, data.base_key_name) : undefined;
        if (!base) throw new BadRequest('specified base key not found: base_key_name must name an ECDSA key');
        requireLive(base);
        if (typeOf(base).family !== 'ecdsa') throw new BadRequest(`base key type ${base.type} does not support key agreement`);
        if (!data.peer_public_key) throw new BadRequest('peer public key not provided');
        const own = await keys.material(storage, base, versionOf(data.base_key_version, base.latest_version));
        if (own.isPublicOnly) throw new BadRequest('base_key_version has only a public key');
        const secret = agree(own.privateKey, peerKey(data.peer_public_key), base.type);
        const version: VersionRecord = {
          created: host.clock.now().toISOString(),
          key: hkdfSha256(secret, Buffer.alloc(0), type.keyBytes).toString('base64'),
          hmac_key: randomBytes(HMAC_BYTES).toString('base64'),
        };
        const { created } = await keys.create(storage, data.name, { type, imported: { version, allowRotation: false } });
        if (created) return undefined;
        await keys.change(storage, data.name, async (key, tx) => {
          requireLive(key);
          if (!key.imported || key.type !== type.name)
            throw new BadRequest(
              `the key ${data.name} is there: only a derived or imported key of the type ${type.name} gets a further version`,
            );
          return keys.append(tx, data.name, key, version);
        });
        return undefined;
      },
    }),
  ];
}

function versionOf(asked: number, latest: number): number {
  if (asked < 0) throw new BadRequest('requested version of the base key is negative');
  if (asked > latest) throw new BadRequest('requested version of the base key is higher than the latest key version');
  return asked === 0 ? latest : asked;
}

function peerKey(text: string): KeyObject {
  try {
    return createPublicKey({ key: text, format: 'pem' });
  } catch {
    throw new BadRequest('failed to parse supplied peer public key PEM: peer_public_key must be the PEM of a public key');
  }
}

function agree(own: KeyObject, peer: KeyObject, type: string): Buffer {
  if (peer.asymmetricKeyType !== 'ec' || peer.asymmetricKeyDetails?.namedCurve !== own.asymmetricKeyDetails?.namedCurve)
    throw new BadRequest(`base private key type ${type} does not match peer public key curve`);
  return diffieHellman({ privateKey: own, publicKey: peer });
}
