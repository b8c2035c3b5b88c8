/**
 * The calls of the peer's agent and proxy, as its Go client sends them: writes are PUT, lists are `GET …?list=true`, and every call has
 * `X-Vault-Request: true`. `$name` stands for a value that an earlier answer left, or that the test's surroundings have.
 */
export interface AgentCall {
  /** What it is for. */
  readonly does: string;
  /** Method and path below `/v1/`. */
  readonly call: string;
  readonly body?: Readonly<Record<string, unknown>>;
  /** Whose token: `operator`, who is root; `nobody`; or the name of a kept value. Default: `token`, that of the agent. */
  readonly as?: string;
  /** X-Vault-Wrap-TTL. */
  readonly wrap?: string;
  /** Shows the client certificate. */
  readonly certificate?: true;
  /** Before the call, the clock is moved. */
  readonly after?: string;
  /** Default: 200. */
  readonly status?: number;
  /** What the agent reads of the answer, and finds: by place. A regular expression for texts that differ each time. */
  readonly finds?: Readonly<Record<string, unknown>>;
  /** Values that later calls use: name and place. Each must be a text that is not empty. */
  readonly keep?: Readonly<Record<string, string>>;
}

export interface AgentScenario {
  readonly title: string;
  readonly calls: readonly AgentCall[];
}

const HEALTH =
  'sys/health?drsecondarycode=299&haunhealthycode=299&performancestandbycode=299&removedcode=299&sealedcode=299&standbycode=299&uninitcode=299';

/** What a login answers, as far as the agent reads it. */
const loggedIn = { 'auth.renewable': true, 'auth.lease_duration': 3_600, 'auth.client_token': /./, 'auth.policies': ['app', 'default'] };
const renewed = { 'auth.lease_duration': 3_600, 'auth.renewable': true };
const token = { token: 'auth.client_token' };

/** A token lives at most two hours: renewed twice, then cut, then refused; and the agent logs in again. */
const untilItEnds = (again: AgentCall): AgentCall[] => [
  {
    does: 'renews at two thirds of the lifetime',
    after: '40m',
    call: 'PUT auth/token/renew-self',
    body: { increment: 3_600 },
    finds: renewed,
  },
  {
    does: 'renews once more',
    after: '40m',
    call: 'PUT auth/token/renew-self',
    body: { increment: 3_600 },
    finds: { 'auth.lease_duration': 2_400 },
  },
  { does: 'finds that its token has ended', after: '41m', call: 'PUT auth/token/renew-self', body: { increment: 3_600 }, status: 403 },
  again,
  { does: 'reads with the new token', call: 'GET secret/data/app', finds: { 'data.data.user': 'app' } },
];

export const agentScenarios: readonly AgentScenario[] = [
  {
    title: 'start',
    calls: [
      { does: 'asks whether the server is well', call: `GET ${HEALTH}`, as: 'nobody', finds: { initialized: true, sealed: false } },
      { does: 'learns so from a probe without a body', call: `HEAD ${HEALTH}`, as: 'nobody' },
    ],
  },
  {
    title: 'auto-auth by a token file',
    calls: [
      {
        does: 'an operator makes the token',
        call: 'PUT auth/token/create',
        as: 'operator',
        body: { policies: ['app'], ttl: '1h' },
        keep: token,
      },
      {
        does: 'looks at the token of the file',
        call: 'GET auth/token/lookup-self',
        finds: { 'data.renewable': true, 'data.ttl': 3_600, 'data.id': '$token' },
      },
      { does: 'renews it at once', call: 'PUT auth/token/renew-self', body: { increment: 0 }, finds: renewed },
      { does: 'renews it later', after: '40m', call: 'PUT auth/token/renew-self', body: { increment: 3_600 }, finds: renewed },
      { does: 'is refused once it has ended', after: '61m', call: 'GET auth/token/lookup-self', status: 403 },
      {
        does: 'looks at a root token',
        call: 'GET auth/token/lookup-self',
        as: 'operator',
        finds: { 'data.ttl': 0, 'data.policies': ['root'] },
      },
      {
        does: 'asks to renew a root token, learns that it needs none, and keeps it',
        call: 'PUT auth/token/renew-self',
        as: 'operator',
        body: { increment: 0 },
        status: 400,
        finds: { errors: ['lease is not renewable'] },
      },
    ],
  },
  {
    title: 'auto-auth by AppRole',
    calls: [
      {
        does: 'an operator writes the role',
        call: 'PUT auth/approle/role/app',
        as: 'operator',
        body: { token_policies: 'app', token_ttl: '1h', token_max_ttl: '2h', secret_id_num_uses: 3 },
        status: 204,
      },
      { does: 'an operator reads the role id', call: 'GET auth/approle/role/app/role-id', as: 'operator', keep: { role: 'data.role_id' } },
      {
        does: 'an operator makes a secret id',
        call: 'PUT auth/approle/role/app/secret-id',
        as: 'operator',
        body: {},
        keep: { secret: 'data.secret_id' },
      },
      {
        does: 'logs in with what the two files held',
        call: 'PUT auth/approle/login',
        as: 'nobody',
        body: { role_id: '$role', secret_id: '$secret' },
        finds: loggedIn,
        keep: token,
      },
      ...untilItEnds({
        does: 'logs in again with the secret id that it remembers, because it removed the file after reading it',
        call: 'PUT auth/approle/login',
        as: 'nobody',
        body: { role_id: '$role', secret_id: '$secret' },
        finds: loggedIn,
        keep: token,
      }),
      {
        does: 'uses the secret id up',
        call: 'PUT auth/approle/login',
        as: 'nobody',
        body: { role_id: '$role', secret_id: '$secret' },
        finds: loggedIn,
      },
      {
        does: 'is refused with a secret id that is used up',
        call: 'PUT auth/approle/login',
        as: 'nobody',
        body: { role_id: '$role', secret_id: '$secret' },
        status: 400,
      },
    ],
  },
  {
    title: 'auto-auth by AppRole with a wrapped secret id',
    calls: [
      {
        does: 'an operator has the secret id wrapped',
        call: 'PUT auth/approle/role/app/secret-id',
        as: 'operator',
        body: {},
        wrap: '5m',
        finds: { 'wrap_info.ttl': 300, 'wrap_info.creation_path': 'auth/approle/role/app/secret-id' },
        keep: { wrapping: 'wrap_info.token' },
      },
      {
        does: 'checks where the wrapped secret id was made (secret_id_response_wrapping_path)',
        call: 'GET sys/wrapping/lookup',
        as: 'wrapping',
        finds: { 'data.creation_path': 'auth/approle/role/app/secret-id', 'data.creation_ttl': 300 },
      },
      { does: 'unwraps it', call: 'PUT sys/wrapping/unwrap', as: 'wrapping', keep: { secret: 'data.secret_id' } },
      {
        does: 'logs in',
        call: 'PUT auth/approle/login',
        as: 'nobody',
        body: { role_id: '$role', secret_id: '$secret' },
        finds: loggedIn,
        keep: token,
      },
      { does: 'finds out where somebody else has unwrapped it', call: 'PUT sys/wrapping/unwrap', as: 'wrapping', status: 400 },
      { does: 'can no longer look it up', call: 'GET sys/wrapping/lookup', as: 'wrapping', status: 400 },
    ],
  },
  {
    title: 'auto-auth by a JWT',
    calls: [
      {
        does: 'an operator writes the role',
        call: 'PUT auth/jwt/role/app',
        as: 'operator',
        body: {
          ...{ role_type: 'jwt', user_claim: 'sub', bound_audiences: 'strongroom' },
          ...{ token_policies: 'app', token_ttl: '1h', token_max_ttl: '2h' },
        },
        status: 204,
      },
      {
        does: 'logs in with the token of the file',
        call: 'PUT auth/jwt/login',
        as: 'nobody',
        body: { role: 'app', jwt: '$jwt' },
        finds: loggedIn,
        keep: token,
      },
      ...untilItEnds({
        does: 'logs in again with the token that was put into the file meanwhile',
        call: 'PUT auth/jwt/login',
        as: 'nobody',
        body: { role: 'app', jwt: '$jwt' },
        finds: loggedIn,
        keep: token,
      }),
      {
        does: 'is refused with an old token',
        call: 'PUT auth/jwt/login',
        as: 'nobody',
        body: { role: 'app', jwt: '$oldJwt' },
        status: 400,
      },
    ],
  },
  {
    title: 'auto-auth by Kubernetes',
    calls: [
      {
        does: 'an operator writes the role',
        call: 'PUT auth/kubernetes/role/app',
        as: 'operator',
        body: {
          ...{ bound_service_account_names: 'app', bound_service_account_namespaces: 'default' },
          ...{ audience: 'strongroom', token_policies: 'app', token_ttl: '1h', token_max_ttl: '2h' },
        },
        status: 204,
      },
      {
        does: 'logs in with the projected token of its pod',
        call: 'PUT auth/kubernetes/login',
        as: 'nobody',
        body: { role: 'app', jwt: '$pod' },
        finds: { ...loggedIn, 'auth.metadata.service_account_name': 'app' },
        keep: token,
      },
      ...untilItEnds({
        does: 'logs in again with the token as it is now',
        call: 'PUT auth/kubernetes/login',
        as: 'nobody',
        body: { role: 'app', jwt: '$pod' },
        finds: loggedIn,
        keep: token,
      }),
    ],
  },
  {
    title: 'auto-auth by a certificate',
    calls: [
      {
        does: 'an operator writes the role',
        call: 'PUT auth/cert/certs/web',
        as: 'operator',
        body: { certificate: '$ca', allowed_common_names: 'web', token_policies: 'app', token_ttl: '1h', token_max_ttl: '2h' },
        status: 204,
      },
      {
        does: 'logs in without naming a role',
        call: 'PUT auth/cert/login',
        as: 'nobody',
        certificate: true,
        body: {},
        finds: loggedIn,
        keep: token,
      },
      {
        does: 'renews over the same connection',
        after: '40m',
        call: 'PUT auth/token/renew-self',
        certificate: true,
        body: { increment: 3_600 },
        finds: renewed,
      },
      {
        does: 'logs in again, naming the role',
        call: 'PUT auth/cert/login',
        as: 'nobody',
        certificate: true,
        body: { name: 'web' },
        finds: loggedIn,
        keep: token,
      },
      { does: 'is refused without its certificate', call: 'PUT auth/cert/login', as: 'nobody', body: {}, status: 400 },
    ],
  },
  {
    title: 'a sink with wrap_ttl',
    calls: [
      {
        does: 'an operator makes a secret id',
        call: 'PUT auth/approle/role/app/secret-id',
        as: 'operator',
        body: {},
        keep: { secret: 'data.secret_id' },
      },
      {
        does: 'logs in and asks for a wrapped token, which it writes into the sink',
        call: 'PUT auth/approle/login',
        as: 'nobody',
        wrap: '10m',
        body: { role_id: '$role', secret_id: '$secret' },
        finds: { auth: null, 'wrap_info.ttl': 600, 'wrap_info.creation_path': 'auth/approle/login', 'wrap_info.wrapped_accessor': /./ },
        keep: { wrapping: 'wrap_info.token' },
      },
      {
        does: 'the program behind the sink unwraps it',
        call: 'PUT sys/wrapping/unwrap',
        as: 'wrapping',
        finds: { 'auth.lease_duration': 3_600 },
        keep: token,
      },
      { does: 'and uses it', call: 'GET auth/token/lookup-self', finds: { 'data.path': 'auth/approle/login' } },
    ],
  },
  {
    title: 'templates of key-value',
    calls: [
      {
        does: 'asks which version of key-value is mounted',
        call: 'GET sys/internal/ui/mounts/secret/data/app',
        finds: { 'data.path': 'secret/', 'data.type': 'kv', 'data.options.version': '2' },
      },
      {
        does: 'reads the secret',
        call: 'GET secret/data/app',
        finds: { 'data.data.user': 'app', 'data.metadata.version': 1, lease_id: '' },
      },
      {
        does: 'an operator changes it',
        call: 'PUT secret/data/app',
        as: 'operator',
        body: { data: { user: 'app2' }, options: {} },
        finds: { 'data.version': 2 },
      },
      {
        does: 'reads it again after five minutes, and renders the template again',
        after: '5m',
        call: 'GET secret/data/app',
        finds: { 'data.data.user': 'app2', 'data.metadata.version': 2 },
      },
      { does: 'reads a version by its number', call: 'GET secret/data/app?version=1', finds: { 'data.data.user': 'app' } },
      { does: 'lists', call: 'GET secret/metadata/?list=true', finds: { 'data.keys': ['app'] } },
      { does: 'lists without the slash', call: 'GET secret/metadata?list=true', finds: { 'data.keys': ['app'] } },
      { does: 'waits for a secret that is not there yet', call: 'GET secret/data/none', status: 404, finds: { errors: [] } },
      { does: 'an operator deletes the secret', call: 'DELETE secret/data/app', as: 'operator', status: 204 },
      {
        does: 'finds that it was deleted, and when',
        call: 'GET secret/data/app',
        status: 404,
        finds: { 'data.data': null, 'data.metadata.deletion_time': /^2\d{3}-/ },
      },
      {
        does: 'an operator restores it',
        call: 'PUT secret/undelete/app',
        as: 'operator',
        body: { versions: [2] },
        status: 204,
      },
      { does: 'reads it again', call: 'GET secret/data/app', finds: { 'data.data.user': 'app2' } },
      {
        does: 'asks the same about version 1',
        call: 'GET sys/internal/ui/mounts/old/app',
        finds: { 'data.path': 'old/', 'data.options.version': '1' },
      },
      {
        does: 'reads from it, with a hint when to read again',
        call: 'GET old/app',
        finds: { 'data.user': 'app', lease_duration: 2_764_800 },
      },
      { does: 'learns that a mount is not there for it', call: 'GET sys/internal/ui/mounts/nothing/app', status: 403 },
    ],
  },
  {
    title: 'templates of leased secrets',
    calls: [
      {
        does: 'reads a secret with a lease',
        call: 'GET leased/creds/app',
        finds: { lease_duration: 600, renewable: true, 'data.password': /./ },
        keep: { lease: 'lease_id' },
      },
      {
        does: 'renews the lease at two thirds of its time',
        after: '400s',
        call: 'PUT sys/leases/renew',
        body: { lease_id: '$lease', increment: 600 },
        finds: { lease_id: '$lease', lease_duration: 600, renewable: true },
      },
      {
        does: 'learns that the lease comes to its end',
        after: '700s',
        call: 'PUT sys/leases/renew',
        body: { lease_id: '$lease', increment: 600 },
        status: 400,
      },
      { does: 'reads a new secret', call: 'GET leased/creds/app', finds: { lease_duration: 600 }, keep: { lease: 'lease_id' } },
      { does: 'an operator takes it back', call: 'PUT sys/leases/revoke', as: 'operator', body: { lease_id: '$lease' }, status: 204 },
    ],
  },
  {
    title: 'the proxy and its cache',
    calls: [
      { does: 'fills in its token for a request without one', call: 'GET auth/token/lookup-self', finds: { 'data.id': '$token' } },
      {
        does: 'passes on the making of a token, and keeps the answer',
        call: 'PUT auth/token/create',
        body: { policies: ['app'], ttl: '30m' },
        finds: { 'auth.lease_duration': 1_800, 'auth.orphan': false },
        keep: { child: 'auth.client_token', accessor: 'auth.accessor' },
      },
      {
        does: 'renews what it keeps',
        after: '20m',
        call: 'PUT auth/token/renew-self',
        as: 'child',
        body: { increment: 1_800 },
        finds: { 'auth.lease_duration': 1_800 },
      },
      {
        does: 'passes on a read with the token of its caller',
        call: 'GET secret/data/app',
        as: 'child',
        finds: { 'data.data.user': 'app2' },
      },
      {
        does: 'keeps a lease of the token',
        call: 'GET leased/creds/app',
        as: 'child',
        finds: { lease_duration: 600 },
        keep: { lease: 'lease_id' },
      },
      {
        does: 'drops what it keeps when it sees a revocation by accessor',
        call: 'PUT auth/token/revoke-accessor',
        as: 'operator',
        body: { accessor: '$accessor' },
        status: 204,
      },
      { does: 'passes on that the token is gone', call: 'GET auth/token/lookup-self', as: 'child', status: 403 },
      {
        does: 'passes on that its lease is gone',
        call: 'PUT sys/leases/renew',
        body: { lease_id: '$lease', increment: 600 },
        as: 'operator',
        status: 400,
      },
      {
        does: 'keeps the next token',
        call: 'PUT auth/token/create',
        body: { policies: ['app'], ttl: '30m' },
        keep: { child: 'auth.client_token' },
      },
      { does: 'sees a token revoke itself', call: 'PUT auth/token/revoke-self', as: 'child', status: 204 },
      { does: 'keeps one more', call: 'PUT auth/token/create', body: { policies: ['app'] }, keep: { child: 'auth.client_token' } },
      { does: 'sees a revocation by id', call: 'PUT auth/token/revoke', as: 'operator', body: { token: '$child' }, status: 204 },
      {
        does: 'keeps an orphan',
        call: 'PUT auth/token/create-orphan',
        as: 'operator',
        body: { policies: ['app'] },
        keep: { child: 'auth.client_token' },
      },
      { does: 'sees its revocation', call: 'PUT auth/token/revoke-orphan', as: 'operator', body: { token: '$child' }, status: 204 },
      { does: 'keeps a lease', call: 'GET leased/creds/app', keep: { lease: 'lease_id' } },
      { does: 'sees the revocation of all below a path', call: 'PUT sys/leases/revoke-prefix/leased/creds', as: 'operator', status: 204 },
      { does: 'and a forced one', call: 'PUT sys/leases/revoke-force/leased/creds', as: 'operator', status: 204 },
      { does: 'revokes its own token when it stops', call: 'PUT auth/token/revoke-self', status: 204 },
      { does: 'is nobody after that', call: 'GET auth/token/lookup-self', status: 403 },
    ],
  },
];
