import { mariadbMissing, slapdMissing, startPostgres } from '@strongroom/lab';
import { orRefuse } from '../arguments.ts';
import { exitOnSignals } from '../exit-on-signals.ts';
import { COMMON_SCENARIOS } from './common-scenarios.ts';
import { CrashRun } from './crash-run.ts';
import type { CrashStore } from './crash-store.ts';
import { CRASH_STORES, type CrashStoreKind } from './crash-stores.ts';
import { CrashTable } from './crash-table.ts';
import { databaseTarget } from './database-target.ts';
import { DIRECTORY_SCENARIOS, directoryTarget } from './directory-target.ts';
import { KillRun, type KillTarget } from './kill-run.ts';
import { SealKills } from './seal-kills.ts';
import { MigrationKills } from './migration-kills.ts';
import { postgresStore } from './postgres-store.ts';
import { SnapshotKills, type SnapshotStore } from './snapshot-kills.ts';
import { tortureArguments } from './torture-arguments.ts';
import { tortureMariadb, torturePostgres } from './torture-database.ts';
import { tortureSlapd } from './torture-directory.ts';
import { tortureEtcd } from './torture-etcd.ts';

/**
 * `npm run torture [-- kills [part]]`: the crash tests, each with as many kills as asked. `stores`: only those under mixed load, on each store; `lmdb`,
 * `postgresql`, `etcd`: on that store; `workers`: on LMDB, with two workers; `members`: only faults of the members of etcd; `snapshots`: only those of snapshots,
 * restores and migrations.
 */
const { kills, only } = orRefuse('torture', () => tortureArguments(process.argv.slice(2)));
exitOnSignals();
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const problems: string[] = [];
const table = new CrashTable();

async function mixedLoad(store: CrashStore): Promise<void> {
  const postgres = await startPostgres({ settings: ['max_connections=100'] });
  const run = await CrashRun.create(postgres, store);
  const what = `mixed load on ${store.name}`;
  try {
    const report = await run.run(kills, {
      told: (kill, recovery) => {
        if (kill % 10 === 0) say(`${what}: ${kill} of ${kills} kills, ${recovery}`);
      },
    });
    const { faults, writes, credentials, pages, lostPages } = report;
    say(
      `${what}: ${report.kills} kills, ${report.workerKills} of them of one of its processes, ${writes} acknowledged writes, ${credentials} credentials kept`,
    );
    for (const [name, times] of faults) say(`${what}: ${times} times ${name}`);
    for (const reason of report.givenUp) say(`${what}: a start was given up: ${reason}`);
    if (pages)
      say(
        `${what}: ${pages.used} pages in use, ${pages.free} free, ${pages.leaked.length} leaked; lmdb told ${lostPages} times of pages that it lost`,
      );
    table.add(store.name, report);
    problems.push(...report.problems.map((problem) => `${what}: ${problem}`));
  } finally {
    await run.dispose();
    await store.stop();
    await postgres.stop();
  }
}

/** A run that cannot go on is a problem; those on other stores go on. */
async function onStore({ name, missing, start }: CrashStoreKind): Promise<void> {
  const reason = missing();
  if (reason !== undefined) return say(`nothing was killed over ${name}: ${reason}`);
  try {
    await mixedLoad(await start());
  } catch (error) {
    say(`mixed load on ${name} could not go on`);
    problems.push(`mixed load on ${name}: ${error instanceof Error ? error.stack : String(error)}`);
  }
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
const chosen = CRASH_STORES.filter(({ name }) => only === undefined || only === 'stores' || only === name);
for (const kind of chosen) await onStore(kind);
if (chosen.length > 0) say(`\n${table}\n`);
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
