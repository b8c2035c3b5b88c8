import type { Context } from './context.ts';
import { commandText, fieldWords } from './command-text.ts';
import { isUntouched, recordOf, type JsonRecord } from './json.ts';
import { isLine, listOrLine, readOrLine, type Found } from './listing.ts';
import { only, setting, without, type SettingParts } from './setting.ts';

const group = 'system';

/** Settings of the whole server. */
export async function* findSystem(context: Context): Found {
  if (!context.selection.mayTake(group, 'sys/')) return;
  yield* single(context, 'quota settings', 'sys/quotas/config', {
    shape: only('enable_rate_limit_audit_logging', 'enable_rate_limit_response_headers', 'rate_limit_exempt_paths'),
  });
  for (const kind of ['rate-limit', 'lease-count']) {
    yield* each(context, `${kind} quota`, `sys/quotas/${kind}`, {
      shape: without('type', 'name', 'counter'),
      here: (content) => ({ ...content, path: context.map.target(String(content['path'] ?? '')) }),
    });
  }
  yield* single(context, 'CORS', 'sys/config/cors', {
    shape: (read) => (read['enabled'] === true ? only('allowed_origins', 'allowed_headers')(read) : {}),
  });
  yield* headers(context);
  yield* each(context, 'console header', 'sys/config/ui/headers', {
    shape: (read) => ({ values: read['values'] ?? (read['value'] === undefined ? undefined : [read['value']]) }),
  });
  yield* single(context, 'key rotation', 'sys/rotate/config', { shape: only('enabled', 'max_operations', 'interval') });
  yield* audit(context);
}

type Parts = Omit<SettingParts, 'kind' | 'group' | 'path' | 'to' | 'read'>;

async function* single(context: Context, kind: string, path: string, parts: Parts): Found {
  if (!context.selection.takes(group, path)) return;
  const read = await readOrLine(context, kind, path);
  if (isLine(read)) yield read;
  else if (read && Object.keys(parts.shape(read)).length > 0)
    yield setting(context, { kind, group, path, to: path, read, untouched: isUntouched, ...parts });
}

async function* each(context: Context, kind: string, folder: string, parts: Parts): Found {
  const names = await listOrLine(context, kind, folder);
  if (isLine(names)) yield names;
  else for (const name of names) yield* single(context, kind, `${folder}/${name}`, parts);
}

/** Which request headers the audit devices write: one list at the source. */
async function* headers(context: Context): Found {
  const folder = 'sys/config/auditing/request-headers';
  const read = await readOrLine(context, 'audited header', folder);
  if (isLine(read)) {
    yield read;
    return;
  }
  for (const [name, rule] of Object.entries(recordOf(read?.['headers']))) {
    const path = `${folder}/${name}`;
    if (!context.selection.takes(group, path)) continue;
    const shape = (from: JsonRecord): JsonRecord =>
      recordOf(Object.entries(from).find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1]);
    const thing = setting(context, { kind: 'audited header', group, path, to: path, read: { [name]: rule }, shape });
    yield { ...thing, current: async () => there(context, folder, shape), verify: async () => Promise.resolve(true) };
  }
}

async function there(context: Context, folder: string, shape: (read: JsonRecord) => JsonRecord): Promise<JsonRecord | undefined> {
  const found = shape(recordOf((await context.target.read(folder))?.['headers']));
  return Object.keys(found).length === 0 ? undefined : found;
}

/** Audit devices write to places of their own server. */
async function* audit(context: Context): Found {
  if (!context.selection.takes(group, 'sys/audit/')) return;
  const read = await readOrLine(context, 'audit device', 'sys/audit');
  if (isLine(read)) {
    yield read;
    return;
  }
  for (const [path, raw] of Object.entries(read ?? {})) {
    const { type, options } = recordOf(raw);
    if (typeof type !== 'string') continue;
    const why = 'devices write to places of their own server: enable one here';
    const command = commandText([
      'strongroom',
      'audit',
      'enable',
      `-path=${path.replace(/\/$/, '')}`,
      type,
      ...fieldWords(recordOf(options)),
    ]);
    yield { kind: 'audit device', path: `sys/audit/${path}`, outcome: 'not-carriable', why, command };
  }
}

/** Other namespaces. */
export async function* findRest(context: Context): Found {
  if (!context.selection.mayTake(group, 'sys/namespaces/')) return;
  const namespaces = await listOrLine(context, 'namespace', 'sys/namespaces');
  if (isLine(namespaces)) yield namespaces;
  else
    for (const name of namespaces) {
      const why = 'namespaces do not come: this server has one. To bring its content, run the import with -source-namespace';
      yield { kind: 'namespace', path: name, outcome: 'not-carriable', why };
    }
}
