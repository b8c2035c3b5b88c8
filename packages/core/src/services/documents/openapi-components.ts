import { isDeepStrictEqual } from 'node:util';
import { ListedKeys } from '@strongroom/engine-sdk';
import { refTo, type OpenApiSchema } from './openapi-ref.ts';
import { RESPONSES } from './openapi-responses.ts';

const text = { type: 'string' };
const sensitive = { 'x-vault-displayAttrs': { sensitive: true } };
const strings = { type: 'array', items: text };
const texts = { type: 'object', additionalProperties: text, nullable: true };
const nothing = { nullable: true, enum: [null] };

const Auth = {
  type: 'object',
  nullable: true,
  properties: {
    client_token: { ...text, ...sensitive },
    accessor: text,
    policies: { ...strings, nullable: true },
    token_policies: { ...strings, nullable: true },
    identity_policies: { ...strings, nullable: true },
    metadata: texts,
    lease_duration: { type: 'integer', description: 'Seconds that the token lives.' },
    renewable: { type: 'boolean' },
    entity_id: text,
    token_type: { type: 'string', enum: ['service', 'batch', 'default'] },
    orphan: { type: 'boolean' },
    num_uses: { type: 'integer' },
    mfa_requirement: { type: 'object', nullable: true, description: 'What a login still has to prove; it has no token then.' },
  },
};

const WrapInfo = {
  type: 'object',
  properties: {
    token: { ...text, ...sensitive },
    accessor: text,
    ttl: { type: 'integer', description: 'Seconds.' },
    creation_time: { type: 'string', format: 'date-time' },
    creation_path: text,
    wrapped_accessor: text,
  },
  required: ['token', 'accessor', 'ttl', 'creation_time', 'creation_path'],
};

/** What every answer with a body has, in the order of the wire. */
const envelope = (own: OpenApiSchema): OpenApiSchema => {
  const properties = {
    request_id: text,
    lease_id: { type: 'string', description: 'Empty without a lease.' },
    renewable: { type: 'boolean' },
    lease_duration: { type: 'integer', description: 'Seconds.' },
    data: { nullable: true },
    wrap_info: nothing,
    warnings: { ...strings, nullable: true },
    auth: refTo('schemas', 'Auth'),
    ...own,
  };
  return { type: 'object', properties, required: Object.keys(properties) };
};

/** What `ListedKeys` of the SDK is here. */
const LISTED = 'Keys';

const SCHEMAS: readonly (readonly [name: string, schema: OpenApiSchema])[] = [
  ['Auth', Auth],
  ['WrapInfo', WrapInfo],
  [
    'Envelope',
    {
      description: 'What every answer with a body has. Some paths of `sys/` repeat the keys of `data` beside those of the envelope.',
      ...envelope({}),
    },
  ],
  [
    'Wrapped',
    {
      description: 'The answer to a call with `X-Vault-Wrap-TTL`: a token that `sys/wrapping/unwrap` gives the true answer for, once.',
      ...envelope({ data: nothing, wrap_info: refTo('schemas', 'WrapInfo'), auth: nothing }),
    },
  ],
  ['Warned', { description: 'Done, with warnings.', ...envelope({ data: nothing, auth: nothing }) }],
  [
    'Errors',
    {
      type: 'object',
      description: 'The call failed. Each text says why.',
      properties: { errors: strings, data: { nullable: true, description: 'What the caller can use nevertheless.' } },
      required: ['errors'],
    },
  ],
  [LISTED, { type: 'object', properties: { keys: { ...strings, description: 'In byte order.' } }, required: ['keys'] }],
];

const HEADERS = {
  'Retry-After': { description: 'Seconds after which a repeated call may succeed.', schema: { type: 'integer' } },
};

/** The names of those that every path takes, and their declarations. */
const PARAMETERS = {
  Namespace: {
    name: 'X-Vault-Namespace',
    in: 'header',
    description: 'There is one namespace, `root`. Any other is answered 404.',
    schema: { type: 'string', enum: ['root'] },
  },
  WrapTtl: {
    name: 'X-Vault-Wrap-TTL',
    in: 'header',
    description: 'Wraps the answer: the caller gets a token that lives as long as this says, and gives the answer for once.',
    schema: { type: 'string', pattern: '^[0-9]{1,6}[smh]?$' },
  },
};

const SECURITY = {
  Token: { type: 'apiKey', in: 'header', name: 'X-Vault-Token' },
  Bearer: { type: 'http', scheme: 'bearer', description: 'The same token.' },
};

/** What all paths take. */
export const COMMON_PARAMETERS: readonly OpenApiSchema[] = Object.keys(PARAMETERS).map((name) => refTo('parameters', name));

/** What calls that need a token show: it stands in one header or the other. */
export const NEEDS_TOKEN: readonly OpenApiSchema[] = Object.keys(SECURITY).map((name) => ({ [name]: [] }));

/** Of another schema with the name of one that is there. */
const NUMBERS_FROM = 2;

interface Kept {
  /** What it was made of; the document's own are made of nothing. */
  readonly source: object | undefined;
  made: OpenApiSchema;
}

/** What several operations of a document share, each described once. */
export class Components {
  readonly #schemas = new Map<string, Kept>(
    SCHEMAS.map(([name, made]) => [name, { source: name === LISTED ? ListedKeys : undefined, made }]),
  );

  /**
   * A reference to the schema that is made of a source, when it is needed first. Two engines may call different schemas by the same name: the second one gets a
   * number.
   */
  schema(name: string, source: object, make: () => OpenApiSchema): OpenApiSchema {
    for (let number = NUMBERS_FROM, tried = name; ; tried = `${name}${number}`, number += 1) {
      const known = this.#schemas.get(tried);
      if (!known) {
        const kept: Kept = { source, made: {} };
        this.#schemas.set(tried, kept);
        kept.made = make();
        return refTo('schemas', tried);
      }
      if (known.source === source) return refTo('schemas', tried);
      if (known.source !== undefined && isDeepStrictEqual(known.source, source)) return refTo('schemas', tried);
    }
  }

  document(): OpenApiSchema {
    return {
      schemas: Object.fromEntries([...this.#schemas].map(([name, { made }]) => [name, made] as const).sort(([a], [b]) => (a < b ? -1 : 1))),
      responses: RESPONSES,
      headers: HEADERS,
      parameters: PARAMETERS,
      securitySchemes: SECURITY,
    };
  }
}
