import { BadRequest, f, path, type AnyPath, type StorageView } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { certificatesFor } from '../crypto/certificates.ts';
import { signs } from '../crypto/key-types.ts';
import type { Material } from '../crypto/material.ts';
import { signingRequest } from '../crypto/signing-request.ts';
import { requireLive, typeOf, type KeyStore } from '../keys/key-store.ts';
import { certificateChain } from '../keys/shown-key.ts';
import { versionId, versionRecords, type KeyRecord } from '../stored/records.ts';
import { name } from './shared-fields.ts';

const version = f.int('Version of the key. Default: the latest.');

/** `keys/<name>/csr` and `keys/<name>/set-certificate`. */
export function certificatePaths(keys: KeyStore): AnyPath[] {
  return [
    path('keys/{name}/csr', {
      synopsis: 'A certificate signing request for a key.',
      description: 'Its private key stays in the server.',
      fields: { name, version, csr: f.string('PEM of a request whose subject and attributes are taken. Without it both are empty.') },
    }).update({
      summary: 'Creates a certificate signing request.',
      response: Type.Object({ name: Type.String(), type: Type.String(), csr: Type.String() }),
      handle: async ({ data, storage }) => {
        const { key, material } = await pairOf(keys, storage, data.name, data.version);
        if (material.isPublicOnly) throw new BadRequest('could not create the csr: the key version has only a public key');
        return { data: { name: data.name, type: key.type, csr: await signingRequest(material, data.csr) } };
      },
    }),
    path('keys/{name}/set-certificate', {
      synopsis: 'The certificates of a key.',
      description: 'Reads of the key and export/certificate-chain show them.',
      fields: {
        name,
        version,
        certificate_chain: f.string('PEM of the certificate of the key, followed by those of the authorities above it.', { default: '' }),
      },
    }).update({
      summary: 'Stores the certificates of a version.',
      response: Type.Object({ name: Type.String(), type: Type.String(), certificate_chain: Type.String() }),
      handle: async ({ data, storage }) => {
        const { key, number, material } = await pairOf(keys, storage, data.name, data.version);
        const chain = certificatesFor(typeOf(key), material.publicKey, data.certificate_chain);
        const certificate_chain = await storage.transaction(async (tx) => {
          const place = versionId(key, number);
          const record = await versionRecords(tx).get(place);
          if (!record) throw new BadRequest('no such key version');
          await versionRecords(tx).put(place, { ...record, chain });
          return certificateChain({ ...record, chain });
        });
        return { data: { name: data.name, type: key.type, certificate_chain } };
      },
    }),
  ];
}

async function pairOf(
  keys: KeyStore,
  storage: StorageView,
  of: string,
  asked: number | undefined,
): Promise<{ readonly key: KeyRecord; readonly number: number; readonly material: Material }> {
  const key = await keys.find(storage, of);
  if (!key) throw new BadRequest(`key with provided name '${of}' not found`);
  requireLive(key);
  if (!signs(typeOf(key))) throw new BadRequest(`key type '${key.type}' does not support signing`);
  if (key.derived) throw new BadRequest('a derived key has a key pair for each context, and no certificate');
  const number = asked ?? key.latest_version;
  return { key, number, material: await keys.material(storage, key, number) };
}
