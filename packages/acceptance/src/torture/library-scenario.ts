import type { KillScenario } from './kill-run.ts';
import type { KillableServer } from './killable-server.ts';
import type { TortureDirectory } from './torture-directory.ts';

interface Loan {
  readonly password: string;
  /** `returning` when its check-in was asked for: from then on the account may be lent again. `returned` when the password was changed by the answer. */
  readonly state: 'out' | 'returning' | 'returned';
}

interface AccountStatus {
  readonly available: boolean;
  readonly borrower_client_token?: string;
}

/**
 * Check-outs and check-ins of a library. A loan that goes on has a password that logs in; when an account is lent again, its password logs in and
 * the one of the loan before does not; and every account comes back.
 */
export function libraryScenario(server: KillableServer, directory: TortureDirectory, set: string, accounts: number): KillScenario {
  /** The last loan of each account whose password was answered. */
  const loans = new Map<string, Loan>();
  const checkOut = async (stop?: AbortSignal): Promise<{ name: string; password: string }> => {
    const { data } = await server.call('POST', `${set}/check-out`, { wait: '20s' }, stop);
    const { service_account_name: name, password } = data as { service_account_name: string; password: string };
    return { name, password };
  };
  const checkIn = async (path: string, names: readonly string[], stop?: AbortSignal): Promise<void> => {
    const mark = (state: Loan['state']): void => {
      for (const name of names) {
        const loan = loans.get(name);
        if (loan) loans.set(name, { ...loan, state });
      }
    };
    mark('returning');
    const { warnings } = await server.call('POST', path, { service_account_names: names }, stop);
    // With a warning an account has come back, but its password is yet to be changed.
    if (warnings === null) mark('returned');
  };
  const statuses = async (): Promise<[string, AccountStatus][]> => {
    const { data } = await server.call('GET', `${set}/status`);
    return Object.entries(data as Record<string, AccountStatus>);
  };
  const isLent = ({ borrower_client_token }: AccountStatus): boolean => borrower_client_token !== undefined;
  /** Borrows accounts that must be free. */
  const borrow = async (count: number): Promise<string[]> => {
    const problems: string[] = [];
    for (let i = 0; i < count; i += 1) {
      const { name, password } = await checkOut();
      const before = loans.get(name);
      loans.set(name, { password, state: 'out' });
      if (!(await directory.takes(name, password))) problems.push(`the password that ${name} is lent with does not log in`);
      if (before && (await directory.takes(name, before.password)))
        problems.push(`${name} is lent again with the password of the loan before`);
    }
    return problems;
  };

  return {
    supply: async () => {
      const lent = (await statuses()).filter(([, status]) => isLent(status)).map(([name]) => name);
      if (lent.length > 0) await checkIn(set.replace('library/', 'library/manage/') + '/check-in', lent);
    },
    change: async (_i, stop) => {
      const { name, password } = await checkOut(stop);
      loans.set(name, { password, state: 'out' });
      await checkIn(`${set}/check-in`, [name], stop);
      return true;
    },
    check: async () => {
      const problems: string[] = [];
      const found = await statuses();
      for (const [name, status] of found) {
        const loan = loans.get(name);
        if (!loan) continue;
        if (loan.state === 'returned' && (await directory.takes(name, loan.password)))
          problems.push(`${name} was checked in, and its password still logs in`);
        if (loan.state === 'out' && isLent(status))
          await directory.login(name, loan.password).catch(() => problems.push(`${name} is lent, and its password does not log in`));
      }
      const free = found.filter(([, { available }]) => available).length;
      return [...problems, ...(await borrow(Math.min(free, 4)))];
    },
    settled: async () => {
      const away = (await statuses()).filter(([, { available }]) => !available).map(([name]) => name);
      return away.length > 0 ? [`these accounts have not come back: ${away.join(', ')}`] : borrow(accounts);
    },
  };
}
