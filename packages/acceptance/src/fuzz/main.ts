import { orRefuse } from '../arguments.ts';
import { exitOnSignals } from '../exit-on-signals.ts';
import { fuzzArguments } from './fuzz-arguments.ts';
import { fuzz } from './fuzz-run.ts';
import { findSchemathesis } from './schemathesis.ts';

/** `npm run fuzz [-- seconds [seed]]`: schemathesis on the OpenAPI document of a server with every engine. */
const { seconds, seed = 1 + Math.floor(Math.random() * (2 ** 31 - 1)) } = orRefuse('fuzz', () => fuzzArguments(process.argv.slice(2)));
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const python = findSchemathesis();
if (python === undefined) {
  say('schemathesis is not installed: npm run fuzz installs it where python3 with venv is there');
  process.exit(1);
}
exitOnSignals();
say(`Fuzzing for ${seconds} s with seed ${seed} …`);
const report = await fuzz({ python, seconds, seed });
if (process.env['FUZZ_VERBOSE']) say(report.printed);
for (const reason of report.missing) say(`left out: ${reason}`);
const statuses = [...report.statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
const { operations, reached, succeeded } = report.coverage;
say(`${operations} operations, ${reached} of them reached, ${succeeded} with success; ${report.requests} requests`);
say(`answers by status: ${statuses.join(', ')}`);
if (process.env['FUZZ_VERBOSE']) say(`never with success: ${report.coverage.refused().join(', ')}`);
for (const [reason, troubles] of report.outside) say(`${troubles.length} outside failures: ${reason}`);
for (const problem of report.problems) say(`PROBLEM: ${problem}`);
process.exit(report.problems.length > 0 ? 1 : 0);
