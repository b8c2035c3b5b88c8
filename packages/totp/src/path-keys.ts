import { f, namesPath, NoContent, orNoContent, path, type AnyPath, type EngineHost } from '@strongroom/engine-sdk';
import { otpauthUrl, qrCodePng, TotpParameters } from '@strongroom/otp';
import { Type } from 'typebox';
import { newKey } from './key-order.ts';
import { keysIn } from './records.ts';

const ShownKey = Type.Object({ account_name: Type.String(), issuer: Type.String(), ...TotpParameters.properties });
const ExportedKey = Type.Object({
  url: Type.String({ secret: true, description: 'What an authenticator imports. It holds the key.' }),
  barcode: Type.Optional(
    Type.String({
      secret: true,
      contentEncoding: 'base64',
      contentMediaType: 'image/png',
      description: 'The URL as a QR code: a PNG, base64.',
    }),
  ),
});

export function keyPaths(host: EngineHost): readonly AnyPath[] {
  const keys = keysIn(host.storage);
  const one = path('keys/{name}', {
    synopsis: 'A key that makes or checks codes.',
    description:
      'A write replaces the key of the name, and what was tried with it. The key itself is shown at most once, when it is generated.',
    fields: {
      name: f.name('Name of the key.'),
      generate: f.bool('Whether the server makes the key. Otherwise `url` or `key` brings it.', { default: false }),
      exported: f.bool('Whether the answer shows a generated key, for an authenticator.', { default: true }),
      key_size: f.int('Bytes of a generated key.', { default: 20 }),
      url: f.secret('A URL `otpauth://totp/…` that holds the key and how its codes are made.', { default: '' }),
      key: f.secret('The key, in base32.', { default: '' }),
      issuer: f.string('Who issues the key.', { default: '' }),
      account_name: f.string('Name of the account at the issuer.', { default: '' }),
      period: f.duration('How long a code is shown.', { default: 30 }),
      algorithm: f.string('`SHA1`, `SHA256` or `SHA512`.', { default: 'SHA1' }),
      digits: f.int('Digits of a code: 6 or 8.', { default: 6 }),
      skew: f.int('Whether the code before and the one after are accepted, too: 0 or 1.', { default: 1 }),
      qr_size: f.int('Pixels of the QR code on either side; 0 for none.', { default: 200 }),
    },
  })
    .read({
      summary: 'Reads how the codes of a key are made, without the key.',
      response: ShownKey,
      handle: async (req) => {
        const record = await keys.get(req.data.name);
        if (!record) return undefined;
        const { account_name, issuer, algorithm, digits, period } = record;
        return { data: { account_name, issuer, algorithm, digits, period } };
      },
    })
    .update({
      summary: 'Generates or imports a key.',
      response: orNoContent(ExportedKey),
      handle: async ({ data }) => {
        const record = newKey(data, host);
        await keys.put(data.name, record);
        if (!data.generate || !data.exported) return undefined;
        const url = otpauthUrl({ ...record, name: record.account_name, key: Buffer.from(record.key, 'base64') });
        return { data: { url, ...(data.qr_size > 0 ? { barcode: qrCodePng(url, data.qr_size).toString('base64') } : {}) } };
      },
    })
    .delete({
      summary: 'Deletes a key.',
      response: NoContent,
      handle: async (req) => {
        await keys.delete(req.data.name);
        return undefined;
      },
    });
  return [one, namesPath('keys', keys, { synopsis: 'The names of the keys.' })];
}
