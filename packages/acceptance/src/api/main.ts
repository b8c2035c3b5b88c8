import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisedEntries, reportOf, undocumented, writeReport } from './reports.ts';

/*
 * `npm run api` writes the reports of what the packages for others export; with `--check` it compares them instead, as `npm test` does. Needs a build.
 */

const check = process.argv.includes('--check');
const folder = await mkdtemp(join(tmpdir(), 'strongroom-api-'));
const faults: string[] = [];
try {
  for (const entry of promisedEntries) {
    const { name } = entry;
    const report = writeReport(entry, folder);
    const committed = existsSync(reportOf(entry)) ? readFileSync(reportOf(entry), 'utf8') : '';
    if (check && report !== committed) faults.push(`${name}: what it exports has changed: npm run api, and commit ${name}.api.md`);
    if (!check) writeFileSync(reportOf(entry), report);
    for (const symbol of undocumented(report)) faults.push(`${name}: ${symbol} is exported without a docstring`);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
console.log(faults.length === 0 ? `${promisedEntries.length} reports` : faults.join('\n'));
if (faults.length > 0) process.exitCode = 1;
