import { f } from '@strongroom/engine-sdk';
import { Type } from 'typebox';

/** A name that `{name}` takes in a path. */
export const NAME_OF_KEY = /^[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?$/;

export const name = f.name('Name of the key.');
export const context = f.string('Base64 of the context that the key is derived for. Required where the key is derived.');
export const keyVersion = f.int('Version of the key; 0 for the latest. At least min_encryption_version.', { default: 0 });
export const associatedData = f.string(
  'Base64 of data that is authenticated and not encrypted. Decryption needs the same. Not for RSA keys.',
);
export const partialFailure = f.int('The status of the answer where some items of a batch fail and others do not. Default: 400.');

/** `shape` is what an item of the batch holds. */
export function batchInput(fields: readonly string[]) {
  const properties = Object.fromEntries([...fields, 'reference'].map((field) => [field, Type.Optional(Type.String())]));
  return f.list('Items to process in one call. The fields of the same names beside it are then ignored. Results keep the order.', {
    shape: Type.Object(properties),
  });
}
