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

const creation = { type: 'object', required: ['key', 'value', 'type', 'target'], properties: written, additionalProperties: false };

const failure = {
  type: 'object',
  required: ['error'],
  properties: { error: { type: 'object', required: ['code', 'message'], properties: { code: text, message: text } } },
};

/**
 * The calls of Vercel's REST API on the environment variables of a project. Vercel publishes no schema beside its client, so these are the shapes
 * that the client checks: what @vercel/sdk 1.28.35 sends and accepts, written down by hand. The server here was called with that client once.
 */
export const vercelDescription: ProviderDescription = {
  schemas: { variable, listed },
  operations: {
    'GET /v10/projects/{idOrName}/env': {
      ...place,
      query: { ...place.query, gitBranch: text, decrypt: text, source: text, limit: text, until: text },
      responses: {
        200: {
          type: 'object',
          required: ['envs', 'pagination'],
          properties: {
            envs: { type: 'array', items: { $ref: '#/schemas/listed' } },
            pagination: {
              type: 'object',
              required: ['count', 'next', 'prev'],
              properties: { count: { type: 'number' }, next: { type: ['number', 'null'] }, prev: { type: ['number', 'null'] } },
            },
          },
        },
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
