import { availableParallelism } from 'node:os';
import { roleHolders } from '@strongroom/auth-sdk';
import { API_VERSION, pageOfHolders, type Engine, type EngineHost, type EnginePackage } from '@strongroom/engine-sdk';
import { BcryptThread } from './bcrypt-thread.ts';
import { HashingBulkhead, type HashingLimits } from './hashing-bulkhead.ts';
import { Passwords } from './passwords.ts';
import { configTestPath } from './path-config-test.ts';
import { loginPath } from './path-login.ts';
import { userPaths } from './path-users.ts';
import { renew } from './renewal.ts';
import { HOUSE_COST, type ScryptCost } from './scrypt.ts';
import { Users } from './users.ts';

const POOL_THREADS = Number(process.env['UV_THREADPOOL_SIZE']) || 4;
/** Half of the pool is for files and names. At most, the others wait for some ten seconds. */
const LIMITS: HashingLimits = { running: Math.max(1, Math.min(availableParallelism(), Math.floor(POOL_THREADS / 2))), waiting: 64 };

/** The login method `userpass`: names and passwords that the server keeps. */
export const userpassAuth: EnginePackage = userpass();

/** The method with passwords of another cost, or another bulkhead. */
export function userpass({ house = HOUSE_COST, limits = LIMITS }: { house?: ScryptCost; limits?: HashingLimits } = {}): EnginePackage {
  const bulkhead = new HashingBulkhead(limits);
  const thread = new BcryptThread();
  return {
    name: 'userpass',
    kind: 'auth',
    apiVersion: API_VERSION,
    version: '0.1.0',
    create: (host) => create(host, { house, bulkhead, thread }),
  };
}

function create(
  host: EngineHost,
  { house, bulkhead, thread }: { house: ScryptCost; bulkhead: HashingBulkhead; thread: BcryptThread },
): Engine {
  const users = new Users(host.storage);
  const passwords = new Passwords({ house, queue: bulkhead.queue(), thread, kinds: async () => users.kinds() });
  const parts = { users, passwords, log: host.log };
  return {
    paths: [configTestPath(host, parts), ...userPaths(users, passwords), loginPath(parts)],
    stillGrants: async ({ username, password_id }, tx) => users.hasPassword(tx, String(username), String(password_id)),
    policyHolders: async (query) => pageOfHolders([roleHolders('users', 'user', users.records)], query),
    renewAuth: async (auth) => renew(users, auth),
  };
}
