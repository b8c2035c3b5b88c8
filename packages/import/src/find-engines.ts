import type { Context } from './context.ts';
import { commandText, writeCommand } from './command-text.ts';
import { groupOf, versionOf } from './find-mounts.ts';
import { findKv1 } from './find-kv1.ts';
import { findKv2 } from './find-kv2.ts';
import { isRecord, type JsonRecord } from './json.ts';
import { isLine, listOrLine, readOrLine, refusedLine, type Found } from './listing.ts';
import { BUILT_IN_TYPES, type SourceMount } from './mount-map.ts';
import type { RawStore } from './raw-store.ts';
import { reportedLists, sectionsOf, type Section } from './sections.ts';
import { setting } from './setting.ts';
import type { Line } from './thing.ts';

const TAKES_OVER =
  'writing it makes this server change the password of its accounts at once: run the command when the source no longer manages them, or add -take-over';

/** The content of mounts of one group: secrets, settings and roles. */
export async function* findContent(context: Context, group: 'kv' | 'engines' | 'auth'): Found {
  for (const mount of context.map.mounts) {
    if (BUILT_IN_TYPES.has(mount.type) || groupOf(mount) !== group || !context.selection.mayTake(group, mount.path)) continue;
    const side = group === 'auth' ? 'auth' : 'secret';
    const sections = mount.targetType === undefined ? undefined : sectionsOf(side, mount.targetType);
    if (mount.targetType !== 'kv' && sections === undefined) {
      const why = `this server has no ${side === 'auth' ? 'login method' : 'engine'} of type ${mount.type}`;
      yield {
        kind: side === 'auth' ? 'auth mount' : 'mount',
        path: mount.path,
        outcome: 'not-carriable',
        why,
        settings: await settingsOf(context, mount),
      };
    } else if (!context.map.ready.has(mount.path)) {
      yield { kind: 'content', path: mount.path, outcome: 'not-carriable', why: `${mount.to} is not here, or is a mount of another type` };
    } else if (mount.targetType === 'kv') yield* versionOf(mount) === '2' ? findKv2(context, mount) : findKv1(context, mount);
    else for (const section of sections ?? []) yield* findSection(context, mount, section, group);
  }
}

async function* findSection(context: Context, mount: SourceMount, section: Section, group: 'kv' | 'engines' | 'auth'): Found {
  const { selection } = context;
  const { kind, at, suffix = '' } = section;
  const names = section.single ? [''] : await listOrLine(context, kind, `${mount.path}${at}`);
  if (isLine(names)) {
    yield names;
    return;
  }
  for (const name of names) {
    const below = section.single ? at : `${at}/${name}${suffix}`;
    const path = mount.path + below;
    if (!selection.takes(group, path)) continue;
    const read = await readOrLine(context, kind, path);
    if (read === undefined) continue;
    if (isLine(read)) {
      yield read;
      continue;
    }
    const { shape, secrets = [], untouched } = section;
    const to = mount.to + below;
    const raw = context.raw ? await rawOrLine(context.raw, mount, section, path, name) : {};
    if (isLine(raw)) {
      yield raw;
      continue;
    }
    const waits = section.takesOver && !context.takeOver;
    yield setting(context, {
      ...{ kind, group, path, to, read, shape, secrets, raw },
      ...(untouched ? { untouched } : {}),
      ...(waits ? { needs: { why: TAKES_OVER, command: writeCommand(to, shape(read)) } } : {}),
    });
    if (kind === 'approle role') yield* secretIds(context, path, to);
  }
}

async function rawOrLine(raw: RawStore, mount: SourceMount, section: Section, path: string, name: string): Promise<JsonRecord | Line> {
  try {
    return await raw.secretsOf(mount, section, name);
  } catch (error) {
    return refusedLine(section.kind, path, error);
  }
}

/** Secret ids are shown by no read: how many there are. */
async function* secretIds(context: Context, path: string, to: string): Found {
  const accessors = await listOrLine(context, 'secret ids', `${path}/secret-id`);
  if (isLine(accessors)) yield accessors;
  else if (accessors.length > 0) {
    const why = `${accessors.length} secret ids are shown by no read: give out new ones`;
    yield {
      kind: 'secret ids',
      path: `${path}/secret-id`,
      outcome: 'not-carriable',
      why,
      command: commandText(['strongroom', 'write', '-force', `${to}/secret-id`]),
    };
  }
}

/** What the source shows of an engine that is not here, for the report. */
async function settingsOf(context: Context, mount: SourceMount): Promise<unknown> {
  const found: [string, unknown][] = [];
  for (const list of reportedLists(mount.type)) {
    const names = await listOrLine(context, list, mount.path + list);
    if (isLine(names)) continue;
    for (const name of names) {
      const read = await readOrLine(context, list, `${mount.path}${list}/${name}`);
      if (read && !isLine(read)) found.push([`${list}/${name}`, withoutSecrets(read)]);
    }
  }
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

/** A read shows no secrets; what may be one by its name is left out all the same. */
function withoutSecrets(read: JsonRecord): JsonRecord {
  return Object.fromEntries(
    Object.entries(read)
      .filter(([key]) => !/password|secret|private|token$|^key$|^url$|^barcode$/i.test(key))
      .map(([key, value]) => [key, isRecord(value) ? withoutSecrets(value) : value]),
  );
}
