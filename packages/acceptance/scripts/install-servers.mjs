// Installs the servers, emulators and clients that tests need and that no npm package has. To the process that started it, it sends what could not be
// had and why, and the environment variables that name programs.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { installNewestNode } from './newest-node.mjs';
import { buildGoPrograms, has, installPython, root, run } from './setup.mjs';

const leftOut = [];

/** Debian's servers, where we may install: as root, with apt. */
function installFromDebian() {
  const wanted = [
    ['slapd', existsSync('/usr/sbin/slapd'), 'tests against OpenLDAP'],
    ['ldap-utils', has('ldapsearch'), 'tests against OpenLDAP'],
    ['openssl', has('openssl'), 'tests with TLS'],
    ['gnupg', has('gpg'), 'tests that GnuPG reads what is encrypted to PGP keys'],
    [
      'python3-venv',
      has('python3') && spawnSync('python3', ['-c', 'import venv, ensurepip'], { stdio: 'ignore' }).status === 0,
      'the walk with hvac, tests against AWS with moto, and the fuzz of the API',
    ],
    ['mariadb-server', has('mariadbd') || existsSync('/usr/sbin/mariadbd'), 'tests against MariaDB'],
    ['pgbouncer', has('pgbouncer') || existsSync('/usr/sbin/pgbouncer'), 'tests behind a pooler'],
    ['etcd-server', has('etcd'), 'tests of the storage on etcd'],
    ['redis-server', has('redis-server'), 'tests against Redis'],
    ['influxdb', has('influxd'), 'tests against InfluxDB'],
    ['rabbitmq-server', has('rabbitmq-server') || existsSync('/usr/sbin/rabbitmq-server'), 'tests against RabbitMQ'],
    ['samba-ad-dc', has('samba') || existsSync('/usr/sbin/samba'), 'tests against Active Directory with Samba'],
    ['samba-ad-provision', existsSync('/usr/share/samba/setup/provision.ldif'), 'tests against Active Directory with Samba'],
    ['openjdk-17-jre-headless', has('java'), 'tests against Cassandra, Neo4j and OpenSearch'],
    ['maven', has('mvn'), 'tests against Cassandra, Neo4j and OpenSearch'],
    ['unzip', has('unzip'), 'tests against OpenSearch'],
    ['chromium-headless-shell', has('chromium-headless-shell') || has('chromium'), 'tests of the console in a browser'],
    ['softhsm2', has('softhsm2-util'), 'tests of the seal pkcs11 on SoftHSM'],
    ['opensc', has('pkcs11-tool'), 'tests of the seal pkcs11 on SoftHSM'],
    ['prometheus', has('promtool'), 'checks of the alert rules'],
    ['zsh', has('zsh'), 'completion in zsh'],
    ['fish', has('fish'), 'completion in fish'],
  ].filter(([, there]) => !there);
  if (wanted.length === 0) return;
  const names = wanted.map(([name]) => name);
  if (process.getuid?.() !== 0 || !has('apt-get')) {
    for (const [name, , what] of wanted) leftOut.push(`${what}: ${name} is not installed, and this user may not install it`);
    return;
  }
  console.log(`Installing ${names.join(', ')} from Debian …`);
  // The packages' own services must not start: the tests start private instances.
  const policy = '/usr/sbin/policy-rc.d';
  const ours = !existsSync(policy);
  if (ours) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    const options = { env, stdio: ['ignore', 'ignore', 'inherit'] };
    run('apt-get', ['update', '-qq'], options);
    if (run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...names], options) !== 0) {
      for (const [name, , what] of wanted) leftOut.push(`${what}: ${name} could not be installed`);
    }
  } finally {
    if (ours) rmSync(policy, { force: true });
  }
}

/** Servers that no Debian package has, from the registries of their languages; packages/lab knows how. Maven's come one after the other, as they share its folder. */
async function installFromRegistries() {
  await Promise.all([installEach('cassandra', 'neo4j', 'opensearch'), installEach('ferretdb')]);
}

async function installEach(...names) {
  for (const name of names) {
    const script = join(root, 'packages', 'lab', 'scripts', `install-${name}.mjs`);
    const child = spawn(process.execPath, [script], { stdio: ['ignore', 'ignore', 'pipe'] });
    const [[status], said] = await Promise.all([once(child, 'close'), text(child.stderr)]);
    // The suites that need it say themselves that they are left out.
    if (status !== 0) console.log(`${name} could not be installed: ${said.trim().split('\n', 1)[0]}`);
  }
}

installFromDebian();
const registries = installFromRegistries();
leftOut.push(...installPython(), ...buildGoPrograms());
await registries;
installNewestNode();
const named = Object.entries(process.env).filter(([name]) => name.startsWith('STRONGROOM_'));
process.send?.({ leftOut, environment: Object.fromEntries(named) });
