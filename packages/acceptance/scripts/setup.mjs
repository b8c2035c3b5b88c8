// What a fresh clone needs before anything else can run: packages from the registry, and a build. Plain JavaScript without dependencies.
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildGo } from '../../lab/scripts/go.mjs';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');

/** Runs a command in the repository; its output goes through. Resolves with the exit code. */
export function run(command, args, options = {}) {
  const done = spawnSync(command, args, { cwd: root, stdio: 'inherit', ...options });
  if (done.error) throw done.error;
  return done.status ?? 1;
}

/** Installs the packages of the lockfile where that has not been done. */
export function installPackages() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    console.error(`Node ${process.versions.node} is too old: 20.19 or newer is needed.`);
    process.exit(1);
  }
  if (existsSync(join(root, 'node_modules', '.package-lock.json'))) return;
  console.log('Installing packages …');
  if (run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']) !== 0) process.exit(1);
}

const BUILD = [join('packages', 'acceptance', 'scripts', 'compile.mjs'), join('packages', 'console', 'scripts', 'build.js')];

/**
 * Builds, and runs a program of this package: `file` is its place below `dist`. Ends the process with its exit code. A signal to this process
 * ends what runs, with the servers that it started. Their temporary files go with them.
 */
export async function runBuilt(file, words) {
  const folder = mkdtempSync(join(tmpdir(), 'strongroom-run-'));
  // Servers that refuse to run as root have folders of their own in it.
  chmodSync(folder, 0o711);
  process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
  let running;
  let ended;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      ended = signal;
      // The build starts compilers, which get it, too. The program ends its servers by itself, and has SIGINT from the terminal.
      if (running.isBuild) process.kill(-running.child.pid, signal);
      else if (signal !== 'SIGINT') running.child.kill(signal);
    });
  }
  const step = (args, isBuild) =>
    new Promise((resolve) => {
      const env = { ...process.env, TMPDIR: folder };
      const child = spawn(process.execPath, args, { cwd: root, env, stdio: 'inherit', detached: isBuild });
      running = { child, isBuild };
      child.on('close', (code, signal) => resolve(code ?? 128 + constants.signals[signal]));
    });
  for (const script of BUILD) {
    const code = await step([script], true);
    if (ended !== undefined) process.exit(128 + constants.signals[ended]);
    if (code !== 0) process.exit(code);
  }
  process.exit(await step([join('packages', 'acceptance', 'dist', file), ...words], false));
}

export function has(command) {
  return spawnSync('sh', ['-c', `command -v ${command}`], { stdio: 'ignore' }).status === 0;
}

const PYTHON_PACKAGES = [
  {
    packages: ['hvac==2.4.0', 'moto[server]==5.2.5'],
    modules: 'hvac, moto.server',
    what: 'the walk with hvac, and tests against AWS with moto',
  },
  { packages: ['schemathesis==4.32.5'], modules: 'schemathesis', what: 'the fuzz of the API' },
];

/** Python clients, emulators and the fuzzer, in a folder of their own. @returns what could not be had, and why */
export function installPython() {
  const folder = join(root, '.strongroom', 'python');
  const python = join(folder, 'bin', 'python');
  const works = ({ modules }) => existsSync(python) && spawnSync(python, ['-c', `import ${modules}`], { stdio: 'ignore' }).status === 0;
  const wanted = PYTHON_PACKAGES.filter((one) => !works(one));
  if (wanted.length > 0 && !has('python3')) return wanted.map(({ what }) => `${what}: python3 is not installed`);
  if (wanted.length > 0) mkdirSync(join(root, '.strongroom'), { recursive: true });
  for (const { packages } of wanted) {
    console.log(`Installing ${packages.join(' and ')} (Python) into .strongroom/python …`);
    const made = existsSync(python) || run('python3', ['-m', 'venv', folder]) === 0;
    if (made) run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-compile', ...packages]);
  }
  const failed = PYTHON_PACKAGES.filter((one) => !works(one));
  if (!failed.includes(PYTHON_PACKAGES[0])) process.env.STRONGROOM_PYTHON = python;
  return failed.map(({ packages, what }) => `${what}: ${packages.join(' and ')} could not be installed`);
}

/** The programs in Go: one that logs in with the helpers of the Go API module, and the one that checks histories. @returns what could not be had, and why */
export function buildGoPrograms() {
  const programs = [
    { name: 'auth', folder: ['test', 'go-auth'], variable: 'STRONGROOM_GO_AUTH', what: 'logins with the Go API module' },
    { name: 'history-checker', folder: ['history-checker'], variable: 'STRONGROOM_HISTORY_CHECKER', what: 'checks of consistency' },
  ];
  if (!has('go')) return programs.map(({ what }) => `${what}: go is not installed`);
  return programs.flatMap(({ name, folder, variable, what }) => {
    const program = join(root, '.strongroom', 'go', name);
    try {
      buildGo(program, join(root, 'packages', 'acceptance', ...folder));
    } catch (error) {
      return [`${what}: ${error.message.trim().split('\n').at(-1)}`];
    }
    process.env[variable] = program;
    return [];
  });
}
