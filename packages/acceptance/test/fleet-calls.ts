import type { AgentScenario } from './agent-calls.ts';

/*
 * The calls of clients that run in fleets, in the order in which they send them; deploy/integrations has a configuration for each. Their Go clients write
 * with PUT, except for mounts, and list by `?list=true`.
 */

const login = {
  call: 'PUT auth/kubernetes/login',
  as: 'nobody',
  body: { role: 'app', jwt: '$pod' },
  finds: { 'auth.client_token': /./, 'auth.renewable': true },
  keep: { token: 'auth.client_token' },
} as const;

const PUSHED = `
path "secret/data/pushed" { capabilities = ["create", "read", "update", "delete"] }
path "secret/metadata/pushed" { capabilities = ["create", "read", "update", "delete"] }
path "secret/+/app" { capabilities = ["read"] }
path "secret/metadata/" { capabilities = ["list"] }`;

const TERRAFORM = `
path "sys/mounts/apps*" { capabilities = ["create", "read", "update", "delete"] }
path "sys/auth/machines*" { capabilities = ["create", "read", "update", "delete", "sudo"] }
path "sys/mounts" { capabilities = ["read"] }
path "sys/auth" { capabilities = ["read"] }
path "sys/policies/acl/shop" { capabilities = ["create", "read", "update", "delete"] }
path "auth/machines/role/*" { capabilities = ["create", "read", "update", "delete"] }
path "apps/*" { capabilities = ["create", "read", "update", "delete"] }
path "auth/token/create" { capabilities = ["create", "update"] }`;

const metadata = { 'managed-by': 'external-secrets' };

export const fleetScenarios: readonly AgentScenario[] = [
  {
    title: 'External Secrets Operator: a store that logs in by a service account',
    calls: [
      {
        does: 'an operator writes the policy',
        call: 'PUT sys/policies/acl/pusher',
        as: 'operator',
        body: { policy: PUSHED },
        status: 204,
      },
      {
        does: 'an operator writes the role',
        call: 'PUT auth/kubernetes/role/app',
        as: 'operator',
        body: {
          ...{ bound_service_account_names: 'app', bound_service_account_namespaces: 'default' },
          ...{ audience: 'strongroom', token_policies: 'app,pusher', token_ttl: '1h' },
        },
        status: 204,
      },
      { does: 'logs in', ...login },
      { does: 'checks that its token is good', call: 'GET auth/token/lookup-self', finds: { 'data.type': 'service' } },
      { does: 'reads a secret', call: 'GET secret/data/app', finds: { 'data.data.user': /./, 'data.metadata.version': 2 } },
      { does: 'reads a version of it', call: 'GET secret/data/app?version=1', finds: { 'data.data.user': 'app' } },
      { does: 'finds secrets by their names', call: 'GET secret/metadata/?list=true', finds: { 'data.keys': ['app'] } },
      { does: 'finds secrets by their tags', call: 'GET secret/metadata/app', finds: { 'data.custom_metadata': null } },
      { does: 'revokes its token', call: 'PUT auth/token/revoke-self', status: 204 },
    ],
  },
  {
    title: 'External Secrets Operator: a secret that is pushed',
    calls: [
      { does: 'logs in', ...login },
      { does: 'sees that nothing is there yet', call: 'GET secret/data/pushed', status: 404, finds: { errors: [] } },
      { does: 'nor metadata', call: 'GET secret/metadata/pushed', status: 404 },
      {
        does: 'marks it as its own',
        call: 'PUT secret/metadata/pushed',
        body: { custom_metadata: metadata },
        status: 204,
      },
      { does: 'writes it', call: 'PUT secret/data/pushed', body: { data: { key: 'one' } }, finds: { 'data.version': 1 } },
      { does: 'reads it before the next change', call: 'GET secret/data/pushed', finds: { 'data.data.key': 'one' } },
      {
        does: 'sees that it is its own',
        call: 'GET secret/metadata/pushed',
        finds: { 'data.custom_metadata.managed-by': 'external-secrets' },
      },
      { does: 'writes the change', call: 'PUT secret/data/pushed', body: { data: { key: 'two' } }, finds: { 'data.version': 2 } },
      { does: 'removes the secret', call: 'DELETE secret/data/pushed', status: 204 },
      { does: 'and its metadata', call: 'DELETE secret/metadata/pushed', status: 204 },
      { does: 'which are gone', call: 'GET secret/metadata/pushed', status: 404 },
    ],
  },
  {
    title: 'Secrets Store CSI driver',
    calls: [
      { does: 'logs in with the token of the pod', ...login },
      { does: 'reads a secret for a file', call: 'GET secret/data/app', finds: { 'data.data.user': /./ } },
      { does: 'reads a credential for a file', call: 'GET leased/creds/app', finds: { 'data.password': /./, lease_duration: 600 } },
      { does: 'is refused for what the role may not read', call: 'GET secret/data/other', status: 404 },
      { does: 'is refused for another mount', call: 'GET sys/mounts', status: 403 },
    ],
  },
  {
    title: 'Terraform',
    calls: [
      {
        does: 'an operator writes the policy',
        call: 'PUT sys/policies/acl/terraform',
        as: 'operator',
        body: { policy: TERRAFORM },
        status: 204,
      },
      {
        does: 'an operator makes its token',
        call: 'PUT auth/token/create',
        as: 'operator',
        body: { policies: ['terraform'], ttl: '2h' },
        keep: { outer: 'auth.client_token' },
      },
      { does: 'asks for the version', call: 'GET sys/seal-status', as: 'nobody', finds: { version: /^2\./, sealed: false } },
      {
        does: 'asks who it is',
        call: 'GET auth/token/lookup-self',
        as: 'outer',
        finds: { 'data.policies': ['default', 'terraform'] },
      },
      {
        does: 'makes a child token for the run',
        call: 'PUT auth/token/create',
        as: 'outer',
        body: { display_name: 'terraform', ttl: '1200s', explicit_max_ttl: '1200s', renewable: false },
        finds: { 'auth.lease_duration': 1_200, 'auth.renewable': false },
        keep: { token: 'auth.client_token', accessor: 'auth.accessor' },
      },
      {
        does: 'creates a mount',
        call: 'POST sys/mounts/apps',
        body: { type: 'kv', description: 'Secrets of applications', options: { version: '2' }, config: {} },
        status: 204,
      },
      {
        does: 'reads it back',
        call: 'GET sys/mounts/apps',
        finds: { 'data.type': 'kv', 'data.options.version': '2', 'data.description': 'Secrets of applications', 'data.accessor': /^kv_/ },
      },
      { does: 'reads all mounts, as earlier versions do', call: 'GET sys/mounts', finds: { 'data.apps/.type': 'kv' } },
      {
        does: 'creates a policy',
        call: 'PUT sys/policies/acl/shop',
        body: { policy: 'path "apps/data/shop/*" { capabilities = ["read"] }\n' },
        status: 204,
      },
      {
        does: 'reads it back to the letter',
        call: 'GET sys/policies/acl/shop',
        finds: { 'data.policy': 'path "apps/data/shop/*" { capabilities = ["read"] }\n' },
      },
      { does: 'enables a login method', call: 'POST sys/auth/machines', body: { type: 'approle', config: {} }, status: 204 },
      { does: 'reads it back', call: 'GET sys/auth/machines', finds: { 'data.type': 'approle' } },
      { does: 'changes its tuning', call: 'POST sys/auth/machines/tune', body: { default_lease_ttl: '1h' }, status: 204 },
      { does: 'reads its tuning', call: 'GET sys/auth/machines/tune', finds: { 'data.default_lease_ttl': 3_600 } },
      {
        does: 'creates a role',
        call: 'PUT auth/machines/role/shop',
        body: { token_policies: ['shop'], token_ttl: 3_600, bind_secret_id: true },
        status: 204,
      },
      { does: 'reads the role', call: 'GET auth/machines/role/shop', finds: { 'data.token_policies': ['shop'], 'data.token_ttl': 3_600 } },
      { does: 'reads its id', call: 'GET auth/machines/role/shop/role-id', finds: { 'data.role_id': /./ } },
      {
        does: 'writes a secret',
        call: 'PUT apps/data/shop/flags',
        body: { data: { theme: 'dark' }, options: { cas: 0 } },
        finds: { 'data.version': 1 },
      },
      { does: 'reads the secret', call: 'GET apps/data/shop/flags', finds: { 'data.data.theme': 'dark' } },
      {
        does: 'reads its metadata',
        call: 'GET apps/metadata/shop/flags',
        finds: { 'data.current_version': 1, 'data.cas_required': false },
      },
      { does: 'plans again and finds no change', call: 'GET sys/policies/acl/shop', finds: { 'data.name': 'shop' } },
      { does: 'destroys the secret', call: 'DELETE apps/metadata/shop/flags', status: 204 },
      { does: 'finds it gone', call: 'GET apps/metadata/shop/flags', status: 404 },
      { does: 'destroys the role', call: 'DELETE auth/machines/role/shop', status: 204 },
      { does: 'finds it gone as well', call: 'GET auth/machines/role/shop', status: 404 },
      { does: 'disables the login method', call: 'DELETE sys/auth/machines', status: 204 },
      { does: 'destroys the policy', call: 'DELETE sys/policies/acl/shop', status: 204 },
      { does: 'destroys the mount', call: 'DELETE sys/mounts/apps', status: 204 },
      { does: 'revokes its token', call: 'PUT auth/token/revoke-self', status: 204 },
      { does: 'which is dead', call: 'GET auth/token/lookup-self', status: 403 },
    ],
  },
];
