// `npm test`: installs what is missing, runs everything, and says what it left out and why.
// With `--changed`, the types are checked and the tests run that the change is likely to break: in less than a minute.
// With other words after `--`, only jest runs, with these words: `npm test -- packages/kv`.
import { fork, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { changedFiles, quickTests, relatedTests } from './test-selection.mjs';
import { installNewestNode, NEWEST_LTS } from './newest-node.mjs';
import { installPackages, root, run } from './setup.mjs';

const words = process.argv.slice(2);
const leftOut = [];
const checks = [];
const unsteady = [];
const TSC = ['ts7', 'bin', 'tsc'];
const BUILD = ['build', ['..', 'packages', 'acceptance', 'scripts', 'compile.mjs'], []];
const TYPES = ['types', TSC, ['-p', 'tsconfig.json']];
const CONSOLE_TYPES = ['types of the console', TSC, ['-p', join('packages', 'console', 'web')]];
/** The pages of the console, into packages/console/ui. */
const CONSOLE = ['console', ['..', 'packages', 'console', 'scripts', 'build.js'], []];
/** The arrows of the architecture, and the other rules of our own. */
const ESLINT = ['lint of our own rules', ['eslint', 'bin', 'eslint.js'], ['.']];
/** Most rules, among them those that need types. */
const OXLINT = ['lint', ['oxlint', 'bin', 'oxlint'], ['--type-aware', '.']];
/** Each file allocates again what it imports: a larger young generation is collected less often. The workers get it, and what they start does not. */
const JEST_FLAGS = ['--max-semi-space-size=64'];
/** What depends on node itself most: its HTTP parser, its crypto, its TLS, its streams, its async contexts and native modules. */
const ON_NEWEST_NODE = [
  ...['kernel', 'request', 'wire', 'services/seal', 'services/oidc'].map((folder) => `core/test/${folder}`),
  ...['http', 'server', 'cli', 'storage-sdk', 'storage-lmdb', 'storage-postgresql', 'storage-etcd', 'ldap-client', 'database-mssql'],
];
/** Publishes to a registry of its own, installs from there, and runs what the documents say; it uses the build. */
const PACKAGES = ['packages, as others install them', ['..', 'packages', 'acceptance', 'dist', 'publish', 'main.js'], []];
const API = ['public types', ['..', 'packages', 'acceptance', 'dist', 'api', 'main.js'], ['--check']];
/** The documentation's site; it fails on links that lead nowhere. */
const SITE = ['documentation site', ['..', 'packages', 'acceptance', 'scripts', 'site.mjs'], []];
const FORMAT = ['format', ['oxfmt', 'bin', 'oxfmt'], ['--check', '.']];
let jestPassed = 0;
let jestFailed = 0;

/** Installs what the tests need besides the packages, while the checks compute: it waits for registries most of the time. */
async function installServers() {
  const child = fork(join(root, 'packages', 'acceptance', 'scripts', 'install-servers.mjs'), { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  let installed;
  child.once('message', (message) => (installed = message));
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (printed += text));
  await new Promise((resolve) => child.once('close', resolve));
  console.log(`\n== servers and clients to test with\n${printed}`);
  if (!installed) throw new Error('install-servers.mjs ended early; what it printed says why');
  leftOut.push(...installed.leftOut);
  Object.assign(process.env, installed.environment);
}

/** Runs checks one after the other; what each prints comes when it ends. */
async function check(...those) {
  for (const [name, tool, args] of those) {
    const began = Date.now();
    const child = spawn(process.execPath, [join('node_modules', ...tool), ...args], { cwd: root });
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (printed += text));
    const status = await new Promise((resolve) => child.once('close', resolve));
    checks.push([name, status === 0]);
    console.log(`\n== ${name}\n${printed}${status === 0 ? 'ok' : 'FAILED'}: ${name} (${Math.round((Date.now() - began) / 1000)} s)`);
  }
}

async function checkAll() {
  await check(BUILD, TYPES, OXLINT, FORMAT, CONSOLE, CONSOLE_TYPES);
  // The site's tool writes its configuration again beside the old one for a moment, where what goes through all files would find it.
  await Promise.all([check(API, PACKAGES), check(SITE, ESLINT)]);
}

/** Runs jest, and returns its report; undefined if it did not finish. */
function jestReport(args, node) {
  const report = join(root, '.strongroom', 'jest.json');
  mkdirSync(join(root, '.strongroom'), { recursive: true });
  rmSync(report, { force: true });
  const env = { ...process.env, NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --experimental-vm-modules --no-warnings`.trim() };
  run(node, [...JEST_FLAGS, join('node_modules', 'jest', 'bin', 'jest.js'), '--json', `--outputFile=${report}`, ...args], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : undefined;
}

/** A suite that does not even load has no tests of its own to count. */
const failuresOf = (report) => report.numFailedTests + report.numRuntimeErrorTestSuites;
const failedFiles = (report) => report.testResults.filter((suite) => suite.status === 'failed').map((suite) => suite.name);
const titlesOfFailures = (report) =>
  report.testResults.flatMap((suite) =>
    suite.assertionResults.filter((one) => one.status === 'failed').map((one) => `${suite.name.slice(root.length + 1)}: ${one.fullName}`),
  );

/** More failed files than this are no accident of a busy machine. */
const RUN_AGAIN = 4;

/**
 * Runs jest and counts. A few failed files are run again, alone: a failure that only a busy machine makes is listed as unsteady at the end
 * and does not fail the run; one that stays does.
 */
function jest(args, node = process.execPath) {
  const began = Date.now();
  const report = jestReport(args, node);
  console.log(`jest took ${Math.round((Date.now() - began) / 1000)} s`);
  if (report === undefined) {
    jestFailed += 1;
    console.log('jest did not finish');
    return;
  }
  let failed = failuresOf(report);
  let files = failedFiles(report);
  if (files.length > 0 && files.length <= RUN_AGAIN) {
    console.log(`\n== again, alone: ${files.map((file) => file.slice(root.length + 1)).join(', ')}`);
    const again = jestReport(['--runInBand', '--runTestsByPath', ...files], node);
    if (again !== undefined) {
      failed = failuresOf(again);
      files = failedFiles(again);
      const still = new Set(titlesOfFailures(again));
      unsteady.push(...titlesOfFailures(report).filter((title) => !still.has(title)));
    }
  }
  jestFailed += failed;
  jestPassed += report.numPassedTests + failuresOf(report) - failed;
  const skipped = report.testResults.flatMap((suite) => suite.assertionResults.filter((one) => one.status === 'pending'));
  for (const reason of new Set(
    skipped.map((one) => one.ancestorTitles.concat(one.title).find((title) => /skip/i.test(title)) ?? one.fullName),
  )) {
    leftOut.push(`skipped: ${reason}`);
  }
  for (const file of files) console.log(`FAILED: ${file.slice(root.length + 1)}`);
}

installPackages();
if (words[0] === '--changed') {
  await check(TYPES, CONSOLE_TYPES);
  const { chosen, left } = relatedTests(changedFiles());
  console.log(`\n== tests of what has changed: ${chosen.length}`);
  if (left > 0) leftOut.push(`${left} tests that also import what has changed, and those of other packages: npm test runs them`);
  if (chosen.length > 0) jest(['--runTestsByPath', ...chosen, ...words.slice(1)]);
} else if (words.length > 0) {
  jest(words);
} else {
  // Whoever installs waits for registries most of the time; the compilers use both cores.
  await Promise.all([installServers(), checkAll()]);
  console.log('\n== unit, contract, integration and end-to-end tests');
  jest([]);
  const newest = installNewestNode();
  console.log(`\n== what depends on Node.js most, on Node ${newest.version ?? NEWEST_LTS}`);
  if (newest.node) jest(['--runTestsByPath', ...quickTests(ON_NEWEST_NODE)], newest.node);
  else leftOut.push(`what depends on Node.js most, on Node ${NEWEST_LTS}: ${newest.missing}`);
}

if (leftOut.length > 0) {
  console.log('\nLeft out:');
  for (const reason of leftOut) console.log(`  ${reason}`);
}
if (unsteady.length > 0) {
  console.log('\nUnsteady: failed among the others, passed alone. Each is a fault to mend:');
  for (const title of unsteady) console.log(`  ${title}`);
}
const failedChecks = checks.filter(([, passed]) => !passed);
for (const [name] of failedChecks) console.log(`FAILED: ${name}`);
const passed = jestPassed + checks.length - failedChecks.length;
const failed = jestFailed + failedChecks.length;
console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
