import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { killableMount, type KillableMount } from '@strongroom/engine-testkit';
import fc from 'fast-check';
import { moves, stages, verdictOn, verdicts, type Try } from '../src/index.ts';
import { accountsEngine, Outside, type Fate } from './outside.ts';

const kinds = ['creation', 'first', 'rotation'] as const;
const attempts = ['first', 'again'] as const;
const effects = ['found', 'acknowledged', 'unsent', 'refused', 'unknown', 'skipped'] as const;
const logins = ['candidate', 'current', 'neither', 'unprovable', 'untried', undefined] as const;

const tries: Try[] = effects.flatMap((effect) =>
  kinds.flatMap((kind) => attempts.flatMap((attempt) => logins.map((login) => ({ effect, kind, attempt, login })))),
);

describe('the table of rotations', () => {
  test('promotes a candidate only where a login accepts it, or where a change is acknowledged and no login can tell', () => {
    for (const tried of tries.filter((each) => verdictOn(each) === 'promote')) {
      const isProven = tried.login === 'candidate';
      expect(isProven || (tried.effect === 'acknowledged' && tried.login === 'unprovable')).toBe(true);
    }
  });

  test('drops a candidate only where the current credential is accepted, or where the first try certainly changed nothing', () => {
    for (const tried of tries.filter((each) => verdictOn(each) === 'drop')) {
      const changedNothing = tried.attempt === 'first' && (tried.effect === 'unsent' || tried.effect === 'refused');
      expect(changedNothing || tried.login === 'current').toBe(true);
      // What was not sent is not tried: a login says nothing of it.
      if (tried.effect !== 'unsent') expect(['candidate', 'untried']).not.toContain(tried.login);
    }
  });

  test('keeps the candidate of whatever is unknown, unless a login accepts it', () => {
    for (const tried of tries.filter(({ effect }) => effect === 'unknown')) {
      const isProven = tried.kind === 'creation' && tried.login === 'candidate';
      expect(verdictOn(tried)).toBe(isProven ? 'promote' : 'keep');
    }
  });

  test('has no line that never holds', () => {
    for (const line of verdicts) {
      const covers = (row: typeof line, tried: Try): boolean =>
        row.effect === tried.effect &&
        (row.kind?.includes(tried.kind) ?? true) &&
        (row.attempt ?? tried.attempt) === tried.attempt &&
        (row.login === undefined || (tried.login !== undefined && row.login.includes(tried.login)));
      expect(tries.filter((tried) => verdicts.find((row) => covers(row, tried)) === line)).not.toEqual([]);
    }
  });

  test('is the one that the documentation shows', () => {
    const page = readFileSync(new URL('../../../docs/concepts.md', import.meta.url), 'utf8');
    const any = (cells: readonly string[] | undefined): string => (cells ? cells.join(', ') : '–');
    const lines = [
      ...Object.entries(stages).map(([stage, { stored, next }]) => [`\`${stage}\``, stored, next]),
      ...verdicts.map(({ effect, kind, attempt, login, move }) => [
        effect,
        any(kind),
        any(attempt && [attempt]),
        any(login),
        `\`${move}\``,
      ]),
      ...Object.entries(moves).map(([move, { to, stored }]) => [`\`${move}\``, `\`${to}\``, stored]),
    ];
    const shown = page.split('\n').map((line) => line.replaceAll(/\s*\|\s*/g, '|'));
    for (const cells of lines) expect(shown).toContain(`|${cells.join('|')}|`);
  });
});

/** One thing that happens to the server, and what becomes of the change that is made meanwhile. */
interface Step {
  readonly does: 'rotate' | 'wait for the plan' | 'arrive' | 'outage' | 'restart';
  readonly fate: Fate;
  /** Any password is accepted meanwhile, so that no login can tell. */
  readonly trusting: boolean;
  /** The process dies when it asks for one more commit than these. */
  readonly commits: number | undefined;
}

const provable: readonly Fate[] = [
  'done',
  'refused',
  'unsent',
  'misused',
  'lost before',
  'lost after',
  'lost with all',
  'half refused',
  'acknowledged only',
  'done and gone',
  'late',
];
/** What is acknowledged is believed where no login can tell, and what is refused is not there. */
const believable: readonly Fate[] = ['done', 'refused', 'unsent', 'misused', 'lost before', 'lost after'];

const step: fc.Arbitrary<Step> = fc.boolean().chain((trusting) =>
  fc.record({
    does: fc.constantFrom('rotate', 'rotate', 'rotate', 'wait for the plan', 'arrive', 'outage', 'restart'),
    fate: fc.constantFrom(...(trusting ? believable : provable)),
    trusting: fc.constant(trusting),
    commits: fc.option(fc.nat(3), { nil: undefined }),
  }),
);

describe('a walk through the table', () => {
  test('never loses the credential that works, whatever happens outside and wherever the process dies', async () => {
    const walk = async (creation: Step, steps: readonly Step[]): Promise<void> => {
      const outside = new Outside();
      let server: KillableMount = await killableMount(accountsEngine(outside));
      const take = async ({ fate, trusting, commits }: Step, work: () => Promise<unknown>): Promise<void> => {
        outside.fates.push(fate);
        outside.trusting = trusting;
        if (commits !== undefined) server.storage.dieAfter(commits);
        await server.diesIn(work());
        if (commits !== undefined) server = await server.restart();
        outside.fates.length = 0;
        outside.trusting = false;
        outside.down = false;
      };
      // What is read while a rotation is under way may be the password that it replaces a moment later.
      const settled = async (): ReturnType<KillableMount['ask']> => {
        for (let looks = 1; ; looks += 1) {
          const answer = await server.ask('read', 'accounts/account/a');
          const { status } = (answer.data ?? {}) as { readonly status?: { readonly state: string } };
          if (status?.state !== 'running' || looks === 100) return answer;
          await new Promise((resolve) => setImmediate(resolve));
        }
      };
      const expectKnown = async (): Promise<void> => {
        const { status, data } = await settled();
        const { password, doubtful } = (data ?? {}) as { readonly password?: string; readonly doubtful?: boolean };
        if (status === 404) expect(outside.passwords.get('a')).toBeUndefined();
        else if (password !== undefined) expect({ password, doubtful }).toEqual({ password: outside.passwords.get('a'), doubtful: false });
      };
      try {
        const create = async () => server.ask('update', 'accounts/account/a', { rotation_period: '1h' });
        await take(creation, create);
        await expectKnown();
        await server.pass(300);
        await expectKnown();
        if ((await server.ask('read', 'accounts/account/a')).status === 404) await create();
        for (const each of steps) {
          if (each.does === 'rotate') await take(each, async () => server.ask('update', 'accounts/rotate/a'));
          if (each.does === 'wait for the plan') await take(each, async () => server.advance('1h'));
          if (each.does === 'arrive') outside.arrive();
          if (each.does === 'restart') server = await server.restart();
          if (each.does === 'outage') {
            outside.down = true;
            await server.ask('update', 'accounts/rotate/a');
            await server.pass(60);
            outside.down = false;
          }
          await expectKnown();
        }
        outside.arrive();
        // What was refused as it was asked for waits for the plan.
        await server.pass(4_000, 60);
        await expectKnown();
        expect((await server.read('account/a')).data).toMatchObject({ status: { state: 'waiting', last_error: null } });
      } finally {
        await server.close();
      }
    };
    await fc.assert(fc.asyncProperty(step, fc.array(step, { minLength: 1, maxLength: 8 }), walk), { numRuns: 60 });
  }, 120_000);
});
