import { etcdMissing, mariadbMissing, slapdMissing, startPostgres } from '@strongroom/lab';
import { COMMON_SCENARIOS } from './common-scenarios.ts';
import { CrashRun } from './crash-run.ts';
import { databaseTarget } from './database-target.ts';
import { DIRECTORY_SCENARIOS, directoryTarget } from './directory-target.ts';
import { EtcdFaults } from './etcd-faults.ts';
import { KillRun, type KillTarget } from './kill-run.ts';
import { SealKills } from './seal-kills.ts';
import { SnapshotKills } from './snapshot-kills.ts';
import { tortureMariadb, torturePostgres } from './torture-database.ts';
import { tortureSlapd } from './torture-directory.ts';

/** `npm run torture [-- kills]`: the crash tests, each with as many kills as asked. */
const kills = Number(process.argv[2] ?? 200);
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const problems: string[] = [];

async function mixedLoad(): Promise<void> {
  const postgres = await startPostgres({ settings: ['max_connections=100'] });
  const run = await CrashRun.create(postgres);
  try {
    const report = await run.run(kills, Math.random, (round) => {
      if (round % 10 === 0) say(`mixed load: ${round} of ${kills} kills`);
    });
    say(`mixed load: ${report.rounds} kills, ${report.writes} acknowledged writes, ${report.credentials} credentials kept`);
    problems.push(...report.problems);
  } finally {
    await run.dispose();
    await postgres.stop();
  }
}

async function changes<Name extends string>(target: KillTarget<Name>, scenarios: readonly Name[]): Promise<void> {
  let run: KillRun<Name> | undefined;
  try {
    run = await KillRun.create(target);
    for (const scenario of scenarios) {
      const report = await run.run(scenario, kills, Math.random);
      say(`${scenario} on ${target.name}: ${report.kills} kills, ${report.acknowledged} changes answered, ${report.cutOff} cut off`);
      problems.push(...report.problems);
    }
    problems.push(...(await run.settle()));
  } finally {
    await run?.dispose();
    await target.stop();
  }
}

async function snapshots(): Promise<void> {
  const run = await SnapshotKills.create();
  try {
    const report = await run.run(kills, Math.random);
    say(
      `snapshots and restores: ${report.kills} kills, ${report.taken} snapshots whole, ${report.restored} restores answered, ${report.cutOff} cut off`,
    );
    problems.push(...report.problems);
  } finally {
    await run.dispose();
  }
}

/** Longer without any answer, and a fault of one member would be an outage. */
const LONGEST_GAP_MS = 4_000;

async function etcd(): Promise<void> {
  const missing = etcdMissing();
  if (missing !== undefined) return say(`no member of etcd was killed: ${missing}`);
  const run = await EtcdFaults.create();
  try {
    const report = await run.run(Math.ceil(kills / 4), Math.random);
    say(
      `etcd: ${report.faults} members killed, frozen and cut off, ${report.writes} acknowledged writes, ${report.reads} reads, ` +
        `${report.unknown} unknown, longest gap ${report.longestGap} ms`,
    );
    problems.push(...report.problems);
    if (report.longestGap > LONGEST_GAP_MS) problems.push(`etcd: nothing was answered for ${report.longestGap} ms`);
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

await mixedLoad();
await etcd();
await snapshots();
await seals();
await changes(databaseTarget(await torturePostgres()), COMMON_SCENARIOS);
if (mariadbMissing === undefined) await changes(databaseTarget(await tortureMariadb()), COMMON_SCENARIOS);
else say(`nothing was killed over MariaDB: ${mariadbMissing}`);
if (slapdMissing === undefined) await changes(directoryTarget(await tortureSlapd()), DIRECTORY_SCENARIOS);
else say(`nothing was killed over slapd: ${slapdMissing}`);
for (const problem of problems) say(`PROBLEM: ${problem}`);
process.exitCode = problems.length > 0 ? 1 : 0;
