import type { FieldSchema } from './field-schema.ts';

/** A way to log in, as `sys/internal/ui/login-methods` tells it. */
export interface LoginMethod {
  /** Of the auth mount, without `auth/`: `ldap/`; `token` for a token that is pasted. */
  readonly path: string;
  readonly type: string;
  readonly description: string;
  readonly flow: 'form' | 'oidc' | 'token' | 'cert';
  /** Where it is sent: `auth/ldap/login/{username}`; `{username}` stands for the field of that name. */
  readonly login: string;
  readonly form: { readonly properties: Readonly<Record<string, FieldSchema>>; readonly required: readonly string[] };
}

const text = (description: string): FieldSchema => ({ type: 'string', description });
const secret = (description: string): FieldSchema => ({ ...text(description), 'x-vault-displayAttrs': { sensitive: true } });

export const TOKEN: LoginMethod = {
  path: 'token',
  type: 'token',
  description: '',
  flow: 'token',
  login: 'auth/token/lookup-self',
  form: { properties: {}, required: [] },
};

/** The kinds that every server of this API knows: for mounts that the server does not list to strangers. */
export const KINDS: readonly { readonly label: string; readonly method: Omit<LoginMethod, 'path' | 'description'> }[] = [
  {
    label: 'Name and password (LDAP, userpass, RADIUS)',
    method: {
      type: 'password',
      flow: 'form',
      login: 'login/{username}',
      form: { properties: { username: text(''), password: secret('') }, required: ['username', 'password'] },
    },
  },
  { label: 'OpenID provider', method: { type: 'oidc', flow: 'oidc', login: 'login', form: { properties: {}, required: [] } } },
  {
    label: 'Signed token (JWT)',
    method: {
      type: 'jwt',
      flow: 'form',
      login: 'login',
      form: { properties: { jwt: secret('In compact form.'), role: text('Left out, the default role of the mount.') }, required: ['jwt'] },
    },
  },
  {
    label: 'Client certificate',
    method: {
      type: 'cert',
      flow: 'cert',
      login: 'login',
      form: { properties: { name: text('Left out, the first role that accepts the certificate.') }, required: [] },
    },
  },
  {
    label: 'AppRole (for a test)',
    method: {
      type: 'approle',
      flow: 'form',
      login: 'login',
      form: { properties: { role_id: text(''), secret_id: secret('') }, required: ['role_id'] },
    },
  },
];

/** The method of a mount whose name was typed. */
export function methodAt(mount: string, kind: (typeof KINDS)[number]): LoginMethod {
  const path = `${mountName(mount)}/`;
  return { ...kind.method, path, description: '', login: `auth/${path}${kind.method.login}` };
}

/** `auth/corp/`, `corp/` and `corp` are one mount; '' for none. */
export function mountName(text_: string): string {
  return text_
    .trim()
    .replace(/^\/+|\/+$/g, '')
    .replace(/^auth\//, '');
}

/** What a method is called on its tab. */
export function methodName({ path, type }: LoginMethod): string {
  if (path === 'token') return 'Token';
  const name = path.replace(/\/$/, '');
  return name === type ? (KNOWN_NAMES[type] ?? name) : name;
}

const KNOWN_NAMES: Readonly<Record<string, string>> = {
  ldap: 'LDAP',
  userpass: 'Username',
  jwt: 'JWT',
  oidc: 'OIDC',
  cert: 'Certificate',
  approle: 'AppRole',
  kubernetes: 'Kubernetes',
};
