import type { ProviderDescription } from './description.ts';

const text = { type: 'string' };
const textOrNull = { type: ['string', 'null'] };
const targets = { type: 'array', items: { enum: ['production', 'preview', 'development'] } };
const writableType = { enum: ['system', 'encrypted', 'plain', 'sensitive'] };
const place = { path: { idOrName: text }, query: { teamId: text, slug: text } };

/** What may be said of a variable when it is written. */
const written = {
  key: text,
  value: text,
  type: writableType,
  target: targets,
  gitBranch: textOrNull,
  comment: text,
  customEnvironmentIds: { type: 'array', items: text },
};

const variable = {
  type: 'object',
  required: ['key', 'type', 'value'],
  properties: {
    id: text,
    key: text,
    value: text,
    type: { enum: ['encrypted', 'plain', 'secret', 'sensitive', 'system'] },
    target: { anyOf: [targets, { enum: ['production', 'preview', 'development'] }] },
    comment: text,
    gitBranch: text,
    configurationId: textOrNull,
    customEnvironmentIds: { type: 'array', items: text },
    decrypted: { type: 'boolean' },
    edgeConfigId: textOrNull,
    edgeConfigTokenId: textOrNull,
    visibility: { enum: ['config', 'secret'] },
    createdAt: { type: 'number' },
    createdBy: textOrNull,
    updatedAt: { type: 'number' },
    updatedBy: textOrNull,
    system: { type: 'boolean' },
  },
};

/** In a list, a variable also says what Vercel thinks of its safety. */
const listed = {
  ...variable,
  required: [...variable.required, 'securityIssues'],
  properties: {
    ...variable.properties,
    securityIssues: { type: 'array', items: { enum: ['flags-secret-needs-split', 'readable-secret'] } },
  },
};

const creation = {
  type: 'object',
  required: ['key', 'value', 'type'],
  anyOf: [{ required: ['target'] }, { required: ['customEnvironmentIds'] }],
  properties: written,
  additionalProperties: false,
};

const envs = { type: 'array', items: { $ref: '#/schemas/listed' } };

const page = {
  type: 'object',
  required: ['envs', 'pagination'],
  properties: {
    envs,
    pagination: {
      type: 'object',
      required: ['count', 'next', 'prev'],
      properties: { count: { type: 'number' }, next: { type: ['number', 'null'] }, prev: { type: ['number', 'null'] } },
    },
  },
};

/** For roles that may not see the variables of production. */
const withoutProduction = {
  type: 'object',
  required: ['envs', 'hiddenProductionEnvCount'],
  properties: { envs, hiddenProductionEnvCount: { type: 'number' } },
};

const failure = {
  type: 'object',
  required: ['error'],
  properties: { error: { type: 'object', required: ['code', 'message'], properties: { code: text, message: text } } },
};

/**
 * The calls of Vercel's REST API on the environment variables of a project, written by hand after the description that Vercel publishes for its
 * client. The tests of the server call it with that client, @vercel/sdk, which checks what it sends and what it is answered.
 */
export const vercelDescription: ProviderDescription = {
  schemas: { variable, listed },
  operations: {
    'GET /v10/projects/{idOrName}/env': {
      ...place,
      query: {
        ...place.query,
        gitBranch: text,
        decrypt: text,
        source: text,
        customEnvironmentId: text,
        customEnvironmentSlug: text,
        // By Vercel's rules of pagination, which hold for every list: not in the description of this call.
        limit: text,
        until: text,
      },
      responses: {
        200: { anyOf: [page, withoutProduction] },
        400: failure,
        401: failure,
        403: failure,
        404: failure,
        429: failure,
      },
    },
    'POST /v10/projects/{idOrName}/env': {
      ...place,
      query: { ...place.query, upsert: text },
      body: { anyOf: [creation, { type: 'array', items: creation }] },
      bodyRequired: true,
      responses: {
        201: {
          type: 'object',
          required: ['failed'],
          properties: {
            created: { anyOf: [{ $ref: '#/schemas/variable' }, { type: 'array', items: { $ref: '#/schemas/variable' } }] },
            failed: { type: 'array', items: failure },
          },
        },
        400: failure,
        401: failure,
        403: failure,
        404: failure,
        409: failure,
        429: failure,
      },
    },
    'PATCH /v9/projects/{idOrName}/env/{id}': {
      path: { ...place.path, id: text },
      query: place.query,
      body: { type: 'object', properties: written, additionalProperties: false },
      bodyRequired: true,
      responses: {
        200: { $ref: '#/schemas/variable' },
        400: failure,
        401: failure,
        403: failure,
        404: failure,
        409: failure,
        429: failure,
      },
    },
    'DELETE /v9/projects/{idOrName}/env/{id}': {
      path: { ...place.path, id: text },
      query: { ...place.query, customEnvironmentId: text },
      responses: {
        200: { $ref: '#/schemas/variable' },
        400: failure,
        401: failure,
        403: failure,
        404: failure,
        409: failure,
      },
    },
  },
};
