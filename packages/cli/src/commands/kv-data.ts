import type { ApiClient } from '../client.ts';
import { defineCommand } from '../command.ts';
import { flag } from '../flag.ts';
import { ApiFailure, doing, EXIT, Failure } from '../failure.ts';
import { isRecord } from '../json.ts';
import { parsePairs } from '../kv-pairs.ts';
import type { Secret } from '../secret.ts';
import { mountFlag, resolveKv, resolveKv2 } from '../kv-path.ts';
import { showVersioned, showWritten } from './kv-show.ts';
import { listKeys } from './list-keys.ts';

const nothing = (path: string): Failure => new Failure(`No value found at ${path}`, EXIT.remote);

function versionQuery(version: number | undefined): Record<string, string> | undefined {
  return version === undefined ? undefined : { version: String(version) };
}

function withCas(cas: number | undefined): Record<string, unknown> {
  return cas === undefined || cas < 0 ? {} : { options: { cas } };
}

export const kvGet = defineCommand({
  name: 'get',
  synopsis: 'Read a secret',
  description: 'Reads the value of a key, in its latest version or the one given.',
  args: ['KEY'],
  flags: { mount: mountFlag, version: flag.integer('Version to read. Default: the latest.') },
  examples: [
    { text: 'Read a secret:', command: 'kv get -mount=secret app/db' },
    { text: 'Only one of its values:', command: 'kv get -mount=secret -field=password app/db' },
  ],
  async run({ args: [key = ''], flags, out, client }) {
    const api = client();
    const target = await doing(`Error reading ${key}`, resolveKv(api, key, flags.mount));
    const path = target.at('data');
    const secret = await doing(`Error reading ${path}`, api.read(path, target.version === 2 ? versionQuery(flags.version) : undefined));
    if (secret === undefined) throw nothing(path);
    if (target.version === 1) return out.secret(secret).then(() => EXIT.ok);
    await showVersioned(out, path, secret);
    return secret.wrap_info !== undefined || isRecord(secret.data?.['data']) ? EXIT.ok : EXIT.remote;
  },
});

export const kvPut = defineCommand({
  name: 'put',
  synopsis: 'Write a secret, as a whole',
  description: 'Writes a secret. Fields that are not named are gone in the new version; patch keeps them.',
  args: ['KEY', 'DATA...'],
  flags: {
    mount: mountFlag,
    cas: flag.integer('Only write if this is the current version; 0 means that the key must not exist yet.'),
  },
  examples: [
    { text: 'Write a secret:', command: 'kv put -mount=secret app/db user=app password=@password.txt' },
    { text: 'Write it from JSON on standard input:', command: 'kv put -mount=secret app/db -' },
  ],
  async run({ args: [key = '', ...pairs], flags, io, out, client }) {
    const data = await parsePairs(pairs, io.stdin);
    const api = client();
    const target = await doing(`Error writing data to ${key}`, resolveKv(api, key, flags.mount));
    const path = target.at('data');
    const body = target.version === 2 ? { data, ...withCas(flags.cas) } : data;
    const secret = await doing(`Error writing data to ${path}`, api.write(path, body));
    if (secret === undefined) return out.success(`Data written to: ${path}`);
    await (target.version === 2 ? showWritten(out, path, secret) : out.secret(secret));
  },
});

/** Merges on this side: read, lay the changes over, write only if nobody wrote in between. */
async function patchByRewrite(
  api: ApiClient,
  path: string,
  changes: Readonly<Record<string, unknown>>,
  cas: number | undefined,
): Promise<Secret | undefined> {
  const current = await doing(`Error doing pre-read at ${path}`, api.secret('GET', path, { preflight: true }));
  const values = current?.data?.['data'];
  const metadata = current?.data?.['metadata'];
  if (!isRecord(values) || !isRecord(metadata)) throw nothing(path);
  const merged = mergePatch(values, changes);
  const version = cas === undefined || cas < 0 ? Number(metadata['version']) : cas;
  return doing(`Error writing data to ${path}`, api.write(path, { data: merged, options: { cas: version } }));
}

function mergePatch(before: Readonly<Record<string, unknown>>, changes: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const merged = new Map(Object.entries(before));
  for (const [key, change] of Object.entries(changes)) {
    const old = merged.get(key);
    if (change === null) merged.delete(key);
    else merged.set(key, isRecord(change) ? mergePatch(isRecord(old) ? old : {}, change) : change);
  }
  return Object.fromEntries(merged);
}

export const kvPatch = defineCommand({
  name: 'patch',
  synopsis: 'Change some fields of a secret',
  description:
    'Writes a new version with the fields given, keeping the others. Where the server or the policy does not allow the patch operation, it reads, merges and writes.',
  args: ['KEY', '[DATA...]'],
  flags: {
    mount: mountFlag,
    cas: flag.integer('Only write if this is the current version.'),
    method: flag.text('patch: one request; rw: read, then write. Default: patch, then rw if refused.', { choices: ['patch', 'rw'] }),
    'remove-data': flag.list('Field to remove; repeatable.', { placeholder: 'key' }),
  },
  examples: [{ text: 'Change one value:', command: 'kv patch -mount=secret app/db password=new' }],
  async run({ args: [key = '', ...pairs], flags, io, out, client }) {
    const changes: Record<string, unknown> = await parsePairs(pairs, io.stdin);
    for (const name of flags['remove-data']) changes[name] = null;
    if (Object.keys(changes).length === 0) throw new Failure('Must supply data or -remove-data');
    const api = client();
    const target = await doing(`Error patching ${key}`, resolveKv2(api, key, flags.mount, 'kv patch'));
    const path = target.at('data');
    let secret: Secret | undefined;
    if (flags.method === 'rw') secret = await patchByRewrite(api, path, changes, flags.cas);
    else {
      try {
        secret = await doing(`Error writing data to ${path}`, api.patch(path, { data: changes, ...withCas(flags.cas) }));
      } catch (error) {
        const refused = error instanceof ApiFailure && (error.status === 405 || error.status === 403);
        if (!refused || flags.method === 'patch') throw error;
        secret = await patchByRewrite(api, path, changes, flags.cas);
      }
    }
    if (secret === undefined || secret.data?.['version'] === undefined) {
      if (secret?.wrap_info === undefined) throw nothing(path);
    }
    await showWritten(out, path, secret);
  },
});

export const kvRollback = defineCommand({
  name: 'rollback',
  synopsis: 'Make an older version the latest',
  description: 'Writes the values of an older version as a new one, unless somebody writes in between.',
  args: ['KEY'],
  flags: { mount: mountFlag, version: flag.integer('Version to restore.') },
  examples: [{ text: 'Restore version 2:', command: 'kv rollback -mount=secret -version=2 app/db' }],
  async run({ args: [key = ''], flags, out, client }) {
    if (flags.version === undefined || flags.version < 1)
      throw new Failure('The version to restore is missing: give -version=<int>, 1 or more');
    const api = client();
    const target = await doing(`Error rolling back ${key}`, resolveKv2(api, key, flags.mount, 'kv rollback'));
    const path = target.at('data');
    const latest = await doing(`Error doing pre-read at ${path}`, api.secret('GET', path, { preflight: true }));
    const metadata = latest?.data?.['metadata'];
    if (!isRecord(metadata)) throw nothing(path);
    const old = await doing(
      `Error reading version ${flags.version} of ${path}`,
      api.secret('GET', path, { preflight: true, query: { version: String(flags.version) } }),
    );
    const values = old?.data?.['data'];
    if (!isRecord(values))
      throw new Failure(`No value found at ${path} in version ${flags.version}: it is deleted, destroyed, or never was`, EXIT.remote);
    const written = await doing(
      `Error writing data to ${path}`,
      api.write(path, { data: values, options: { cas: Number(metadata['version']) } }),
    );
    if (written === undefined) return out.success(`Data written to: ${path}`);
    await showWritten(out, path, written);
  },
});

export const kvSubkeys = defineCommand({
  name: 'subkeys',
  synopsis: "Read the names of a secret's fields",
  description: 'Prints which fields a secret has, without their values.',
  args: ['KEY'],
  flags: {
    mount: mountFlag,
    version: flag.integer('Version to look at. Default: the latest.'),
    depth: flag.integer('How many levels of nested objects to show. Default: all.'),
  },
  examples: [{ text: 'Which fields are there?', command: 'kv subkeys -mount=secret app/db' }],
  async run({ args: [key = ''], flags, out, client }) {
    const api = client();
    const target = await doing(`Error reading ${key}`, resolveKv2(api, key, flags.mount, 'kv subkeys'));
    const path = target.at('subkeys');
    const query = { ...versionQuery(flags.version), ...(flags.depth === undefined ? {} : { depth: String(flags.depth) }) };
    const secret = await doing(`Error reading ${path}`, api.read(path, query));
    if (secret === undefined) throw nothing(path);
    if (out.plain && isRecord(secret.data?.['subkeys'])) return out.record(secret.data['subkeys']);
    await out.secret(secret);
  },
});

export const kvList = defineCommand({
  name: 'list',
  synopsis: 'List the keys under a path',
  description: 'Lists names under a path. Folders end with a slash.',
  args: ['[PATH]'],
  words: { PATH: 'key' },
  flags: { mount: mountFlag },
  examples: [{ text: 'What is in the folder?', command: 'kv list -mount=secret app' }],
  async run({ args: [folder = ''], flags, out, client }) {
    if (folder === '' && flags.mount === undefined) throw new Failure('Not enough arguments: give PATH or -mount=<path>');
    const api = client();
    const target = await doing(`Error listing ${folder}`, resolveKv(api, folder, flags.mount));
    const path = target.at('metadata');
    return listKeys(out, path, await doing(`Error listing ${path}`, api.list(path)));
  },
});
