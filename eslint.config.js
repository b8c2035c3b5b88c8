import tseslint from 'typescript-eslint';
import { floors } from './lint/floors.js';
import { oneWay } from './lint/one-way.js';

/**
 * Our own rules, and two for which oxlint reports code that is right. All others are in .oxlintrc.json.
 *
 * The arrows of the architecture: engine packages → engine-sdk ← core ← http ← server → engine packages.
 * A package imports what its list allows and nothing else of ours.
 */
const arrows = {
  'go-template': [],
  hcl: [],
  'password-policy': ['hcl'],
  'engine-sdk': [],
  'storage-sdk': [],
  'snapshot-aws-s3': ['engine-sdk'],
  'seal-sdk': ['engine-sdk'],
  'seal-aws-kms': ['engine-sdk', 'seal-sdk'],
  'seal-azure-key-vault': ['engine-sdk', 'seal-sdk'],
  'seal-gcp-kms': ['engine-sdk', 'seal-sdk'],
  'seal-pkcs11': ['engine-sdk', 'seal-sdk'],
  'seal-transit': ['engine-sdk', 'seal-sdk'],
  console: [],
  'storage-lmdb': ['storage-sdk'],
  'storage-postgresql': ['storage-sdk'],
  'storage-etcd': ['storage-sdk'],
  core: ['engine-sdk', 'storage-sdk', 'seal-sdk', 'go-template', 'hcl', 'otp', 'password-policy'],
  otp: [],
  'engine-testkit': ['engine-sdk', 'storage-sdk', 'core'],
  http: ['engine-sdk', 'core'],
  kv: ['engine-sdk'],
  transit: ['engine-sdk'],
  totp: ['engine-sdk', 'otp'],
  'ldap-client': ['engine-sdk', 'go-template', 'rotation', 'password-policy'],
  'auth-sdk': ['engine-sdk'],
  'auth-cert': ['engine-sdk', 'auth-sdk'],
  'auth-userpass': ['engine-sdk', 'auth-sdk'],
  'auth-jwt': ['engine-sdk', 'auth-sdk', 'go-template'],
  'auth-ldap': ['engine-sdk', 'auth-sdk', 'ldap-client', 'rotation', 'go-template'],
  'kubernetes-client': ['engine-sdk'],
  'auth-kubernetes': ['engine-sdk', 'auth-sdk', 'kubernetes-client'],
  kubernetes: ['engine-sdk', 'go-template', 'kubernetes-client'],
  'auth-approle': ['engine-sdk', 'auth-sdk'],
  pgp: ['engine-sdk'],
  tracing: ['engine-sdk'],
  'database-sdk': ['engine-sdk'],
  'database-testkit': ['engine-sdk', 'database-sdk', 'go-template'],
  'database-knex': ['engine-sdk', 'database-sdk'],
  rotation: ['engine-sdk'],
  'ldap-secrets': ['engine-sdk', 'ldap-client', 'rotation', 'go-template', 'password-policy'],
  database: ['engine-sdk', 'database-sdk', 'rotation', 'go-template'],
  'database-postgresql': ['engine-sdk', 'database-sdk', 'database-knex'],
  'database-mysql': ['engine-sdk', 'database-sdk', 'database-knex'],
  'database-mssql': ['engine-sdk', 'database-sdk', 'database-knex'],
  'database-redis': ['engine-sdk', 'database-sdk'],
  'database-mongodb': ['engine-sdk', 'database-sdk'],
  'database-cassandra': ['engine-sdk', 'database-sdk'],
  'database-influxdb': ['engine-sdk', 'database-sdk'],
  'database-neo4j': ['engine-sdk', 'database-sdk'],
  'database-opensearch': ['engine-sdk', 'database-sdk'],
  cloud: ['engine-sdk', 'rotation', 'go-template'],
  rabbitmq: ['engine-sdk', 'rotation', 'go-template', 'password-policy'],
  'sync-sdk': ['engine-sdk'],
  'sync-testkit': ['engine-sdk', 'sync-sdk', 'go-template'],
  sync: ['engine-sdk', 'sync-sdk', 'go-template'],
  'sync-aws': ['engine-sdk', 'sync-sdk'],
  'sync-aws-sm': ['engine-sdk', 'sync-aws', 'sync-sdk'],
  'sync-aws-ssm': ['engine-sdk', 'sync-aws', 'sync-sdk'],
  'sync-azure-kv': ['engine-sdk', 'sync-sdk'],
  'sync-gcp-sm': ['engine-sdk', 'sync-sdk'],
  'sync-github': ['engine-sdk', 'sync-sdk'],
  'sync-kubernetes': ['engine-sdk', 'kubernetes-client', 'sync-sdk'],
  'sync-vault': ['engine-sdk', 'sync-sdk'],
  'sync-vercel': ['engine-sdk', 'sync-sdk'],
  import: ['engine-sdk'],
  cli: ['server', 'engine-sdk', 'import'],
};
const ours = [...Object.keys(arrows), 'server'];
/** What only the adapter and the composition root may touch. */
const outside = { express: ['http', 'server'], tsyringe: ['server'], 'reflect-metadata': ['server'] };

const arrowRules = Object.entries(arrows).map(([name, allowed]) => ({
  files: [`packages/${name}/src/**/*.ts`],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        paths: [
          ...ours
            .filter((other) => other !== name && !allowed.includes(other))
            .map((other) => ({
              name: `@strongroom/${other}`,
              message: `${name} may not import ${other}: see the arrows in docs/concepts.md`,
            })),
          ...Object.entries(outside)
            .filter(([, users]) => !users.includes(name))
            .map(([library, users]) => ({ name: library, message: `${library} belongs to ${users.join(' and ')}` })),
        ],
        patterns: [{ group: ['../../../*', '../../*/src/*'], message: 'import other packages by name' }],
      },
    ],
  },
}));

export default tseslint.config(
  {
    ignores: ['**/dist/', '**/node_modules/', 'coverage/', '.nx/', '.strongroom/', 'packages/console/ui/', 'docs/.vitepress/{cache,dist}/'],
  },
  {
    files: ['**/*.{ts,tsx}'],
    languageOptions: { parser: tseslint.parser },
    // Directives name rules that oxlint checks: they must be known here, and are not used here.
    plugins: { '@typescript-eslint': tseslint.plugin },
    linterOptions: { reportUnusedDisableDirectives: 'off' },
    rules: { 'no-unused-private-class-members': 'error', 'no-useless-assignment': 'error' },
  },
  {
    files: [
      'packages/go-template/src/**',
      'packages/hcl/src/**',
      'packages/password-policy/src/**',
      'packages/engine-sdk/src/**',
      'packages/core/src/**',
      'packages/kv/src/**',
      'packages/transit/src/**',
      'packages/auth-jwt/src/**',
      'packages/auth-sdk/src/**',
      'packages/auth-cert/src/**',
      'packages/auth-ldap/src/**',
      'packages/auth-userpass/src/**',
      'packages/kubernetes-client/src/**',
      'packages/auth-kubernetes/src/**',
      'packages/kubernetes/src/**',
      'packages/auth-approle/src/**',
      'packages/database/src/**',
      'packages/rotation/src/**',
      'packages/ldap-secrets/src/**',
      'packages/cloud/src/**',
      'packages/rabbitmq/src/**',
      'packages/totp/src/**',
      'packages/sync/src/**',
    ],
    ignores: [
      'packages/core/src/services/audit/**',
      'packages/core/src/kernel/incarnation/process-table.ts',
      'packages/core/src/api/sys/host-info.ts',
      'packages/kubernetes-client/src/pod-files.ts',
    ],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: "ImportDeclaration[source.value='node:fs'], ImportDeclaration[source.value='node:fs/promises']",
          message: 'no file system here: it belongs to storage drivers, audit devices, the look at the host and the pod, and the server',
        },
      ],
    },
  },
  ...arrowRules,
  {
    files: ['packages/*/src/**/*.ts'],
    plugins: { strongroom: { rules: { 'one-way': oneWay } } },
    rules: { 'strongroom/one-way': 'error' },
  },
  ...Object.entries(floors).map(([name, ofPackage]) => ({
    files: [`packages/${name}/src/**/*.ts`],
    rules: { 'strongroom/one-way': ['error', { floors: ofPackage }] },
  })),
  {
    files: ['packages/console/web/**', 'packages/console/test/browser/**'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          paths: [
            {
              name: '@mantine/core',
              importNames: ['AppShell', 'Grid', 'SimpleGrid', 'Flex', 'Modal'],
              message: 'it writes a style element, which the content security policy forbids: use CSS modules, and parts/dialog.tsx',
            },
            { name: '@mantine/spotlight', message: 'its dialogue has no name for assistive technology: use the palette' },
          ],
        },
      ],
      'no-restricted-syntax': [
        'error',
        { selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']", message: "the server's text is text, never markup" },
      ],
    },
  },
  { files: ['packages/console/web/parts/dialog.tsx'], rules: { 'no-restricted-imports': 'off' } },
  {
    files: ['packages/*/test/**/*.ts', 'examples/*/test/**/*.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector:
            "ImportDeclaration[source.value='node:timers/promises'], NewExpression[callee.name='Promise'] CallExpression[callee.name='setTimeout']",
          message:
            'no test waits for the wall clock: move a manual clock or wait for an event; where another program keeps the time, say so',
        },
      ],
    },
  },
);
