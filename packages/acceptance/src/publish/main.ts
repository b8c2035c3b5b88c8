import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { emptyFolder, install, sizeOf } from './installation.ts';
import { npm } from './npm.ts';
import { Registry } from './registry.ts';
import { failedStart, startSmallServer } from './small-server.ts';
import { faultsOf } from './tarball-faults.ts';
import { compileTutorials, testTutorials, tryEmbedding, writeTutorials } from './tutorials.ts';

/*
 * Proves the packages from the outside: publishes all of them to a private registry, installs from it into empty folders, and does there what the
 * documents tell operators and authors to do. Needs a build.
 */

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
/** What the command with the core and key-value may take on disk, with all that it depends on: 60 MB as `du -m` counts them. */
const LARGEST_INSTALLATION = 60 * 1024 * 1024;

const scratch = await mkdtemp(join(tmpdir(), 'strongroom-publish-'));
const registry = new Registry();
await registry.start();
const operator = join(scratch, 'operator');
const author = join(scratch, 'author');

async function step(name: string, work: () => Promise<string>): Promise<void> {
  const began = Date.now();
  const result = await work();
  console.log(`${name}: ${result} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
}

try {
  await step('publish', async () => {
    const settings = join(scratch, 'npmrc');
    await writeFile(settings, `registry=${registry.url}\n//${registry.place}:_authToken=of-this-run\n`);
    await npm(['publish', '--workspaces', '--ignore-scripts', `--userconfig=${settings}`, '--tag=latest'], ROOT);
    return `${registry.releases.size} packages`;
  });

  await step('tarballs', async () => {
    const faults: string[] = [];
    for (const [name, release] of registry.releases) faults.push(...(await faultsOf(release)).map((fault) => `${name}: ${fault}`));
    if (faults.length > 0) throw new Error(faults.slice(0, 40).join('\n'));
    return 'publint and attw find nothing, types are declared';
  });

  await step('install @strongroom/cli', async () => {
    await emptyFolder(operator, registry);
    await install(operator, ['@strongroom/cli']);
    const size = await sizeOf(join(operator, 'node_modules'));
    const shown = `${(size / 1024 / 1024).toFixed(1)} MB on disk`;
    if (size > LARGEST_INSTALLATION) throw new Error(`it takes ${shown}`);
    return shown;
  });

  await step('use it', async () => {
    const server = await startSmallServer(operator);
    try {
      await server.ask('kv', 'put', '-mount=secret', 'door', 'code=1234');
      const code = await server.ask('kv', 'get', '-mount=secret', '-field=code', 'door');
      if (code.trim() !== '1234') throw new Error(`key-value returns ${code}`);
      await server.refused('npm install @strongroom/cloud', 'secrets', 'enable', 'aws');
      await server.refused('npm install @strongroom/auth-ldap', 'auth', 'enable', 'ldap');
      await server.refused('npm install @strongroom/sync', 'write', 'sys/sync/destinations/aws-sm/mine', 'region=eu-west-1');
    } finally {
      await server.stop();
    }
    const said = await failedStart(operator, 'storage "postgresql" { connection_url = "postgresql://127.0.0.1:1/none" }');
    if (!said.includes('npm install @strongroom/storage-postgresql')) throw new Error(`a storage that is not installed: ${said}`);
    return 'it serves secrets, and names packages that are not installed';
  });

  await step('install what the tutorials import', async () => {
    await emptyFolder(author, registry);
    const { counts, packages } = await writeTutorials(author);
    await install(author, ['@strongroom/cli', '@strongroom/database', '@strongroom/sync', ...packages]);
    return [...counts].map(([page, count]) => `${page}: ${count} files`).join(', ');
  });

  await step('compile the tutorials', async () => {
    await compileTutorials(author);
    return 'against the declarations that are published';
  });

  await step('their tests', async () => `${await testTutorials(author)} passed`);

  await step('embedding', async () => {
    await tryEmbedding(author, 'express', '/secrets/v1/');
    await tryEmbedding(author, 'fastify', '/v1/');
    await tryEmbedding(author, 'node-http', '/v1/');
    return 'express, Fastify and node:http serve their app and the API';
  });

  await step('a server with a plugin of somebody else', async () => {
    const plugins = ['./out/database-plugin/plugin.js', './out/sync-destination/shelf-destination.js'];
    const server = await startSmallServer(author, plugins.map((file) => `plugin "${file}" {}\n`).join(''));
    try {
      const listed = await server.ask('plugin', 'list', '-detailed');
      for (const name of ['pg-wire-database-plugin', 'shelf']) {
        if (!new RegExp(`^${name} .*\\bfalse\\b`, 'm').test(listed))
          throw new Error(`${name} is not listed as somebody else's:\n${listed}`);
      }
      await server.ask('secrets', 'enable', 'database');
      const connection = ['connection_url=mysql://127.0.0.1', 'username=a', 'password=b'];
      await server.refused(
        'npm install @strongroom/database-mysql',
        ...['write', 'database/config/shop', 'plugin_name=mysql-database-plugin', ...connection],
      );
      await server.refused('npm install @strongroom/sync-aws-sm', 'write', 'sys/sync/destinations/aws-sm/mine', 'region=eu-west-1');
    } finally {
      await server.stop();
    }
    return 'it is used, and not shown as built in';
  });
} catch (error) {
  console.log(`FAILED: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  await registry.stop();
  if (process.env['KEEP_PUBLISHED']) console.log(`left in ${scratch}`);
  else await rm(scratch, { recursive: true, force: true });
}
