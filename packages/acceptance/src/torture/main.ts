import { etcdMissing, mariadbMissing, slapdMissing, startPostgres } from '@strongroom/lab';
import { COMMON_SCENARIOS } from './common-scenarios.ts';
import { CrashRun } from './crash-run.ts';
import { crashStore, type CrashStore } from './crash-store.ts';
import { databaseTarget } from './database-target.ts';
import { DIRECTORY_SCENARIOS, directoryTarget } from './directory-target.ts';
import { KillRun, type KillTarget } from './kill-run.ts';
import { SealKills } from './seal-kills.ts';
import { MigrationKills } from './migration-kills.ts';
import { postgresStore } from './postgres-store.ts';
import { SnapshotKills, type SnapshotStore } from './snapshot-kills.ts';
import { tortureMariadb, torturePostgres } from './torture-database.ts';
import { tortureSlapd } from './torture-directory.ts';
import { tortureEtcd } from './torture-etcd.ts';

/**
 * `npm run torture [-- kills [part]]`: the crash tests, each with as many kills as asked. `stores`: only those under mixed load, on each store; `lmdb`,
 * `postgresql`, `etcd`: on that store; `members`: only faults of the members of etcd; `snapshots`: only those of snapshots, restores and migrations.
 */
const only = process.argv[3];
const kills = Number(process.argv[2] ?? 200);
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const problems: string[] = [];

async function mixedLoad(store: CrashStore): Promise<void> {
  const postgres = await startPostgres({ settings: ['max_connections=100'] });
  const run = await CrashRun.create(postgres, store);
  const what = `mixed load on ${store.name}`;
  try {
    const report = await run.run(kills, Math.random, (round, recovery) => {
      if (round % 10 === 0) say(`${what}: ${round} of ${kills} kills, ${recovery}`);
    });
    const { rounds, faults, writes, credentials, lost, left, recovery } = report;
    say(
      `${what}: ${rounds} kills, ${faults} of them with a fault of the store, ${writes} acknowledged writes, ${credentials} credentials kept`,
    );
    say(`${what}: ${lost} writes lost, ${left} users left, ${recovery}`);
    problems.push(...report.problems.map((problem) => `${what}: ${problem}`));
  } finally {
    await run.dispose();
    await store.stop();
    await postgres.stop();
  }
}

const STORES = ['lmdb', 'postgresql', 'etcd'] as const;

async function onStore(name: (typeof STORES)[number]): Promise<void> {
  const missing = name === 'etcd' ? etcdMissing() : undefined;
  if (missing !== undefined) return say(`nothing was killed over etcd: ${missing}`);
  return mixedLoad(await crashStore(name));
}

async function changes<Name extends string>(target: KillTarget<Name>, scenarios: readonly Name[]): Promise<void> {
  let run: KillRun<Name> | undefined;
  try {
    run = await KillRun.create(target);
    for (const scenario of scenarios) {
      const report = await run.run(scenario, kills, Math.random);
      const { acknowledged, cutOff, recovery } = report;
      say(`${scenario} on ${target.name}: ${report.kills} kills, ${acknowledged} changes answered, ${cutOff} cut off, ${recovery}`);
      problems.push(...report.problems);
    }
    problems.push(...(await run.settle()));
  } finally {
    await run?.dispose();
    await target.stop();
  }
}

async function snapshots(on: string, store?: SnapshotStore): Promise<void> {
  const run = await SnapshotKills.create(store);
  try {
    const report = await run.run(kills, Math.random);
    say(
      `snapshots and restores on ${on}: ${report.kills} kills, ${report.taken} snapshots whole, ${report.scheduled} of the schedule, ${report.restored} restores answered, ${report.cutOff} cut off`,
    );
    problems.push(...report.problems);
  } finally {
    await run.dispose();
  }
}

async function snapshotsOnPostgres(): Promise<void> {
  const postgres = await startPostgres({});
  try {
    await snapshots('PostgreSQL', postgresStore(postgres));
  } finally {
    await postgres.stop();
  }
}

/** Most of a migration is spent waiting: a tenth of the kills. */
async function migrations(): Promise<void> {
  const run = await MigrationKills.create();
  try {
    const report = await run.run(Math.ceil(kills / 10), Math.random);
    say(`migrations: ${report.kills} kills, ${report.cutOff} cut off`);
    problems.push(...report.problems);
  } finally {
    await run.dispose();
  }
}

async function seals(): Promise<void> {
  const run = await SealKills.create(Math.random);
  try {
    const report = await run.run(kills);
    say(`seals and shares: ${report.kills} kills, ${report.answered} changes answered before`);
    problems.push(...report.problems);
  } finally {
    await run.dispose();
  }
}

if (only === 'members') {
  problems.push(...(await tortureEtcd(kills, say)));
  end();
  process.exit();
}
const chosen = STORES.filter((name) => only === undefined || only === 'stores' || only === name);
for (const name of chosen) await onStore(name);
if (only !== undefined && chosen.length > 0) {
  end();
  process.exit();
}
if (only === undefined) problems.push(...(await tortureEtcd(Math.ceil(kills / 4), say)));
await snapshots('LMDB');
await snapshotsOnPostgres();
await migrations();
if (only === 'snapshots') {
  end();
  process.exit();
}
await seals();
await changes(databaseTarget(await torturePostgres()), COMMON_SCENARIOS);
if (mariadbMissing === undefined) await changes(databaseTarget(await tortureMariadb()), COMMON_SCENARIOS);
else say(`nothing was killed over MariaDB: ${mariadbMissing}`);
if (slapdMissing === undefined) await changes(directoryTarget(await tortureSlapd()), DIRECTORY_SCENARIOS);
else say(`nothing was killed over slapd: ${slapdMissing}`);
end();

function end(): void {
  for (const problem of problems) say(`PROBLEM: ${problem}`);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
