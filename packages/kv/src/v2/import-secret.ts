import { BadRequest, type StorageView } from '@strongroom/engine-sdk';
import { isDeepStrictEqual } from 'node:util';
import type { ImportedSecret } from './imported-secret.ts';
import { versionOf, type SecretData, type SecretRecord, type VersionRecord } from './secret-record.ts';
import { dataOf, putSecret, secrets } from './secret-store.ts';

type Storage = Pick<StorageView, 'collection'>;

/**
 * Makes the secret what it is at another server. Versions that are here already must be those of that server; the missing ones are added with their own
 * numbers and times. Repeating it changes nothing. Within a transaction.
 * @throws BadRequest where a version here is another one, or data is missing
 */
export async function importSecret(tx: Storage, path: string, sent: ImportedSecret): Promise<SecretRecord> {
  const before = await secrets(tx).get(path);
  refuseOwnVersions(before, sent);
  const versions: VersionRecord[] = [];
  const data = new Map<number, SecretData>();
  for (const { version, data: value } of sent.versions) {
    const known = before && versionOf(before, version.version);
    if (known && known.created_time !== version.created_time) throw ownVersion(version.version);
    const kept = before && known && !known.destroyed && !known.absent ? await dataOf(tx, path, before, known) : undefined;
    if (kept && value && !isDeepStrictEqual(kept, value)) throw ownVersion(version.version);
    const held = version.destroyed ? undefined : (value ?? kept);
    if (held) data.set(version.version, held);
    else if (!version.destroyed && version.deletion_time === '')
      throw new BadRequest(`versions.${version.version}.data is missing: only versions that are deleted or destroyed may come without it`);
    versions.push(held || version.destroyed ? version : { ...version, absent: true });
  }
  return putSecret(tx, path, { before, secret: { ...sent.settings, versions }, data });
}

/** A number that the other server does not have, and that it has not let go of either. */
function refuseOwnVersions(before: SecretRecord | undefined, { settings, versions }: ImportedSecret): void {
  const sent = new Set(versions.map(({ version }) => version.version));
  const own = before?.versions.find(({ version }) => !sent.has(version) && version >= settings.oldest_version);
  if (own) throw ownVersion(own.version);
}

function ownVersion(number: number): BadRequest {
  return new BadRequest(`version ${number} is here, and is not the one that was sent: the secret has versions of its own`);
}
