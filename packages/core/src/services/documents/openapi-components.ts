/** A schema in the dialect of OpenAPI 3.0. */
export type OpenApiSchema = Readonly<Record<string, unknown>>;

/** A reference to a component of the document. */
export function refTo(kind: 'schemas' | 'responses', name: string): OpenApiSchema {
  return { $ref: `#/components/${kind}/${name}` };
}

const text = { type: 'string' };
const sensitive = { 'x-vault-displayAttrs': { sensitive: true } };
const strings = { type: 'array', items: text };
const texts = { type: 'object', additionalProperties: text, nullable: true };

const Auth = {
  type: 'object',
  nullable: true,
  properties: {
    client_token: { ...text, ...sensitive },
    accessor: text,
    policies: strings,
    token_policies: strings,
    identity_policies: strings,
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
  nullable: true,
  properties: {
    token: { ...text, ...sensitive },
    accessor: text,
    ttl: { type: 'integer', description: 'Seconds.' },
    creation_time: { type: 'string', format: 'date-time' },
    creation_path: text,
    wrapped_accessor: text,
  },
};

const Envelope = {
  type: 'object',
  description: 'What every answer with a body has.',
  properties: {
    request_id: text,
    lease_id: { type: 'string', description: 'Empty without a lease.' },
    renewable: { type: 'boolean' },
    lease_duration: { type: 'integer', description: 'Seconds.' },
    data: { nullable: true },
    wrap_info: refTo('schemas', 'WrapInfo'),
    warnings: { ...strings, nullable: true },
    auth: refTo('schemas', 'Auth'),
  },
};

const json = (schema: OpenApiSchema): OpenApiSchema => ({ 'application/json': { schema } });

const RESPONSES = {
  NoContent: { description: 'Done. With warnings the status is 200, and the body an envelope.' },
  Error: {
    description: 'The call failed; each text says why.',
    content: json({ type: 'object', properties: { errors: strings, warnings: { ...strings, nullable: true } } }),
  },
  Token: { description: 'A token, in `auth`.', content: json(refTo('schemas', 'Envelope')) },
  Any: {
    description: 'What another call answered.',
    content: json({ allOf: [refTo('schemas', 'Envelope'), { type: 'object', properties: { data: { nullable: true, ...sensitive } } }] }),
  },
  Keys: {
    description: 'Names. 404 when there are none.',
    content: json({
      allOf: [refTo('schemas', 'Envelope'), { type: 'object', properties: { data: refTo('schemas', 'Keys') } }],
    }),
  },
};

/** What several operations of a document share, each described once. */
export class Components {
  readonly #schemas = new Map<string, OpenApiSchema>([
    ['Auth', Auth],
    ['Envelope', Envelope],
    ['Keys', { type: 'object', properties: { keys: { ...strings, description: 'In byte order.' } } }],
    ['WrapInfo', WrapInfo],
  ]);

  /** A reference to the schema of this name, which is made when it is needed first. */
  schema(name: string, make: () => OpenApiSchema): OpenApiSchema {
    if (!this.#schemas.has(name)) {
      this.#schemas.set(name, {});
      this.#schemas.set(name, make());
    }
    return refTo('schemas', name);
  }

  document(): OpenApiSchema {
    return {
      schemas: Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1))),
      responses: RESPONSES,
    };
  }
}
