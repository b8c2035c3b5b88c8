import { startPostgres } from '@strongroom/lab';
import { CrashRun } from './crash-run.ts';

/** `npm run torture [-- rounds]`: the crash test, as often as asked. */
const rounds = Number(process.argv[2] ?? 200);
const postgres = await startPostgres({ settings: ['max_connections=100'] });
const run = await CrashRun.create(postgres);
try {
  const report = await run.run(rounds, Math.random, (round) => {
    if (round % 10 === 0) process.stdout.write(`${round} of ${rounds} kills survived\n`);
  });
  process.stdout.write(`${report.rounds} kills, ${report.writes} acknowledged writes, ${report.credentials} credentials kept\n`);
  for (const problem of report.problems) process.stdout.write(`PROBLEM: ${problem}\n`);
  process.exitCode = report.problems.length > 0 ? 1 : 0;
} finally {
  await run.dispose();
  await postgres.stop();
}
