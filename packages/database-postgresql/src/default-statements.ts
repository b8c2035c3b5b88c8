/** What operators need not write. Creation has no default: what a user may do is theirs to say. */
export const RENEW_DEFAULT = [`ALTER ROLE "{{name}}" VALID UNTIL '{{expiration}}';`];
export const PASSWORD_CHANGE_DEFAULT = [`ALTER ROLE "{{username}}" WITH PASSWORD '{{password}}';`];

export const USERNAME_TEMPLATE =
  '{{ printf "v-%s-%s-%s-%s" (.DisplayName | truncate 8) (.RoleName | truncate 8) (random 20) (unix_time) | truncate 63 }}';

/** `NAMEDATALEN - 1`. */
export const USERNAME_MAX_LENGTH = 63;

/** `{{expiration}}`: `2030-01-31 23:59:59+0000`. */
export function expirationText(at: Date): string {
  return `${at.toISOString().slice(0, 19).replace('T', ' ')}+0000`;
}
