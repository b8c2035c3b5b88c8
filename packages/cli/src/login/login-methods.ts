import { certificateMethod, fieldsMethod, plainMethod } from './fields-method.ts';
import { ApiFailure, Failure } from '../failure.ts';
import { closest, didYouMean } from '../suggest.ts';
import type { LoginMethod } from './login-method.ts';
import { oidcMethod } from './oidc/oidc-method.ts';
import { passwordMethod } from './password-method.ts';

const TOKEN_HELP = [
  'Usage: strongroom login [TOKEN]',
  '',
  '  Checks a token and remembers it. Without TOKEN, the command prompts for it; "-" reads it from standard input.',
].join('\n');

const role = { name: 'role', help: "Role to log in with. Default: the method's default role." };

const METHODS: ReadonlyMap<string, LoginMethod> = new Map([
  ['userpass', passwordMethod('userpass', undefined)],
  ['ldap', passwordMethod('ldap', 'LDAP_PASSWORD')],
  ['radius', passwordMethod('radius', undefined)],
  ['okta', passwordMethod('okta', undefined)],
  ['oidc', oidcMethod],
  [
    'approle',
    fieldsMethod(
      'approle',
      'Logs in as an application.',
      [
        { name: 'role_id', help: 'The role id.', trimmed: true },
        { name: 'secret_id', help: 'The secret id. Without it, the command prompts.', asked: 'Secret id', trimmed: true },
      ],
      'role_id=@role-id secret_id=@secret-id',
    ),
  ],
  [
    'jwt',
    fieldsMethod(
      'jwt',
      'Logs in with a signed token of an issuer that the server trusts.',
      [role, { name: 'jwt', help: 'The signed token. Without it, the command prompts.', asked: 'JWT', trimmed: true }],
      'role=ci jwt=@token',
    ),
  ],
  [
    'kubernetes',
    fieldsMethod(
      'kubernetes',
      'Logs in as a Kubernetes service account.',
      [
        { name: 'role', help: 'Role to log in with.' },
        { name: 'jwt', help: "The service account's token. Without it, the command prompts.", asked: 'JWT', trimmed: true },
      ],
      'role=web jwt=@/var/run/secrets/kubernetes.io/serviceaccount/token',
    ),
  ],
  ['cert', certificateMethod()],
]);

/** The types that the command line knows. */
export const LOGIN_TYPES: readonly string[] = ['token', ...METHODS.keys()];

/** How to log in with a method of this type. */
export function loginMethod(type: string): LoginMethod {
  return METHODS.get(type) ?? plainMethod(type);
}

/** Refuses a word that is a typing error of one that the method knows. Other words are sent: the server may know more. @throws Failure */
export function checkFields(type: string, data: Readonly<Record<string, unknown>>): void {
  const { fields } = loginMethod(type);
  if (!fields) return;
  const free = fields.filter((name) => !Object.hasOwn(data, name));
  for (const name of Object.keys(data)) {
    const near = fields.includes(name) ? [] : closest(name, free);
    if (near.length > 0)
      throw new Failure(`A login with ${type} has no field "${name}".${didYouMean(near)}\nFields of ${type}: ${fields.join(', ')}.`);
  }
}

/** Adds to a refusal what may be wrong with the place of the login: servers answer "permission denied" where no method is mounted. */
export function explainRefusal(type: string, mount: string, error: unknown): void {
  if (!(error instanceof ApiFailure) || (error.status !== 403 && error.status !== 404)) return;
  const near = LOGIN_TYPES.includes(type) ? '' : didYouMean(closest(type, LOGIN_TYPES)).replace('Did you mean', 'Did you mean -method');
  error.message += `\n\nIs a login method mounted at auth/${mount}/? If it is mounted elsewhere, give -path.${near}`;
}

/** The page that `auth help` prints for a type of method. */
export function loginHelp(type: string): string {
  return type === 'token' ? TOKEN_HELP : loginMethod(type).help;
}
