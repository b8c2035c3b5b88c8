import type { Directory } from './directory.ts';
import { LdapError } from './error.ts';
import { resultCode } from './result-codes.ts';

/** Whether the directory refused a name and its password. */
export function isRefusedBind(error: unknown): error is LdapError {
  return (
    error instanceof LdapError && (error.code === resultCode.invalidCredentials || error.code === resultCode.inappropriateAuthentication)
  );
}

/**
 * A directory that tries the other passwords of a service account, where one is refused before the work has begun: while a password is being changed,
 * and shortly after, another one may be the right one. `others` is asked at every refusal.
 */
export function withOtherPasswords(directory: Directory, others: () => Promise<readonly string[]>): Directory {
  const verifyUser: Directory['verifyUser'] = async (...args: unknown[]) =>
    (directory.verifyUser as (...all: unknown[]) => Promise<never>)(...args);
  return {
    connect: async (signal) => directory.connect(signal),
    withServiceConnection: async (binding, work, options) => {
      let begun = false;
      const begin: typeof work = async (connection) => {
        begun = true;
        return work(connection);
      };
      try {
        return await directory.withServiceConnection(binding, begin, options);
      } catch (refused) {
        if (begun || binding.password === '' || !isRefusedBind(refused)) throw refused;
        for (const password of new Set(await others())) {
          if (password === '' || password === binding.password) continue;
          try {
            return await directory.withServiceConnection({ ...binding, password }, begin, options);
          } catch (error) {
            if (begun || !isRefusedBind(error)) throw error;
          }
        }
        throw refused;
      }
    },
    verifyUser,
    changedAt: (dn) => directory.changedAt?.(dn),
    health: () => directory.health(),
    close: () => directory.close(),
  };
}
