import type { Context } from './context.ts';
import { ImportStopped } from './failures.ts';
import { canonical, isUntouched, recordOf, type JsonRecord } from './json.ts';
import { isLine, readOrLine, type Found } from './listing.ts';
import type { SourceMount } from './mount-map.ts';
import { SECRET, secretNames } from './secret-names.ts';
import { setting, only } from './setting.ts';
import type { Thing } from './thing.ts';

/** Bytes of one call; a secret that is larger comes in several, oldest versions first. */
const CALL_BYTES = 8 * 1024 * 1024;

const KEPT = [
  'created_time',
  'updated_time',
  'current_version',
  'oldest_version',
  'current_metadata_version',
  'max_versions',
  'cas_required',
  'metadata_cas_required',
  'delete_version_after',
  'custom_metadata',
] as const;

interface Version {
  readonly created_time: string;
  readonly deletion_time: string;
  readonly destroyed: boolean;
}

/** Settings of the mount, then secrets with all their versions. */
export async function* findKv2(context: Context, mount: SourceMount): Found {
  const { selection } = context;
  const config = await readOrLine(context, 'kv settings', `${mount.path}config`);
  if (isLine(config)) yield config;
  else if (config && selection.takes('kv', `${mount.path}config`)) {
    const shape = only('max_versions', 'cas_required', 'metadata_cas_required', 'delete_version_after');
    yield setting(context, {
      kind: 'kv settings',
      group: 'kv',
      path: `${mount.path}config`,
      to: `${mount.to}config`,
      read: config,
      shape,
      untouched: isUntouched,
    });
  }
  for await (const found of secretNames(context, mount, `${mount.path}metadata/`)) {
    if (isLine(found)) {
      yield found;
      continue;
    }
    const metadata = await readOrLine(context, SECRET, `${mount.path}metadata/${found}`);
    if (isLine(metadata)) yield { ...metadata, path: mount.path + found };
    else if (metadata) yield secretThing(context, mount, found, withVersions(metadata, context.versions));
  }
}

/** The metadata of the versions that come. */
function withVersions(read: JsonRecord, versions: Context['versions']): JsonRecord {
  const metadata = shapeOf(read);
  if (versions === 'all') return metadata;
  const first = Number(metadata['current_version']) - (versions === 'latest' ? 1 : versions) + 1;
  const kept = Object.entries(recordOf(metadata['versions'])).filter(([number]) => Number(number) >= first);
  const oldest = kept.length === 0 ? 0 : Math.min(...kept.map(([number]) => Number(number)));
  return {
    ...metadata,
    oldest_version: Math.max(Number(metadata['oldest_version']), first > 1 ? oldest : 0),
    versions: Object.fromEntries(kept),
  };
}

/** What both servers say of a secret, and nothing that only one of them knows. */
function shapeOf(read: JsonRecord): JsonRecord {
  const versions = Object.entries(recordOf(read['versions'])).map(([number, raw]) => {
    const { created_time, deletion_time, destroyed } = recordOf(raw);
    return [number, { created_time, deletion_time: deletion_time ?? '', destroyed: destroyed === true }];
  });
  return {
    ...Object.fromEntries(KEPT.map((key) => [key, read[key] ?? DEFAULTS[key] ?? 0])),
    custom_metadata: Object.keys(recordOf(read['custom_metadata'])).length === 0 ? null : read['custom_metadata'],
    versions: Object.fromEntries(versions),
  };
}
const DEFAULTS: JsonRecord = { cas_required: false, metadata_cas_required: false, delete_version_after: '0s' };

function secretThing(context: Context, mount: SourceMount, name: string, metadata: JsonRecord): Thing {
  const { target } = context;
  const path = mount.path + name;
  const to = mount.to + name;
  const versions = recordOf(metadata['versions']) as Readonly<Record<string, Version>>;
  let data: Map<string, JsonRecord> | undefined;
  const current = async (): Promise<JsonRecord | undefined> => {
    const found = await target.read(`${mount.to}metadata/${name}`);
    return found && shapeOf(found);
  };
  const prepare = async (): Promise<void> => {
    data ??= await readData(context, mount.path, name, versions);
  };
  return {
    ...{ kind: 'secret', group: 'kv', path, to, content: metadata, current, prepare },
    matches: (found) => canonical(found) === canonical(metadata),
    state: (found) => found,
    async write(replace) {
      await prepare();
      for (const [at, part] of parts(versions, data!).entries()) {
        const last = Object.keys(part.versions).at(-1);
        await target.write(`${mount.to}import/${name}`, {
          metadata: { ...metadata, versions: undefined, current_version: last === undefined ? metadata['current_version'] : Number(last) },
          versions: part.versions,
          ...(replace && at === 0 ? { replace: true } : {}),
        });
      }
    },
    async verify() {
      const again = await context.source.read(`${mount.path}metadata/${name}`);
      if (!again || canonical(withVersions(again, context.versions)) !== canonical(await current())) return false;
      for (const [number, version] of Object.entries(versions)) {
        if (version.destroyed || isDeleted(context, version)) continue;
        const [there, here] = await Promise.all(
          (
            [
              [context.source, mount.path],
              [target, mount.to],
            ] as const
          ).map(async ([server, at]) => server.read(`${at}data/${name}`, { version: number })),
        );
        if (!there || canonical(there['data']) !== canonical(here?.['data'])) return false;
      }
      return true;
    },
  };
}

/** The versions in calls that are not too large. Each call names all versions up to its last one, and brings the data of its own. */
function parts(versions: Readonly<Record<string, Version>>, data: ReadonlyMap<string, JsonRecord>): { versions: JsonRecord }[] {
  const numbers = Object.keys(versions).sort((a, b) => Number(a) - Number(b));
  const found: { versions: JsonRecord }[] = [];
  let now: Record<string, unknown> = {};
  let size = 0;
  for (const number of numbers) {
    const value = data.get(number);
    const bytes = value ? canonical(value).length : 0;
    if (size > 0 && size + bytes > CALL_BYTES) {
      found.push({ versions: now });
      now = Object.fromEntries(Object.entries(now).map(([key, version]) => [key, { ...recordOf(version), data: undefined }]));
      size = 0;
    }
    now[number] = { ...versions[number], ...(value ? { data: value } : {}) };
    size += bytes;
  }
  return [...found, { versions: now }];
}

async function readData(
  context: Context,
  mount: string,
  name: string,
  versions: Readonly<Record<string, Version>>,
): Promise<Map<string, JsonRecord>> {
  const data = new Map<string, JsonRecord>();
  for (const [number, version] of Object.entries(versions)) {
    if (version.destroyed) continue;
    const deleted = isDeleted(context, version);
    if (deleted && !context.undelete) continue;
    const value = deleted ? await undeleted(context, mount, name, number) : await readVersion(context, mount, name, number);
    if (value) data.set(number, value);
    else if (!deleted) throw new ImportStopped(`${mount}${name} changed while it was read: run the import again`);
  }
  return data;
}

function isDeleted({ now }: Context, { deletion_time: time }: Version): boolean {
  return time !== '' && Date.parse(time) <= now();
}

async function readVersion({ source }: Context, mount: string, name: string, number: string): Promise<JsonRecord | undefined> {
  const value = (await source.read(`${mount}data/${name}`, { version: number }))?.['data'];
  return value === null || value === undefined ? undefined : recordOf(value);
}

/** The data of a deleted version: it is undeleted for the read, and deleted again whatever happens. */
async function undeleted(context: Context, mount: string, name: string, number: string): Promise<JsonRecord | undefined> {
  if (!context.apply) return undefined;
  await context.source.write(`${mount}undelete/${name}`, { versions: [Number(number)] });
  try {
    return await readVersion(context, mount, name, number);
  } finally {
    await context.source.write(`${mount}delete/${name}`, { versions: [Number(number)] });
  }
}
