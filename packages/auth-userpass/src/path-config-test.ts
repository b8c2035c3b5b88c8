import { requireAddress, StepTrace, testReport, type StepReport } from '@strongroom/auth-sdk';
import { BadRequest, f, path, TokenRefused, type AnyPath, type Clock, type EngineHost } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { LoginParts } from './login.ts';

type Step = 'user' | 'lockout' | 'password' | 'addresses' | 'policies';
interface Facts {
  /** Policies that a token gets from the user. */
  readonly count?: number;
  /** The address that was tried. */
  readonly address?: string;
}

interface Trial {
  readonly username: string;
  readonly password: string;
  readonly address: string;
}

interface Report {
  readonly ok: boolean;
  readonly steps: readonly StepReport<Step, Facts>[];
  readonly policies?: readonly string[];
}

/** What a path takes for a name; only then may it be folded. */
const NAME = /^\w(?:[\w.-]*\w)?$/;

export function configTestPath(host: Pick<EngineHost, 'clock' | 'isLocked'>, parts: LoginParts): AnyPath {
  return path('config/test', {
    synopsis: 'Test a login step by step.',
    description:
      'Reports at which step a login would be refused. The test stores nothing, issues no token, and does not affect the lockout. It requires sudo, because ' +
      'callers can guess passwords and learn which users exist.',
    access: 'sudo',
    fields: {
      username: f.string('Name of the user.', { default: '' }),
      password: f.secret('Password of the user. Without it, the test skips the password.', { default: '' }),
      address: f.string('Client address to test. Default: the address of this request.'),
    },
  }).update({
    summary: 'Test a login.',
    response: testReport({ policies: Type.Optional(Type.Array(Type.String())) }),
    handle: async (req) => {
      const { username, password, address = req.caller.remoteAddress } = req.data;
      if (!NAME.test(username)) throw new BadRequest('username: name the user to try, by letters, digits, "_", "-" and "."');
      return { data: await tryLogin(host, parts, { username: username.toLowerCase(), password, address }, req.signal) };
    },
  });
}

/** A step that fails does not end the trial, except that of the user. */
async function tryLogin(
  { clock, isLocked }: { clock: Clock; isLocked: EngineHost['isLocked'] },
  { users, passwords }: LoginParts,
  { username, password, address }: Trial,
  signal: AbortSignal,
): Promise<Report> {
  const steps: StepReport<Step, Facts>[] = [];
  const trace = new StepTrace<Step, Facts>(clock, (report) => steps.push(report));
  const step = async (name: Step, facts: Facts, problem: () => Promise<string | undefined>): Promise<void> => {
    const since = trace.start();
    const found = await problem();
    if (found === undefined) trace.passed(name, since, facts);
    else trace.failed(name, since, facts, found, new BadRequest(found));
  };
  const report = (policies?: readonly string[]): Report => ({
    ok: steps.every(({ ok }) => ok),
    steps,
    ...(policies ? { policies } : {}),
  });

  const user = await users.records.get(username);
  await step('user', {}, async () => (user ? undefined : 'there is no such user'));
  await step('lockout', {}, async () => ((await isLocked(username)) ? 'the name is locked after too many refused logins' : undefined));
  if (!user) return report();
  if (password !== '') {
    await step('password', {}, async () =>
      (await passwords.check(user.password, password, signal)).matches ? undefined : 'the password is wrong',
    );
  }
  await step('addresses', { address }, async () => (accepts(user, address) ? undefined : 'the address is outside token_bound_cidrs'));
  await step('policies', { count: user.token_policies.length }, async () => undefined);
  return report(user.token_policies);
}

function accepts(user: Parameters<typeof requireAddress>[0], address: string): boolean {
  try {
    requireAddress(user, address);
    return true;
  } catch (error) {
    if (error instanceof TokenRefused) return false;
    throw error;
  }
}
