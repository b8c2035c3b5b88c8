import { answerForm, mayBeEmpty, type Op } from '@strongroom/engine-sdk';
import type { TProperties, TSchema } from 'typebox';
import { Components } from './openapi-components.ts';
import { refTo, type OpenApiSchema } from './openapi-ref.ts';
import { failuresOf, type Asked } from './openapi-failures.ts';
import { inJson, RESPONSES, responseOf, type Response } from './openapi-responses.ts';
import { openApiSchema } from './openapi-schema.ts';

type Answer = readonly [status: string, response: Response];

/** Of a status that no other operation fails with. */
const FAILED = inJson('The call failed.', refTo('schemas', 'Errors'));

/** Every answer of the operations behind one verb, by status. */
export function answersOf(asked: Asked, components: Components): Record<string, OpenApiSchema> {
  const all = new Map<string, Response[]>();
  const answers: Answer[] = [
    ...asked.ops.flatMap((op) => ownAnswersOf(op, components)),
    ...failuresOf(asked).map(({ status }): Answer => [String(status), responseOf(status)!]),
  ];
  for (const [status, response] of answers) all.set(status, [...(all.get(status) ?? []), response]);
  return Object.fromEntries([...all].map(([status, responses]) => [status, merged(responses)]));
}

/** The statuses of `answersOf`, and `default` where it may be any. */
export function statusesOf(asked: Asked): ReadonlySet<string> {
  return new Set(Object.keys(answersOf(asked, new Components())));
}

/** What an operation answers when all went well. */
export function successOf(op: Op<TProperties, TSchema>, components: Components): Record<string, OpenApiSchema> {
  return Object.fromEntries(answersOfSchema(op.response, '200', components).map(([status, response]) => [status, merged([response])]));
}

function ownAnswersOf({ response, answers = {} }: Op<TProperties, TSchema>, components: Components): Answer[] {
  return [
    ...answersOfSchema(response, '200', components),
    ...Object.entries(answers).flatMap(([status, schema]) => answersOfSchema(schema, status, components)),
  ];
}

/** What a declared answer looks like. Whatever has a body may be wrapped, and then has none of its own. */
function answersOfSchema(schema: TSchema | undefined, status: string, components: Components): Answer[] {
  if (!schema) return [[status, { description: 'OK' }]];
  const form = answerForm(schema);
  switch (form?.kind) {
    case 'none':
      return status === '200'
        ? [
            ['204', RESPONSES.NoContent],
            ['200', RESPONSES.Warned],
          ]
        : [[status, RESPONSES.NoBody]];
    case 'warned':
      return [[status, RESPONSES.Warned]];
    case 'refusal':
      return [[status, responseOf(Number(status)) ?? FAILED]];
    case 'token':
      return [[status, RESPONSES.Token]];
    case 'any':
      return [[status, RESPONSES.Any]];
    case 'raw': {
      const shape = openApiSchema(schema, components);
      const isAny = Object.keys(shape).length === 0;
      const content = Object.fromEntries(form.contentTypes!.map((type) => [type, { schema: isAny ? shapeOf(type) : shape }]));
      const bare = { description: 'OK', content };
      return form.streamed || Number(status) >= 300 ? [[status, bare]] : [bare, RESPONSES.Wrapped].map((one): Answer => [status, one]);
    }
    case 'lease':
    case undefined:
  }
  const data = openApiSchema(schema, components);
  const isBare = Object.keys(data).length === 0 && form?.kind === 'lease';
  if (data['$ref'] === '#/components/schemas/Keys') return [[status, RESPONSES.Keys]];
  const typed = isBare
    ? refTo('schemas', 'Envelope')
    : { allOf: [refTo('schemas', 'Envelope'), { type: 'object', properties: { data }, required: ['data'] }] };
  return [
    [status, inJson('OK', typed)],
    ...(Number(status) < 300 ? [[status, RESPONSES.Wrapped] as const] : []),
    ...(mayBeEmpty(schema) ? [['204', RESPONSES.NoContent] as const, ['200', RESPONSES.Warned] as const] : []),
  ];
}

/** A body of a media type, of which no more is declared. */
function shapeOf(type: string): OpenApiSchema {
  if (type.startsWith('application/json')) return {};
  return type.startsWith('text/') ? { type: 'string' } : { type: 'string', format: 'binary' };
}

/** One response that is any of these; a reference where it is one that many operations share. */
function merged(responses: readonly Response[]): OpenApiSchema {
  const [first, ...more] = [...new Set(responses)];
  if (more.length === 0) {
    const shared = Object.entries(RESPONSES).find(([, response]) => response === first);
    return shared ? refTo('responses', shared[0]) : { ...first! };
  }
  // A body that may be empty is no JSON then, so its schema would be wrong.
  if (responses.includes(RESPONSES.NoBody)) return { description: `${first!.description} There may be no body.` };
  const schemas = new Map<string, Map<string, OpenApiSchema>>();
  for (const { content = {} } of [first!, ...more]) {
    for (const [type, { schema }] of Object.entries(content)) {
      const known = schemas.get(type) ?? new Map<string, OpenApiSchema>();
      for (const one of alternativesOf(schema)) known.set(JSON.stringify(one), one);
      schemas.set(type, known);
    }
  }
  const content = [...schemas].map(([type, all]) => [
    type,
    { schema: all.size === 1 ? [...all.values()][0]! : { anyOf: [...all.values()] } },
  ]);
  return { ...first!, content: Object.fromEntries(content) as OpenApiSchema };
}

function alternativesOf(schema: OpenApiSchema): readonly OpenApiSchema[] {
  const keys = Object.keys(schema);
  return keys.length === 1 && keys[0] === 'anyOf' ? (schema['anyOf'] as OpenApiSchema[]) : [schema];
}
