import type { CommandGroup } from '../command.ts';
import { defineCommand } from '../command.ts';
import { doing } from '../failure.ts';
import { kvGet, kvList, kvPatch, kvPut, kvRollback, kvSubkeys } from './kv-data.ts';
import { kvMetadata } from './kv-metadata.ts';
import { kvDelete, kvDestroy, kvUndelete } from './kv-versions.ts';

const enableVersioning = defineCommand({
  name: 'enable-versioning',
  synopsis: 'Turn a mount of version 1 into version 2',
  description: 'Turns versions on for a mount that keeps only the last value. This cannot be undone.',
  args: ['PATH'],
  words: { PATH: 'mount' },
  flags: {},
  examples: [{ text: 'Keep versions from now on:', command: 'kv enable-versioning secret' }],
  async run({ args: [path = ''], out, client }) {
    const mount = `${path.replace(/^\/+|\/+$/g, '')}/`;
    const secret = await doing(
      `Error tuning secrets engine ${mount}`,
      client().secret('POST', `sys/mounts/${mount}tune`, { body: { options: { version: '2' } } }),
    );
    if (secret !== undefined) out.warnings(secret);
    out.success(`Tuned the secrets engine at: ${mount}`);
  },
});

const kv: CommandGroup = {
  name: 'kv',
  synopsis: 'Work with the key-value secrets engine',
  description:
    'Works with mounts of the key-value engine, of version 1 or 2: the command finds out which. A key is given with its mount (secret/app/db) or beside it (-mount=secret app/db).',
  subcommands: [kvGet, kvPut, kvPatch, kvList, kvDelete, kvUndelete, kvDestroy, kvMetadata, kvRollback, kvSubkeys, enableVersioning],
};
export default kv;
