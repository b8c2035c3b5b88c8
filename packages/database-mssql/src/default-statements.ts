/** What operators need not write. Creation has no default: what a user may do is theirs to say. */
export const LOGIN_PASSWORD_DEFAULT = [`ALTER LOGIN [{{username}}] WITH PASSWORD = '{{password}}'`];
export const USER_PASSWORD_DEFAULT = [`ALTER USER [{{username}}] WITH PASSWORD = '{{password}}'`];

export const USERNAME_TEMPLATE =
  '{{ printf "v-%s-%s-%s-%s" (.DisplayName | truncate 20) (.RoleName | truncate 20) (random 20) (unix_time) | truncate 128 }}';

/** `sysname`. */
export const USERNAME_MAX_LENGTH = 128;

/** `{{expiration}}`: `2030-01-31 23:59:59+0000`. */
export function expirationText(at: Date): string {
  return `${at.toISOString().slice(0, 19).replace('T', ' ')}+0000`;
}
