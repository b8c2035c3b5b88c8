import { fieldSpec, type AnyPath } from '@strongroom/engine-sdk';
import type { TSchema } from 'typebox';
import { VERSION } from '../../kernel/version.ts';

interface Place {
  /** Below `/`, with a closing slash. */
  readonly prefix: string;
  readonly paths: readonly AnyPath[];
}

/** The OpenAPI document of declared paths. */
export function openApiOf(places: readonly Place[]): Record<string, unknown> {
  const paths: Record<string, unknown> = {};
  for (const { prefix, paths: declared } of places) {
    for (const path of declared) paths[`/${prefix}${path.pattern.replace(/\{(\w+):\w+\}/g, '{$1}')}`] = pathItem(path, prefix);
  }
  return {
    openapi: '3.0.2',
    info: {
      title: 'Strongroom API',
      description: 'HTTP API that gives you full access to Strongroom. All API routes are prefixed with `/v1/`.',
      version: VERSION,
      license: { name: 'Apache License 2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    paths: Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

function pathItem(path: AnyPath, prefix: string): Record<string, unknown> {
  const { about, operations, pattern } = path;
  const captured = new Set([...pattern.matchAll(/\{(\w+)/g)].map((match) => match[1]!));
  const fields = Object.entries(about.fields as Record<string, TSchema & { description?: string }>);
  const item: Record<string, unknown> = {
    description: about.synopsis,
    ...(captured.size > 0
      ? {
          parameters: fields
            .filter(([name]) => captured.has(name))
            .map(([name, schema]) => ({
              name,
              in: 'path',
              required: true,
              description: schema.description ?? '',
              schema: { type: 'string' },
            })),
        }
      : {}),
    ...(about.access === 'sudo' ? { 'x-vault-sudo': true } : {}),
    ...(about.access === 'unauthenticated' || about.login ? { 'x-vault-unauthenticated': true } : {}),
    ...(operations.exists ? { 'x-vault-createSupported': true } : {}),
  };
  const tags = [
    prefix.split('/')[0] === 'auth' ? 'auth' : ['sys', 'identity'].includes(prefix.split('/')[0]!) ? prefix.split('/')[0] : 'secrets',
  ];
  const body = fields.filter(([name]) => !captured.has(name));
  const requestBody =
    body.length === 0
      ? {}
      : {
          requestBody: {
            content: {
              'application/json': {
                schema: { type: 'object', properties: Object.fromEntries(body.map(([name, schema]) => [name, publicSchema(schema)])) },
              },
            },
          },
        };
  // Without a write, the fields are those of reading.
  const query =
    operations.update || operations.patch
      ? []
      : body.map(([name, schema]) => ({ name, in: 'query', description: schema.description ?? '', schema: publicSchema(schema) }));
  const answer = (response: TSchema | undefined, empty: boolean): Record<string, unknown> => ({
    responses: empty
      ? { '204': { description: 'empty body' } }
      : { '200': { description: 'OK', ...(response ? { content: { 'application/json': { schema: response } } } : {}) } },
  });
  const flag = (name: 'list' | 'scan', required: boolean): Record<string, unknown>[] =>
    operations[name]
      ? [{ name, in: 'query', required, description: operations[name].summary, schema: { type: 'string', enum: ['true'] } }]
      : [];
  if (operations.read) {
    const parameters = [...flag('scan', false), ...query];
    item['get'] = {
      summary: operations.read.summary,
      tags,
      ...(parameters.length > 0 ? { parameters } : {}),
      ...answer(operations.read.response, false),
    };
  } else if (operations.list) {
    item['get'] = {
      summary: operations.list.summary,
      tags,
      parameters: [...flag('list', operations.scan === undefined), ...flag('scan', false), ...query],
      ...answer(operations.list.response, false),
    };
  }
  if (operations.update)
    item['post'] = { summary: operations.update.summary, tags, ...requestBody, ...answer(operations.update.response, false) };
  if (operations.patch)
    item['patch'] = { summary: operations.patch.summary, tags, ...requestBody, ...answer(operations.patch.response, false) };
  if (operations.delete) item['delete'] = { summary: operations.delete.summary, tags, ...answer(undefined, true) };
  return item;
}

/** A field as documents show it: without our own annotations. */
export function publicSchema(schema: TSchema & { description?: string; deprecated?: boolean }): Record<string, unknown> {
  const { 'x-field': _field, ...rest } = schema as Record<string, unknown>;
  const spec = fieldSpec(schema);
  const format = spec.kind === 'duration' || spec.kind === 'signedDuration' ? { type: 'string', format: 'duration', oneOf: undefined } : {};
  return {
    ...rest,
    ...format,
    ...(spec.deprecated ? { deprecated: true } : {}),
    ...(spec.secret ? { 'x-vault-displayAttrs': { sensitive: true } } : {}),
  };
}
