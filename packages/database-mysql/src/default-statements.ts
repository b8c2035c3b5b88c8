import type { Credential } from '@strongroom/database-sdk';

/** What operators need not write. Creation has no default: what a user may do is theirs to say. */
export const CREDENTIAL_CHANGE_DEFAULT: Readonly<Record<Exclude<Credential['type'], 'rsa_private_key'>, readonly string[]>> = {
  password: [`ALTER USER '{{username}}'@'%' IDENTIFIED BY '{{password}}';`],
  client_certificate: [`ALTER USER '{{username}}'@'%' REQUIRE SUBJECT '{{subject}}';`],
};
export const REVOKE_DEFAULT = `REVOKE ALL PRIVILEGES, GRANT OPTION FROM '{{name}}'@'%';`;
export const DROP_DEFAULT = `DROP USER '{{name}}'@'%';`;

/** `{{expiration}}`: `2030-01-31 23:59:59+0000`. */
export function expirationText(at: Date): string {
  return `${at.toISOString().slice(0, 19).replace('T', ' ')}+0000`;
}
