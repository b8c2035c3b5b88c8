import { type AnyPath, BadRequest, type EngineHost, ExactNumber, f, NoContent, parseDuration, path } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { Keys, listKeys, loosePageFields, pageOf, scanKeys } from '../listing.ts';
import type { FormatGuard } from '../format-guard.ts';
import { plainSecrets, type PlainSecret } from './plain-secrets.ts';

/** Version 1: what is written to a path is what is read there. */
export function plainPaths(host: EngineHost, format: FormatGuard): readonly AnyPath[] {
  const secrets = path('{path:all}', {
    synopsis: 'Secrets, one value a path.',
    description:
      'Any object may be stored. Its key "ttl" (or "lease") is answered as lease_duration: a hint to read the secret again by then. ' +
      'Nothing is revoked when it has passed.',
    arbitraryData: true,
    exactNumbers: true,
    fields: { path: f.name('Where the secret is kept.'), ...loosePageFields },
  })
    .read({
      summary: 'Reads a secret.',
      response: Type.Record(Type.String(), Type.Unknown(), { secret: true }),
      handle: async (req) => {
        const data = await plainSecrets(req.storage).get(req.data.path);
        if (data) return { data, leaseDuration: hintOf(data) ?? host.mount.defaultLeaseTtl };
        await format.requirePlain(req.storage);
        return undefined;
      },
    })
    .list({
      summary: 'Lists secrets and folders.',
      response: Keys,
      searched: true,
      handle: async (req) => {
        await format.requirePlain(req.storage);
        return listKeys(plainSecrets(req.storage), pageOf(req.data.path, req.raw));
      },
    })
    .scan({
      summary: 'Lists all secrets below a folder.',
      response: Keys,
      handle: async (req) => {
        await format.requirePlain(req.storage);
        return scanKeys(plainSecrets(req.storage), pageOf(req.data.path, req.raw));
      },
    })
    .upsert({
      summary: 'Writes a secret.',
      response: NoContent,
      exists: async (req) => plainSecrets(req.storage).has(req.data.path),
      handle: async (req) => {
        const { path: id } = req.data;
        if (id === '') throw new BadRequest('missing path');
        // Written as it is now, so that no copy is needed.
        const data = req.raw;
        if (Object.keys(data).length === 0) throw new BadRequest('missing data fields');
        await req.storage.transaction(async (tx) => {
          await format.requirePlain(tx);
          await plainSecrets(tx).put(id, data);
          tx.report({ kind: 'secret.written', paths: [id], name: id });
        });
        return undefined;
      },
    })
    .delete({
      summary: 'Deletes a secret.',
      response: NoContent,
      handle: async (req) => {
        await req.storage.transaction(async (tx) => {
          await format.requirePlain(tx);
          const { path: id } = req.data;
          if (await plainSecrets(tx).has(id)) tx.report({ kind: 'secret.deleted', paths: [id], name: id });
          await plainSecrets(tx).delete(id);
        });
        return undefined;
      },
    });
  return [secrets];
}

/** Seconds of the secret's own `ttl` or `lease`; undefined where that is no duration. */
function hintOf(data: PlainSecret): number | undefined {
  const hint = Object.hasOwn(data, 'ttl') ? data['ttl'] : Object.hasOwn(data, 'lease') ? data['lease'] : undefined;
  if (typeof hint !== 'string' && typeof hint !== 'number' && !(hint instanceof ExactNumber)) return undefined;
  try {
    const seconds = Math.trunc(parseDuration(hint instanceof ExactNumber ? hint.valueOf() : hint));
    return seconds >= 0 ? seconds : undefined;
  } catch {
    return undefined;
  }
}
