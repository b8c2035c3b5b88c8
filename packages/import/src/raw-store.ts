import { CallRefused, ImportStopped } from './failures.ts';
import { isRecord, recordOf, type JsonRecord } from './json.ts';
import type { SourceMount } from './mount-map.ts';
import type { Server } from './server.ts';

/** How an engine stores the items of one kind. */
export interface StoredItems {
  /** Below the mount, where its API has them, or what lists their names. */
  readonly at: string;
  readonly single?: boolean;
  readonly secrets?: readonly { readonly field: string }[];
  /** Where the store has an item, below the mount, if not where the API has it. */
  rawAt?(name: string): string;
  /** The secret fields in a record, by the names that this server takes; by default those of `secrets`. */
  rawSecrets?(entry: JsonRecord): JsonRecord;
}

/**
 * What the source stores, as `sys/raw` shows it decrypted where `raw_storage_endpoint` is set: the secrets that no read shows. Each is written as the
 * field of this server that takes it; a record of a format that is not known brings nothing.
 */
export class RawStore {
  readonly #source: Server;

  constructor(source: Server) {
    this.#source = source;
  }

  /** @throws ImportStopped where the source does not serve `sys/raw`, or not to this token */
  async requireAccess(): Promise<void> {
    try {
      if ((await this.#source.read('sys/raw/core', { list: 'true' })) !== undefined) return;
    } catch (error) {
      if (!(error instanceof CallRefused)) throw error;
      if (error.status === 403) throw new ImportStopped('-raw: the token of the source may not list sys/raw: use one with sudo');
    }
    throw new ImportStopped(
      '-raw: the source does not serve sys/raw: set raw_storage_endpoint = true in its configuration and restart it, or leave -raw out',
    );
  }

  /** The secret fields of one item of a section; {} where its record holds none, or has an unknown format. */
  async secretsOf(mount: SourceMount, section: StoredItems, name: string): Promise<JsonRecord> {
    if (mount.uuid === '' || !section.secrets?.length) return {};
    const root = mount.path.startsWith('auth/') ? 'auth' : 'logical';
    const at = section.rawAt ? section.rawAt(name) : section.single ? section.at : `${section.at}/${name}`;
    const found = await this.#source.read(`sys/raw/${root}/${mount.uuid}/${at}`);
    const entry = entryOf(found?.['value']);
    if (entry === undefined) return {};
    return section.rawSecrets ? section.rawSecrets(entry) : fieldsOf(entry, section);
  }
}

function entryOf(value: unknown): JsonRecord | undefined {
  if (typeof value !== 'string') return undefined;
  try {
    const entry = JSON.parse(value) as unknown;
    return isRecord(entry) ? entry : undefined;
  } catch {
    return undefined;
  }
}

/** Settings keep their secrets under the names of the API: at the top, or inside one of these. */
function fieldsOf(entry: JsonRecord, section: StoredItems): JsonRecord {
  const places = [entry, recordOf(entry['connection_details']), recordOf(entry['LDAP'])];
  const found = (section.secrets ?? []).flatMap(({ field }) =>
    places.flatMap((place): [string, unknown][] => {
      const value = Object.hasOwn(place, field) ? place[field] : undefined;
      return typeof value === 'string' && value !== '' ? [[field, value]] : [];
    }),
  );
  return Object.fromEntries(found);
}
