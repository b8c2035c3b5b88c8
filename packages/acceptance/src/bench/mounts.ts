import { once, type Target } from './load.ts';

/** Where the loads make their mounts. The names are the bench's own: a server to compare with may have others. */
export const MOUNTS = {
  secrets: 'bench',
  transit: 'bench-transit',
  ldap: 'bench-ldap',
  database: 'bench-database',
  logins: 'auth/bench-ldap',
} as const;

/** By which a run knows what an earlier one has made. */
export const DESCRIPTION = 'made by npm run bench, which removes it';

/** The path of the API at which a mount is made and removed. */
export function mountingOf(path: string): string {
  return path.startsWith('auth/') ? `sys/${path}` : `sys/mounts/${path}`;
}

/** `path`: of secrets, or of logins where it begins with `auth/`. */
export async function mount(
  target: Target,
  path: (typeof MOUNTS)[keyof typeof MOUNTS],
  type: string,
  options?: Readonly<Record<string, string>>,
): Promise<void> {
  await once(target, 'POST', `/v1/${mountingOf(path)}`, { type, description: DESCRIPTION, ...(options && { options }) });
}
