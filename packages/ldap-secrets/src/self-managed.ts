import { BadRequest } from '@strongroom/engine-sdk';
import { DirectoryMisused } from '@strongroom/ldap-client';
import type { LdapSecretsConfig } from './config.ts';
import type { Records } from './records.ts';

/** What needs an account that manages others. @throws DirectoryMisused where the mount has none */
export function requireServiceAccount(config: Pick<LdapSecretsConfig, 'self_managed'> | undefined): void {
  if (!config?.self_managed) return;
  throw new DirectoryMisused(
    'self_managed: this mount has no service account; it serves static roles whose accounts change their own passwords',
  );
}

/** A service account is not given up that something still needs. @throws BadRequest that names it */
export async function requireUnneeded({ roles, sets, made }: Records): Promise<void> {
  const [role] = await roles.list();
  if (role !== undefined) throw new BadRequest(stillNeeded(`the dynamic role "${role}"`));
  const [set] = await sets.list();
  if (set !== undefined) throw new BadRequest(stillNeeded(`the set "${set}" of the library`));
  const leased = (await made.entries()).find(([, { dropped = false }]) => !dropped);
  if (leased !== undefined) throw new BadRequest(stillNeeded(`the lease of the account "${leased[1].username ?? leased[0]}"`));
}

function stillNeeded(what: string): string {
  return `self_managed: ${what} needs the service account; remove it first, or use another mount`;
}

/** What a write sends of the password that an account has now. */
export interface SentOwnPassword {
  readonly password: string | undefined;
  readonly verify: boolean;
}

/** The password with which an account of a self-managed mount logs in; undefined where none is sent. @throws BadRequest */
export function ownPasswordOf({ password, verify }: SentOwnPassword): string | undefined {
  if (password === '') throw new BadRequest('password: it is empty; send the password that the account has now');
  if (password !== undefined && !verify) {
    throw new BadRequest(
      'verify: this mount is self_managed, and an account whose password does not log in cannot change it; leave verify out',
    );
  }
  return password;
}

/** @throws BadRequest without one */
export function requireOwnPassword(sent: SentOwnPassword): string {
  const password = ownPasswordOf(sent);
  if (password !== undefined) return password;
  throw new BadRequest('password: this mount is self_managed, so that the account changes its own password; send the one that it has now');
}
