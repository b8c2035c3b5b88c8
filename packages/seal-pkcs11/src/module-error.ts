import { type SealError, SealPermissionDenied, SealUnavailable, SealWrongKey } from '@strongroom/seal-sdk';

const WRONG_KEY = new Set(['CKR_ENCRYPTED_DATA_INVALID', 'CKR_ENCRYPTED_DATA_LEN_RANGE', 'CKR_AEAD_DECRYPT_FAILED', 'CKR_DATA_INVALID']);
/** Somebody must change the PIN, the key or its attributes. */
const REFUSED = /^(CKR_PIN_\w+|CKR_USER_\w+|CKR_KEY_\w+|CKR_MECHANISM_\w+|CKR_ARGUMENTS_BAD|KeyMissing|KeyAmbiguous)$/;

/** Turns a return value of PKCS #11 into the errors of seals. */
export function translateModuleError(error: unknown): SealError {
  const { name = '', message = String(error) } = error as Error;
  const options = { serviceCode: name || undefined, cause: error };
  const text =
    name === '' || message.includes(name) ? `the PKCS #11 module answers ${message}` : `the PKCS #11 module answers ${name}: ${message}`;
  if (WRONG_KEY.has(name)) return new SealWrongKey(text, options);
  if (name.startsWith('CKR_PIN'))
    return new SealPermissionDenied(
      `${text}. The PIN is not tried again until the server restarts, so that the module does not lock it`,
      options,
    );
  return REFUSED.test(name) ? new SealPermissionDenied(text, options) : new SealUnavailable(text, options);
}
