import { answerForm, type AnyPath } from '@strongroom/engine-sdk';
import type { TSchema } from 'typebox';
import { VERSION } from '../../kernel/version.ts';
import { answersOf, successOf } from './openapi-answers.ts';
import { COMMON_PARAMETERS, Components, NEEDS_TOKEN } from './openapi-components.ts';
import { isOfEngine, type Verb } from './openapi-failures.ts';
import { OperationIds, templateOf } from './openapi-names.ts';
import type { OpenApiSchema } from './openapi-ref.ts';
import { fieldSchema, formSchema } from './openapi-schema.ts';

/** A mount and its paths. */
export interface Place {
  /** Below `/`, with a closing slash. */
  readonly prefix: string;
  readonly paths: readonly AnyPath[];
}

type Fields = readonly (readonly [name: string, schema: TSchema])[];
type Written = 'update' | 'patch';
type Query = 'read' | 'list' | 'scan' | 'delete';

/** The first word of operation ids. */
const VERBS = { post: 'write', patch: 'patch', delete: 'delete' };
const BODY_TYPES = { update: 'application/json', patch: 'application/merge-patch+json' };

const HEAD = {
  openapi: '3.0.2',
  info: {
    title: 'Strongroom API',
    description: 'HTTP API that gives you full access to Strongroom. All API routes are prefixed with `/v1/`.',
    version: VERSION,
    license: { name: 'Apache License 2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
  },
  servers: [{ url: '/v1' }],
  security: NEEDS_TOKEN,
};

/** The OpenAPI document of declared paths. */
export function openApiOf(places: readonly Place[]): Record<string, unknown> {
  const components = new Components();
  const paths = Object.fromEntries(pathItems(places, components));
  return { ...HEAD, paths, components: components.document() };
}

/** The same as JSON, in small pieces that are made one at a time. */
export function* openApiText(places: readonly Place[]): Generator<string> {
  const components = new Components();
  yield `${JSON.stringify(HEAD).slice(0, -1)},"paths":{`;
  let comma = '';
  for (const [template, item] of pathItems(places, components)) {
    yield `${comma}${JSON.stringify(template)}:${JSON.stringify(item)}`;
    comma = ',';
  }
  yield `},"components":${JSON.stringify(components.document())}}`;
}

/** The paths of a document, in order. Of those with the same template the last one counts. */
function* pathItems(places: readonly Place[], components: Components): Generator<[template: string, item: Record<string, unknown>]> {
  const ids = new OperationIds();
  for (const together of nested(places)) {
    const declared = together.flatMap(({ prefix, paths }) =>
      paths.map((path) => ({ prefix, path, template: templateOf(prefix, path.pattern) })),
    );
    declared.sort((a, b) => (a.template < b.template ? -1 : 1));
    for (const [at, { prefix, path, template }] of declared.entries()) {
      const item = pathItem(path, { prefix, template, components, ids });
      if (declared[at + 1]?.template !== template) yield [template, item];
    }
  }
}

/** Places in the order of their templates: each for itself, but those below another one together with it. */
function* nested(places: readonly Place[]): Generator<Place[]> {
  const sorted = places.map((place) => ({ place, start: templateOf(place.prefix, '') })).sort((a, b) => (a.start < b.start ? -1 : 1));
  let above = '';
  let together: Place[] = [];
  for (const { place, start } of sorted) {
    if (together.length > 0 && !start.startsWith(above)) {
      yield together;
      together = [];
    }
    if (together.length === 0) above = start;
    together.push(place);
  }
  if (together.length > 0) yield together;
}

/** What all paths of a document have to do with. */
interface Surroundings {
  readonly prefix: string;
  readonly template: string;
  readonly components: Components;
  readonly ids: OperationIds;
}

function pathItem(path: AnyPath, { prefix, template, components, ids }: Surroundings): Record<string, unknown> {
  const { about, operations, pattern } = path;
  const captured = new Set([...pattern.matchAll(/\{(\w+)/g)].map((match) => match[1]!));
  const all = Object.entries(about.fields as Record<string, TSchema>);
  const fields: Fields = all.filter(([name]) => !captured.has(name));
  const captures = all.filter(([name]) => captured.has(name));
  const tags = [tagOf(prefix)];
  const open = about.access === 'unauthenticated' || about.login !== undefined;
  const shown = (schema: TSchema): OpenApiSchema => fieldSchema(schema, components);

  const parameters = (...names: Query[]): Record<string, unknown>[] => {
    const taken = names.flatMap((name) => operations[name] && queryOf(path, name, fields)).filter((field) => field !== undefined);
    return [...new Map(taken)].map(([name, schema]) => {
      const { description = '', ...rest } = shown(schema);
      return { name, in: 'query', description, schema: rest };
    });
  };
  const body = (name: Written): Record<string, unknown> => {
    const { bodyType } = operations[name]!;
    if (bodyType !== undefined)
      return { requestBody: { required: true, content: { [bodyType]: { schema: { type: 'string', format: 'binary' } } } } };
    const taken = bodyOf(path, name, fields);
    if (taken.length === 0 && about.arbitraryData !== true) return {};
    const { required, ...form } = formSchema({ properties: Object.fromEntries(taken) }, components);
    const isNeeded = name === 'update' && required !== undefined;
    const schema = {
      ...form,
      ...(isNeeded ? { required } : {}),
      ...(about.arbitraryData === true ? { additionalProperties: true } : {}),
      ...variantsOf(path, components),
    };
    return { requestBody: { ...(isNeeded ? { required: true } : {}), content: { [BODY_TYPES[name]]: { schema } } } };
  };
  const query = (names: Query[], flags: Record<string, unknown>[] = []): Record<string, unknown> => {
    const taken = [...flags, ...parameters(...names)];
    return taken.length > 0 ? { parameters: taken } : {};
  };
  const spoken = (verb: Verb, ...names: (Written | Query)[]): Record<string, unknown> => {
    const ops = names.flatMap((name) => operations[name] ?? []);
    const [op] = ops;
    return {
      operationId: ids.of(verb === 'get' ? names[0]! : VERBS[verb], template),
      summary: op!.summary,
      tags,
      ...(open ? { security: [] } : {}),
      ...(op!.response !== undefined && answerForm(op!.response)?.kind === 'lease' ? { 'x-strongroom-ui': { kind: 'issue' } } : {}),
      responses: answersOf({ path, verb, ops, ofEngine: isOfEngine(prefix) }, components),
    };
  };
  const flag = (name: 'list' | 'scan', required: boolean): Record<string, unknown>[] =>
    operations[name]
      ? [{ name, in: 'query', required, description: operations[name].summary, schema: { type: 'string', enum: ['true'] } }]
      : [];
  const got = (['read', 'list', 'scan'] as const).filter((name) => operations[name]);
  return {
    description: about.synopsis,
    parameters: [
      ...captures.map(([name, schema]) => ({
        name,
        in: 'path',
        required: true,
        description: (schema as { description?: string }).description ?? '',
        schema: { type: 'string' },
      })),
      ...COMMON_PARAMETERS,
    ],
    ...(about.access === 'sudo' ? { 'x-vault-sudo': true } : {}),
    ...(open ? { 'x-vault-unauthenticated': true } : {}),
    ...(operations.exists ? { 'x-vault-createSupported': true } : {}),
    ...(got.length > 0
      ? {
          get: {
            ...spoken('get', ...got),
            ...query(
              ['read', 'list', 'scan'],
              [...flag('list', operations.read === undefined && operations.scan === undefined), ...flag('scan', false)],
            ),
            ...(operations.read && operations.list ? { 'x-strongroom-list': successOf(operations.list, components) } : {}),
          },
        }
      : {}),
    ...(operations.update ? { post: { ...spoken('post', 'update'), ...body('update') } } : {}),
    ...(operations.patch ? { patch: { ...spoken('patch', 'patch'), ...body('patch') } } : {}),
    ...(operations.delete ? { delete: { ...spoken('delete', 'delete'), ...query(['delete']) } } : {}),
  };
}

/** What a write takes beside the fields, by the value of one of them. */
function variantsOf({ about: { variants } }: AnyPath, components: Components): OpenApiSchema {
  const schemas = Object.entries(variants?.schemas() ?? {});
  if (!variants || schemas.length === 0) return {};
  const refs = schemas.map(
    ([name, schema]) => [name, components.schema(name, schema, () => formSchema(schema, components))['$ref'] as string] as const,
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
