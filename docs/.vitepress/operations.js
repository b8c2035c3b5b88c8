const METHODS = ['get', 'post', 'patch', 'delete'];
const SHOWN = { get: 'GET', post: 'POST', patch: 'PATCH', delete: 'DELETE' };

/** The operations of an OpenAPI document by the mount that they belong to: `sys-leases`, `auth-ldap`, `database`. */
export function areasOf({ paths }) {
  const areas = new Map();
  for (const [path, item] of Object.entries(paths)) {
    const [first, second] = path.slice(1).split('/');
    const area = ['sys', 'auth', 'identity'].includes(first) && second && !second.startsWith('{') ? `${first}-${second}` : first;
    areas.set(area, [
      ...(areas.get(area) ?? []),
      ...METHODS.filter((method) => item[method]).map((method) => ({ path, item, method, ...item[method] })),
    ]);
  }
  return areas;
}

/** A page with every operation of an area. */
export function markdownOf(area, operations) {
  return [`# \`${area.replace('-', '/')}\``, ...operations.flatMap(operationOf)].join('\n\n');
}

function operationOf({ path, item, method, summary, parameters = [], requestBody, responses }) {
  const all = [...(item.parameters ?? []), ...parameters].filter(({ name }) => name).map((one) => ({ ...one, where: one.in }));
  const body = Object.entries(fieldsOf(requestBody)).map(([name, schema]) => ({
    name,
    where: 'body',
    schema,
    description: schema.description,
  }));
  const rows = [...all, ...body];
  const answer = Object.entries(responses).flatMap(([status, { content }]) => {
    const fields = Object.entries(dataOf(content?.['application/json']?.schema));
    return fields.length === 0
      ? []
      : [
          `Answer (${status}):`,
          tableOf(
            ['Field', 'Type', ''],
            fields.map(([name, schema]) => [code(name), typeOf(schema), cell(schema.description)]),
          ),
        ];
  });
  return [
    `## ${SHOWN[method]} ${escaped(path)}`,
    [summary, item['x-vault-sudo'] ? 'Needs `sudo`.' : '', item['x-vault-unauthenticated'] ? 'Needs no token.' : '']
      .filter(Boolean)
      .join(' '),
    ...(rows.length === 0
      ? []
      : [
          tableOf(
            ['Parameter', 'In', 'Type', ''],
            rows.map((row) => [code(row.name), row.where, typeOf(row.schema), cell(row.description)]),
          ),
        ]),
    ...answer,
    ...(responses['204'] ? ['Answers 204, without a body.'] : []),
  ];
}

const fieldsOf = (body) => Object.values(body?.content ?? {})[0]?.schema?.properties ?? {};
/** The fields of `data` in the first form of an answer. */
const dataOf = (schema) => {
  const form = schema?.anyOf?.[0] ?? schema;
  const properties = form?.allOf?.at(-1).properties ?? form?.properties;
  return properties?.data?.properties ?? properties ?? {};
};
const code = (text) => `\`${text}\``;
const escaped = (text) => text.replaceAll('{', '&#123;').replaceAll('}', '&#125;');
const cell = (text = '') => escaped(String(text)).replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ');
const tableOf = (heads, rows) => [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

function typeOf(schema = {}) {
  if (schema.enum) return schema.enum.map((one) => code(one)).join(', ');
  if (schema.format) return schema.format;
  return [schema.type ?? ''].flat().join(' or ') || 'any';
}
