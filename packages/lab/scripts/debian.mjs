// Unpacks packages of another Debian suite below a folder. Nothing is installed: the machine's own packages stay as they are.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MAKING_MS } from './cache.mjs';

const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';
const SOURCES = ['/etc/apt/sources.list', '/etc/apt/sources.list.d/debian.sources'];
const RUN = `#!/bin/sh
root=$(dirname "$(readlink -f "$0")")/root
exe=$root$1; shift
libraries=$root/usr/lib/x86_64-linux-gnu
exec "$root/lib64/ld-linux-x86-64.so.2" --library-path "$libraries:$libraries/private:$root/usr/lib/mysql/private" "$exe" "$@"
`;

/** Packages with all that they need, in `root`, and `run`, which starts one of their programs with their own libraries. Throws with the reason why not. */
export function unpackDebian(folder, suite, packages) {
  if (process.arch !== 'x64' || !existsSync(KEYRING)) throw new Error('needs Debian on x86-64');
  const apt = join(folder, 'apt');
  const root = join(folder, 'root');
  for (const part of ['lists/partial', 'cache/archives/partial']) mkdirSync(join(apt, part), { recursive: true });
  writeFileSync(join(apt, 'status'), '');
  writeFileSync(join(apt, 'sources.list'), `deb [signed-by=${KEYRING}] ${mirror()} ${suite} main\n`);
  const settings = {
    'Dir::Etc::sourcelist': join(apt, 'sources.list'),
    'Dir::Etc::sourceparts': '-',
    'Dir::State::lists': join(apt, 'lists'),
    'Dir::State::status': join(apt, 'status'),
    'Dir::Cache': join(apt, 'cache'),
    'APT::Sandbox::User': 'root',
  };
  const config = join(apt, 'conf');
  writeFileSync(
    config,
    Object.entries(settings)
      .map(([name, value]) => `${name} "${value}";\n`)
      .join(''),
  );
  const env = { ...process.env, APT_CONFIG: config };
  run('apt-get', ['-qq', 'update'], env);
  run('apt-get', ['-qq', 'install', '--download-only', '--no-install-recommends', '-y', ...packages], env);
  for (const name of ['bin', 'sbin', 'lib', 'lib64']) {
    mkdirSync(join(root, 'usr', name), { recursive: true });
    symlinkSync(`usr/${name}`, join(root, name));
  }
  const archives = join(apt, 'cache', 'archives');
  for (const name of readdirSync(archives).filter((file) => file.endsWith('.deb'))) {
    const unpack = 'dpkg-deb --fsys-tarfile "$0" | tar -x -C "$1" --keep-directory-symlink';
    run('bash', ['-o', 'pipefail', '-c', unpack, join(archives, name), root], process.env);
  }
  writeFileSync(join(folder, 'run'), RUN);
  chmodSync(join(folder, 'run'), 0o755);
  rmSync(apt, { recursive: true, force: true });
}

/** The mirror that the machine's own apt uses. */
function mirror() {
  const text = SOURCES.filter((path) => existsSync(path))
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n');
  const found = /^(?:URIs:|deb)\s+(?:\[[^\]]*\]\s*)?(\S+)/m.exec(text)?.[1];
  if (found === undefined) throw new Error('apt names no mirror of Debian');
  return found;
}

function run(program, words, env) {
  const { status, error, stderr } = spawnSync(program, words, { env, encoding: 'utf8', maxBuffer: 1 << 26, timeout: MAKING_MS });
  if (error) throw new Error(error.code === 'ENOENT' ? `${program} is not installed` : error.message);
  if (status !== 0) throw new Error(`${program} ${words[1]} ended with ${status}: ${stderr.slice(-2000)}`);
}
