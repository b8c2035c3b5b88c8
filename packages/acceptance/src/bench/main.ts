import { execFileSync } from 'node:child_process';
import { motoMissing, slapdMissing } from '@strongroom/lab';
import { orRefuse, refuse } from '../arguments.ts';
import { exitOnSignals } from '../exit-on-signals.ts';
import { compare } from './against.ts';
import { appRoleLogins } from './approle-login.ts';
import { awsCredentials } from './aws.ts';
import { benchArguments, SUITES, type StoreName, type Suite } from './bench-arguments.ts';
import { BenchServer } from './bench-server.ts';
import { databaseCredentials } from './database.ts';
import { eventWrites } from './event-writes.ts';
import { hostileBodies } from './hostile-bodies.ts';
import { requestText } from './http-connection.ts';
import { jwtLogins } from './jwt-login.ts';
import { kubernetesLogins } from './kubernetes-login.ts';
import { ldapAccounts } from './ldap-secrets.ts';
import { logins } from './login.ts';
import { load, once, repeat, type Figures, type Operation } from './load.ts';
import { growthOf, largeSizes, type LargeSize } from './large.ts';
import { mount, MOUNTS } from './mounts.ts';
import { leavePeer, removeMounts, requirePeer, type Peer } from './peer.ts';
import { plainStore, type PlainStore } from './plain-store.ts';
import { memoryParts, memoryText, residentMib } from './process-usage.ts';
import { alternate } from './rounds.ts';
import { storages } from './storages.ts';
import { snapshotUnderLoad } from './snapshot.ts';
import { transitBatches } from './transit-batches.ts';
import { userpassLogins } from './userpass-login.ts';
import { DirectCore } from './direct.ts';
import { workersCompared } from './workers.ts';
import { fill, workloads, type WorkloadName } from './workloads.ts';

/**
 * `npm run bench [-- --seconds=5] [--leases=100000,1000000] [--only=kv]`: operations per second, CPU per operation and memory of a
 * server on LMDB, driven from this process over 32 connections on loopback. With `--against=URL --token=…` it drives that server as well, in alternating
 * rounds, and prints ratios; `--pid=N` names the process of that server, for its CPU time, `--our-workers=N` gives ours so many workers, and `--nodes=FILE` names the Node.js that runs it. With
 * `--nodes=FILE,FILE` it runs a server on each of these Node.js executables and compares them with the first in the same way. `--workers=1,2,4` compares servers with so many
 * workers, each held to `--share=20` per cent of a core; it needs Linux and root. `--stores=lmdb,postgresql,etcd` compares servers on different stores; `--only=storages`
 * drives the storage drivers alone. `--only=heap` prints what one request allocates, and which functions allocate it. `--only=large --percent=1,10,100` fills a store to each of these parts of a large one, and prints how each figure grows.
 */
const {
  seconds,
  rounds,
  leases: scales,
  percents,
  only,
  against,
  ourWorkers,
  workers,
  share,
  connections,
  nodes,
  stores,
} = orRefuse('bench', () => benchArguments(process.argv.slice(2)));
let leaving: Promise<void> | undefined;
exitOnSignals(async () => {
  if (against !== undefined) await leave(against);
});
const out = process.stdout;
const roundsText = rounds === 1 ? '1 round' : `${rounds} rounds`;

const nodeOfOurs = against && nodes ? versionOf(nodes[0]!).slice(1) : process.versions.node;
out.write(`node ${nodeOfOurs}, ${connections} connections, ${seconds} s each\n\n`);
if (against !== undefined) {
  await requirePeer(against).catch((error: unknown) => refuse('bench', error));
  await compareWith(against);
  process.exit(0);
}
if (workers !== undefined) {
  await compareWorkers(workers);
  process.exit(0);
}
if (nodes !== undefined) {
  await compareNodes(nodes);
  process.exit(0);
}
if (stores !== undefined) {
  await compareStores(stores);
  process.exit(0);
}
if (only === 'large') {
  await large();
  process.exit(0);
}
if (only === 'storages') {
  out.write('load                  callers  storage       ops/s  CPU µs  p50 ms\n');
  for (const { load: name, callers, storage, rate, cpu, median } of await storages(seconds))
    out.write(
      `${name.padEnd(20)} ${String(callers).padStart(8)}  ${storage.padEnd(11)} ${String(rate).padStart(7)} ${String(cpu).padStart(7)} ${median.toFixed(2).padStart(7)}\n`,
    );
  process.exit(0);
}
out.write('workload          ops/s  CPU µs  main µs   GC µs  ops/txn   p50 ms   p99 ms  RSS MiB\n');
const server = await BenchServer.start();
try {
  const { target } = server;
  await mount(target, MOUNTS.secrets, 'kv', { version: '2' });
  const all = workloads(target);
  // Nothing is measured cold, and every key is there to be read: by loads beside others too.
  await load('fill', target, fill(target.token), { count: 1_000 });
  const chosen = (Object.entries(all) as [WorkloadName, Operation][]).filter(([name]) => only === undefined || name.includes(only));
  if (chosen.length > 0) await requests(server, chosen);
  const suites: Readonly<Record<Suite, () => Promise<void>>> = {
    events: async () => followed(server, all['kv write']!),
    'approle login': async () => appRole(server),
    'jwt login': async () => jwt(server),
    'userpass login': async () => userpass(server),
    'ldap login': async () => login(server),
    'kubernetes login': async () => kubernetes(server),
    'pg creds': async () => credentials(server),
    'ldap accounts': async () => accounts(server),
    'aws creds': async () => cloud(server),
    'transit batches': async () => batches(server),
    'hostile bodies': async () => stalls(server),
  };
  for (const name of SUITES) if (only === undefined || name.includes(only)) await suites[name]();
  if (only === undefined || only === 'leases') await leases(server);
  if (only === 'snapshot') await snapshots(server);
  if (only === 'heap') await heap(server, all);
} finally {
  await server.stop();
}

/** Requests that the server answers by itself, over HTTP and without it. */
async function requests({ target }: BenchServer, chosen: readonly [WorkloadName, Operation][]): Promise<void> {
  const direct = await DirectCore.start();
  try {
    for (const [name, operation] of chosen) {
      await load(name, target, operation, { seconds: 1 });
      row(await load(name, target, operation, { seconds }));
      row({ ...(await direct.run(name, seconds)), name: '  no HTTP' });
    }
  } finally {
    await direct.stop();
  }
}

/** Each process has a share of a core: by default a fifth, so that four workers leave most of two cores to the load. */
async function compareWorkers(counts: readonly number[]): Promise<void> {
  out.write(`medians of ${roundsText}, each process held to ${share * 100} % of a core\n`);
  out.write(`workload      ${counts.map((count) => `${count} ${count === 1 ? 'worker' : 'workers'}`.padStart(18)).join('')}\n`);
  for await (const { name, rates } of workersCompared(counts, { share, seconds, rounds, connections })) {
    const columns = rates.map((rate) => `${rate}/s, ×${(rate / rates[0]!).toFixed(2)}`.padStart(18));
    out.write(`${name.padEnd(14)}${columns.join('')}\n`);
  }
}

/** Once: a signal may come while the run ends. */
async function leave(peer: Peer): Promise<void> {
  await (leaving ??= leavePeer(peer));
}

/** Medians of alternating rounds of our server and of another one. */
async function compareWith(peer: Peer): Promise<void> {
  const left = await removeMounts(peer);
  if (left.length > 0)
    out.write(`removed the mounts that an earlier run left in the server at ${peer.address.origin}: ${left.join(', ')}\n\n`);
  out.write(`medians of ${roundsText.padEnd(8)}               ops/s                    CPU µs\n`);
  out.write('workload          ours   theirs   ratio     ours   theirs   ratio\n');
  const ours = await BenchServer.start({ workers: ourWorkers, ...(nodes && { node: nodes[0]! }) });
  try {
    for await (const { name, ...sides } of compare(ours.target, peer, { seconds, rounds, only })) {
      const cpu = [sides.ours.cpuMicros, sides.theirs.cpuMicros] as const;
      const cpuRatio = cpu[0] === undefined || cpu[1] === undefined ? undefined : cpu[0] / cpu[1];
      const columns = [
        [sides.ours.perSecond, 7],
        [sides.theirs.perSecond, 8],
        [(sides.ours.perSecond / sides.theirs.perSecond).toFixed(2), 7],
        [cpu[0]?.toFixed(0) ?? '', 8],
        [cpu[1]?.toFixed(0) ?? '', 8],
        [cpuRatio?.toFixed(2) ?? '', 7],
      ] as const;
      out.write(`${name.padEnd(15)}${columns.map(([value, width]) => String(value).padStart(width)).join(' ')}\n`);
    }
  } finally {
    await leave(peer);
    await ours.stop();
  }
}

/** Such as v20.19.0. */
function versionOf(node: string): string {
  return execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
}

/** Medians of alternating rounds of our server on several versions of Node.js. */
async function compareNodes(files: readonly string[]): Promise<void> {
  const servers: NamedServer[] = [];
  try {
    for (const node of files) {
      servers.push({ name: versionOf(node), server: await BenchServer.start({ node }) });
    }
    await compareServers(servers);
  } finally {
    for (const { server } of servers) await server.stop();
  }
}

/** Medians of alternating rounds of our server on several stores, each of which runs on this machine. */
async function compareStores(names: readonly StoreName[]): Promise<void> {
  const opened: PlainStore[] = [];
  const servers: NamedServer[] = [];
  try {
    for (const name of names) {
      const { stanza } = opened[opened.push(await plainStore(name)) - 1]!;
      servers.push({ name, server: await BenchServer.start(name === 'lmdb' ? {} : { stanza }) });
    }
    await compareServers(servers);
  } finally {
    for (const { server } of servers) await server.stop();
    for (const store of opened) await store.stop();
  }
}

interface NamedServer {
  readonly name: string;
  readonly server: BenchServer;
}

/** Prints the medians of each, and their ratios to those of the first. */
async function compareServers(servers: readonly NamedServer[]): Promise<void> {
  out.write(`medians of ${roundsText.padEnd(8)}    ops/s   ratio  CPU µs   ratio  main µs  RSS MiB\n`);
  const targets = servers.map(({ server }) => server.target);
  for await (const { name, medians } of alternate(targets, { seconds, rounds, only })) {
    const first = medians[0]!;
    for (const [index, { perSecond, cpuMicros, mainMicros, residentMib: resident }] of medians.entries()) {
      const columns = [
        [perSecond, 8],
        [(perSecond / first.perSecond).toFixed(2), 7],
        [cpuMicros.toFixed(0), 7],
        [(cpuMicros / first.cpuMicros).toFixed(2), 7],
        [mainMicros.toFixed(0), 8],
        [resident, 8],
      ] as const;
      out.write(
        `${name.padEnd(15)} ${servers[index]!.name.padEnd(10)}${columns.map(([value, width]) => String(value).padStart(width)).join(' ')}\n`,
      );
    }
  }
}

async function credentials(bench: BenchServer): Promise<void> {
  const figures = await databaseCredentials(bench, seconds);
  row(figures.creation);
  row(figures.creationAndRevocation);
  out.write(`  CREATE ROLE from a client that does nothing else, before and after: ${figures.bareCreationsPerSecond}/s\n`);
  const { count, seconds: took, meanwhile, borrowers } = figures.rotations;
  out.write(`  ${count} static roles due in the same second: rotated after ${took.toFixed(1)} s; meanwhile ${meanwhile.operations} creds `);
  out.write(`over ${borrowers} connections, ${meanwhile.perSecond}/s, p99 ${meanwhile.p99.toFixed(1)} ms\n`);
}

async function followed(bench: BenchServer, write: Operation): Promise<void> {
  for (const subscribers of [0, 4, 40]) {
    const { figures, received } = await eventWrites(bench.target, { write, seconds, subscribers });
    row(figures);
    if (subscribers > 0) out.write(`  ${received} events received\n`);
  }
}

async function appRole(bench: BenchServer): Promise<void> {
  const figures = await appRoleLogins(bench, seconds);
  row(figures.login);
  row(figures.lastUse);
}

async function jwt(bench: BenchServer): Promise<void> {
  const { login: durable, batch, batchEs256, bareCheckMicros } = await jwtLogins(bench, seconds);
  for (const one of [durable, batch, batchEs256]) row(one);
  const share = (figures: Figures, check: number): string => `${Math.round((100 * check) / figures.cpuMicros)} %`;
  const { RS256, ES256 } = bareCheckMicros;
  out.write(
    `  the signature check alone: RS256 ${RS256} µs, which is ${share(durable, RS256)} of a login and ${share(batch, RS256)} of one with a `,
  );
  out.write(`batch token; ES256 ${ES256} µs, ${share(batchEs256, ES256)}\n`);
}

async function userpass(bench: BenchServer): Promise<void> {
  const figures = await userpassLogins(bench, seconds);
  row(figures.login);
  out.write(`  hashes of that cost, two at a time in a process that does nothing else: ${figures.hashesPerSecond.toFixed(1)}/s\n`);
  row(figures.meanwhile);
}

async function login(bench: BenchServer): Promise<void> {
  if (slapdMissing !== undefined) return void out.write(`ldap login is left out: ${slapdMissing}\n`);
  const figures = await logins(bench, seconds);
  row(figures.login);
  const share = Math.round((100 * figures.login.perSecond) / figures.directoryPerSecond);
  out.write(`  the directory alone, asked the same by clients that do nothing else, before and after: ${figures.directoryPerSecond}/s; `);
  out.write(`the logins reach ${share} % of it\n`);
}

async function kubernetes(bench: BenchServer): Promise<void> {
  const { login: logins, requests, connections, mostAtOnce } = await kubernetesLogins(bench, seconds);
  row(logins);
  out.write(`  ${requests} reviews over ${connections} connections, at most ${mostAtOnce} at one time\n`);
}

async function accounts(bench: BenchServer): Promise<void> {
  if (slapdMissing !== undefined) return void out.write(`ldap accounts are left out: ${slapdMissing}\n`);
  const figures = await ldapAccounts(bench, seconds);
  row(figures.creation);
  row(figures.creationAndRevocation);
  row(figures.loan);
  out.write(`  ${figures.rotations.count} static roles due in the same second: rotated after ${figures.rotations.seconds.toFixed(1)} s\n`);
  out.write(
    `  an ldapjs client that only adds an entry and deletes it, before and after: ${figures.barePairsPerSecond}/s at ${figures.barePairCpuMicros} µs\n`,
  );
}

async function cloud(bench: BenchServer): Promise<void> {
  if (motoMissing !== undefined) return void out.write(`aws creds are left out: ${motoMissing}\n`);
  const figures = await awsCredentials(bench, seconds);
  for (const one of [figures.user, figures.session, figures.slowSession, figures.motoUserAndRevocation]) row(one);
  out.write(`  the same calls from the SDK alone: a user ${figures.bareUserCpuMicros} µs, a session ${figures.bareSessionCpuMicros} µs\n`);
  out.write(`  the slow STS takes ${figures.delay} ms, and had ${figures.mostAtOnce} calls at one time\n`);
}

/** How long others wait while batches of the transit engine are worked on. */
async function batches(bench: BenchServer): Promise<void> {
  out.write('\ntransit batch    batches/s   longest sys/health ms   busiest ms\n');
  for await (const { figures, longest, busiest } of transitBatches(bench.target, seconds))
    out.write(
      `${figures.name.padEnd(16)} ${String(figures.perSecond).padStart(9)} ${longest.toFixed(1).padStart(23)} ${busiest.toFixed(1).padStart(12)}\n`,
    );
}

/** How long others wait while somebody sends a body that costs much. */
async function stalls(bench: BenchServer): Promise<void> {
  out.write('\nhostile body                  status   longest sys/health ms   busiest ms   took ms   RSS MiB\n');
  await hostileBodies(bench, ({ name, status, longest, busiest, took, residentMib: resident }) => {
    out.write(
      `${name.padEnd(30)} ${String(status).padStart(5)} ${longest.toFixed(1).padStart(23)} ${busiest.toFixed(1).padStart(12)} ${took.toFixed(0).padStart(9)} ${String(resident).padStart(9)}\n`,
    );
  });
}

/** `ops/txn`: operations that shared a transaction of the store. */
function row(figures: Figures): void {
  const { name, perSecond, cpuMicros, mainMicros, gcMicros, perTransaction, p50, p99, residentMib: resident } = figures;
  const columns = [
    [perSecond, 7],
    [Math.round(cpuMicros), 7],
    [Math.round(mainMicros), 8],
    [gcMicros.toFixed(1), 7],
    [perTransaction?.toFixed(1) ?? '', 8],
    [p50.toFixed(2), 8],
    [p99.toFixed(2), 8],
    [resident, 8],
  ] as const;
  out.write(`${name.padEnd(15)}${columns.map(([value, width]) => String(value).padStart(width)).join(' ')}\n`);
}

/** What one request allocates, and the functions that allocate most of it. */
async function heap({ target, meter }: BenchServer, all: Readonly<Record<WorkloadName, Operation>>): Promise<void> {
  const shown = 15;
  for (const name of ['lookup', 'kv read', 'kv write', 'token create'] as const) {
    await load(name, target, all[name], { seconds: 1 });
    let operations = 0;
    const allocators = await meter.allocations(async () => {
      operations = (await load(name, target, all[name], { seconds })).operations;
    });
    const each = (bytes: number): string => (bytes / 1_024 / operations).toFixed(2);
    out.write(`\n${name}: ${each(allocators.reduce((sum, { bytes }) => sum + bytes, 0))} KiB each\n`);
    for (const { name: allocator, bytes } of allocators.slice(0, shown)) out.write(`${each(bytes).padStart(8)}  ${allocator}\n`);
  }
}

/** Snapshots of as many leases, with nothing else measured. */
async function snapshots(bench: BenchServer): Promise<void> {
  let made = 0;
  for (const scale of scales) {
    out.write(`\n${scale} token leases\n`);
    const body = '{"policies":["default"],"ttl":"24h"}';
    await load('create', bench.target, repeat(requestText('POST', '/v1/auth/token/create-orphan', bench.target.token, body)), {
      count: scale - made,
    });
    made = scale;
    await snapshot(bench);
  }
}

/** How long a snapshot takes while others read and write, and what it costs them. */
async function snapshot(bench: BenchServer): Promise<void> {
  for (const name of ['kv read', 'kv write'] as const) {
    const {
      seconds: took,
      mib,
      alone,
      meanwhile,
      residentMib: resident,
    } = await snapshotUnderLoad(bench.target, workloads(bench.target)[name]!, seconds);
    const share = Math.round((100 * meanwhile.perSecond) / alone);
    out.write(
      `  a snapshot of ${mib.toFixed(0)} MiB in ${took.toFixed(1)} s; ${name} meanwhile ${meanwhile.perSecond}/s, alone ${alone}/s: ${share} %; `,
    );
    out.write(`p99 ${meanwhile.p99.toFixed(1)} ms; resident at most ${resident} MiB\n`);
  }
}

/** How a server fares on a store of one size after the other. */
async function large(): Promise<void> {
  const bench = await BenchServer.start();
  const sizes: LargeSize[] = [];
  try {
    for await (const size of largeSizes(bench, percents)) {
      sizes.push(size);
      out.write(`${size.percent} %: ${JSON.stringify(size.data)}\n  made in s: ${JSON.stringify(size.made)}\n`);
      out.write(`  after the start ${memoryText(size.started)}\n  after the rest ${memoryText(size.ended)}\n`);
      for (const { name, millis, hold } of size.figures)
        out.write(`  ${name.padEnd(36)} ${millis.toFixed(1).padStart(10)} ms  ${hold === undefined ? '' : `held ${hold.toFixed(1)} ms`}\n`);
    }
  } finally {
    await bench.stop();
  }
  const [first, last] = [sizes[0], sizes.at(-1)];
  if (!first || !last || first === last) return;
  out.write('\ngrowth\n');
  for (const [index, { name, millis }] of first.figures.entries()) {
    const later = last.figures[index]!;
    out.write(`  ${name.padEnd(36)} ${growthOf({ ...first, millis }, { ...last, millis: later.millis })}\n`);
  }
}

/** What many leases cost: memory, start-up, ending them by prefix, and many that end in the same second. */
async function leases(bench: BenchServer): Promise<void> {
  let made = 0;
  const create = async (count: number, body: string): Promise<Figures> =>
    load('create', bench.target, repeat(requestText('POST', '/v1/auth/token/create-orphan', bench.target.token, body)), { count });
  for (const scale of scales) {
    out.write(`\n${scale} token leases\n`);
    const figures = await create(scale - made, '{"policies":["default"],"ttl":"24h"}');
    made = scale;
    out.write(`  created at ${figures.perSecond}/s; ${memoryText(memoryParts(bench.target.pid))} right after\n`);
    const ready = await bench.restart();
    out.write(`  restarted: ready ${(ready / 1_000).toFixed(2)} s after its start; resident ${residentMib(bench.target.pid)} MiB\n`);
    const read = await load('kv read', bench.target, workloads(bench.target)['kv read']!, { seconds: Math.min(seconds, 3) });
    out.write(`  kv read among them ${read.perSecond}/s; resident ${read.residentMib} MiB\n`);
    await snapshot(bench);
  }

  out.write('\n20000 token leases revoked by prefix\n');
  await once(bench.target, 'POST', '/v1/auth/token/roles/batchjob', { orphan: true });
  const forPrefix = requestText('POST', '/v1/auth/token/create/batchjob', bench.target.token, '{"policies":["default"],"ttl":"24h"}');
  await load('create', bench.target, repeat(forPrefix), { count: 20_000 });
  const began = performance.now();
  await once(bench.target, 'PUT', '/v1/sys/leases/revoke-prefix/auth/token/create/batchjob', {});
  out.write(`  gone after ${((performance.now() - began) / 1_000).toFixed(1)} s\n`);

  out.write('\n20000 token leases that end in the same second, while others read\n');
  const due = Date.now() + 15_000;
  const soon = (): string =>
    requestText(
      'POST',
      '/v1/auth/token/create/batchjob',
      bench.target.token,
      JSON.stringify({ policies: ['default'], ttl: Math.max(1, Math.round((due - Date.now()) / 1_000)) }),
    );
  await load('create', bench.target, async (connection, random) => repeat(soon())(connection, random), { count: 20_000 });
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - Date.now())));
  const ended = performance.now();
  const reading = load('kv read', bench.target, workloads(bench.target)['kv read']!, { connections: 4, seconds: 10 });
  let left = Infinity;
  while (left > 0 && performance.now() - ended < 60_000) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    left = await remaining(bench);
  }
  out.write(`  gone ${((performance.now() - ended) / 1_000).toFixed(1)} s after they were due\n`);
  const reads = await reading;
  out.write(`  reads meanwhile: ${reads.perSecond}/s over 4 connections, p99 ${reads.p99.toFixed(1)} ms\n`);
}

async function remaining(bench: BenchServer): Promise<number> {
  try {
    const answer = await once(bench.target, 'GET', '/v1/sys/leases/lookup/auth/token/create/batchjob?list=true&limit=1');
    return (answer.json as unknown as { data: { keys: string[] } }).data.keys.length;
  } catch (error) {
    if (error instanceof Error && error.message.includes('404')) return 0;
    throw error;
  }
}
