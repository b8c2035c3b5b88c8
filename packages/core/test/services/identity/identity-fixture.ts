import { silentLog, type AnyPath, type Clock, type EngineHost } from '@strongroom/engine-sdk';
import { MemoryView } from '@strongroom/engine-testkit';
import { identityEngine } from '../../../src/api/identity/identity-engine.ts';
import type { IdentityMount } from '../../../src/services/identity/identity-change.ts';
import { IdentityStore } from '../../../src/services/identity/identity-store.ts';
import { call, type Answer } from './call.ts';

export class ManualClock implements Clock {
  #millis = Date.parse('2030-01-01T00:00:00Z');
  now(): Date {
    return new Date(this.#millis);
  }
  millis(): number {
    return this.#millis;
  }
  after(): () => void {
    throw new Error('no timers here');
  }
  advance(seconds: number): void {
    this.#millis += seconds * 1000;
  }
}

export const mounts = new Map<string, IdentityMount>([
  ['auth_ldap_1', { path: 'auth/ldap/', type: 'ldap' }],
  ['auth_ldap_2', { path: 'auth/partners/', type: 'ldap' }],
  ['auth_jwt_1', { path: 'auth/jwt/', type: 'jwt', package: { exactAliases: true } }],
  ['auth_userpass_1', { path: 'auth/userpass/', type: 'userpass' }],
]);

export interface IdentityFixture {
  readonly view: MemoryView;
  readonly clock: ManualClock;
  readonly store: IdentityStore;
  readonly paths: readonly AnyPath[];
  read(path: string): Promise<Answer>;
  list(path: string): Promise<Answer>;
  write(path: string, body?: Record<string, unknown>): Promise<Answer>;
  remove(path: string): Promise<Answer>;
}

export function identityFixture(view = new MemoryView(), options: { cachedEntities?: number } = {}): IdentityFixture {
  const clock = new ManualClock();
  const byAccessor = (accessor: string): IdentityMount | undefined => mounts.get(accessor);
  const store = new IdentityStore({ storage: view, clock, mounts: { byAccessor }, log: silentLog, ...options });
  const { paths } = identityEngine(store).create({} as EngineHost);
  return {
    view,
    clock,
    store,
    paths,
    read: (path) => call(paths, 'read', path),
    list: (path) => call(paths, 'list', path),
    write: (path, body) => call(paths, 'update', path, body),
    remove: (path) => call(paths, 'delete', path),
  };
}

/** The id in the answer of a creation. */
export function idOf(answer: Answer): string {
  return (answer.data as { id: string }).id;
}
