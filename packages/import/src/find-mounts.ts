import type { Context } from './context.ts';
import { alike, recordOf, textsOf, type JsonRecord } from './json.ts';
import { isLine, type Found } from './listing.ts';
import { BUILT_IN_TYPES, targetTypeOf, type SourceMount } from './mount-map.ts';
import type { Group } from './selection.ts';
import { refusedLine } from './listing.ts';
import type { Line, Thing } from './thing.ts';

/** Settings of a mount that mean the same at both servers. */
const TUNED = [
  'default_lease_ttl',
  'max_lease_ttl',
  'listing_visibility',
  'audit_non_hmac_request_keys',
  'audit_non_hmac_response_keys',
  'passthrough_request_headers',
  'allowed_response_headers',
  'token_type',
  'user_lockout_config',
] as const;

interface Side {
  readonly place: 'mounts' | 'auth';
  readonly lead: '' | 'auth/';
}
const SIDES: readonly Side[] = [
  { place: 'mounts', lead: '' },
  { place: 'auth', lead: 'auth/' },
];

/** Which part of the import a mount's content belongs to. */
export function groupOf(mount: Pick<SourceMount, 'path' | 'targetType'>): Group {
  if (mount.path.startsWith('auth/')) return 'auth';
  return mount.targetType === 'kv' ? 'kv' : 'engines';
}

/** Mounts with their tuning. Fills the map of the context, which all that follows needs. */
export async function* findMounts(context: Context): Found {
  for (const side of SIDES) {
    const there = await tableOf(context, side);
    if (isLine(there)) {
      yield there;
      continue;
    }
    const here = recordOf(await context.target.read(`sys/${side.place}`));
    const types = await typesHere(context, side);
    for (const [name, raw] of Object.entries(there)) {
      const read = recordOf(raw);
      const path = side.lead + name;
      const type = String(read['type'] ?? '');
      const known = recordOf(here[context.map.target(path).slice(side.lead.length)]);
      const targetType = BUILT_IN_TYPES.has(type) || types.has(targetTypeOf(type)) ? targetTypeOf(type) : undefined;
      const options = type.startsWith('kv-v') ? { ...recordOf(read['options']), version: type.slice(4) } : recordOf(read['options']);
      const mount: SourceMount = {
        path,
        to: context.map.target(path),
        type,
        targetType,
        accessor: String(read['accessor'] ?? ''),
        uuid: String(read['uuid'] ?? ''),
        options,
      };
      context.map.add(mount, typeof known['accessor'] === 'string' ? known['accessor'] : undefined);
      if (BUILT_IN_TYPES.has(type)) {
        context.map.ready.add(path);
        continue;
      }
      if (!takesMount(context, mount)) {
        if (isSame(mount, known)) context.map.ready.add(path);
        continue;
      }
      if (targetType !== undefined) yield mountThing(context, side, mount, read);
    }
  }
}

function takesMount({ selection }: Context, mount: SourceMount): boolean {
  return selection.takes('mounts', mount.path) || selection.mayTake(groupOf(mount), mount.path);
}

async function tableOf(context: Context, side: Side): Promise<JsonRecord | Line> {
  try {
    return recordOf(await context.source.read(`sys/${side.place}`));
  } catch (error) {
    return refusedLine('mounts', `sys/${side.place}`, error);
  }
}

async function typesHere(context: Context, { place }: Side): Promise<ReadonlySet<string>> {
  const catalog = recordOf(await context.target.read('sys/plugins/catalog'));
  return new Set(textsOf(catalog[place === 'auth' ? 'auth' : 'secret']));
}

function isSame(mount: SourceMount, here: JsonRecord): boolean {
  return here['type'] === mount.targetType && (mount.targetType !== 'kv' || versionOf(here) === versionOf(mount));
}

export function versionOf({ options }: { readonly options?: unknown }): '1' | '2' {
  return recordOf(options)['version'] === '2' ? '2' : '1';
}

function mountThing(context: Context, side: Side, mount: SourceMount, read: JsonRecord): Thing {
  const { target, map } = context;
  const name = mount.to.slice(side.lead.length);
  const shape = (from: JsonRecord): JsonRecord => {
    const config = recordOf(from['config']);
    return {
      type: targetTypeOf(String(from['type'] ?? '')),
      description: from['description'],
      options: mount.targetType === 'kv' ? { version: versionOf(from === read ? mount : from) } : from['options'],
      config: Object.fromEntries(TUNED.filter((key) => key in config).map((key) => [key, config[key]])),
    };
  };
  const content = shape(read);
  let found: JsonRecord | undefined;
  const current = async (): Promise<JsonRecord | undefined> => {
    const raw = recordOf(await target.read(`sys/${side.place}`))[name];
    found = raw === undefined ? undefined : recordOf(raw);
    if (found && isSame(mount, found)) ready();
    return found && shape(found);
  };
  const ready = (): void => {
    map.ready.add(mount.path);
    if (typeof found?.['accessor'] === 'string') map.found(mount, found['accessor']);
  };
  if (!context.apply) map.ready.add(mount.path);
  return {
    kind: side.place === 'auth' ? 'auth mount' : 'mount',
    group: 'mounts',
    path: mount.path,
    to: mount.to,
    content,
    current,
    matches: (there) => alike(content, there),
    differences: (there) => Object.keys(content).filter((key) => !alike(content[key], recordOf(there)[key])),
    state: (there) => there,
    get fixed() {
      return found && !isSame(mount, found) ? `${mount.to} is a mount of another type here: choose another path with -rename` : undefined;
    },
    async write() {
      const { type, options, description, config } = content;
      if (found) await target.write(`sys/${side.place}/${name}tune`, { description, ...recordOf(config) });
      else {
        const { token_type: tokenType, ...rest } = recordOf(config);
        const tuned = side.place === 'auth' ? { ...rest, token_type: tokenType } : rest;
        await target.write(`sys/${side.place}/${name.slice(0, -1)}`, { type, description, options, config: tuned });
      }
      await current();
      ready();
    },
    verify: async () => {
      const again = recordOf(await context.source.read(`sys/${side.place}`))[mount.path.slice(side.lead.length)];
      return again !== undefined && alike({ ...shape(recordOf(again)), options: content['options'] }, await current());
    },
  } as Thing;
}
