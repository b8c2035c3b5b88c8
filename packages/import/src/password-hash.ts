import type { JsonRecord } from './json.ts';

/** The bcrypt hash of a user's password, which this server takes as it is. */
export function passwordHash(entry: JsonRecord): JsonRecord {
  const encoded = entry['PasswordHash'];
  if (typeof encoded !== 'string' || encoded === '') return {};
  const hash = Buffer.from(encoded, 'base64').toString('latin1');
  return /^\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}$/.test(hash) ? { password_hash: hash } : {};
}
