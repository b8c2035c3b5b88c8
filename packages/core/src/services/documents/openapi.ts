import { answerForm, mayBeEmpty, type AnyPath, type Op } from '@strongroom/engine-sdk';
import type { TProperties, TSchema } from 'typebox';
import { VERSION } from '../../kernel/version.ts';
import { Components, refTo, type OpenApiSchema } from './openapi-components.ts';
import { fieldSchema, formSchema, openApiSchema } from './openapi-schema.ts';

/** A mount and its paths. */
export interface Place {
  /** Below `/`, with a closing slash. */
  readonly prefix: string;
  readonly paths: readonly AnyPath[];
}

type Fields = readonly (readonly [name: string, schema: TSchema])[];
type Written = 'update' | 'patch';
type Query = 'read' | 'list' | 'scan' | 'delete';

/** The OpenAPI document of declared paths. */
export function openApiOf(places: readonly Place[]): Record<string, unknown> {
  const components = new Components();
  const paths: Record<string, unknown> = {};
  for (const { prefix, paths: declared } of places) {
    for (const path of declared) paths[`/${prefix}${path.pattern.replace(/\{(\w+):\w+\}/g, '{$1}')}`] = pathItem(path, prefix, components);
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
    components: components.document(),
  };
}

function pathItem(path: AnyPath, prefix: string, components: Components): Record<string, unknown> {
  const { about, operations, pattern } = path;
  const captured = new Set([...pattern.matchAll(/\{(\w+)/g)].map((match) => match[1]!));
  const all = Object.entries(about.fields as Record<string, TSchema>);
  const fields: Fields = all.filter(([name]) => !captured.has(name));
  const captures = all.filter(([name]) => captured.has(name));
  const tags = [tagOf(prefix)];
  const shown = (schema: TSchema): OpenApiSchema => fieldSchema(schema, components);

  const parameters = (...names: Query[]): Record<string, unknown>[] => {
    const taken = names.flatMap((name) => operations[name] && queryOf(path, name, fields)).filter((field) => field !== undefined);
    return [...new Map(taken)].map(([name, schema]) => {
      const { description = '', ...rest } = shown(schema);
      return { name, in: 'query', description, schema: rest };
    });
  };
  const body = (name: Written): Record<string, unknown> => {
    const taken = bodyOf(path, name, fields);
    if (taken.length === 0 && about.arbitraryData !== true) return {};
    const { required, ...form } = formSchema({ properties: Object.fromEntries(taken) }, components);
    const schema = {
      ...form,
      ...(name === 'update' && required !== undefined ? { required } : {}),
      ...(about.arbitraryData === true ? { additionalProperties: true } : {}),
      ...variantsOf(path, components),
    };
    return { requestBody: { content: { 'application/json': { schema } } } };
  };
  const query = (names: Query[], flags: Record<string, unknown>[] = []): Record<string, unknown> => {
    const taken = [...flags, ...parameters(...names)];
    return taken.length > 0 ? { parameters: taken } : {};
  };
  const spoken = (op: Op<TProperties, TSchema>, name: Written | Query): Record<string, unknown> => ({
    summary: op.summary,
    tags,
    ...(answerForm(op.response ?? {})?.kind === 'lease' && op.response !== undefined ? { 'x-strongroom-ui': { kind: 'issue' } } : {}),
    responses: responsesOf(op, name, components),
  });
  const flag = (name: 'list' | 'scan', required: boolean): Record<string, unknown>[] =>
    operations[name]
      ? [{ name, in: 'query', required, description: operations[name].summary, schema: { type: 'string', enum: ['true'] } }]
      : [];
  const got = operations.read ?? operations.list;
  return {
    description: about.synopsis,
    ...(captures.length > 0
      ? {
          parameters: captures.map(([name, schema]) => ({
            name,
            in: 'path',
            required: true,
            description: (schema as { description?: string }).description ?? '',
            schema: { type: 'string' },
          })),
        }
      : {}),
    ...(about.access === 'sudo' ? { 'x-vault-sudo': true } : {}),
    ...(about.access === 'unauthenticated' || about.login ? { 'x-vault-unauthenticated': true } : {}),
    ...(operations.exists ? { 'x-vault-createSupported': true } : {}),
    ...(got
      ? {
          get: {
            ...spoken(got, operations.read ? 'read' : 'list'),
            ...query(
              ['read', 'list', 'scan'],
              [...flag('list', operations.read === undefined && operations.scan === undefined), ...flag('scan', false)],
            ),
            ...(operations.read && operations.list ? { 'x-strongroom-list': spoken(operations.list, 'list')['responses'] } : {}),
          },
        }
      : {}),
    ...(operations.update ? { post: { ...spoken(operations.update, 'update'), ...body('update') } } : {}),
    ...(operations.patch ? { patch: { ...spoken(operations.patch, 'patch'), ...body('patch') } } : {}),
    ...(operations.delete ? { delete: { ...spoken(operations.delete, 'delete'), ...query(['delete']) } } : {}),
  };
}

/** What a write takes beside the fields, by the value of one of them. */
function variantsOf({ about: { variants } }: AnyPath, components: Components): OpenApiSchema {
  const schemas = Object.entries(variants?.schemas() ?? {});
  if (!variants || schemas.length === 0) return {};
  const refs = schemas.map(
    ([name, schema]) => [name, components.schema(name, () => formSchema(schema, components))['$ref'] as string] as const,
  );
  return {
    anyOf: refs.map(([, $ref]) => ({ $ref })),
    discriminator: { propertyName: variants.by, mapping: Object.fromEntries(refs) },
  };
}

function tagOf(prefix: string): string {
  const [first = ''] = prefix.split('/');
  return ['auth', 'sys', 'identity'].includes(first) ? first : 'secrets';
}

/** The fields in the query of an operation; see `Op.takes`. */
function queryOf({ operations }: AnyPath, name: Query, fields: Fields): Fields {
  const { takes } = operations[name]!;
  if (takes) return fields.filter(([field]) => takes.includes(field));
  return name === 'delete' || operations.update || operations.patch ? [] : fields;
}

/** The fields in the body of an operation; see `Op.takes`. */
function bodyOf({ operations }: AnyPath, name: Written, fields: Fields): Fields {
  const { exists: _exists, ...ops } = operations;
  const { takes } = ops[name]!;
  if (takes) return fields.filter(([field]) => takes.includes(field));
  const elsewhere = Object.entries(ops).flatMap(([other, op]) => (other === name ? [] : (op.takes ?? [])));
  return fields.filter(([field]) => !elsewhere.includes(field));
}

function responsesOf({ response }: Op<TProperties, TSchema>, name: Written | Query, components: Components): Record<string, unknown> {
  const failed = { default: refTo('responses', 'Error') };
  if (!response) return { '200': { description: 'OK' }, ...failed };
  const form = answerForm(response);
  const empty = { '204': refTo('responses', 'NoContent') };
  const json = (schema: OpenApiSchema): Record<string, unknown> => ({
    '200': { description: 'OK', content: { 'application/json': { schema } } },
    ...(mayBeEmpty(response) ? empty : {}),
    ...failed,
  });
  switch (form?.kind) {
    case 'none':
      return { ...empty, ...failed };
    case 'token':
      return { '200': refTo('responses', 'Token'), ...failed };
    case 'any':
      return { '200': refTo('responses', 'Any'), ...failed };
    case 'raw': {
      const schema = openApiSchema(response, components);
      const content = Object.keys(schema).length === 0 ? { schema: { type: 'string' } } : { schema };
      return { '200': { description: 'OK', content: Object.fromEntries(form.contentTypes!.map((type) => [type, content])) }, ...failed };
    }
    case 'lease':
    case undefined:
  }
  const data = openApiSchema(response, components);
  if (Object.keys(data).length === 0 && form?.kind === 'lease') return json(refTo('schemas', 'Envelope'));
  if ((name === 'list' || name === 'scan') && data['$ref'] === '#/components/schemas/Keys')
    return { '200': refTo('responses', 'Keys'), ...failed };
  return json({ allOf: [refTo('schemas', 'Envelope'), { type: 'object', properties: { data } }] });
}
