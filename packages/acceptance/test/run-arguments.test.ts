import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, jest, test } from '@jest/globals';
import { benchArguments } from '../src/bench/bench-arguments.ts';
import { consistencyArguments } from '../src/consistency/consistency-arguments.ts';
import { SET_UPS } from '../src/consistency/set-ups.ts';
import { fuzzArguments } from '../src/fuzz/fuzz-arguments.ts';
import { tortureArguments } from '../src/torture/torture-arguments.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

/** Wrong words of a command, each with the sentence that says so; for a `describe`. */
function refuses(read: (words: readonly string[]) => unknown, cases: readonly (readonly [words: string, sentence: string])[]): void {
  test.each(cases)('%s is refused, and the sentence says what would be right', (words, sentence) => {
    expect(() => read(words.split(' '))).toThrow(sentence);
  });
}

describe('npm run bench', () => {
  test('takes what its flags say, and else the defaults', () => {
    expect(benchArguments([], {})).toEqual({
      seconds: 5,
      rounds: 3,
      leases: [100_000],
      percents: [1, 10, 100],
      only: undefined,
      against: undefined,
      ourWorkers: 1,
      workers: undefined,
      share: 0.2,
      connections: 32,
      nodes: undefined,
      stores: undefined,
    });
    expect(benchArguments(['--seconds=0.5', '--leases=10,200'], {})).toMatchObject({ seconds: 0.5, leases: [10, 200] });
    expect(benchArguments(['--only=large', '--percent=1,2'], {})).toMatchObject({ only: 'large', percents: [1, 2] });
    expect(benchArguments(['--workers', '1,2', '--share=10', '--rounds=5', '--connections=8'], {})).toMatchObject({
      ...{ workers: [1, 2], share: 0.1, rounds: 5, connections: 8 },
    });
    const ours = [`--nodes=${process.execPath}`, '--against=http://127.0.0.1:8200', '--token=root', '--pid=4', '--our-workers=2'];
    expect(benchArguments(ours, {})).toMatchObject({ nodes: [process.execPath], against: { pid: 4 }, ourWorkers: 2 });
    expect(benchArguments(['--against=http://127.0.0.1:8200', '--only=pg'], { VAULT_TOKEN: 'root' })).toMatchObject({
      against: { token: 'root', pid: undefined },
      only: 'pg',
    });
  });

  test.each(['kv', 'hostile', 'events', 'ldap', 'login', 'aws', 'transit batches', 'ldap accounts', 'heap', 'large', 'snapshot', 'leases'])(
    'finds what is measured by --only=%s',
    (only) => expect(benchArguments([`--only=${only}`], {}).only).toBe(only),
  );

  refuses(
    (words) => benchArguments(words, {}),
    [
      ['--large=abc', '--large is not a flag; the flags are --against=…'],
      ['abc', '"abc" is not a flag; the flags are --against=…'],
      ['--help=1', 'npm run bench [-- --FLAG=VALUE …]'],
      ['abc def', '"abc", "def" are not flags; the flags are --against=…'],
      ['--seconds', '--seconds needs a value: --seconds=…'],
      ['--seconds=', '--seconds needs a value: --seconds=…'],
      ['--seconds=-1', '--seconds: "-1" is not a number above 0 and at most 3600, such as 5'],
      ['--seconds=0', '--seconds: "0" is not a number above 0 and at most 3600, such as 5'],
      ['--seconds=1e3', '--seconds: "1e3" is not a number above 0 and at most 3600, such as 5'],
      ['--seconds=1000000000', '--seconds: "1000000000" is not a number above 0 and at most 3600, such as 5'],
      ['--seconds=99999999999', '--seconds: "99999999999" is not a number above 0 and at most 3600, such as 5'],
      ['--leases=99999999999999999', '--leases: "99999999999999999" is not a whole number from 1 to 10000000, such as 100000'],
      ['--rounds=1.5 --stores=lmdb', '--rounds: "1.5" is not a whole number from 1 to 1000, such as 3'],
      ['--leases=10,abc', '--leases: "abc" is not a whole number from 1 to 10000000, such as 100000'],
      ['--leases=10,', '--leases: "" is not a whole number from 1 to 10000000, such as 100000'],
      ['--leases=20,10', '--leases: each number must be greater than the one before it, as in --leases=10,20'],
      ['--percent=ten --only=large', '--percent: "ten" is not a number above 0 and at most 1000, such as 10'],
      ['--percent=1,1 --only=large', '--percent: each number must be greater than the one before it, as in --percent=1'],
      ['--connections=0 --workers=1', '--connections: "0" is not a whole number from 1 to 1000, such as 32'],
      ['--connections=8', '--connections is used with --workers only'],
      ['--share=101 --workers=1', '--share: "101" is not a number above 0 and at most 100, such as 20'],
      ['--workers=0', '--workers: "0" is not a whole number from 1 to 64, such as 2'],
      ['--our-workers=65 --against=http://vault --token=root', '--our-workers: "65" is not a whole number from 1 to 64, such as 2'],
      ['--stores=lmdb,mysql', '--stores: "mysql" is not one of lmdb, postgresql, etcd'],
      ['--only=kvv', '--only: nothing that is measured has "kvv" in its name; name one of these'],
      ['--nodes=/nowhere/node', '--nodes: there is no file "/nowhere/node"; name executables of Node.js, separated by commas'],
      ['--against=8200', '--against: "8200" is not an http:// URL, such as http://127.0.0.1:8200'],
      ['--against=https://vault', '--against: "https://vault" is not an http:// URL, such as http://127.0.0.1:8200'],
      ['--against=http://vault', '--token, or the environment variable VAULT_TOKEN, must be a root token'],
      ['--against=http://vault --token=root --pid=no', '--pid: "no" is not a whole number from 1 to 4194304, such as 4321'],
      ['--pid=4321', '--pid is used with --against only'],
      ['--share=10', '--share is used with --workers only'],
      ['--rounds=2', '--rounds is used with --against, --workers, --nodes, --stores only'],
      ['--percent=10', '--percent is used with --only=large only'],
      ['--leases=10 --only=kv', '--leases is used with --only=leases, --only=snapshot, or without --only'],
      ['--stores=lmdb --workers=2', '--workers and --stores cannot be used together'],
      [
        '--against=http://vault --nodes=/a,/b',
        '--against and --nodes cannot be used together unless --nodes names one executable, which runs ours',
      ],
      ['--workers=2 --only=kv', '--only cannot be used with --workers, which always measures the same'],
      [
        '--stores=lmdb --only=health',
        '--only: nothing that is measured has "health" in its name; name one of these or a part of one: lookup',
      ],
    ],
  );
});

describe('npm run torture', () => {
  test('takes a number of kills and a part', () => {
    expect(tortureArguments([])).toEqual({ kills: 200, only: undefined });
    expect(tortureArguments(['10', 'etcd'])).toEqual({ kills: 10, only: 'etcd' });
  });

  refuses(tortureArguments, [
    ['abc', 'KILLS: "abc" is not a whole number from 1 to 100000, such as 200'],
    ['0', 'KILLS: "0" is not a whole number from 1 to 100000, such as 200'],
    ['-1', 'KILLS: "-1" is not a whole number from 1 to 100000, such as 200'],
    ['10 mysql', 'PART: "mysql" is not one of stores, lmdb, postgresql, etcd, workers, members, snapshots'],
    ['10 lmdb more', '"more": too many arguments: npm run torture [-- KILLS [PART]]'],
    ['--HELP', 'npm run torture [-- KILLS [PART]]'],
  ]);
});

describe('npm run consistency', () => {
  test('takes seconds, a set-up, and whether anything goes wrong', () => {
    expect(consistencyArguments([])).toEqual({ seconds: 60, only: undefined, faults: true });
    expect(consistencyArguments(['--seconds=3600', '--only=etcd', '--faults=no'])).toEqual({ seconds: 3_600, only: 'etcd', faults: false });
  });

  test('finds every set-up by its name', () => {
    for (const { name } of SET_UPS) expect(consistencyArguments([`--only=${name}`]).only).toBe(name);
  });

  refuses(consistencyArguments, [
    ['60', '"60" is not a flag; the flags are --seconds=… --only=… --faults=…'],
    ['-h', 'npm run consistency [-- --FLAG=VALUE …]'],
    ['--second=60', '--second is not a flag; the flags are --seconds=…'],
    ['--only=lmdb --only=workers', '--only is given more than once'],
    ['--seconds=soon', '--seconds: "soon" is not a number above 0 and at most 86400, such as 60'],
    ['--only=mysql', '--only: "mysql" is not one of lmdb, workers, postgresql, failover, etcd'],
    ['--faults=none', '--faults: "none" is not one of yes, no'],
  ]);
});

describe('npm run fuzz', () => {
  test('takes seconds and a seed', () => {
    expect(fuzzArguments([])).toEqual({ seconds: 600, seed: undefined });
    expect(fuzzArguments(['20', '7'])).toEqual({ seconds: 20, seed: 7 });
  });

  refuses(fuzzArguments, [
    ['abc', 'SECONDS: "abc" is not a number above 0 and at most 86400, such as 600'],
    ['20 -7', 'SEED: "-7" is not a whole number from 1 to 2147483647, such as 7'],
    ['20 --seed=7', '--seed=7 is not a flag; the only one is --help: npm run fuzz [-- SECONDS [SEED]]'],
    ['20 7 8 9', '"8", "9": too many arguments: npm run fuzz [-- SECONDS [SEED]]'],
  ]);
});

/** What the help of a command says. */
function helpOf(read: (words: readonly string[]) => unknown): string {
  try {
    read(['--help']);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('it gives no help');
}

test.each([
  [
    'bench',
    (words: readonly string[]) => benchArguments(words, {}),
    'against connections leases nodes only our-workers percent pid rounds seconds share stores token workers'
      .split(' ')
      .map((name) => `--${name}=`),
  ],
  ['torture', tortureArguments, ['KILLS', 'PART']],
  ['consistency', consistencyArguments, ['--seconds=', '--only=', '--faults=']],
  ['fuzz', fuzzArguments, ['SECONDS', 'SEED']],
])('the help of npm run %s explains everything that it takes, with its default', (_script, read, taken) => {
  const paragraphs = helpOf(read)
    .split(/\n {2}(?=\S)/)
    .slice(1);
  expect(paragraphs.map((each) => taken.find((word) => each.startsWith(word)))).toHaveLength(taken.length);
  for (const word of taken) expect(paragraphs.find((each) => each.startsWith(word))).toMatch(/default: /i);
});

test.each([
  ['bench', '--seconds=-1', '--seconds: "-1" is not a number above 0 and at most 3600, such as 5\n'],
  [
    'bench',
    '--against=http://127.0.0.1:2 --token=root',
    '--against: no server answers at http://127.0.0.1:2: connect ECONNREFUSED 127.0.0.1:2\n',
  ],
  ['torture', '0', 'KILLS: "0" is not a whole number from 1 to 100000, such as 200\n'],
  ['consistency', '--faults=none', '--faults: "none" is not one of yes, no\n'],
  ['fuzz', 'abc', 'SECONDS: "abc" is not a number above 0 and at most 86400, such as 600\n'],
])('npm run %s -- %s builds nothing', (script, words, sentence) => {
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', script, '--', ...words.split(' ')], {
    cwd: root,
    encoding: 'utf8',
  });
  expect({ status, stdout, stderr }).toEqual({
    status: 2,
    stdout: '',
    stderr: `${sentence}To see all arguments, run: npm run ${script} -- --help\n`,
  });
});
