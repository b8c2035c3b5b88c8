import { beforeAll, describe, expect, test } from '@jest/globals';
import { servedDocument } from '../src/reference/served-mounts.ts';

interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly 'x-vault-displayAttrs'?: { readonly sensitive?: boolean };
}

type Answers = Readonly<
  Record<string, { readonly $ref?: string; readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> }>
>;

interface Operation {
  readonly responses: Answers;
  readonly 'x-strongroom-list'?: Answers;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>>; readonly responses: Answers };
}

interface Found {
  /** `get /aws/creds/{name} data.secret_key` */
  readonly at: string;
  readonly marked: boolean;
}

/** What secrets are called. */
const SECRET =
  /(^|_)(password|passphrase|bindpass|secret|secret_key|secret_id|secret_data|private_key|token|jwt|otp|barcode|random_bytes|keys_base64|recovery_keys)$/;

/** What is called like a secret and is none. */
const OPEN: Readonly<Record<string, string>> = {
  'get /ldap/library/{name}/status data.*.borrower_client_token': 'A salted digest, which tells borrowers apart.',
  'get /ldap/library/{name}/waiting data.waiting[].borrower_client_token': 'A salted digest, which tells borrowers apart.',
  'get /sys/config/state/sanitized data': 'The server leaves out what is secret.',
  'get /sys/internal/ui/mounts data.secret': 'Mounts of secrets engines.',
};

/** Every property of an answer that is a secret by its name or by what it takes, and whether it is marked. */
function secretsOf(document: Document): Found[] {
  const found: Found[] = [];
  const behind = <T extends { readonly $ref?: string }>(thing: T): T =>
    thing.$ref === undefined
      ? thing
      : (thing.$ref
          .slice(2)
          .split('/')
          .reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], document) as T);
  const walk = (at: string, schema: Schema, above: readonly string[], marked: boolean): void => {
    if (schema.$ref !== undefined) {
      if (!above.includes(schema.$ref)) walk(at, behind(schema), [...above, schema.$ref], marked);
      return;
    }
    const inside = marked || isMarked(schema);
    for (const part of [...(schema.allOf ?? []), ...(schema.anyOf ?? [])]) walk(at, part, above, inside);
    if (schema.items) walk(`${at}[]`, schema.items, above, inside);
    if (typeof schema.additionalProperties === 'object') walk(`${at}.*`, schema.additionalProperties, above, inside);
    for (const [name, reference] of Object.entries(schema.properties ?? {})) {
      const property = behind(reference);
      const place = at.includes(' /') && at.split(' ').length === 2 ? `${at} ${name}` : `${at}.${name}`;
      if (isSecret(name, property, schema)) found.push({ at: place, marked: inside || isMarked(property) });
      walk(place, reference, above, inside);
    }
  };
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [verb, operation] of Object.entries(item)) {
      if (!['get', 'post', 'patch', 'delete'].includes(verb)) continue;
      const { responses, 'x-strongroom-list': listed = {} } = operation as Operation;
      for (const answer of [...Object.values(responses), ...Object.values(listed)]) {
        for (const { schema } of Object.values(behind(answer).content ?? {})) if (schema) walk(`${verb} ${path}`, schema, [], false);
      }
    }
  }
  return [...new Map(found.map((one) => [`${one.at} ${one.marked}`, one])).values()];
}

function isSecret(name: string, property: Schema, { properties = {} }: Schema): boolean {
  if (['boolean', 'integer', 'number'].includes(property.type ?? '')) return false;
  // Shares of a key; `keys` of other answers are names.
  if (name === 'keys') return Object.hasOwn(properties, 'keys_base64');
  if (name === 'url') return /otpauth/.test(property.description ?? '');
  // Whatever somebody stored.
  if (name === 'data') return typeof property.additionalProperties === 'object' && Object.keys(property.additionalProperties).length === 0;
  return SECRET.test(name);
}

function isMarked(schema: Schema): boolean {
  return schema['x-vault-displayAttrs']?.sensitive === true;
}

describe('secrets in the answers of all declared operations', () => {
  let secrets: readonly Found[];
  beforeAll(async () => {
    secrets = secretsOf(JSON.parse(await servedDocument()) as Document);
  });

  test('are marked, so that pages hide them', () => {
    expect(secrets.flatMap(({ at, marked }) => (marked || Object.hasOwn(OPEN, at) ? [] : [at]))).toEqual([]);
  });

  test('are those of every engine', () => {
    expect(secrets.map(({ at }) => at)).toEqual(
      expect.arrayContaining([
        'get /aws/creds/{name} data.secret_key',
        'get /aws/sts/{name} data.session_token',
        'get /aws/static-creds/{name} data.secret_key',
        'get /database/creds/{name} data.rsa_private_key',
        'get /database/static-creds/{name} data.password',
        'get /ldap/static-cred/{name} data.last_password',
        'post /ldap/library/{name}/check-out data.password',
        'get /kv-v1/{path} data',
        'get /kv-v2/data/{path} data.data',
        'get /cubbyhole/{path} data',
        'post /auth/approle/role/{name}/secret-id data.secret_id',
        'post /auth/approle/login auth.client_token',
        'post /auth/token/create auth.client_token',
        'get /identity/oidc/client/{name} data.client_secret',
        'post /identity/mfa/method/totp/generate data.url',
        'post /sys/init keys',
        'post /sys/rotate/root/update data.keys_base64',
      ]),
    );
  });

  test('have no exception that is not needed', () => {
    const unmarked = new Set(secrets.flatMap(({ at, marked }) => (marked ? [] : [at])));
    expect(Object.keys(OPEN).filter((at) => !unmarked.has(at))).toEqual([]);
  });
});
