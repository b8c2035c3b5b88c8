import { refTo, type OpenApiSchema } from './openapi-ref.ts';
import { FAILURES } from './openapi-failures.ts';

/** A response as OpenAPI writes it. */
export interface Response {
  readonly description: string;
  readonly headers?: OpenApiSchema;
  readonly content?: Readonly<Record<string, { readonly schema: OpenApiSchema }>>;
}

/** A response with one form of JSON. */
export function inJson(description: string, schema: OpenApiSchema): Response {
  return { description, content: { 'application/json': { schema } } };
}

const sensitive = { 'x-vault-displayAttrs': { sensitive: true } };
const wrapped = refTo('schemas', 'Wrapped');
/** The envelope, with more said of its parts. */
const envelope = (properties: OpenApiSchema): OpenApiSchema => ({
  allOf: [refTo('schemas', 'Envelope'), { type: 'object', properties, required: Object.keys(properties) }],
});
const failed = refTo('schemas', 'Errors');

const SUCCESSES = {
  NoContent: { description: 'Done. With warnings the status is 200, and the body an envelope.' },
  NoBody: { description: 'There is no body.' },
  Warned: inJson('Done, with warnings.', refTo('schemas', 'Warned')),
  Wrapped: inJson('The answer is wrapped.', wrapped),
  Token: inJson('A token, in `auth`.', { anyOf: [envelope({ auth: { type: 'object' } }), wrapped] }),
  Any: {
    description: 'What another call answered.',
    content: {
      'application/json': { schema: { anyOf: [envelope({ data: { nullable: true, ...sensitive } }), {}] } },
      '*/*': { schema: { type: 'string', format: 'binary' } },
    },
  },
  Keys: inJson('Names. 404 when there are none.', { anyOf: [envelope({ data: refTo('schemas', 'Keys') }), wrapped] }),
} satisfies Record<string, Response>;

const failures: Record<string, Response> = Object.fromEntries(
  FAILURES.map(({ status, name, description, headers = [] }) => [
    name,
    {
      ...inJson(description, status === 404 ? { anyOf: [failed, refTo('schemas', 'Envelope')] } : failed),
      ...(headers.length > 0 ? { headers: Object.fromEntries(headers.map((header) => [header, refTo('headers', header)])) } : {}),
    },
  ]),
);

/** What many operations answer, each described once. */
export const RESPONSES: typeof SUCCESSES & Readonly<Record<string, Response>> = { ...SUCCESSES, ...failures };

/** The response of a failure; undefined for a status that is no common failure. */
export function responseOf(status: number): Response | undefined {
  const failure = FAILURES.find((one) => one.status === status);
  return failure && RESPONSES[failure.name];
}
