import { existsSync } from 'node:fs';
import { amountIn, countIn, flagsIn, nameIn, WrongArgument, type Command } from '../arguments.ts';
import { CALLS } from './workloads.ts';

/** The stores that a server can be measured on. */
export const STORE_NAMES = ['lmdb', 'postgresql', 'etcd'] as const;
export type StoreName = (typeof STORE_NAMES)[number];

/** What is measured beside single calls, in this order. */
export const SUITES = [
  'events',
  'approle login',
  'jwt login',
  'userpass login',
  'ldap login',
  'kubernetes login',
  'pg creds',
  'ldap accounts',
  'aws creds',
  'transit batches',
  'hostile bodies',
] as const;
export type Suite = (typeof SUITES)[number];

/** Chosen by a part of their names. */
const MEASURED: readonly string[] = [...Object.keys(CALLS), ...SUITES];
/** Those with a number of leases, and the others; chosen by their whole names. */
const COUNTED = ['leases', 'snapshot'];
const ALONE = [...COUNTED, 'heap', 'large', 'storages'];
/** What several servers are compared by, chosen by a part of their names. */
const COMPARED = [
  ...Object.keys(CALLS).filter((name) => name !== 'health'),
  'ldap login',
  'ldap creds+rev',
  'ldap out+in',
  'pg creds',
  'pg creds+rev',
  'transit encrypt',
  'transit decrypt',
  'transit batch',
];

/** The most workers that a server takes. */
const MOST_WORKERS = 64;
const MOST_SECONDS = 3_600;
const MOST_ROUNDS = 1_000;
const MOST_LEASES = 10_000_000;
/** Ten times the large store. */
const MOST_PERCENT = 1_000;
/** Of Linux. */
const MOST_PID = 4_194_304;

const MOST_CONNECTIONS = 1_000;

const FLAGS = [
  'against',
  'connections',
  'leases',
  'nodes',
  'only',
  'our-workers',
  'percent',
  'pid',
  'rounds',
  'seconds',
  'share',
  'stores',
  'token',
  'workers',
] as const;
const COMMAND: Command = {
  form: 'npm run bench [-- --FLAG=VALUE …]',
  about: [
    'Starts a server on LMDB, and measures operations per second, CPU time per operation and memory.',
    'With --against, --workers, --nodes or --stores it compares servers in alternating rounds.',
  ].join('\n'),
  takes: [
    {
      word: '--only=NAME',
      text: [
        `What is measured. Default: everything up to ${JSON.stringify(MEASURED.at(-1))}, and leases.`,
        'One of these, or a part of one:',
        ...lines(MEASURED),
        'Or one of these:',
        '  leases: what many token leases cost',
        '  snapshot: snapshots while others read and write',
        '  heap: what one request allocates',
        '  large: a server on a store that is filled to parts of a large one',
        '  storages: the storage drivers alone',
        'With --against, --nodes or --stores one of these, or a part of one (default: all of them):',
        ...lines(COMPARED),
      ].join('\n'),
    },
    { word: '--seconds=NUMBER', text: `How long each load runs, at most ${MOST_SECONDS}. Default: 5.` },
    {
      word: '--leases=NUMBER,…',
      text: `How many leases there are for leases and snapshot, in ascending order, at most ${MOST_LEASES}. Default: 100000.`,
    },
    {
      word: '--percent=NUMBER,…',
      text: `With --only=large: which parts of the large store are filled, in ascending order, at most ${MOST_PERCENT}. Default: 1,10,100.`,
    },
    {
      word: '--against=URL',
      text: [
        'Compares with another server of the same API, such as http://127.0.0.1:8200.',
        'The run makes mounts in it whose names begin with "bench", and removes them. Default: none.',
      ].join('\n'),
    },
    { word: '--token=TOKEN', text: 'With --against: a root token of that server. Default: the environment variable VAULT_TOKEN.' },
    {
      word: '--pid=NUMBER',
      text: `With --against: the process of that server on this machine, at most ${MOST_PID}. Default: its CPU time is not compared.`,
    },
    { word: '--our-workers=NUMBER', text: `With --against: how many workers our server has, at most ${MOST_WORKERS}. Default: 1.` },
    {
      word: '--workers=NUMBER,…',
      text: `Compares servers with these numbers of workers, at most ${MOST_WORKERS}. Needs Linux and root. Default: none.`,
    },
    { word: '--share=PERCENT', text: 'With --workers: the share of a core that each process has, at most 100. Default: 20.' },
    {
      word: '--connections=NUMBER',
      text: `With --workers: over how many connections they are called, at most ${MOST_CONNECTIONS}. Default: 32.`,
    },
    {
      word: '--nodes=FILE,…',
      text: 'Compares servers on these executables of Node.js. With --against: the one that runs our server. Default: the one that runs this.',
    },
    { word: '--stores=NAME,…', text: `Compares servers on these stores: ${STORE_NAMES.join(', ')}. Default: none.` },
    { word: '--rounds=NUMBER', text: `How many rounds a comparison has, at most ${MOST_ROUNDS}. Default: 3.` },
  ],
};

/** Several names a line. */
function lines(names: readonly string[]): string[] {
  const each = 7;
  return Array.from({ length: Math.ceil(names.length / each) }, (_, at) => `  ${names.slice(at * each, (at + 1) * each).join(', ')}`);
}

type Flag = (typeof FLAGS)[number];
type Flags = Readonly<Partial<Record<Flag, string>>>;

/** Each has servers compared, and nothing else done. */
const COMPARISONS = ['against', 'workers', 'nodes', 'stores'] as const satisfies readonly Flag[];
/** Flags that say how, and those of which one has to be there for it. */
const BESIDE: Readonly<Partial<Record<Flag, readonly Flag[]>>> = {
  token: ['against'],
  pid: ['against'],
  'our-workers': ['against'],
  share: ['workers'],
  connections: ['workers'],
  rounds: COMPARISONS,
};

export interface BenchArguments {
  readonly seconds: number;
  readonly rounds: number;
  /** Numbers of leases, in ascending order. */
  readonly leases: readonly number[];
  /** Parts of a large store, in per cent and in ascending order. */
  readonly percents: readonly number[];
  readonly only: string | undefined;
  /** A server to compare with. */
  readonly against: { readonly address: URL; readonly token: string; readonly pid: number | undefined } | undefined;
  readonly ourWorkers: number;
  /** Numbers of workers to compare. */
  readonly workers: readonly number[] | undefined;
  /** The share of a core that each process of these servers has. */
  readonly share: number;
  /** Over which these servers are called. */
  readonly connections: number;
  readonly nodes: readonly string[] | undefined;
  readonly stores: readonly StoreName[] | undefined;
}

/** The arguments of `npm run bench`. Nothing is started for wrong ones: a misspelled flag would run everything, which takes an hour. @throws WrongArgument */
export function benchArguments(words: readonly string[], environment: NodeJS.ProcessEnv = process.env): BenchArguments {
  const flags = flagsIn(words, FLAGS, COMMAND);
  const {
    seconds = '5',
    rounds = '3',
    leases = '100000',
    percent = '1,10,100',
    share = '20',
    connections = '32',
    'our-workers': ours = '1',
  } = flags;
  requireOneRun(flags);
  const workersIn = (flag: string, text: string): number => countIn(flag, text, { most: MOST_WORKERS, example: 2 });
  return {
    seconds: amountIn('--seconds', seconds, { most: MOST_SECONDS, example: 5 }),
    rounds: countIn('--rounds', rounds, { most: MOST_ROUNDS, example: 3 }),
    leases: ascending(
      '--leases',
      leases.split(',').map((text) => countIn('--leases', text, { most: MOST_LEASES, example: 100_000 })),
    ),
    percents: ascending(
      '--percent',
      percent.split(',').map((text) => amountIn('--percent', text, { most: MOST_PERCENT, example: 10 })),
    ),
    only: onlyIn(flags),
    against: againstIn(flags, environment),
    ourWorkers: workersIn('--our-workers', ours),
    workers: flags.workers?.split(',').map((text) => workersIn('--workers', text)),
    share: amountIn('--share', share, { most: 100, example: 20 }) / 100,
    connections: countIn('--connections', connections, { most: MOST_CONNECTIONS, example: 32 }),
    nodes: flags.nodes?.split(',').map((file) => {
      if (existsSync(file)) return file;
      throw new WrongArgument(`--nodes: there is no file ${JSON.stringify(file)}; name executables of Node.js, separated by commas`);
    }),
    stores: flags.stores?.split(',').map((name) => nameIn('--stores', name, STORE_NAMES)),
  };
}

/** @throws WrongArgument where a flag would be left aside */
function requireOneRun(flags: Flags): void {
  const [first, second] = COMPARISONS.filter((name) => flags[name] !== undefined);
  const isOnOneNode = first === 'against' && second === 'nodes' && !flags.nodes!.includes(',');
  if (second !== undefined && !isOnOneNode) {
    const but = first === 'against' && second === 'nodes' ? ' unless --nodes names one executable, which runs ours' : '';
    throw new WrongArgument(`--${first} and --${second} cannot be used together${but}`);
  }
  for (const [name, hosts] of Object.entries(BESIDE) as [Flag, readonly Flag[]][]) {
    if (flags[name] === undefined || hosts.some((host) => flags[host] !== undefined)) continue;
    throw new WrongArgument(`--${name} is used with ${hosts.map((host) => `--${host}`).join(', ')} only`);
  }
  const { only = 'leases', leases, percent, workers } = flags;
  if (percent !== undefined && only !== 'large') throw new WrongArgument('--percent is used with --only=large only');
  if (leases !== undefined && (!COUNTED.includes(only) || first !== undefined)) {
    throw new WrongArgument(`--leases is used with ${COUNTED.map((name) => `--only=${name}`).join(', ')}, or without --only`);
  }
  if (workers !== undefined && flags.only !== undefined)
    throw new WrongArgument('--only cannot be used with --workers, which always measures the same');
}

/** What one size adds stays for the next, so that a smaller one cannot follow. */
function ascending(flag: string, sizes: readonly number[]): readonly number[] {
  if (sizes.every((size, at) => at === 0 || size > sizes[at - 1]!)) return sizes;
  const sorted = [...new Set(sizes)].sort((a, b) => a - b);
  throw new WrongArgument(`${flag}: each number must be greater than the one before it, as in ${flag}=${sorted.join(',')}`);
}

function onlyIn({ only, against, nodes, stores }: Flags): string | undefined {
  if (only === undefined) return undefined;
  const isCompared = against !== undefined || nodes !== undefined || stores !== undefined;
  const names = isCompared ? COMPARED : [...MEASURED, ...ALONE];
  const inPart = isCompared ? COMPARED : MEASURED;
  const isFound = inPart.some((name) => name.includes(only)) || (!isCompared && ALONE.includes(only));
  if (isFound) return only;
  const part = isCompared ? 'one of these or a part of one' : `one of these, or a part of one up to ${JSON.stringify(MEASURED.at(-1))}`;
  throw new WrongArgument(`--only: nothing that is measured has ${JSON.stringify(only)} in its name; name ${part}: ${names.join(', ')}`);
}

function againstIn({ against, token, pid }: Flags, environment: NodeJS.ProcessEnv): BenchArguments['against'] {
  if (against === undefined) return undefined;
  const address = URL.canParse(against) ? new URL(against) : undefined;
  if (address?.protocol !== 'http:') {
    throw new WrongArgument(
      `--against: ${JSON.stringify(against)} is not an http:// URL, such as http://127.0.0.1:8200; encryption would be measured too`,
    );
  }
  const root = token ?? environment['VAULT_TOKEN'];
  if (root === undefined || root === '')
    throw new WrongArgument('--token, or the environment variable VAULT_TOKEN, must be a root token of the server to compare with');
  return { address, token: root, pid: pid === undefined ? undefined : countIn('--pid', pid, { most: MOST_PID, example: 4_321 }) };
}
