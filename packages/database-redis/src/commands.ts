import type { Persistence } from './settings.ts';

/** `ACL SETUSER <name> ON ><password> <rules…>`: one command, all or nothing. */
export function createCommand(username: string, password: string, rules: readonly string[]): string[] {
  return ['ACL', 'SETUSER', username, 'ON', `>${password}`, ...rules];
}

export const PERSIST: Readonly<Record<Exclude<Persistence, 'none'>, readonly string[]>> = {
  aclfile: ['ACL', 'SAVE'],
  rewrite: ['CONFIG', 'REWRITE'],
};

/** A command as one types it to `redis-cli`. */
export function commandText(words: readonly string[]): string {
  return words.map((word) => (/^[^\s"'\\]+$/.test(word) ? word : JSON.stringify(word))).join(' ');
}
