import { defineCommand } from '../command.ts';
import { flag } from '../flag.ts';
import { doing, Failure } from '../failure.ts';
import { mountFlag, resolveKv, resolveKv2, versionList } from '../kv-path.ts';

const versionsFlag = flag.list('Versions, as a comma list; repeatable.', { placeholder: 'ints' });

export const kvDelete = defineCommand({
  name: 'delete',
  synopsis: 'Delete versions of a secret',
  description: 'Deletes the latest version, or those given. Deleted versions can be brought back with undelete.',
  args: ['KEY'],
  flags: { mount: mountFlag, versions: versionsFlag },
  examples: [
    { text: 'Delete the latest version:', command: 'kv delete -mount=secret app/db' },
    { text: 'Delete two older ones:', command: 'kv delete -mount=secret -versions=1,2 app/db' },
  ],
  async run({ args: [key = ''], flags, out, client }) {
    const versions = versionList(flags.versions);
    const api = client();
    const target = await doing(`Error deleting ${key}`, resolveKv(api, key, flags.mount));
    if (target.version === 1 && versions.length > 0) throw new Failure('-versions is not supported by version 1 of the key-value engine');
    const path = target.at('data');
    const work = versions.length === 0 ? api.delete(path) : api.write(target.at('delete'), { versions });
    const secret = await doing(`Error deleting ${path}`, work);
    if (secret !== undefined) out.warnings(secret);
    out.success(`Data deleted (if it existed) at: ${path}`);
  },
});

function versionsCommand(name: 'undelete' | 'destroy', synopsis: string, description: string) {
  return defineCommand({
    name,
    synopsis,
    description,
    args: ['KEY'],
    flags: { mount: mountFlag, versions: versionsFlag },
    examples: [{ text: `${synopsis}:`, command: `kv ${name} -mount=secret -versions=3 app/db` }],
    async run({ args: [key = ''], flags, out, client }) {
      const versions = versionList(flags.versions);
      if (versions.length === 0) throw new Failure('No versions provided, use the -versions flag to specify the versions');
      const api = client();
      const target = await doing(`Error writing data to ${key}`, resolveKv2(api, key, flags.mount, `kv ${name}`));
      const path = target.at(name);
      const secret = await doing(`Error writing data to ${path}`, api.write(path, { versions }));
      if (secret !== undefined) out.warnings(secret);
      out.success(`Data written to: ${path}`);
    },
  });
}

export const kvUndelete = versionsCommand('undelete', 'Bring deleted versions back', 'Makes deleted versions readable again.');
export const kvDestroy = versionsCommand('destroy', 'Remove versions for good', 'Removes the values of versions for good.');
