/** A kind of record that a login method keeps. */
export interface MethodNoun {
  /** Below the mount, and in addresses. */
  readonly path: string;
  readonly many: string;
  readonly one: string;
  readonly empty: string;
  readonly first: readonly string[];
  /** Fields that a write resets where it lacks them. */
  readonly resends?: readonly string[] | 'all';
  readonly deleted: string;
  /** The server tells more of one than its settings. */
  readonly shows?: boolean;
}

/** What a login method has pages for. */
export interface Method {
  readonly title: string;
  /** Absent for methods without a configuration. */
  readonly config?: { readonly first: readonly string[]; readonly resends?: readonly string[] | 'all' };
  readonly test?: { readonly fields: readonly string[]; readonly stages: readonly string[] };
  readonly nouns: readonly MethodNoun[];
}

const TOKENS = ['token_policies', 'token_ttl', 'token_max_ttl'];
const LIVE_ON = 'Nobody can log in with it any more. Tokens that it gave live on to their end.';

/** The login methods of the server, by type. */
const METHODS: Readonly<Record<string, Method>> = {
  ldap: {
    title: 'Directory (LDAP)',
    config: {
      first: [
        'url',
        'starttls',
        'certificate',
        'binddn',
        'bindpass',
        'userdn',
        'userattr',
        'userfilter',
        'groupdn',
        'groupfilter',
        'groupattr',
        'upndomain',
      ],
    },
    test: {
      fields: ['username', 'password'],
      stages: ['connect', 'tls', 'service bind', 'user search', 'user bind', 'group search', 'policies'],
    },
    nouns: [
      {
        path: 'groups',
        many: 'Groups',
        one: 'group',
        empty: 'A group of the directory gives its members policies. None is mapped yet.',
        first: ['policies'],
        resends: 'all',
        deleted: 'Its members lose the policies that it gave them, at their next login or renewal.',
      },
      {
        path: 'users',
        many: 'Users',
        one: 'user',
        empty: 'A user can have policies and groups beyond what the directory gives. None has yet.',
        first: ['policies', 'groups'],
        resends: 'all',
        deleted: 'The user loses what is given here, and keeps what the groups of the directory give.',
      },
    ],
  },
  userpass: {
    title: 'Name and password',
    test: { fields: ['username', 'password', 'address'], stages: ['user', 'lockout', 'password', 'addresses', 'policies'] },
    nouns: [
      { path: 'users', many: 'Users', one: 'user', empty: 'Nobody can log in here yet.', first: ['password', ...TOKENS], deleted: LIVE_ON },
    ],
  },
  approle: {
    title: 'AppRole',
    test: {
      fields: ['role_id', 'secret_id', 'remote_address'],
      stages: ['role id', 'secret id', 'expiry', 'uses', 'addresses of the secret id', 'addresses of the role', 'addresses of the token'],
    },
    nouns: [
      {
        path: 'role',
        many: 'Roles',
        one: 'role',
        empty: 'A role is what a program logs in as. There is none yet.',
        first: ['bind_secret_id', 'secret_id_ttl', 'secret_id_num_uses', 'secret_id_bound_cidrs', ...TOKENS],
        deleted: 'Its secret ids go with it. Tokens that it gave live on to their end.',
      },
    ],
  },
  jwt: jwt('JWT'),
  oidc: jwt('OIDC'),
  kubernetes: {
    title: 'Kubernetes',
    config: { first: ['kubernetes_host', 'kubernetes_ca_cert', 'token_reviewer_jwt', 'disable_local_ca_jwt'], resends: 'all' },
    test: {
      fields: ['role', 'jwt'],
      stages: [
        'connect',
        'tls',
        'reviewer',
        'token',
        'role',
        'token review',
        'address',
        'service account name',
        'namespace',
        'namespace selector',
        'policies',
      ],
    },
    nouns: [
      {
        path: 'role',
        many: 'Roles',
        one: 'role',
        empty: 'A role says which service accounts of which namespaces log in, and what they get. There is none yet.',
        first: [
          'bound_service_account_names',
          'bound_service_account_namespaces',
          'bound_service_account_namespace_selector',
          'audience',
          ...TOKENS,
        ],
        resends: ['bound_service_account_namespace_selector'],
        deleted: LIVE_ON,
      },
    ],
  },
  cert: {
    title: 'TLS certificate',
    config: { first: [] },
    test: {
      fields: ['name', 'client_certificate'],
      stages: ['certificate', 'path', 'validity', 'usage', 'names', 'extensions', 'revocation list', 'ocsp', 'policies'],
    },
    nouns: [
      {
        path: 'certs',
        many: 'Certificates',
        one: 'certificate',
        empty: 'A certificate of a CA, or of one caller, that logins are checked against. There is none yet.',
        first: ['certificate', 'display_name', 'allowed_common_names', 'allowed_dns_sans', ...TOKENS],
        deleted: LIVE_ON,
      },
      {
        path: 'crls',
        many: 'Revocation lists',
        one: 'list',
        empty: 'A list of certificates that are revoked. There is none yet.',
        first: ['url', 'crl', 'allow_stale'],
        shows: true,
        deleted: 'Certificates that the list revokes can log in again.',
      },
    ],
  },
};

function jwt(title: string): Method {
  return {
    title,
    config: {
      first: [
        'oidc_discovery_url',
        'oidc_client_id',
        'oidc_client_secret',
        'jwks_url',
        'jwt_validation_pubkeys',
        'bound_issuer',
        'default_role',
      ],
      resends: 'all',
    },
    test: {
      fields: ['jwt', 'role'],
      stages: [
        'keys',
        'signature',
        'role',
        'issuer',
        'subject',
        'audience',
        'times',
        'user claim',
        'mapping',
        'groups',
        'bound claims',
        'policies',
      ],
    },
    nouns: [
      {
        path: 'role',
        many: 'Roles',
        one: 'role',
        empty: 'A role says whose tokens are taken, and what they get. There is none yet.',
        first: ['role_type', 'user_claim', 'bound_audiences', 'bound_subject', 'bound_claims', 'allowed_redirect_uris', ...TOKENS],
        resends: ['role_type', 'bound_claims_type', 'callback_mode', 'oidc_disable_confirmation'],
        deleted: LIVE_ON,
      },
    ],
  };
}

/** Types with pages of their own. */
export const METHOD_TYPES: readonly string[] = Object.keys(METHODS);

export function methodOf(type: string | undefined): Method | undefined {
  return type !== undefined && Object.hasOwn(METHODS, type) ? METHODS[type] : undefined;
}
