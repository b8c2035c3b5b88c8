import { BadRequest, f, NoContent, path, type AnyPath, type EngineHost, type EngineRequest } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { typeOf, type KeyStore } from '../keys/key-store.ts';
import { backupText, NotABackup, readBackup, type KeyContent } from '../keys/backup.ts';
import { name, NAME_OF_KEY } from './shared-fields.ts';

const backup = f.secret('The backup, as backup answers it.');
const force = f.bool('Whether a key of this name is replaced.', { default: false });

/** `backup/<name>` and `restore`. */
export function backupPaths(host: EngineHost, keys: KeyStore): AnyPath[] {
  return [
    path('backup/{name}', {
      synopsis: 'A key with its settings and versions, in clear.',
      description: 'Only of keys that are exportable and allow it. Vault and OpenBao read it as well.',
      fields: { name },
    }).read({
      summary: 'Backs a key up.',
      response: Type.Object({ backup: Type.String({ secret: true }) }),
      handle: async (req) => {
        const { data, storage } = req;
        const content = await storage.transaction(async (tx): Promise<KeyContent> => {
          const found = await keys.find(tx, data.name);
          if (!found) throw new BadRequest(`key ${JSON.stringify(data.name)} not found`);
          if (!found.exportable) throw new BadRequest('exporting is disallowed on the policy: set exportable of keys/<name>/config');
          if (!found.allow_plaintext_backup)
            throw new BadRequest('plaintext backup is disallowed on the policy: set allow_plaintext_backup of keys/<name>/config');
          const key = { ...found, backup_info: { time: host.clock.now().toISOString(), version: found.latest_version } };
          await keys.store(tx, data.name, key);
          return { name: data.name, key, versions: await keys.versions(tx, key, 1) };
        });
        return { data: { backup: await backupText(typeOf(content.key), content, req) } };
      },
    }),
    path('restore', {
      synopsis: 'Restores a key from a backup.',
      description: 'Under the name that it had.',
      fields: { backup, force, name: f.string('Another name.') },
    }).update({
      summary: 'Restores a key.',
      response: NoContent,
      handle: async (req) => restore(host, keys, req, { ...req.data, name: req.data.name ?? '' }),
    }),
    path('restore/{name}', {
      synopsis: 'Restores a key from a backup under a name.',
      description: 'Whatever its name was.',
      fields: { name, backup, force },
    }).update({
      summary: 'Restores a key under a name.',
      response: NoContent,
      handle: async (req) => restore(host, keys, req, req.data),
    }),
  ];
}

async function restore(
  host: EngineHost,
  keys: KeyStore,
  caller: Pick<EngineRequest, 'storage' | 'signal'>,
  { backup: text, name: asked, force: replaces }: { readonly backup?: string | undefined; readonly name: string; readonly force: boolean },
): Promise<undefined> {
  if (!text) throw new BadRequest("'backup' must be supplied");
  const content = await contentOf(text, keys.newId(), caller);
  const as = asked === '' ? content.name : asked;
  if (!NAME_OF_KEY.test(as)) throw new BadRequest('name must be one of letters, digits, "_", "-" and "."');
  const key = { ...content.key, restore_info: { time: host.clock.now().toISOString(), version: content.key.latest_version } };
  await keys.restore(caller.storage, as, { ...content, key }, replaces);
  return undefined;
}

async function contentOf(text: string, id: string, caller: Pick<EngineRequest, 'signal'>): Promise<KeyContent> {
  try {
    return await readBackup(text, id, caller);
  } catch (error) {
    if (error instanceof NotABackup) throw new BadRequest(`backup cannot be read: ${error.message}`);
    throw error;
  }
}
