import type { KillScenario } from './kill-run.ts';
import type { KillableServer } from './killable-server.ts';

/** What engines that make accounts for leases and rotate those of others have in common. */
export const COMMON_SCENARIOS = ['creation', 'revocation', 'rotation', 'rotate-root'] as const;
export type CommonScenario = (typeof COMMON_SCENARIOS)[number];

/** Where an engine has what these scenarios change. */
export interface AccountsOfEngine {
  /** Path that issues an account with a lease. */
  readonly creds: string;
  readonly staticRoles: readonly string[];
  /** Path of a static role, where it can be deleted. */
  staticRole(role: string): string;
  /** What makes it. */
  staticRoleFields(role: string): Record<string, unknown>;
  rotateRole(role: string): string;
  staticCredential(role: string): string;
  /** Root passwords, taken in turn: a rotation that a kill cut off keeps others from its password for a while. */
  readonly roots: readonly RootOfEngine[];
  /** The accounts that leases made, as the outside system has them. */
  accounts(): Promise<readonly string[]>;
  /** Rejects as the outside system does. */
  login(username: string, password: string): Promise<unknown>;
}

export interface RootOfEngine {
  readonly rotate: string;
  /** Path that issues an account by this password. */
  readonly creds: string;
}

interface Credential {
  readonly lease: string;
  readonly username: string;
  readonly password: string;
}

/** The number of leases with which a revocation scenario begins each round. */
const SUPPLY = 24;

/**
 * No account without a lease or a pending undo, no credential that was answered and does not log in, no role whose stored password does not log
 * in, and a root password that works.
 */
export function commonScenarios(server: KillableServer, engine: AccountsOfEngine): Record<CommonScenario, KillScenario> {
  /** Answered, and not asked to go. */
  const credentials = new Map<string, Credential>();
  const issue = async (stop?: AbortSignal): Promise<void> => {
    const answer = await server.call('GET', engine.creds, undefined, stop);
    const lease = answer['lease_id'] as string;
    credentials.set(lease, { lease, ...(answer['data'] as { username: string; password: string }) });
  };
  const checkAccounts = async (): Promise<string[]> => {
    const problems: string[] = [];
    for (const { lease, username, password } of [...credentials.values()].slice(-8)) {
      if (!(await server.try('PUT', 'sys/leases/lookup', { lease_id: lease }))) problems.push(`the lease ${lease} is missing`);
      await engine.login(username, password).catch(() => problems.push(`${username} cannot log in`));
    }
    // Counted in this order the sum can only be too high: what ends meanwhile is no problem.
    const accounts = (await engine.accounts()).length;
    let known = 0;
    for (const path of [engine.creds, ...engine.roots.map(({ creds }) => creds)]) known += await server.leases(path);
    known += await server.intents();
    if (accounts > known) problems.push(`${accounts} accounts, but ${known} leases and pending undos`);
    return problems;
  };
  const noAccounts = async (): Promise<string[]> => {
    const left = (await engine.accounts()).length;
    return left > 0 ? [`${left} accounts are left of leases that have ended`] : [];
  };
  const checkRoles = async (): Promise<string[]> => {
    const problems: string[] = [];
    for (const role of engine.staticRoles) {
      const { data } = await server.call('GET', engine.staticCredential(role));
      const { username, password } = data as { username: string; password: string };
      await engine.login(username, password).catch(() => problems.push(`the stored password of ${role} does not log in`));
    }
    return problems;
  };
  const checkRoot = async ({ creds }: RootOfEngine): Promise<string[]> =>
    (await server.try('GET', creds)) ? [] : [`the stored root password of ${creds} does not log in`];
  let turn = 0;
  const root = (): RootOfEngine => engine.roots[turn % engine.roots.length]!;

  return {
    creation: {
      change: async (_i, stop) => {
        await issue(stop);
        return true;
      },
      check: checkAccounts,
      settled: noAccounts,
    },
    revocation: {
      supply: async () => {
        const missing = Math.max(0, SUPPLY - credentials.size);
        await Promise.all(Array.from({ length: missing }, async () => issue()));
      },
      change: async (_i, stop) => {
        const [one] = credentials.values();
        if (!one) return false;
        // What is asked to go may be gone or not after a kill, but never half.
        credentials.delete(one.lease);
        await server.call('PUT', 'sys/leases/revoke', { lease_id: one.lease, sync: true }, stop);
        return true;
      },
      check: checkAccounts,
      settled: noAccounts,
    },
    rotation: {
      // Made again, since a rotation that a kill cut off keeps others from its role for a while.
      supply: async () => {
        for (const role of engine.staticRoles) {
          await server.call('DELETE', engine.staticRole(role));
          await server.call('POST', engine.staticRole(role), engine.staticRoleFields(role));
        }
      },
      change: async (i, stop) => {
        await server.call('POST', engine.rotateRole(engine.staticRoles[i % engine.staticRoles.length]!), {}, stop);
        return true;
      },
      check: checkRoles,
      settled: checkRoles,
    },
    'rotate-root': {
      supply: async () => void (turn += 1),
      change: async (_i, stop) => {
        await server.call('POST', root().rotate, {}, stop);
        return true;
      },
      check: async () => checkRoot(root()),
      settled: async () => (await Promise.all(engine.roots.map(checkRoot))).flat(),
    },
  };
}
