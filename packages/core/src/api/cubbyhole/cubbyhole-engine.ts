import {
  BadRequest,
  boundsOf,
  type EnginePackage,
  type EngineRequest,
  f,
  InvalidRequest,
  ListedKeys,
  NoContent,
  pageIn,
  path,
} from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { Records } from '../../kernel/storage/records.ts';
import type { Store } from '../../kernel/storage/store.ts';
import { requireAlive } from '../../services/tokens/token-record.ts';

/** By the digest of the token, and the path. */
const Secret = Type.Record(Type.String(), Type.Unknown(), { secret: true });
const secrets = new Records('cubbyhole/', Secret);

/** Each token's own store; it goes with the token. */
export function cubbyholeEngine(store: Store): EnginePackage {
  const folderOf = (req: EngineRequest<never> | { caller: EngineRequest['caller'] }): string => {
    const { tokenDigest } = req.caller;
    if (tokenDigest === '' || req.caller.accessor === '')
      throw new BadRequest("cubbyhole operations are only supported by 'service' type tokens");
    return `${tokenDigest}/`;
  };
  const entries = path('{path:all}', {
    synopsis: 'Secrets that only the calling token can read.',
    description: 'Whatever is written here is gone when the token is.',
    arbitraryData: true,
    exactNumbers: true,
    fields: { path: f.name('Where the secret is kept.') },
  })
    .read({
      summary: 'Reads a secret.',
      response: Secret,
      handle: async (req) => {
        const data = await secrets.get(store, folderOf(req) + req.data.path);
        return data && { data };
      },
    })
    .list({
      summary: 'Lists secrets.',
      response: ListedKeys,
      searched: true,
      handle: async (req) => {
        const folder = req.data.path === '' ? '' : `${req.data.path}/`;
        return { data: { keys: await store.folder(secrets.key(folderOf(req) + folder), boundsOf(pageIn(req.raw))) } };
      },
    })
    .scan({
      summary: 'Lists all secrets below a folder.',
      response: ListedKeys,
      handle: async (req) => {
        const folder = req.data.path === '' ? '' : `${req.data.path}/`;
        const below = secrets.key(folderOf(req) + folder);
        const { after, ...bounds } = boundsOf(pageIn(req.raw));
        const keys = await store.keys({ prefix: below, ...bounds, ...(after === undefined ? {} : { after: below + after }) });
        return { data: { keys: keys.map((key) => key.slice(below.length)) } };
      },
    })
    .upsert({
      summary: 'Writes a secret.',
      response: NoContent,
      exists: async (req) => req.caller.accessor !== '' && (await store.has(secrets.key(folderOf(req) + req.data.path))),
      handle: async (req) => {
        if (req.data.path === '') throw new BadRequest('missing path');
        if (Object.keys(req.raw).length === 0) throw new InvalidRequest('missing data fields');
        const id = folderOf(req) + req.data.path;
        await store.transaction(async (tx) => {
          await requireAlive(tx, req.caller.tokenDigest);
          await secrets.put(tx, id, { ...req.raw });
        });
        return undefined;
      },
    })
    .delete({
      summary: 'Deletes a secret.',
      response: NoContent,
      handle: async (req) => {
        const id = folderOf(req) + req.data.path;
        await store.transaction(async (tx) => secrets.delete(tx, id));
        return undefined;
      },
    });
  return { name: 'cubbyhole', kind: 'secret', apiVersion: 2, create: () => ({ paths: [entries] }) };
}
