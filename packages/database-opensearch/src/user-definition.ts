import { type PreviewRequest, passwordOf, renderJsonStatement, StatementInvalid } from '@strongroom/database-sdk';

export const PLUGIN_NAME = 'opensearch-database-plugin';
/** The attribute of users, and the description of roles, that say who made them. */
export const MADE_BY = 'strongroom';

const FIELDS = ['backend_roles', 'opendistro_security_roles', 'attributes', 'description', 'role_definition'] as const;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** One call that creates something. `path` is below the security plugin's API. */
export interface CreationStep {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The path of the object of this name. @throws StatementInvalid for a name that the server cannot take */
export function objectPath(kind: 'internalusers' | 'roles' | 'rolesmapping', name: string): string {
  if (name === '' || name === '.' || name === '..' || name.includes(':') || Buffer.from(name).toString() !== name) {
    throw new StatementInvalid(`${JSON.stringify(name)} cannot be the name of a user of OpenSearch`);
  }
  return `/${kind}/${encodeURIComponent(name)}`;
}

/**
 * The calls that create a user, in order: a role of its own with its mapping comes first, so that nobody logs in before everything stands.
 * @throws CredentialUnsupported, StatementInvalid
 */
export function creationSteps({ username, credential, statements }: Omit<PreviewRequest, 'expiresAt'>): CreationStep[] {
  const password = passwordOf(PLUGIN_NAME, credential);
  const { role_definition, attributes, ...user } = definitionOf(statements.commands, username);
  const body = { ...user, attributes: { ...attributes, made_by: MADE_BY }, password };
  const create = { path: objectPath('internalusers', username), body };
  if (!role_definition) return [create];
  return [
    { path: objectPath('roles', username), body: { ...role_definition, description: ownDescription(username) } },
    { path: objectPath('rolesmapping', username), body: { users: [username], description: ownDescription(username) } },
    create,
  ];
}

/** What a role of its own says of itself: only such a role is removed with its user. */
export function ownDescription(username: string): string {
  return `made by ${MADE_BY} for ${username}`;
}

interface Definition {
  readonly backend_roles?: readonly string[];
  readonly opendistro_security_roles?: readonly string[];
  readonly attributes?: Readonly<Record<string, string>>;
  readonly description?: string;
  readonly role_definition?: Readonly<Record<string, unknown>>;
}

function definitionOf(commands: readonly string[], username: string): Definition {
  const [statement, ...others] = commands.filter((command) => command.trim() !== '');
  if (statement === undefined) throw new StatementInvalid('empty creation statements');
  if (others.length > 0) throw new StatementInvalid('creation_statements must be one JSON object');
  const text = statement.trim();
  const json = BASE64.test(text) && text.length % 4 === 0 ? Buffer.from(text, 'base64').toString('utf8') : text;
  const definition = renderJsonStatement(json, { name: username, username });
  if (!isObject(definition)) throw new StatementInvalid('creation_statements must be a JSON object, such as {"backend_roles":["readall"]}');
  const unknown = Object.keys(definition).find((name) => !(FIELDS as readonly string[]).includes(name));
  if (unknown !== undefined) {
    throw new StatementInvalid(`creation_statements: unknown field ${JSON.stringify(unknown)}: it takes ${FIELDS.join(', ')}`);
  }
  requireShapes(definition);
  return definition;
}

function requireShapes(definition: Record<string, unknown>): asserts definition is Record<string, unknown> & Definition {
  const { attributes, description, role_definition } = definition;
  for (const name of ['backend_roles', 'opendistro_security_roles'] as const) {
    const roles = definition[name];
    if (roles !== undefined && !(Array.isArray(roles) && roles.every((role) => typeof role === 'string'))) {
      throw new StatementInvalid(`creation_statements: ${name} must be a list of names`);
    }
  }
  if (attributes !== undefined && !(isObject(attributes) && Object.values(attributes).every((value) => typeof value === 'string'))) {
    throw new StatementInvalid('creation_statements: attributes must be an object of texts');
  }
  if (description !== undefined && typeof description !== 'string') {
    throw new StatementInvalid('creation_statements: description must be a text');
  }
  if (role_definition !== undefined && !isObject(role_definition)) {
    throw new StatementInvalid('creation_statements: role_definition must be an object, as OpenSearch defines a role');
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
