import { mariadbMissing, startPostgres } from '@strongroom/lab';
import { CrashRun } from './crash-run.ts';
import { KillScenarios, SCENARIOS } from './kill-scenarios.ts';
import { tortureMariadb, torturePostgres, type TortureDatabase } from './torture-database.ts';

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

async function changes(start: () => Promise<TortureDatabase>): Promise<void> {
  const database = await start();
  const run = await KillScenarios.create(database);
  try {
    for (const scenario of SCENARIOS) {
      const report = await run.run(scenario, kills, Math.random);
      say(`${scenario} on ${database.name}: ${report.kills} kills, ${report.acknowledged} changes answered, ${report.cutOff} cut off`);
      problems.push(...report.problems);
    }
    problems.push(...(await run.settle()));
  } finally {
    await run.dispose();
    await database.stop();
  }
}

await mixedLoad();
await changes(torturePostgres);
if (mariadbMissing === undefined) await changes(tortureMariadb);
else say(`nothing was killed over MariaDB: ${mariadbMissing}`);
for (const problem of problems) say(`PROBLEM: ${problem}`);
process.exitCode = problems.length > 0 ? 1 : 0;
