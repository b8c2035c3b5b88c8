import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import type { Described } from './description.ts';
import { fullRepository, minimalRepository } from './github-repository.ts';
import { type GithubRepository, type GithubSecret, GithubSecretScope } from './github-store.ts';
import { type ProviderAnswer, ProviderRefusal, type ProviderRequest } from './http-server.ts';
import { verifyJwt } from './json-web-token.ts';

/** An app with a key, installed once. */
export interface GithubTestApp {
  readonly appId: number;
  /** PEM. */
  readonly privateKey: string;
  readonly installationId: number;
}

interface Bearer {
  readonly kind: 'all' | 'weak';
  readonly expires: number;
  used: number;
}

/** The most secrets that a place holds. */
export const MOST_SECRETS = { repository: 100, environment: 100, organization: 1000 };
const LARGEST_SECRET = 48 * 1024;
/** Where refusals of the calls on secrets point. */
export const SECRETS_DOCUMENTATION = 'https://docs.github.com/rest/actions/secrets';

/** What the server knows, and what it answers to a call that fits the description. */
export class GithubState {
  url = '';
  readonly app: GithubTestApp;
  readonly #now: () => number;
  readonly #secretsNow: () => number;
  readonly #rateLimit: number;
  readonly #appKey: KeyObject;
  readonly #bearers = new Map<string, Bearer>();
  readonly #repositories = new Map<string, GithubRepository>();
  readonly #scopes = new Map<string, GithubSecretScope>();

  constructor(now: () => number, secretsNow: () => number, rateLimit: number) {
    this.#now = now;
    this.#secretsNow = secretsNow;
    this.#rateLimit = rateLimit;
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    this.#appKey = createPublicKey(privateKey);
    this.app = { appId: 4711, privateKey: privateKey.export({ type: 'pkcs1', format: 'pem' }) as string, installationId: 815 };
  }

  issue(kind: Bearer['kind'], expires: number, prefix: string): string {
    const token = `${prefix}${randomBytes(18).toString('hex')}`;
    this.#bearers.set(token, { kind, expires, used: 0 });
    return token;
  }

  addScope(where: string, limit: number): void {
    this.#scopes.set(
      where.toLowerCase(),
      new GithubSecretScope(limit, String(568250167242549743n + BigInt(this.#scopes.size)), this.#secretsNow),
    );
  }

  addRepository(owner: string, name: string, environments: readonly string[]): GithubRepository {
    const repository = { id: 1_296_269 + this.#repositories.size, owner, name, environments };
    this.#repositories.set(`${owner}/${name}`.toLowerCase(), repository);
    this.addScope(`${owner}/${name}`, MOST_SECRETS.repository);
    for (const environment of environments) this.addScope(`${owner}/${name}/${environment}`, MOST_SECRETS.environment);
    return repository;
  }

  /** @throws 404, as GitHub does for what is not there and for what the caller may not see */
  requireScope(where: string): GithubSecretScope {
    const scope = this.#scopes.get(where.toLowerCase());
    if (scope === undefined) throw notFound();
    return scope;
  }

  authenticate(call: Described, request: ProviderRequest): Bearer | undefined {
    const token = /^(?:Bearer|token) (\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
    if (call.line.startsWith('POST /app/')) {
      this.#authenticateApp(token ?? '');
      return undefined;
    }
    const bearer = token === undefined ? undefined : this.#bearers.get(token);
    if (bearer === undefined || bearer.expires <= this.#now()) throw new ProviderRefusal(401, '', 'Bad credentials');
    if (bearer.used >= this.#rateLimit) {
      throw new ProviderRefusal(403, 'rate_limit', 'API rate limit exceeded for user ID 1.', { details: { remaining: 0 } });
    }
    bearer.used += 1;
    if (bearer.kind === 'weak' && call.line.includes('/secrets')) {
      throw new ProviderRefusal(403, '', 'Resource not accessible by personal access token');
    }
    return bearer;
  }

  rateHeaders(caller: Bearer | undefined): Record<string, string> {
    return {
      'x-ratelimit-limit': String(this.#rateLimit),
      'x-ratelimit-remaining': String(this.#rateLimit - (caller?.used ?? 0)),
      'x-ratelimit-reset': String(Math.floor(this.#now() / 1000) + 3600),
      'x-ratelimit-resource': 'core',
    };
  }

  #authenticateApp(token: string): void {
    const nowSeconds = Math.floor(this.#now() / 1000);
    const read = verifyJwt(token, this.#appKey, nowSeconds);
    if ('fault' in read) throw new ProviderRefusal(401, '', 'A JSON web token could not be decoded');
    const { iss, iat, exp } = read.claims;
    if (typeof iat !== 'number' || iat > nowSeconds)
      throw new ProviderRefusal(
        401,
        '',
        "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
      );
    if (Number(exp) - nowSeconds > 600) throw new ProviderRefusal(401, '', "'Expiration time' claim ('exp') is too far in the future");
    if (String(iss) !== String(this.app.appId)) throw new ProviderRefusal(404, '', 'Integration not found');
  }

  answer(call: Described, request: ProviderRequest, body: Record<string, unknown> | undefined): ProviderAnswer {
    const { values, line } = call;
    if (line.startsWith('POST /app/')) return this.#installationToken(values['installation_id']!);
    if (line === 'GET /repos/{owner}/{repo}') {
      const repository = this.#repositories.get(`${values['owner']}/${values['repo']}`.toLowerCase());
      if (repository === undefined) throw notFound();
      return { status: 200, body: fullRepository(repository, this.url) };
    }
    const organization = values['org'];
    const environment = values['environment_name'];
    const place = organization ?? `${values['owner']}/${values['repo']}${environment === undefined ? '' : `/${environment}`}`;
    const scope = this.requireScope(place);
    if (line.endsWith('/public-key')) return { status: 200, body: { key_id: scope.keyId, key: scope.publicKey } };
    const name = values['secret_name'];
    if (name === undefined) return this.#list(scope.all(), 'secrets', request, (secret) => this.#render(secret, organization));
    if (line.endsWith('/repositories')) return this.#repositoriesOf(scope, name, request, body);
    if (request.method === 'PUT') return this.#put(scope, name, body!, organization);
    const secret = scope.find(name);
    if (secret === undefined) throw notFound();
    if (request.method === 'GET') return { status: 200, body: this.#render(secret, organization) };
    scope.delete(name);
    return { status: 204 };
  }

  #installationToken(installation: string): ProviderAnswer {
    if (Number(installation) !== this.app.installationId) throw notFound();
    const expires = this.#now() + 3_600_000;
    const token = this.issue('all', expires, 'ghs_');
    const permissions = { metadata: 'read', secrets: 'write', environments: 'write', organization_secrets: 'write' };
    return { status: 201, body: { token, expires_at: stamp(new Date(expires)), permissions, repository_selection: 'all' } };
  }

  #put(scope: GithubSecretScope, name: string, body: Record<string, unknown>, organization: string | undefined): ProviderAnswer {
    const refuse = (message: string): ProviderRefusal =>
      new ProviderRefusal(422, '', message, { details: { documentation_url: SECRETS_DOCUMENTATION } });
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || /^github_/i.test(name)) {
      const rule = 'Secret names can only contain alphanumeric characters ([a-z], [A-Z], [0-9]) or underscores (_)';
      throw refuse(`${rule}. Spaces are not allowed. Must start with a letter ([a-z], [A-Z]) or underscores (_).`);
    }
    const { encrypted_value: sealed, key_id: keyId } = body as { encrypted_value?: string; key_id?: string };
    if (sealed === undefined || keyId === undefined)
      throw refuse('Invalid request.\n\n"encrypted_value" and "key_id" must be supplied together.');
    if (keyId !== scope.keyId) throw refuse('The key_id is not the id of the current public key.');
    const value = scope.open(sealed);
    if (value === undefined) throw refuse('Improperly encrypted secret.');
    if (Buffer.byteLength(value) > LARGEST_SECRET) throw refuse('Value is too large.');
    if (scope.find(name) === undefined && scope.all().length >= scope.limit) throw refuse(`There are already ${scope.limit} secrets.`);
    const created = scope.put(name, { value, ...(organization !== undefined && this.#visibility(body, refuse)) });
    return created ? { status: 201, body: {} } : { status: 204 };
  }

  #visibility(body: Record<string, unknown>, refuse: (message: string) => ProviderRefusal): Pick<GithubSecret, 'visibility' | 'selected'> {
    const { visibility, selected_repository_ids: selected } = body as {
      visibility: 'all' | 'private' | 'selected';
      selected_repository_ids?: unknown[];
    };
    if (visibility !== 'selected') {
      if (selected !== undefined) throw refuse('selected_repository_ids can only be given when the visibility is selected.');
      return { visibility };
    }
    const ids = (selected ?? []).map(Number);
    const unknown = ids.find((id) => ![...this.#repositories.values()].some((repository) => repository.id === id));
    if (unknown !== undefined) throw refuse(`The repository ${unknown} is not one of the organization.`);
    return { visibility, selected: ids };
  }

  #repositoriesOf(
    scope: GithubSecretScope,
    name: string,
    request: ProviderRequest,
    body: Record<string, unknown> | undefined,
  ): ProviderAnswer {
    const secret = scope.find(name);
    if (secret === undefined) throw notFound();
    if (secret.visibility !== 'selected') throw new ProviderRefusal(409, '', 'The visibility of the secret is not selected.');
    if (request.method === 'PUT') {
      secret.selected = (body?.['selected_repository_ids'] ?? []) as number[];
      return { status: 204 };
    }
    const chosen = [...this.#repositories.values()].filter(({ id }) => secret.selected?.includes(id));
    return this.#list(chosen, 'repositories', request, (repository) => minimalRepository(repository, this.url));
  }

  #list<Item>(items: readonly Item[], key: string, request: ProviderRequest, render: (item: Item) => unknown): ProviderAnswer {
    const size = Math.min(Number(request.query.get('per_page') ?? 30), 100);
    const page = Number(request.query.get('page') ?? 1);
    const link = new URL(request.path, this.url);
    link.search = new URLSearchParams({ per_page: String(size), page: String(page + 1) }).toString();
    return {
      status: 200,
      body: { total_count: items.length, [key]: items.slice((page - 1) * size, page * size).map(render) },
      ...(page * size < items.length && { headers: { link: `<${link.href}>; rel="next"` } }),
    };
  }

  #render(secret: GithubSecret, organization: string | undefined): Record<string, unknown> {
    return {
      name: secret.name,
      created_at: stamp(secret.createdAt),
      updated_at: stamp(secret.updatedAt),
      ...(organization !== undefined && {
        visibility: secret.visibility ?? 'all',
        ...(secret.visibility === 'selected' && {
          selected_repositories_url: `${this.url}/orgs/${organization}/actions/secrets/${secret.name}/repositories`,
        }),
      }),
    };
  }
}

const stamp = (date: Date): string => date.toISOString().replace(/\.\d+Z$/, 'Z');

export const notFound = (): ProviderRefusal => new ProviderRefusal(404, '', 'Not Found');
