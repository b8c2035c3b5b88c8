/** Part of an OpenAPI document, as far as it is changed here. */
type Json = Record<string, unknown>;

/** Fields of bodies that name something on the server. */
const NAMING = new Set([
  'name',
  'role',
  'role_name',
  'db_name',
  'mount',
  'secret_name',
  'username',
  'password_policy',
  'policies',
  'plugin_name',
]);

/** The path whose answers are wrapped now and then. */
const WRAPPED = '/kv1/{path}';

/**
 * The document with names of what exists beside any text, wherever a parameter of a path or a field names something: without them
 * almost every call ends at "there is no such role".
 */
export function withKnownNames(document: Json, names: readonly string[]): Json {
  const changed = structuredClone(document);
  for (const item of Object.values(changed['paths'] as Record<string, Json>)) {
    for (const parameter of (item['parameters'] ?? []) as Json[])
      if (parameter['in'] === 'path') parameter['schema'] = eitherWay(parameter['schema'] as Json, names);
    for (const operation of Object.values(item)) {
      const body = (operation as Json | undefined)?.['requestBody'] as { content: Record<string, { schema: Json }> } | undefined;
      for (const { schema } of Object.values(body?.content ?? {})) {
        const properties = (schema['properties'] ?? {}) as Record<string, Json>;
        for (const [field, spec] of Object.entries(properties)) if (NAMING.has(field)) properties[field] = eitherWay(spec, names);
      }
    }
  }
  return changed;
}

/**
 * The document with calls that fit the server as the examples of its operations. Schemathesis sends them, and then changes one value of
 * them at a time, which reaches farther than bodies that are made up whole.
 */
export function withExamples(document: Json, calls: readonly { readonly path: string; readonly body?: Json }[]): Json {
  const changed = structuredClone(document);
  const owners = new Map<string, string>();
  // A call belongs to the path that says most of it.
  const paths = Object.entries(changed['paths'] as Record<string, Json>).sort(([a], [b]) => a.split('{').length - b.split('{').length);
  for (const [template, item] of paths) {
    const names: string[] = [];
    const pattern = new RegExp(`^${template.replace(/\{(\w+)\}/g, (_, name: string) => (names.push(name), '([^/]+)'))}$`);
    for (const [at, { path, body }] of calls.entries()) {
      const found = pattern.exec(`/${path}`);
      if (!found || (owners.get(path) ?? template) !== template) continue;
      owners.set(path, template);
      for (const operation of body === undefined ? [] : Object.values(item)) {
        const content = (operation as Json | undefined)?.['requestBody'] as { content: Record<string, Json> } | undefined;
        for (const media of Object.values(content?.content ?? {}))
          media['examples'] = { ...(media['examples'] as Json), [at]: { value: body } };
      }
      for (const parameter of (item['parameters'] ?? []) as Json[]) {
        const value = found[1 + names.indexOf(parameter['name'] as string)];
        if (parameter['in'] === 'path' && value !== undefined)
          parameter['examples'] = { ...(parameter['examples'] as Json), [at]: { value } };
      }
    }
  }
  return changed;
}

/**
 * The document without what the run leaves out. A restore would replace the store under the run, and schemathesis cannot make the body of one. Only one path is
 * called for wrapped answers: of those, nothing but the envelope could be compared.
 */
export function withoutExclusions(document: Json): Json {
  const changed = structuredClone(document);
  for (const [template, item] of Object.entries(changed['paths'] as Record<string, Json>)) {
    if (template.startsWith('/sys/storage/raft/snapshot')) delete item['post'];
    if (template !== WRAPPED)
      item['parameters'] = (item['parameters'] as Json[]).filter((one) => one['$ref'] !== '#/components/parameters/WrapTtl');
  }
  return changed;
}

function eitherWay(schema: Json, names: readonly string[]): Json {
  if (schema['type'] === 'string' && schema['enum'] === undefined) return { anyOf: [{ type: 'string', enum: names }, schema] };
  return schema;
}
