import { defineCommand } from '../command.ts';
import { flag } from '../flag.ts';
import { Failure } from '../failure.ts';
import { table } from '../format/columns.ts';
import type { Invocation } from '../invocation.ts';
import { printJson } from '../json.ts';
import { checkAddress, readConnection, type Connection } from '../connection.ts';

const flags = {
  'source-address': flag.text('Address of the server to read.', { placeholder: 'url' }),
  'source-token': flag.text('Its token, which may read and list everything. Also SOURCE_TOKEN; asked for otherwise.'),
  'source-namespace': flag.text('Namespace of the source to read.', { placeholder: 'path' }),
  'source-ca-cert': flag.text("File with the PEM certificate that signed the source's.", { placeholder: 'file' }),
  plan: flag.boolean('Only say what would come of it. The default.'),
  apply: flag.boolean('Write.'),
  include: flag.list('Only this: a path such as secret/app/, or kind=policies; repeatable.', { placeholder: 'path|kind=…' }),
  exclude: flag.list('Not this; repeatable.', { placeholder: 'path|kind=…' }),
  versions: flag.text('Versions of secrets: all, latest, or how many of the newest. Default: all.', { placeholder: 'all|latest|n' }),
  undelete: flag.boolean('Bring the data of deleted versions, too: each is undeleted at the source, read, and deleted there again.'),
  'take-over': flag.boolean('Write static roles and libraries, too. This server then changes the passwords of their accounts at once.'),
  raw: flag.boolean(
    'Also read secrets that no read shows from sys/raw of the source, which needs raw_storage_endpoint = true there: hashes of passwords of people, and passwords of connections.',
  ),
  rename: flag.list('Where a mount goes, as from=to; repeatable. Policies are rewritten.', { placeholder: 'from=to' }),
  secrets: flag.text('JSON file, mode 0600, with what the source does not show: {"path": {"field": "value"}}.', { placeholder: 'file' }),
  'on-conflict': flag.text('What to do where something else is here. Default: skip.', { choices: ['skip', 'fail', 'replace'] }),
  parallel: flag.integer('Requests under way at once. Default: 8.'),
  rate: flag.integer('Requests a second to the source. Default: no limit of our own.'),
  checkpoint: flag.text('File that remembers what was done, so that an interrupted import reads less when it goes on.', {
    placeholder: 'file',
  }),
  verify: flag.text('How much to read again on both sides at the end: all, or a number. Default: 100.', { placeholder: 'all|n' }),
  report: flag.text('File for the report, in the format of -format.', { placeholder: 'file' }),
} as const;

export const importServer = defineCommand({
  name: 'import',
  synopsis: 'Import what another server stores',
  description:
    'Reads a Vault or OpenBao server through its API and says what would come: mounts, policies, secrets with all versions, login methods, identity, settings. With -apply it writes that to this server. It may be repeated: what is here is compared, and what changed at the source comes again. ' +
    'Exit codes: 0 everything came, 3 with remarks, 2 with conflicts, 1 failed.',
  args: [],
  flags,
  examples: [
    { text: 'See what would come:', command: 'operator import -source-address=https://vault.example.com:8200' },
    { text: 'Bring it:', command: 'operator import -source-address=https://vault.example.com:8200 -apply' },
    {
      text: 'Only one mount, to another path:',
      command: 'operator import -source-address=https://vault.example.com:8200 -include=secret/ -rename=secret/=kv/ -apply',
    },
  ],
  async run(invocation) {
    const { flags: asked, out, io, options, sleep } = invocation;
    const address = asked['source-address'];
    if (address === undefined) throw new Failure('The source is missing: give -source-address=<url>');
    if (asked.plan && asked.apply) throw new Failure('-plan and -apply exclude each other');
    if (asked.raw && asked['source-namespace'] !== undefined)
      throw new Failure('-raw and -source-namespace exclude each other: sys/raw belongs to the root namespace');
    const order = {
      include: asked.include,
      exclude: asked.exclude,
      versions: versionsOf(asked.versions),
      undelete: asked.undelete,
      takeOver: asked['take-over'],
      raw: asked.raw,
      apply: asked.apply,
      renames: asked.rename.map(renameOf),
      secrets: await secretsOf(asked.secrets),
      onConflict: (asked['on-conflict'] ?? 'skip') as 'skip' | 'fail' | 'replace',
      parallel: atLeastOne('parallel', asked.parallel ?? 8),
      rate: asked.rate === undefined ? undefined : atLeastOne('rate', asked.rate),
      checkpoint: asked.checkpoint,
      verify: verifyOf(asked.verify),
      sleep,
      now: () => Date.now(),
    };
    const token =
      asked['source-token'] ??
      (io.env['SOURCE_TOKEN'] ||
        (await invocation.ask(
          'Token of the source (will be hidden): ',
          'The token of the source is missing: give -source-token, or set SOURCE_TOKEN',
        )));

    const [{ exitCodeOf, ImportStopped, reportText, runImport }, { ApiClient }, { importWire }] = await Promise.all([
      import('@strongroom/import'),
      import('../client.ts'),
      import('../import-wire.ts'),
    ]);
    const target: Connection = { ...readConnection(options, io.env), retries: 0, wrapTtl: undefined, parallel: order.parallel };
    const from = sourceConnection(target, asked, address);
    const clients = {
      source: new ApiClient({ connection: from, token, describe: undefined, sleep }),
      target: new ApiClient({ connection: target, token: invocation.client().token, describe: undefined, sleep }),
    };
    try {
      const report = await runImport({
        ...order,
        source: { wire: importWire(clients.source), address: from.address, namespace: from.namespace },
        target: { wire: importWire(clients.target), address: target.address },
      });
      const text = out.format === 'table' ? reportText(report, table) : printJson(report);
      if (asked.report !== undefined) await writeReport(asked.report, text);
      if (out.format === 'table' || out.format === 'raw') out.line(text);
      else await out.document(report);
      return exitCodeOf(report);
    } catch (error) {
      if (error instanceof ImportStopped) throw new Failure(error.message);
      throw error;
    } finally {
      await Promise.all([clients.source.close(), clients.target.close()]);
    }
  },
});

/** The source has nothing of the target's connection but its patience. */
function sourceConnection(
  target: Connection,
  asked: Invocation<{ 'source-namespace': string | undefined; 'source-ca-cert': string | undefined }>['flags'],
  address: string,
): Connection {
  return {
    ...target,
    address: checkAddress(address),
    caCert: asked['source-ca-cert'],
    caPath: undefined,
    clientCert: undefined,
    clientKey: undefined,
    tlsServerName: undefined,
    skipVerify: false,
    namespace: (asked['source-namespace'] ?? '').replace(/^\/+|\/+$/g, ''),
    headers: {},
  };
}

function versionsOf(text: string | undefined): 'all' | 'latest' | number {
  if (text === undefined || text === 'all' || text === 'latest') return text ?? 'all';
  if (!/^[1-9]\d*$/.test(text)) throw new Failure(`-versions must be all, latest or a number from 1, not "${text}"`);
  return Number(text);
}

function verifyOf(text: string | undefined): number | 'all' {
  if (text === undefined || text === 'all') return text ?? 100;
  if (!/^\d+$/.test(text)) throw new Failure(`-verify must be all or a number, not "${text}"`);
  return Number(text);
}

function atLeastOne(name: string, value: number): number {
  if (value < 1) throw new Failure(`-${name} must be 1 or more, not ${value}`);
  return value;
}

function renameOf(text: string): readonly [from: string, to: string] {
  const [from = '', to = '', ...more] = text.split('=');
  if (from === '' || to === '' || more.length > 0) throw new Failure(`-rename must be from=to, such as secret/=kv/, not "${text}"`);
  if (from.startsWith('auth/') !== to.startsWith('auth/'))
    throw new Failure(`-rename "${text}": a login method stays below auth/, and nothing else goes there`);
  return [from, to];
}

async function secretsOf(file: string | undefined) {
  const { ImportStopped, readSecretsFile, SecretsFile } = await import('@strongroom/import');
  if (file === undefined) return new SecretsFile();
  const { readFile, stat } = await import('node:fs/promises');
  try {
    return readSecretsFile(file, await readFile(file, 'utf8'), (await stat(file)).mode);
  } catch (error) {
    throw new Failure(error instanceof ImportStopped ? error.message : `The file of -secrets cannot be read: ${(error as Error).message}`);
  }
}

async function writeReport(file: string, text: string): Promise<void> {
  const { writeFile } = await import('node:fs/promises');
  try {
    await writeFile(file, `${text}\n`, { mode: 0o600 });
  } catch (error) {
    throw new Failure(`The report cannot be written: ${(error as Error).message}`);
  }
}
