// Which tests a run takes when it does not take all: those that a change is likely to break, or the quick ones of some packages.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { root } from './setup.mjs';

/** What the chosen tests may take together, in seconds of one worker: well under a minute with the type check. */
const BUDGET = 75;
/** What a file takes that `jest.durations.json` does not name. */
const USUAL = 2;

function git(...words) {
  const { status, stdout } = spawnSync('git', words, { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.split('\n').filter((line) => line !== '') : [];
}

const seconds = JSON.parse(readFileSync(join(root, 'jest.durations.json'), 'utf8'));
const cost = (test) => seconds[test] ?? USUAL;

/** The test files, from the root, that jest finds for these words. */
function list(...words) {
  const args = [join('node_modules', 'jest', 'bin', 'jest.js'), '--listTests', '--json', ...words];
  const { stdout } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 });
  return JSON.parse(stdout).map((path) => relative(root, path));
}

/** What has changed since the branch left main, committed or not; on main itself, since the commit before the last. */
export function changedFiles() {
  const [head] = git('rev-parse', 'HEAD');
  const bases = ['main', 'origin/main'].flatMap((branch) => git('merge-base', branch, 'HEAD')).filter((base) => base !== head);
  const base = bases[0] ?? (git('status', '--porcelain').length > 0 ? 'HEAD' : 'HEAD~1');
  const files = new Set([...git('diff', '--name-only', base), ...git('ls-files', '--others', '--exclude-standard')]);
  return [...files].filter((file) => existsSync(join(root, file)));
}

/**
 * The tests of the changed packages that import what has changed: first those that have changed themselves, then those named like a
 * changed file, then the others, the quick ones first. Those of other packages and what exceeds the budget are for the whole run.
 * @returns paths of test files from the root, and how many related ones of these packages were not taken
 */
export function relatedTests(changed) {
  const sources = changed.filter((file) => /^(packages|examples)\/[^/]+\/(src|test)\/.*\.ts$/.test(file));
  if (sources.length === 0) return { chosen: [], left: 0 };
  const folders = new Set(sources.map((file) => file.split('/').slice(0, 2).join('/')));
  const names = new Set(sources.map((file) => basename(file, '.ts')));
  const rank = (test) => (changed.includes(test) ? 0 : names.has(basename(test, '.test.ts')) ? 1 : 2);
  const related = list('--findRelatedTests', ...sources, '--roots', ...folders).sort(
    (one, other) => rank(one) - rank(other) || cost(one) - cost(other),
  );
  let spent = 0;
  const chosen = related.filter((test) => (spent += cost(test)) <= BUDGET);
  return { chosen, left: related.length - chosen.length };
}

/** The tests in these folders of `packages` that take less than ten seconds each. */
export function quickTests(folders) {
  return list('--roots', ...folders.map((name) => join('packages', name))).filter((test) => cost(test) < 10);
}
