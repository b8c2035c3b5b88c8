import type { CommandGroup } from '../command.ts';
import type { FlagValues } from '../flag.ts';
import { defineCommand } from '../command.ts';
import { flag } from '../flag.ts';
import { formatDuration } from '../duration.ts';
import { doing, EXIT, Failure } from '../failure.ts';
import { isRecord } from '../json.ts';
import { mountFlag, resolveKv2 } from '../kv-path.ts';
import { pathBlock, titled } from './kv-show.ts';

const get = defineCommand({
  name: 'get',
  synopsis: "Read a key's metadata",
  description: 'Prints the settings of a key, and when each of its versions was made and deleted.',
  args: ['KEY'],
  flags: { mount: mountFlag },
  examples: [{ text: 'Which versions are there?', command: 'kv metadata get -mount=secret app/db' }],
  async run({ args: [key = ''], flags, out, client }) {
    const api = client();
    const path = (await doing(`Error reading ${key}`, resolveKv2(api, key, flags.mount, 'Metadata'))).at('metadata');
    const secret = await doing(`Error reading ${path}`, api.read(path));
    if (secret === undefined) throw new Failure(`No value found at ${path}`, EXIT.remote);
    if (!out.plain || secret.wrap_info !== undefined) return out.secret(secret);
    const { versions, ...settings } = secret.data ?? {};
    pathBlock(out, 'Metadata Path', path);
    titled(out, 'Metadata', settings);
    if (!isRecord(versions)) return;
    for (const number of Object.keys(versions).sort((a, b) => Number(a) - Number(b))) {
      const version = versions[number];
      out.line('');
      titled(out, `Version ${number}`, isRecord(version) ? version : {});
    }
  },
});

const settingsFlags = {
  mount: mountFlag,
  'max-versions': flag.integer("How many versions to keep. 0: the mount's number."),
  'cas-required': flag.toggle('Whether every write must name the version it replaces.'),
  'delete-version-after': flag.duration('How long after its making a version is deleted. 0: never; negative: switched off for this key.'),
  'custom-metadata': flag.map('Free words about the key; repeatable.'),
} as const;

function settingsBody(flags: FlagValues<typeof settingsFlags>): Record<string, unknown> {
  const after = flags['delete-version-after'];
  return {
    ...(flags['max-versions'] === undefined ? {} : { max_versions: flags['max-versions'] }),
    ...(flags['cas-required'] === undefined ? {} : { cas_required: flags['cas-required'] }),
    ...(after === undefined ? {} : { delete_version_after: formatDuration(after) }),
    ...(Object.keys(flags['custom-metadata']).length === 0 ? {} : { custom_metadata: flags['custom-metadata'] }),
  };
}

const put = defineCommand({
  name: 'put',
  synopsis: "Set a key's metadata",
  description: 'Sets the settings of a key, which need not have a version yet. Free words are replaced as a whole; patch adds to them.',
  args: ['KEY'],
  flags: settingsFlags,
  examples: [{ text: 'Keep five versions:', command: 'kv metadata put -mount=secret -max-versions=5 app/db' }],
  async run({ args: [key = ''], flags, out, client }) {
    const api = client();
    const path = (await doing(`Error writing data to ${key}`, resolveKv2(api, key, flags.mount, 'Metadata'))).at('metadata');
    const secret = await doing(`Error writing data to ${path}`, api.write(path, settingsBody(flags)));
    if (secret !== undefined) out.warnings(secret);
    out.success(`Data written to: ${path}`);
  },
});

const patch = defineCommand({
  name: 'patch',
  synopsis: "Change some of a key's metadata",
  description: 'Changes the settings given, and adds to or removes from the free words.',
  args: ['KEY'],
  flags: { ...settingsFlags, 'remove-custom-metadata': flag.list('Free word to remove; repeatable.', { placeholder: 'key' }) },
  examples: [{ text: 'Say who owns a key:', command: 'kv metadata patch -mount=secret -custom-metadata=owner=payments app/db' }],
  async run({ args: [key = ''], flags, out, client }) {
    const removed = Object.fromEntries(flags['remove-custom-metadata'].map((name) => [name, null]));
    const words = { ...flags['custom-metadata'], ...removed };
    const body = { ...settingsBody(flags), ...(Object.keys(words).length === 0 ? {} : { custom_metadata: words }) };
    if (Object.keys(body).length === 0) throw new Failure('Nothing to change: give at least one setting');
    const api = client();
    const path = (await doing(`Error writing data to ${key}`, resolveKv2(api, key, flags.mount, 'Metadata'))).at('metadata');
    const secret = await doing(`Error writing data to ${path}`, api.patch(path, body));
    if (secret !== undefined) out.warnings(secret);
    out.success(`Data written to: ${path}`);
  },
});

const remove = defineCommand({
  name: 'delete',
  synopsis: 'Remove a key with all its versions',
  description: 'Removes a key, its settings and all of its versions for good.',
  args: ['KEY'],
  flags: { mount: mountFlag },
  examples: [{ text: 'Remove a key for good:', command: 'kv metadata delete -mount=secret app/db' }],
  async run({ args: [key = ''], flags, out, client }) {
    const api = client();
    const path = (await doing(`Error deleting ${key}`, resolveKv2(api, key, flags.mount, 'Metadata'))).at('metadata');
    await doing(`Error deleting ${path}`, api.delete(path));
    out.success(`Data deleted (if it existed) at: ${path}`);
  },
});

export const kvMetadata: CommandGroup = {
  name: 'metadata',
  synopsis: "Work with a key's settings and history",
  subcommands: [get, put, patch, remove],
};
